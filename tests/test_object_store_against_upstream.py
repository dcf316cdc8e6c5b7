"""The object store and that of the published vLLM 0.32.0: side by side, and each with the other's segment."""

from __future__ import annotations

import multiprocessing
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from stores import state

from mmcache_ref.reference.object_store import SingleWriterShmObjectStorage
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer
from mmcache_ref.reference.serde import MsgpackSerde

pytestmark = [pytest.mark.upstream, pytest.mark.timeout(120)]

OVERHEAD = 35
"""Bytes of a chunk beside those of a short byte string."""


class Package(NamedTuple):
    """Ring and store of one implementation."""

    ring: Callable[..., Any]
    store: Any


class Pair(NamedTuple):
    """A writer and its readers."""

    writer: Any
    readers: list[Any]


OURS = Package(SingleWriterShmRingBuffer, SingleWriterShmObjectStorage)


@pytest.fixture
def theirs(release: Any) -> Package:
    return Package(release.SingleWriterShmRingBuffer, release.SingleWriterShmObjectStorage)


@pytest.fixture
def pair() -> Iterator[Callable[..., Pair]]:
    """Makes a writer of one package and readers of the same or of another; closes them all."""
    stores: list[Any] = []

    def make(
        package: Package, capacity: int, limit: int, n_readers: int = 1, read_by: Package | None = None
    ) -> Pair:
        lock = multiprocessing.Lock()
        ring = package.ring(capacity, create=True)
        writer = package.store(limit, n_readers, ring, MsgpackSerde)
        stores.append(writer)
        readers = []
        for _ in range(n_readers):
            other = read_by or package
            readers.append(other.store(limit, n_readers, other.ring(*ring.handle()), MsgpackSerde, lock))
            stores.append(readers[-1])
        return Pair(writer, readers)

    yield make
    for store in reversed(stores):
        store.close()


@pytest.fixture(params=["reference", "vllm"])
def package(request: pytest.FixtureRequest) -> Package:
    """Both implementations: what holds for vLLM's own store holds for the reference."""
    return OURS if request.param == "reference" else request.getfixturevalue("theirs")


def handle_of(writer: Any, key: str) -> tuple[Any, ...]:
    return (*writer.key_index[key], writer.get_signature(key), key)


PHRASES = ["already exists", "exceeds max object size", "SHM handle signature", "modified or is invalid"]


def outcome(call: Callable[[], Any]) -> Any:
    """What the call returns, or the kind of its refusal."""
    try:
        return call()
    except KeyError:
        return "not stored"
    except MemoryError:
        return "no space"
    except ValueError as error:
        return next(phrase for phrase in PHRASES if phrase in str(error))


Operation = tuple[Any, ...]

KEYS = "abcdefghijklmnopqrst"
KINDS = {
    "put": 30,
    "read": 25,
    "get_cached": 6,
    "is_cached": 3,
    "touch": 4,
    "release_touches": 3,
    "free_unused": 3,
    "verify": 3,
    "forge": 3,
    "clear": 1,
}


def drawn(draw: random.Random, stored: list[str], n_readers: int) -> Operation:
    """A random operation; reading ones are on a key that is stored."""
    (kind,) = draw.choices(list(KINDS), weights=list(KINDS.values()))
    if kind == "put":
        return kind, draw.choice(KEYS), bytes([draw.randrange(256)]) * draw.randrange(75)
    if kind in ("read", "verify", "forge"):
        if not stored:
            return ("is_cached", "a")
        return (
            kind,
            draw.choice(stored),
            draw.randrange(n_readers),
            draw.choice(KEYS),
            draw.randrange(3),
        )
    return (kind,) if kind in ("release_touches", "free_unused", "clear") else (kind, draw.choice(KEYS))


def applied(pair: Pair, operation: Operation) -> Any:
    """What the operation gives on this pair."""
    writer, readers = pair
    kind, *arguments = operation
    if kind in ("read", "verify", "forge"):
        key, number, other, change = arguments
        address, identifier, signature, _ = handle_of(writer, key)
        if kind == "read":
            return outcome(lambda: readers[number].get(address, identifier, signature, key))
        if kind == "forge":
            return outcome(lambda: readers[number].get(address, identifier, signature, other))
        handle = [(address, identifier), (address + 1, identifier), (address, identifier + 1)][change]
        return outcome(lambda: writer.verify_signature(key, *handle, signature))
    return outcome(lambda: getattr(writer, kind)(*arguments))


@pytest.mark.clause("OS-01", "OS-04", "OS-10", "OS-12", "OS-25", "OS-27", "OS-28", "OS-30", "OS-32")
@pytest.mark.parametrize("n_readers", [1, 2])
@pytest.mark.parametrize("capacity", [110, 300, 777, 2000])
@pytest.mark.parametrize("limit", [45, 90])
def test_both_do_the_same(
    theirs: Package, pair: Callable[..., Pair], capacity: int, limit: int, n_readers: int
) -> None:
    """Ids wrap at 43. Where vLLM refuses a put that the reference stores (OS-05), a clear makes them even."""
    ours, other = pair(OURS, capacity, limit, n_readers), pair(theirs, capacity, limit, n_readers)
    for writer in (ours.writer, other.writer):
        writer.ring_buffer.ID_MAX = 43
    draw = random.Random(f"{capacity} {limit} {n_readers}")
    kinds = set()
    for _ in range(600):
        operation = drawn(draw, sorted(ours.writer.key_index), n_readers)
        mine, yours = applied(ours, operation), applied(other, operation)
        if yours == "no space" and isinstance(mine, tuple):
            for each in (ours, other):
                each.writer.clear()
                each.writer.ring_buffer.monotonic_id_start = each.writer.ring_buffer.monotonic_id_end = 0
            continue
        kinds.add((operation[0], "no space" if mine == "no space" else type(mine)))
        assert mine == yours, operation
        assert state(ours.writer) == state(other.writer), operation
    assert {kind for kind, _ in kinds} == KINDS.keys()
    assert ("put", "no space") in kinds or capacity > 500


