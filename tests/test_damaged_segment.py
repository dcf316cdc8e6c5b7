"""A segment that others write into: the right object or a documented error, and then all is well again."""

from __future__ import annotations

import multiprocessing
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stores import Store, count, handle_of, make

from mmcache_ref.reference import CheckedMsgpackSerde, ChecksumError, MsgpackSerde, SerdeError
from mmcache_ref.reference.handles import HandleSignatureError, StaleHandleError
from mmcache_ref.reference.object_chunks import SEALED_HEAD
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer

__all__ = ["make"]

pytestmark = pytest.mark.timeout(120)

SECRET = 32
LARGEST = 2**31 - 1
VALUES: dict[str, Any] = {
    "a": b"the first object",
    "b": [1, {"c": np.arange(40, dtype=np.int16)}],
    "c": b"z" * 200,
}


class Pair:
    """A writer with the objects of `VALUES`, and one reader."""

    def __init__(self, serde: type[MsgpackSerde]) -> None:
        lock = multiprocessing.get_context("spawn").Lock()
        self.writer = Store(1000, 1, SingleWriterShmRingBuffer(2000, create=True), serde, lock)
        self.reader = Store.create_from_handle(self.writer.handle())
        for key, value in VALUES.items():
            self.writer.put(key, value)
        self.handles = {key: handle_of(self.writer, key) for key in VALUES}
        self.memory = self.writer.ring_buffer.shared_memory.buf

    def __enter__(self) -> Pair:
        return self

    def __exit__(self, *_: object) -> None:
        self.reader.close()
        self.writer.close()

    def begin(self, key: str) -> int:
        """Where the chunk of a key begins in the segment."""
        return SECRET + self.handles[key][0]

    def end(self, key: str) -> int:
        _, size = struct.unpack_from("<ii", self.memory, self.begin(key))
        return self.begin(key) + int(size)

    def write(self, place: int, data: bytes) -> None:
        self.memory[place : place + len(data)] = data

    def works_after_clear(self) -> bool:
        self.writer.clear()
        for key, value in VALUES.items():
            self.writer.put(key, value)
        return all(equal(self.reader.get(*handle_of(self.writer, key)), VALUES[key]) for key in VALUES)


def equal(found: Any, value: Any) -> bool:
    if isinstance(value, bytes):
        return bool(found == value)
    return found[0] == value[0] and np.array_equal(found[1]["c"], value[1]["c"])


places = st.one_of(
    st.tuples(st.just("secret"), st.integers(0, SECRET - 1)),
    st.tuples(st.sampled_from(sorted(VALUES)), st.integers(0, SEALED_HEAD.size - 1)),
)


@pytest.mark.clause("OS-43", "OS-45", "OS-22")
@given(st.lists(st.tuples(places, st.binary(min_size=1, max_size=8)), min_size=1, max_size=4))
@example([(("a", 8), struct.pack("<i", LARGEST))])
@example([(("secret", 24), bytes(8))])
def test_written_over_headers_cost_an_error_at_most(damage: list[tuple[tuple[str, int], bytes]]) -> None:
    with Pair(MsgpackSerde) as pair:
        for (where, offset), data in damage:
            begin, room = (0, SECRET) if where == "secret" else (pair.begin(where), SEALED_HEAD.size)
            pair.write(begin + offset, data[: room - offset])
        for key, handle in pair.handles.items():
            try:
                found = pair.reader.get(*handle)
            except (HandleSignatureError, StaleHandleError):
                continue
            assert equal(found, VALUES[key])
        pair.writer.free_unused()
        for key, handle in pair.handles.items():
            try:
                assert equal(pair.reader.get(*handle), VALUES[key])
            except (HandleSignatureError, StaleHandleError):
                continue
        assert pair.works_after_clear()


@pytest.mark.clause("OS-43")
def test_the_writer_has_its_own_secret() -> None:
    with Pair(MsgpackSerde) as pair:
        pair.write(0, bytes(SECRET))
        address, monotonic_id, signature, key = pair.handles["a"]
        pair.writer.verify_signature(key, address, monotonic_id, signature)
        assert pair.works_after_clear()


@pytest.mark.clause("OS-43", "OS-18")
def test_a_reader_asks_for_the_secret_again_when_it_would_refuse_a_handle() -> None:
    """One that comes while the secret is damaged knows the wrong one until the writer has put it right."""
    with Pair(MsgpackSerde) as pair:
        assert equal(pair.reader.get(*pair.handles["a"]), VALUES["a"])
        pair.write(0, bytes(SECRET))
        assert equal(pair.reader.get(*pair.handles["a"]), VALUES["a"])
        forged = (*pair.handles["a"][:2], [0] * 32, "a")
        with pytest.raises(HandleSignatureError):
            pair.reader.get(*forged)
        with pytest.raises(HandleSignatureError):
            pair.reader.get(*pair.handles["a"])
        assert pair.works_after_clear()


