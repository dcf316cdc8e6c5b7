"""The object store, by hand: what is stored, looked up and freed."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from typing import Any

import pytest
from stores import Store, WatchedLock, count, filled, handle_of, make, segment, sized, state

from mmcache_ref.reference import object_chunks
from mmcache_ref.reference.seals import NO_SEAL, seal
from mmcache_ref.reference.serde import MsgpackSerde

__all__ = ["make"]

pytestmark = pytest.mark.timeout(60)

# Storing


@pytest.mark.clause("OS-01", "OS-20", "OS-30")
def test_what_is_put_is_read(make: Callable[..., Store]) -> None:
    writer = make()
    reader = make(writer)
    assert writer.put("a", sized(100)) == (0, 0)
    assert writer.put("b", [1, {"c": None}]) == (100, 1)
    assert writer.key_index == {"a": (0, 0), "b": (100, 1)}
    assert writer.id_index == {0: "a", 1: "b"}
    assert writer.writer_flag == {0: 1, 1: 1}
    assert writer.ring_buffer.metadata == {0: 0, 1: 100}
    assert (count(writer, "a"), count(writer, "b")) == (0, 0)
    assert reader.get(*handle_of(writer, "a")) == sized(100)
    assert reader.get(*handle_of(writer, "b")) == [1, {"c": None}]


@pytest.mark.clause("OS-02")
def test_a_stored_key_is_not_put_again(make: Callable[..., Store]) -> None:
    writer = make()
    writer.put("a", 1)
    before = state(writer), segment(writer)
    with pytest.raises(ValueError, match="already exists"):
        writer.put("a", 2)
    assert (state(writer), segment(writer)) == before


@pytest.mark.clause("OS-03")
def test_an_object_over_the_limit_is_refused_and_one_of_just_the_limit_stored(
    make: Callable[..., Store],
) -> None:
    writer = make(limit=92)
    before = state(writer), segment(writer)
    with pytest.raises(ValueError, match="exceeds max object size"):
        writer.put("a", sized(101))
    assert (state(writer), segment(writer)) == before
    writer.put("a", sized(100))


@pytest.mark.clause("OS-04")
def test_a_put_that_has_room_frees_nothing(make: Callable[..., Store]) -> None:
    writer, _ = filled(make, 300, 100, 100)
    writer.put("c", sized(100))
    assert list(writer.key_index) == ["0", "1", "c"]


@pytest.mark.clause("OS-04", "OS-26")
def test_a_put_without_room_frees_up_to_twice_the_limit(make: Callable[..., Store]) -> None:
    writer, _ = filled(make, 400, 50, 50, 50, 50, 50, 50, 50, 50, limit=60)
    writer.put("c", sized(50))
    assert list(writer.key_index) == ["3", "4", "5", "6", "7", "c"]
    assert writer.id_index == {3: "3", 4: "4", 5: "5", 6: "6", 7: "7", 8: "c"}
    assert list(writer.ring_buffer.metadata) == list(writer.writer_flag) == [3, 4, 5, 6, 7, 8]


@pytest.mark.clause("OS-04", "OS-25")
def test_freeing_stops_at_the_first_chunk_that_is_not_free(make: Callable[..., Store]) -> None:
    writer, _ = filled(make, 400, 100, 100, 100, 100)
    writer.get_cached("1")
    writer.put("c", sized(100))
    assert list(writer.key_index) == ["1", "2", "3", "c"]
    before = state(writer)
    with pytest.raises(MemoryError, match=r"(?i)not enough space"):
        writer.put("d", sized(100))
    assert state(writer) == before


def wrapped(make: Callable[..., Store]) -> tuple[Store, Store]:
    """All read: "2" lies in bytes 208 to 308, "3" in 0 to 100, "4" in 100 to 207; a chunk may have 108.

    A chunk of 108 has no place behind "4", nor in front of "4" when "2" and "3" are freed.
    """
    writer, reader = filled(make, 308, 108, 100, 100, limit=100)
    for key, chunk in [("3", 100), ("4", 107)]:
        writer.put(key, sized(chunk))
        reader.get(*handle_of(writer, key))
    assert writer.ring_buffer.metadata == {2: 208, 3: 308, 4: 408}
    return writer, reader


@pytest.mark.clause("OS-05")
def test_a_put_goes_on_freeing_while_there_is_no_place(make: Callable[..., Store]) -> None:
    writer, _ = wrapped(make)
    writer.put("5", sized(108))
    assert list(writer.key_index) == ["5"]


@pytest.mark.clause("OS-05")
def test_a_put_is_refused_when_what_it_needs_is_in_use(make: Callable[..., Store]) -> None:
    writer, _ = wrapped(make)
    writer.get_cached("4")
    with pytest.raises(MemoryError, match=r"(?i)not enough space"):
        writer.put("5", sized(108))
    assert list(writer.key_index) == ["4"]


@pytest.mark.clause("OS-06")
def test_an_object_larger_than_the_ring_is_refused_before_anything_is_freed(
    make: Callable[..., Store],
) -> None:
    writer, _ = filled(make, 300, 100, 100, 100)
    before = state(writer), segment(writer)
    with pytest.raises(MemoryError, match=r"(?i)not enough space"):
        writer.put("c", sized(301))
    assert (state(writer), segment(writer)) == before
    writer.put("c", sized(300))
    assert list(writer.key_index) == ["c"]


@pytest.mark.clause("OS-01")
@pytest.mark.parametrize("chunk", [35, 36, 100, 162, 164, 200, 291, 293, 300])
def test_a_chunk_has_as_many_bytes_as_the_table_says(make: Callable[..., Store], chunk: int) -> None:
    writer = make(chunk)
    writer.put("a", sized(chunk))
    assert writer.ring_buffer.data_buffer_end == chunk


class Failing(MsgpackSerde):
    """Fails in one of several ways when it writes a text that says so."""

    def serialize(self, value: Any) -> Any:
        data, data_bytes, metadata, md_bytes = super().serialize(value)
        if value == "raises":
            raise OSError("as it is said")
        if value == "too little":
            return [b"ab"], 3, metadata, md_bytes
        if value == "too much":
            return [b"abcd"], 3, metadata, md_bytes
        if value == "no bytes":
            return ["abc"], 3, metadata, md_bytes
        if value == "no seal":
            return data, data_bytes, b"x", 1
        if value == "other metadata":
            return data, data_bytes, metadata, md_bytes + 1
        return data, data_bytes, metadata, md_bytes


@pytest.mark.clause("OS-07")
@pytest.mark.parametrize(
    "value", ["raises", "too little", "too much", "no bytes", "no seal", "other metadata", {1}]
)
@pytest.mark.parametrize("capacity", [1000, 250], ids=["first lap", "with a gap"])
def test_a_put_that_fails_leaves_no_trace(make: Callable[..., Store], value: Any, capacity: int) -> None:
    writer = make(capacity, serde=Failing)
    reader = make(writer)
    writer.put("a", sized(120))
    reader.get(*handle_of(writer, "a"))
    if capacity == 250:
        writer.put("b", sized(100))
        writer.free_unused()
    before = state(writer)
    with pytest.raises((OSError, ValueError, TypeError)):
        writer.put("c", value)
    assert state(writer) == before
    identifier = writer.ring_buffer.monotonic_id_end
    assert writer.put("c", "well")[1] == identifier
    assert reader.get(*handle_of(writer, "c")) == "well"
    writer.free_unused()


@pytest.mark.clause("OS-07")
@pytest.mark.parametrize("key", ["\ud800", 5, None, b"a"])
def test_a_key_without_utf8_is_refused_and_leaves_no_trace(make: Callable[..., Store], key: Any) -> None:
    writer = make()
    before = state(writer), segment(writer)
    with pytest.raises((UnicodeEncodeError, TypeError)):
        writer.put(key, 1)
    assert (state(writer), segment(writer)) == before


class Scribbling(MsgpackSerde):
    """Leaves no zeros where the seal goes."""

    def serialize(self, value: Any) -> Any:
        data, data_bytes, metadata, md_bytes = super().serialize(value)
        return data, data_bytes, b"scribbled on it." + metadata[16:], md_bytes


@pytest.mark.clause("OS-08")
@pytest.mark.parametrize("serde", [MsgpackSerde, Scribbling])
def test_the_seal_is_written_last(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch, serde: type[MsgpackSerde]
) -> None:
    writer = make(serde=serde)
    moments: list[tuple[bytes, bool]] = []
    monkeypatch.setattr(
        object_chunks, "barrier", lambda: moments.append((segment(writer)[32:133], "a" in writer.key_index))
    )
    writer.put("a", sized(101))
    complete = segment(writer)[32:133]
    assert [is_stored for _, is_stored in moments] == [False, False], "the indexes change last"
    before, after = (chunk for chunk, _ in moments)
    assert after == complete
    assert before == complete[:12] + NO_SEAL + complete[28:]
    assert complete[12:28] == seal(writer._secret, bytes(writer.get_signature("a")), 101) != NO_SEAL


# Looking up


@pytest.mark.clause("OS-09")
def test_is_cached_changes_nothing(make: Callable[..., Store]) -> None:
    writer = make()
    writer.put("a", 1)
    before = state(writer)
    assert writer.is_cached("a")
    assert not writer.is_cached("b")
    assert state(writer) == before


@pytest.mark.clause("OS-10")
def test_a_lookup_takes_a_reference_and_ends_the_touch(make: Callable[..., Store]) -> None:
    writer = make()
    writer.put("a", 1)
    writer.put("b", 1)
    writer.touch("a")
    writer.touch("b")
    assert writer.get_cached("a") == (0, 0)
    assert writer.writer_flag == {0: 2, 1: 1}
    assert writer._touched == {1}


@pytest.mark.clause("OS-11")
def test_what_is_not_stored_cannot_be_looked_up(make: Callable[..., Store]) -> None:
    writer = make()
    before = state(writer)
    with pytest.raises(KeyError):
        writer.get_cached("a")
    with pytest.raises(KeyError):
        writer.get_signature("a")
    writer.touch("a")
    assert state(writer) == before


@pytest.mark.clause("OS-12", "OS-13", "OS-25")
@pytest.mark.parametrize("lock", [None, multiprocessing.Lock()], ids=["no lock", "lock"])
def test_a_touched_chunk_is_not_freed_until_its_touch_ends(make: Callable[..., Store], lock: Any) -> None:
    writer = make(lock=lock)
    reader = make(writer)
    writer.put("a", 1)
    reader.get(*handle_of(writer, "a"))
    writer.touch("a")
    writer.touch("a")
    writer.free_unused()
    assert writer.is_cached("a")
    writer.release_touches()
    writer.free_unused()
    assert not writer.is_cached("a")


@pytest.mark.clause("OS-12")
def test_the_lookup_of_another_key_ends_no_touch(make: Callable[..., Store]) -> None:
    writer, reader = filled(make, 1000, 100, 100)
    writer.touch("0")
    writer.get_cached("1")
    reader.get(*handle_of(writer, "1"))
    writer.free_unused()
    assert list(writer.key_index) == ["0", "1"]


@pytest.mark.clause("OS-14")
def test_a_touch_is_not_a_reference(make: Callable[..., Store]) -> None:
    writer, _ = filled(make, 1000, 100)
    writer.touch("0")
    assert writer.writer_flag == {0: 1}
    writer.release_touches()
    writer.free_unused()
    assert not writer.key_index


# Freeing


@pytest.mark.clause("OS-25")
@pytest.mark.parametrize("readers", [0, 1, 2, 3])
def test_a_chunk_is_free_when_every_reference_is_acknowledged_by_every_reader(
    make: Callable[..., Store], readers: int
) -> None:
    writer = make(readers=readers)
    reader = make(writer)
    writer.put("a", 1)
    writer.get_cached("a")
    for _ in range(2 * readers):
        writer.free_unused()
        assert writer.is_cached("a")
        reader.get(*handle_of(writer, "a"))
    writer.free_unused()
    assert not writer.is_cached("a")


@pytest.mark.clause("OS-26")
def test_a_freed_chunk_loses_its_seal(make: Callable[..., Store]) -> None:
    writer, _ = filled(make, 1000, 100, 100)
    writer.free_unused()
    assert not writer.key_index
    assert not writer.id_index
    assert not writer.writer_flag
    assert segment(writer)[32 + 12 : 32 + 28] == segment(writer)[132 + 12 : 132 + 28] == NO_SEAL


@pytest.mark.clause("OS-23", "OS-28")
def test_a_writer_with_the_lock_wipes_under_it(make: Callable[..., Store]) -> None:
    lock = WatchedLock()
    writer = make(lock=lock)
    writer.put("a", 1)
    writer.clear()
    assert lock.taken == 1
    assert not lock.is_held


@pytest.mark.clause("OS-27")
def test_freeing_by_hand_takes_up_to_twice_the_limit(make: Callable[..., Store]) -> None:
    writer, _ = filled(make, 400, 50, 50, 50, 50, limit=60)
    writer.free_unused()
    assert list(writer.key_index) == ["3"]
    writer.free_unused()
    assert not writer.key_index


@pytest.mark.clause("OS-28", "OS-29")
def test_a_clear_forgets_everything_but_the_next_id(make: Callable[..., Store]) -> None:
    writer = make()
    writer.put("a", sized(100))
    writer.put("b", sized(100))
    writer.touch("a")
    writer.clear()
    assert state(writer) == ({}, {}, {}, set(), {}, (0, 0, 2, 2))
    assert segment(writer)[32 + 12 : 32 + 28] == segment(writer)[132 + 12 : 132 + 28] == NO_SEAL
    assert writer.put("a", 1) == (0, 2)


# What holds at any time


@pytest.mark.clause("OS-31", "OS-33")
def test_what_is_not_yet_acknowledged_outlives_any_put(make: Callable[..., Store]) -> None:
    writer = make(500, readers=2)
    first, second = make(writer), make(writer)
    writer.put("kept", sized(100, b"k"))
    first.get(*handle_of(writer, "kept"))
    handle = handle_of(writer, "kept")
    refused = 0
    for number in range(20):
        try:
            writer.put(str(number), sized(90))
        except MemoryError:
            refused += 1
            continue
        for reader in (first, second):
            reader.get(*handle_of(writer, str(number)))
    assert refused == 16
    assert second.get(*handle) == sized(100, b"k")
    writer.put("all", sized(500))
    assert list(writer.key_index) == ["all"]