@pytest.mark.clause("OS-02", "OS-03", "OS-11", "OS-21")
def test_duplicates_too_large_objects_and_handles_of_nothing(
    package: Package, pair: Callable[..., Pair]
) -> None:
    writer, readers = pair(package, 100 * 1024, 10 * 1024, 2)
    writer.put("a", b"first")
    assert outcome(lambda: writer.put("a", b"second")) == "already exists"
    assert outcome(lambda: writer.put("b", bytes(11 * 1024))) == "exceeds max object size"
    assert outcome(lambda: writer.get_cached("b")) == "not stored"
    assert outcome(lambda: writer.get(50_000, 7)) == "modified or is invalid"
    assert outcome(lambda: readers[0].get(50_000, 7)) == "SHM handle signature"
    assert readers[0].get(*handle_of(writer, "a")) == readers[1].get(*handle_of(writer, "a")) == b"first"


@pytest.mark.clause("OS-04", "OS-25", "OS-33")
def test_read_objects_make_room_and_an_unread_one_at_the_head_blocks(
    package: Package, pair: Callable[..., Pair]
) -> None:
    writer, readers = pair(package, 100 * 1024, 10 * 1024, 2)
    large = bytes(9 * 1024)
    for number in range(11):
        writer.put(f"{number}", large)
    assert outcome(lambda: writer.put("more", large)) == "no space"
    for number in range(11):
        readers[0].get(*handle_of(writer, f"{number}"))
    assert outcome(lambda: writer.put("more", large)) == "no space"
    for number in range(1, 11):
        readers[1].get(*handle_of(writer, f"{number}"))
    assert outcome(lambda: writer.put("more", large)) == "no space"
    assert len(writer.key_index) == 11
    readers[1].get(*handle_of(writer, "0"))
    writer.put("more", large)
    assert list(writer.key_index) == ["3", "4", "5", "6", "7", "8", "9", "10", "more"]


@pytest.mark.clause("OS-28", "OS-29")
def test_after_a_clear_the_first_object_lies_at_0_and_ids_go_on(
    package: Package, pair: Callable[..., Pair]
) -> None:
    writer, readers = pair(package, 100 * 1024, 10 * 1024, 2)
    for number in range(5):
        writer.put(f"{number}", number)
    old = handle_of(writer, "0")
    writer.clear()
    assert state(writer) == ({}, {}, {}, set(), {}, (0, 0, 5, 5))
    assert writer.put("0", "again") == (0, 5)
    assert readers[0].get(*handle_of(writer, "0")) == "again"
    assert outcome(lambda: readers[0].get(*old)) == "modified or is invalid"


@pytest.mark.clause("OS-22", "OS-34")
@pytest.mark.parametrize("theirs_writes", [False, True], ids=["we write", "they write"])
def test_either_reads_what_the_other_writes(
    theirs: Package, pair: Callable[..., Pair], theirs_writes: bool
) -> None:
    writing, reading = (theirs, OURS) if theirs_writes else (OURS, theirs)
    writer, (reader,) = pair(writing, 400, 100, read_by=reading)
    for number in range(40):
        value = [number, np.full(number % 9, number)]
        writer.put(f"{number}", value)
        handle = handle_of(writer, f"{number}")
        assert outcome(lambda h=handle: reader.touch(h[3], *h[:3])) is None
        back = reader.get(*handle)
        assert (back[0], back[1].tolist()) == (number, value[1].tolist())
        assert outcome(lambda h=handle: reader.get(*h[:3], "x")) == "SHM handle signature"
    assert len(writer.key_index) < 10, "the reads are seen, and chunks are freed"
    old = handle_of(writer, "39")
    writer.clear()
    writer.put("new", bytes(60))
    assert outcome(lambda: reader.get(*old)) == "modified or is invalid"
    assert reader.get(*handle_of(writer, "new")) == bytes(60)
    assert reader._checks_seals is False if theirs_writes else writer._checks_seals


@pytest.mark.clause("OS-01", "OS-07")
def test_our_store_stands_on_their_ring(theirs: Package, pair: Callable[..., Pair]) -> None:
    writer, (reader,) = pair(Package(theirs.ring, SingleWriterShmObjectStorage), 400, 100)
    for number in range(40):
        assert writer.put(f"{number}", bytes(number))[1] == number
        assert reader.get(*handle_of(writer, f"{number}")) == bytes(number)
    before = state(writer)
    writer.copy_to_buffer = None
    with pytest.raises(TypeError):
        writer.put("x", 1)
    assert state(writer) == before
