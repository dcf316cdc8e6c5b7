"""The object store, by hand: several processes, and the lock they share."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stores import Store, count, filled, handle_of, make, segment, sized, state

from mmcache_ref.reference import object_chunks
from mmcache_ref.reference.handles import StaleHandleError
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer
from mmcache_ref.reference.serde import MsgpackSerde

__all__ = ["make"]

pytestmark = pytest.mark.timeout(60)


@pytest.mark.clause("OS-34")
def test_a_handle_says_all_that_a_reader_needs(make: Callable[..., Store]) -> None:
    lock = multiprocessing.Lock()
    writer = make(1000, 200, 3, lock=lock)
    handle = writer.handle()
    assert (handle.max_object_size, handle.n_readers) == (200, 3)
    assert handle.ring_buffer_handle == (1000, writer.ring_buffer.shared_memory.name)
    assert (handle.serde_class, handle.reader_lock) == (MsgpackSerde, lock)
    reader = make(writer)
    assert not reader.is_writer
    assert (reader.max_object_size, reader.n_readers, reader.serde_class) == (200, 3, MsgpackSerde)


def _read_in_another_process(handle: Any, wanted: Any, answers: Any) -> None:
    reader = Store.create_from_handle(handle)
    answers.put([reader.get(*each) for each in wanted])
    reader.close()


@pytest.mark.clause("OS-34")
def test_another_process_reads_and_is_counted(make: Callable[..., Store]) -> None:
    spawn = multiprocessing.get_context("spawn")
    writer = make(lock=spawn.Lock())
    writer.put("a", [1, np.arange(3)])
    answers = spawn.Queue()
    wanted = [handle_of(writer, "a")] * 2
    process = spawn.Process(target=_read_in_another_process, args=(writer.handle(), wanted, answers))
    process.start()
    first, second = answers.get(timeout=50)
    process.join(timeout=50)
    assert first[1].tolist() == second[1].tolist() == [0, 1, 2]
    assert process.exitcode == 0
    assert count(writer, "a") == 2


@pytest.mark.clause("OS-35")
def test_a_reader_needs_the_lock(make: Callable[..., Store]) -> None:
    writer = make()
    with pytest.raises(ValueError, match="lock"):
        Store.create_from_handle(writer.handle())
    with SingleWriterShmRingBufferReader(writer) as ring, pytest.raises(ValueError, match="lock"):
        Store(100, 1, ring)


class SingleWriterShmRingBufferReader:
    """The ring of a store, attached to, for as long as a `with` block."""

    def __init__(self, writer: Store) -> None:
        self.ring = SingleWriterShmRingBuffer(*writer.ring_buffer.handle())

    def __enter__(self) -> SingleWriterShmRingBuffer:
        return self.ring

    def __exit__(self, *_: object) -> None:
        self.ring.close()


@pytest.mark.clause("OS-36")
def test_a_reader_changes_nothing(make: Callable[..., Store]) -> None:
    writer, reader = filled(make, 1000, 100)
    before = state(writer), segment(writer)
    for change in (lambda: reader.put("b", 1), reader.clear, reader.free_unused):
        with pytest.raises(AssertionError):
            change()
    assert (state(writer), segment(writer)) == before


@pytest.mark.clause("OS-37")
def test_a_second_close_does_nothing(make: Callable[..., Store]) -> None:
    writer = make()
    reader = make(writer)
    for store in (reader, writer):
        store.close()
        store.close()


@pytest.mark.clause("OS-37", "RB-30")
def test_a_closed_store_leaves_no_mapping(make: Callable[..., Store]) -> None:
    writer, reader = filled(make, 1000, 100)
    name = writer.ring_buffer.shared_memory.name
    reader.close()
    writer.close()
    assert name not in Path("/proc/self/maps").read_text()


@pytest.mark.clause("OS-37", "RB-31")
def test_a_closed_store_refuses_every_use(make: Callable[..., Store]) -> None:
    writer, reader = filled(make, 1000, 100)
    address, monotonic_id, signature, key = handle_of(writer, "0")
    reader.close()
    writer.close()
    uses: list[Callable[[], Any]] = [
        lambda: writer.put("a", 1),
        lambda: writer.put(key, 1),
        lambda: writer.is_cached(key),
        lambda: writer.get_cached(key),
        lambda: writer.touch(key),
        lambda: writer.touch("a"),
        writer.release_touches,
        lambda: writer.get_signature(key),
        lambda: writer.get(address, monotonic_id),
        writer.free_unused,
        writer.clear,
    ]
    for store in (writer, reader):
        uses.append(lambda store=store: store.verify_signature(key, address, monotonic_id, signature))
    uses.append(lambda: reader.get(address, monotonic_id, signature, key))
    uses.append(lambda: reader.touch(key, address, monotonic_id, signature))
    for use in uses:
        with pytest.raises(AssertionError, match="has been closed"):
            use()


@pytest.mark.clause("OS-40")
def test_a_writer_that_cannot_have_the_lock_frees_and_clears_nothing(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_chunks, "LOCK_SECONDS", 0.01)
    lock = multiprocessing.Lock()
    writer = make(300, lock=lock)
    reader = make(writer)
    writer.put("a", sized(200))
    reader.get(*handle_of(writer, "a"))
    before = state(writer), segment(writer)
    for use in (lambda: writer.put("b", sized(200)), writer.free_unused, writer.clear):
        with lock, pytest.raises(RuntimeError, match="died holding it"):
            use()
        assert (state(writer), segment(writer)) == before
    writer.put("b", sized(200))
    assert list(writer.key_index) == ["b"]


@pytest.mark.clause("OS-40")
def test_a_lock_that_nobody_gives_back_is_said_loudly(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_chunks, "LOCK_SECONDS", 0.01)
    lock = multiprocessing.Lock()
    writer = make(lock=lock)
    reader = make(writer)
    writer.put("a", 1)
    with lock, pytest.raises(RuntimeError, match="died holding it"):
        reader.get(*handle_of(writer, "a"))
    assert count(writer, "a") == 0
    assert reader.get(*handle_of(writer, "a")) == 1


def _read_what_is_told(handle: Any, channel: Any) -> None:
    """Read each object whose handle comes; say how many were whole, stale, or of another object's bytes."""
    reader = Store.create_from_handle(handle)
    whole = stale = torn = 0
    channel.send("ready")
    while (told := channel.recv()) is not None:
        number, wanted = told
        try:
            array = reader.get(*wanted)
        except StaleHandleError:
            stale += 1
            continue
        if (array == number % 251).all():
            whole += 1
        else:
            torn += 1
    channel.send((whole, stale, torn))
    reader.close()


@pytest.mark.clause("OS-22", "OS-23", "OS-41")
def test_beside_a_writer_that_clears_a_reader_gets_whole_objects_or_the_error(
    make: Callable[..., Store],
) -> None:
    """Objects of one byte each, again and again in the same place. Without a second look some are torn."""
    size, rounds = 1 << 22, 600
    spawn = multiprocessing.get_context("spawn")
    writer = make(2 * size, 2 * size, lock=spawn.Lock())
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_read_what_is_told, args=(writer.handle(), theirs))
    process.start()
    assert ours.recv() == "ready"
    for number in range(rounds):
        writer.clear()
        writer.put("a", np.full(size, number % 251, np.uint8))
        ours.send((number, handle_of(writer, "a")))
        if number % 3:
            time.sleep(0.0005)
    ours.send(None)
    whole, stale, torn = ours.recv()
    process.join(timeout=50)
    assert torn == 0
    assert whole + stale == rounds
