"""The object store, by hand: handles, and what a reader gets for them."""

from __future__ import annotations

import multiprocessing
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from stores import OVERHEAD, Handle, Store, WatchedLock, count, filled, handle_of, make, segment, sized

from mmcache_ref.reference.handles import HandleSignatureError, StaleHandleError, key_digest, sign
from mmcache_ref.reference.seals import is_marked
from mmcache_ref.reference.serde import MsgpackSerde, SerdeError

__all__ = ["make"]

pytestmark = pytest.mark.timeout(60)

# Handles


@pytest.mark.clause("OS-15", "OS-16")
def test_the_writer_accepts_the_current_handle_only(make: Callable[..., Store]) -> None:
    writer, _ = filled(make, 1000, 100, 100)
    address, identifier, signature, key = handle_of(writer, "0")
    assert [type(byte) for byte in signature] == [int] * 32
    writer.verify_signature(key, address, identifier, signature)
    for wrong in [
        ("1", address, identifier, signature),
        (None, address, identifier, signature),
        (key, address + 1, identifier, signature),
        (key, address, identifier + 1, signature),
        (key, address, identifier, None),
        (key, False, identifier, signature),
        (key, address, False, signature),
        (key, address, identifier, signature[::-1]),
    ]:
        with pytest.raises(ValueError, match="SHM handle signature"):
            writer.verify_signature(*wrong)
    writer.free_unused()
    with pytest.raises(HandleSignatureError, match="SHM handle signature"):
        writer.verify_signature(key, address, identifier, signature)


@pytest.mark.clause("OS-17")
def test_a_reader_verifies_without_counting_or_looking(make: Callable[..., Store]) -> None:
    writer = make()
    reader = make(writer)
    writer.put("a", 1)
    address, identifier, signature, key = handle_of(writer, "a")
    for _ in range(2):
        reader.touch(key, address, identifier, signature)
        reader.verify_signature(key, address, identifier, signature)
    assert count(writer, "a") == 0
    for check in (reader.touch, reader.verify_signature):
        with pytest.raises(HandleSignatureError, match="SHM handle signature"):
            check("b", address, identifier, signature)
    writer.clear()
    writer.put("b", sized(500))
    reader.verify_signature(key, address, identifier, signature)
    with pytest.raises(StaleHandleError, match="has been modified or is invalid"):
        reader.touch(key, address, identifier, signature)


class Key(str):
    """A kind of string, with a form of its own."""

    __slots__ = ()

    def encode(self, *_: Any) -> bytes:
        return b"another"


@pytest.mark.clause("OS-19")
@pytest.mark.parametrize("kind", [np.str_, Key])
def test_a_key_of_a_kind_of_string_is_the_plain_string(make: Callable[..., Store], kind: type[str]) -> None:
    writer = make()
    reader = make(writer)
    writer.put(kind("a"), 1)
    assert list(map(type, [*writer.key_index, *writer.id_index.values()])) == [str, str]
    assert writer.is_cached(kind("a"))
    assert writer.get_signature(kind("a")) == writer.get_signature("a")
    address, identifier, signature, _ = handle_of(writer, "a")
    for key in ("a", kind("a")):
        writer.verify_signature(key, address, identifier, signature)
        reader.touch(key, address, identifier, signature)
        assert reader.get(address, identifier, signature, key) == 1


@pytest.mark.clause("OS-19")
@pytest.mark.parametrize("key", [5, b"a", True])
def test_a_key_that_is_no_string_is_refused(make: Callable[..., Store], key: Any) -> None:
    writer = make()
    reader = make(writer)
    with pytest.raises(TypeError, match="a key of the storage is a string"):
        writer.put(key, 1)
    writer.put("a", 1)
    with pytest.raises(HandleSignatureError, match="a key is a string"):
        reader.get(*handle_of(writer, "a")[:3], key)