@pytest.mark.clause("OS-45", "OS-26")
def test_a_count_that_is_too_large_frees_early_and_says_so() -> None:
    with Pair(MsgpackSerde) as pair:
        pair.write(pair.begin("a") + 8, struct.pack("<i", 1000))
        pair.writer.free_unused()
        assert list(pair.writer.key_index) == ["b", "c"]
        pair.writer.put("other", b"what lies there now")
        with pytest.raises(StaleHandleError):
            pair.reader.get(*pair.handles["a"])
        assert equal(pair.reader.get(*pair.handles["b"]), VALUES["b"])


@pytest.mark.clause("OS-45", "OS-28")
@pytest.mark.parametrize("found", [-1, -(2**31)])
def test_a_count_that_is_too_small_keeps_its_chunk_until_a_clear(found: int) -> None:
    with Pair(MsgpackSerde) as pair:
        pair.write(pair.begin("a") + 8, struct.pack("<i", found))
        for key, handle in pair.handles.items():
            assert equal(pair.reader.get(*handle), VALUES[key])
        pair.writer.free_unused()
        assert list(pair.writer.key_index) == ["a", "b", "c"]
        assert pair.works_after_clear()


@pytest.mark.clause("OS-45")
def test_the_largest_count_stays(make: Callable[..., Store]) -> None:
    writer = make()
    reader = make(writer)
    writer.put("a", b"an object")
    with writer.ring_buffer.access_buf(writer.key_index["a"][0]) as (payload, _):
        struct.pack_into("<i", payload, 0, LARGEST)
    assert reader.get(*handle_of(writer, "a")) == b"an object"
    assert count(writer, "a") == LARGEST


@pytest.mark.clause("OS-44")
@given(
    st.sampled_from(sorted(VALUES)),
    st.integers(0, 10**6),
    st.binary(min_size=1, max_size=4),
)
def test_changed_bytes_are_an_error_with_a_checksum(key: str, place: int, data: bytes) -> None:
    with Pair(CheckedMsgpackSerde) as pair:
        begin = pair.begin(key) + SEALED_HEAD.size
        place = begin + place % (pair.end(key) - begin)
        data = data[: pair.end(key) - place]
        before = bytes(pair.memory[place : place + len(data)])
        pair.write(place, data)
        if data == before:
            assert equal(pair.reader.get(*pair.handles[key]), VALUES[key])
        else:
            with pytest.raises(ChecksumError, match="have changed since it was stored"):
                pair.reader.get(*pair.handles[key])
            assert count(pair.writer, key) == 0
        for other in VALUES.keys() - {key}:
            assert equal(pair.reader.get(*pair.handles[other]), VALUES[other])
        assert pair.works_after_clear()


def test_without_a_checksum_changed_bytes_are_given_out() -> None:
    with Pair(MsgpackSerde) as pair:
        pair.write(pair.end("a") - 1, b"?")
        assert pair.reader.get(*pair.handles["a"]) == b"the first objec?"


@pytest.mark.clause("OS-44")
def test_a_checksum_is_a_crc_of_everything_behind_it() -> None:
    leaves, data_bytes, metadata, md_bytes = CheckedMsgpackSerde().serialize([1, b"xyz"])
    assert (data_bytes, md_bytes) == (3, 16 + 4 + 4 + 6)
    assert metadata[:16] == bytes(16)
    assert metadata[20:] + b"".join(leaves) == bytes.fromhex("06000000 930001920603 78797a")
    assert metadata[16:20] == struct.pack("<I", _crc_bit_by_bit(metadata[20:] + b"xyz"))


def _crc_bit_by_bit(data: bytes) -> int:
    """CRC-32 by its definition: division by the reflected polynomial."""
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte
        for _ in range(8):
            rest = (rest >> 1) ^ (0xEDB88320 if rest & 1 else 0)
    return rest ^ 0xFFFFFFFF


@pytest.mark.clause("OS-38", "OS-44")
def test_a_checked_value_comes_back_with_memory_of_its_own() -> None:
    with Pair(CheckedMsgpackSerde) as pair:
        found = pair.reader.get(*pair.handles["b"])
        assert equal(found, VALUES["b"])
        pair.memory[SECRET:] = bytes(len(pair.memory) - SECRET)
        assert equal(found, VALUES["b"])
        found[1]["c"][0] = 7


@pytest.mark.parametrize("data", [b"", bytes(16), bytes(19), bytes(20)])
def test_what_is_too_short_for_a_checksum_is_an_error_too(data: bytes) -> None:
    with pytest.raises(SerdeError):
        CheckedMsgpackSerde().deserialize(memoryview(data))
