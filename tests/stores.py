"""What the tests of the object store share. `sized(n)` is an object whose chunk has exactly n bytes."""

from __future__ import annotations

import multiprocessing
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mmcache_ref.reference.object_store import SingleWriterShmObjectStorage
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer
from mmcache_ref.reference.serde import MsgpackSerde, ObjectSerde

OVERHEAD = 35
"""Header, reader count, seal, length and structure of a short byte string."""

Store = SingleWriterShmObjectStorage
Handle = tuple[int, int, list[int], str]


def sized(chunk: int, fill: bytes = b"x") -> bytes:
    """A value whose chunk has that many bytes: from 128 and from 256 on its length takes a byte more."""
    length = chunk - OVERHEAD
    longer = length - 1 if 128 < length <= 256 else length - 2 if length > 256 else length
    return fill * longer


@pytest.fixture
def make() -> Iterator[Callable[..., Store]]:
    """Makes writers, and readers of them; closes them all."""
    stores: list[Store] = []

    def new(
        capacity: int | Store = 1000,
        limit: int = 1000,
        readers: int = 1,
        serde: type[ObjectSerde] = MsgpackSerde,
        lock: Any = None,
    ) -> Store:
        if isinstance(capacity, Store):
            handle = capacity.handle()
            handle.reader_lock = handle.reader_lock or multiprocessing.Lock()
            store = Store.create_from_handle(handle)
        else:
            ring = SingleWriterShmRingBuffer(capacity, create=True)
            store = Store(limit, readers, ring, serde, lock)
        stores.append(store)
        return store

    yield new
    for store in reversed(stores):
        store.close()


def handle_of(store: Store, key: str) -> Handle:
    return (*store.key_index[key], store.get_signature(key), key)


def state(store: Store) -> tuple[Any, ...]:
    """All that the writer keeps, to see that nothing has changed."""
    ring = store.ring_buffer
    return (
        dict(store.key_index),
        dict(store.id_index),
        dict(store.writer_flag),
        set(store._touched),
        dict(ring.metadata),
        (ring.data_buffer_start, ring.data_buffer_end, ring.monotonic_id_start, ring.monotonic_id_end),
    )


def count(store: Store, key: str) -> int:
    """The reader count in the segment."""
    with store.ring_buffer.access_buf(store.key_index[key][0]) as (payload, _):
        return int(struct.unpack_from("<i", payload)[0])


def segment(store: Store) -> bytes:
    return bytes(store.ring_buffer.shared_memory.buf)


def filled(make: Callable[..., Store], capacity: int, *chunks: int, limit: int = 1000) -> tuple[Store, Store]:
    """A writer with the objects "0", "1", … of those chunk sizes, and a reader that has read them all."""
    writer = make(capacity, limit)
    reader = make(writer)
    for number, chunk in enumerate(chunks):
        writer.put(str(number), sized(chunk))
        reader.get(*handle_of(writer, str(number)))
    return writer, reader


class WatchedLock:
    """A lock that knows whether it is held, and how often it was taken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.taken = 0

    def acquire(self, block: bool = True, timeout: float = -1) -> bool:
        self.taken += 1
        return self._lock.acquire(block, timeout)

    def release(self) -> None:
        self._lock.release()

    @property
    def is_held(self) -> bool:
        return self._lock.locked()