@pytest.mark.clause("OS-18", "OS-19")
@pytest.mark.parametrize(
    "change", ["key", "address", "id", "signature", "no key", "no signature", "bool", "range"]
)
def test_a_forged_handle_is_refused_before_the_data_area_is_read(
    make: Callable[..., Store], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make()
    reader = make(writer)
    writer.put("a", 1)
    writer.put("b", 2)
    address, identifier, signature, key = handle_of(writer, "a")
    forged: dict[str, Any] = {
        "key": (address, identifier, signature, "b"),
        "address": (address + 1, identifier, signature, key),
        "id": (address, identifier + 1, signature, key),
        "signature": (address, identifier, [*signature[:31], signature[31] ^ 1], key),
        "no key": (address, identifier, signature, None),
        "no signature": (address, identifier, None, key),
        "bool": (False, identifier, signature, key),
        "range": (2**64, identifier, signature, key),
    }[change]
    monkeypatch.setattr(reader, "_memory", None)
    with pytest.raises(HandleSignatureError, match="SHM handle signature"):
        reader.get(*forged)
    assert count(writer, "a") == 0


# Reading


@pytest.mark.clause("OS-20", "OS-32")
def test_each_read_counts_once(make: Callable[..., Store]) -> None:
    writer = make(readers=2)
    readers = [make(writer), make(writer)]
    writer.put("a", 1)
    writer.put("b", 1)
    for number in range(1, 4):
        for reader in readers:
            reader.get(*handle_of(writer, "a"))
        assert (count(writer, "a"), count(writer, "b")) == (2 * number, 0)
        writer.get_cached("b")
    assert writer.writer_flag == {0: 1, 1: 4}


@pytest.mark.clause("OS-20")
def test_a_writer_with_a_lock_counts_as_a_reader_and_needs_no_signature(make: Callable[..., Store]) -> None:
    writer = make(lock=multiprocessing.Lock())
    writer.put("a", 1)
    assert writer.get(0, 0) == 1
    assert count(writer, "a") == 1


@pytest.mark.clause("OS-20", "OS-21")
def test_a_writer_without_a_lock_reads_and_counts_nothing(make: Callable[..., Store]) -> None:
    writer = make()
    writer.put("a", 1)
    assert writer.get(0, 0) == 1
    assert count(writer, "a") == 0
    for wrong in [(1, 0), (0, 1), (35, 0)]:
        with pytest.raises(ValueError, match="has been modified or is invalid"):
            writer.get(*wrong)


@pytest.mark.clause("OS-20")
def test_what_is_read_shares_no_memory_with_the_segment(make: Callable[..., Store]) -> None:
    writer = make()
    reader = make(writer)
    writer.put("a", [np.arange(5), torch.arange(5)])
    array, tensor = reader.get(*handle_of(writer, "a"))
    writer.ring_buffer.shared_memory.buf[32:] = bytes(1000)
    assert array.tolist() == tensor.tolist() == [0, 1, 2, 3, 4]
    reader.close()


@pytest.mark.clause("OS-20", "OS-23")
def test_the_count_is_made_under_the_lock(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = WatchedLock()
    writer = make(lock=lock)
    reader = make(writer)
    writer.put("a", 1)
    held: list[bool] = []
    monkeypatch.setattr(reader, "increment_reader_flag", lambda view: held.append(lock.is_held))
    reader.get(*handle_of(writer, "a"))
    assert held == [True]
    assert not lock.is_held


@pytest.mark.clause("OS-21", "OS-26", "OS-28", "OS-29")
@pytest.mark.parametrize("way", ["freed", "cleared"])
@pytest.mark.parametrize("then", [None, 100, 60, 200])
def test_a_handle_whose_chunk_is_gone_is_refused_whatever_lies_there(
    make: Callable[..., Store], way: str, then: int | None
) -> None:
    writer, reader = filled(make, 1000, 100)
    old = handle_of(writer, "0")
    if way == "freed":
        writer.free_unused()
    else:
        writer.clear()
    if then is not None:
        writer.put("new", sized(then))
    before = segment(writer)
    with pytest.raises(StaleHandleError, match="has been modified or is invalid"):
        reader.get(*old)
    assert segment(writer) == before


def look_alike(store: Store, handle: Handle) -> bytes:
    """What a client could lay at the address of a handle: all of it but the seal."""
    place = 32 + handle[0]
    chunk = bytearray(segment(store)[place : place + 100])
    chunk[12:28] = bytes(16)
    return bytes(chunk)


@pytest.mark.clause("OS-22", "OS-24", "OS-42")
def test_a_planted_chunk_is_not_taken_for_the_object_of_the_handle(make: Callable[..., Store]) -> None:
    writer, reader = filled(make, 1000, 50, 100)
    old = handle_of(writer, "1")
    planted = look_alike(writer, old)
    writer.clear()
    writer.put("evil", bytes(50 - OVERHEAD) + planted)
    assert segment(writer)[32 + 50 : 32 + 150] == planted
    before = segment(writer)
    with pytest.raises(StaleHandleError):
        reader.get(*old)
    with pytest.raises(StaleHandleError):
        reader.touch(old[3], *old[:3])
    assert segment(writer) == before


@pytest.mark.clause("OS-22")
def test_an_old_seal_is_of_no_use_to_another_chunk(make: Callable[..., Store]) -> None:
    writer, reader = filled(make, 1000, 100)
    old = handle_of(writer, "0")
    chunk = segment(writer)[32:132]
    writer.clear()
    writer.put("0", sized(100, b"y"))
    writer.ring_buffer.shared_memory.buf[32 + 12 : 32 + 28] = chunk[12:28]
    with pytest.raises(StaleHandleError):
        reader.get(*handle_of(writer, "0"))
    with pytest.raises(StaleHandleError):
        reader.get(*old)


class Interrupted(MsgpackSerde):
    """Something happens while an object is copied out."""

    meanwhile: Callable[[], Any] = staticmethod(lambda: None)
    fails = False

    def deserialize(self, data: memoryview) -> Any:
        value = super().deserialize(data)
        type(self).meanwhile()
        if self.fails:
            raise SerdeError("what was copied makes no sense")
        return value


@pytest.mark.clause("OS-22", "OS-23", "OS-41")
@pytest.mark.parametrize("fails", [False, True], ids=["readable", "unreadable"])
@pytest.mark.parametrize("then", [None, 100, 60, 200])
def test_a_clear_during_the_copy_is_a_stale_handle_and_no_count(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch, fails: bool, then: int | None
) -> None:
    writer = make(serde=Interrupted)
    reader = make(writer)
    writer.put("a", sized(100))

    def clear() -> None:
        writer.clear()
        if then is not None:
            writer.put("b", sized(then))
        after.append(segment(writer))

    after: list[bytes] = []
    monkeypatch.setattr(Interrupted, "meanwhile", staticmethod(clear))
    monkeypatch.setattr(Interrupted, "fails", fails)
    with pytest.raises(StaleHandleError, match="has been modified or is invalid"):
        reader.get(*handle_of(writer, "a"))
    assert [segment(writer)] == after


@pytest.mark.clause("OS-24", "OS-32")
def test_a_read_that_fails_in_the_serde_counts_nothing(make: Callable[..., Store]) -> None:
    writer = make()
    reader = make(writer)
    writer.put("a", "text")
    writer.ring_buffer.shared_memory.buf[32 + 12 + 16] = 0
    with pytest.raises(SerdeError):
        reader.get(*handle_of(writer, "a"))
    assert count(writer, "a") == 0


class Unsealed(MsgpackSerde):
    SEAL_BYTES = 0


@pytest.mark.clause("OS-22")
def test_without_seals_id_and_size_are_looked_at(make: Callable[..., Store]) -> None:
    writer = make(serde=Unsealed)
    reader = make(writer)
    assert not is_marked(writer.ring_buffer.get_auth_secret())
    writer.put("a", b"x" * 50)
    old = handle_of(writer, "a")
    assert reader.get(*old) == b"x" * 50
    writer.clear()
    writer.put("b", b"y" * 50)
    with pytest.raises(StaleHandleError):
        reader.get(*old)
    for size in (0, 11, 1001, -1):
        writer.ring_buffer.shared_memory.buf[32:40] = struct.pack("<ii", 0, size)
        with pytest.raises(StaleHandleError):
            reader.get(*old)


@pytest.mark.clause("OS-21", "OS-22")
@pytest.mark.parametrize("serde", [MsgpackSerde, Unsealed])
@pytest.mark.parametrize("left", range(30))
def test_an_address_at_the_end_of_the_area_is_a_stale_handle(
    make: Callable[..., Store], left: int, serde: type[MsgpackSerde]
) -> None:
    """No writer gives such a handle, so the test signs it."""
    writer = make(100, serde=serde)
    reader = make(writer)
    address = 100 - left
    signature = list(sign(writer.ring_buffer.get_auth_secret(), key_digest("a"), address, 0))
    with pytest.raises(StaleHandleError):
        reader.get(address, 0, signature, "a")


@pytest.mark.clause("OS-21")
def test_a_chunk_of_the_ring_that_is_no_object_is_not_read(make: Callable[..., Store]) -> None:
    writer = make()
    address, identifier = writer.ring_buffer.allocate_buf(50)
    with pytest.raises(StaleHandleError):
        writer.get(address, identifier)
