"""One process of the benchmark: it times batches of calls and says how many seconds they took.

Nothing that is timed waits for another process. Seconds are those of the clock, or those of the processor, in
which what else runs on the machine does not count (nor do threads that wait, unless they spin).
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from multiprocessing import shared_memory
from time import perf_counter, process_time
from typing import Any, Final

import numpy as np

from mmcache_ref.oracle.collector import no_collection
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.targets import resolve

OVERHEAD: Final = 4096
"""Bytes of a chunk that are not the payload: more than any target needs."""
SETTLING_BYTES: Final = 31 * 2**20
"""A little less than the largest block whose end changes what the C library keeps for later."""
ENTRIES: Final = 500
ENTRY_BYTES: Final = 1024

CLOCKS: Final[dict[str, Callable[[], float]]] = {"wall": perf_counter, "processor": process_time}

Handle = tuple[str, int, int, Any]
"""Key, address, id and signature."""


class StoreBench:
    """The object store of a target, as its writer or as its reader, with the target's own serde."""

    def __init__(self, lock: Any, target: str, clock: str, threads: int) -> None:
        self.clock = CLOCKS[clock]
        self.target = resolve(target)
        settle()
        names = ("SingleWriterShmRingBuffer", "SingleWriterShmObjectStorage", "MultiModalCache")
        missing = [name for name in names if not hasattr(self.target, name)]
        if missing:
            raise TargetUnavailable(f"{target} has no {' and no '.join(missing)}")
        self.has_torch = importlib.util.find_spec("torch") is not None
        if threads:
            set_torch_threads(threads)
        self.lock = lock
        self.store: Any = None
        self.values: list[Any] = []
        self.number = 0

    def open(self, name: str, size: int, batch: int, create: bool) -> None:
        """A ring for two batches of objects of `size` bytes."""
        ring = self.target.SingleWriterShmRingBuffer(ring_bytes(size, batch), name=name, create=create)
        self.store = self.target.SingleWriterShmObjectStorage(
            max_object_size=size + OVERHEAD,
            n_readers=1,
            ring_buffer=ring,
            reader_lock=None if create else self.lock,
        )
        if create:
            self.values = [self._item(size, fill) for fill in range(min(batch, 2))]

    def _item(self, size: int, fill: int) -> Any:
        """An item of one tensor; of one array where PyTorch is not installed."""
        payload: Any = np.full(size, fill, np.uint8)
        if self.has_torch:
            import torch

            payload = torch.from_numpy(payload)
        return self.target.make_item({"pixels": payload})

    def put(self, batch: int) -> tuple[float, list[Handle]]:
        """Store a batch of new objects: the seconds it took, and their handles."""
        keys = [f"{self.number + each}" for each in range(batch)]
        self.number += batch
        values = [self.values[each % len(self.values)] for each in range(batch)]
        put = self.store.put
        with timed(self.clock) as seconds:
            places = [put(key, value) for key, value in zip(keys, values, strict=True)]
            signatures = [self.store.get_signature(key) for key in keys]
        handles = [
            (key, *place, signature) for key, place, signature in zip(keys, places, signatures, strict=True)
        ]
        return seconds(), handles

    def get(self, handles: list[Handle], is_checked: bool) -> float:
        """Copy a batch of objects out, to have them all at once as a step has: the seconds it took."""
        get = self.store.get
        with timed(self.clock) as seconds:
            values = [
                get(address, monotonic_id, signature, key)
                for key, address, monotonic_id, signature in handles
            ]
        if is_checked:
            must_hold(values[-1]["pixels"].data, (len(handles) - 1) % 2)
        return seconds()

    def close(self) -> None:
        store, self.store, self.values = self.store, None, []
        if store is not None:
            store.close()

    def lru(self, case: str, count: int) -> float:
        """Seconds of `count` lookups of an LRU with `ENTRIES` items of `ENTRY_BYTES` each."""
        items = self.target.MultiModalKwargsItem
        cache = self.target.MultiModalCache.get_lru_cache(ENTRIES * ENTRY_BYTES / 2**30, items)
        for each in range(ENTRIES):
            cache[f"entry {each}"] = self._item(ENTRY_BYTES, 0)
        new = [self._item(ENTRY_BYTES, 0) for _ in range(count)] if case == "miss with eviction" else []
        known = [f"entry {each % ENTRIES}" for each in range(count)]
        unknown = [f"new {each}" for each in range(count)]
        with timed(self.clock) as seconds:
            if case == "hit":
                for key in known:
                    cache.get(key)
            elif case == "miss":
                for key in unknown:
                    cache.get(key)
            else:
                for key, item in zip(unknown, new, strict=True):
                    if cache.get(key) is None:
                        cache[key] = item
        if len(cache) != ENTRIES:
            raise AssertionError(f"{len(cache)} entries where {ENTRIES} fit")
        return seconds()


class CopyBench:
    """What no store can do without: the same bytes into shared memory, and out into fresh memory."""

    def __init__(self, lock: Any, target: str, clock: str, threads: int) -> None:
        self.clock = CLOCKS[clock]
        settle()
        self.segment: shared_memory.SharedMemory | None = None
        self.source: Any = None

    def open(self, name: str, size: int, batch: int, create: bool) -> None:
        bytes_made = (batch + 1) * size if create else 0
        self.segment = shared_memory.SharedMemory(name, create=create, size=bytes_made)
        self.is_owner = create
        self.size = size
        self.places = batch + 1
        self.number = 0
        self.source = [np.full(size, fill, np.uint8) for fill in range(min(batch, 2))] if create else []

    def put(self, batch: int) -> tuple[float, list[Handle]]:
        memory = self._memory()
        begins = [(self.number + each) % self.places * self.size for each in range(batch)]
        self.number += batch
        sources = [self.source[each % len(self.source)] for each in range(batch)]
        with timed(self.clock) as seconds:
            for begin, source in zip(begins, sources, strict=True):
                np.copyto(memory[begin : begin + self.size], source)
        return seconds(), [("", begin, 0, None) for begin in begins]

    def get(self, handles: list[Handle], is_checked: bool) -> float:
        memory = self._memory()
        copies = []
        with timed(self.clock) as seconds:
            for _, begin, _, _ in handles:
                copy = np.empty(self.size, np.uint8)
                np.copyto(copy, memory[begin : begin + self.size])
                copies.append(copy)
        if is_checked:
            must_hold(copies[-1], (len(handles) - 1) % 2)
        return seconds()

    def _memory(self) -> Any:
        assert self.segment is not None
        assert self.segment.buf is not None
        return np.frombuffer(self.segment.buf, np.uint8)

    def close(self) -> None:
        segment, self.segment = self.segment, None
        self.source = None
        if segment is not None:
            segment.close()
            if self.is_owner:
                segment.unlink()


def ring_bytes(size: int, batch: int) -> int:
    """Room for two batches of one object each, or for one batch of several and one object more."""
    return (batch + 1) * (size + OVERHEAD)


def set_torch_threads(threads: int) -> None:
    """So many threads for what PyTorch copies, where it is installed."""
    if importlib.util.find_spec("torch") is not None:
        import torch

        torch.set_num_threads(threads)


def settle() -> None:
    """Bring this process to where a process of some age is: free memory is kept for the next object.

    The GNU C library gives memory back to the system at once until a large block was freed, and then keeps up
    to twice the size of that block. Whose process had one by chance would have fewer page faults.
    """
    np.empty(SETTLING_BYTES, np.uint8)


@contextlib.contextmanager
def timed(clock: Callable[[], float]) -> Iterator[Callable[[], float]]:
    """What is yielded tells, afterwards, the seconds spent inside; garbage is not collected there."""
    with no_collection():
        times = [clock()]
        try:
            yield lambda: times[1] - times[0]
        finally:
            times.append(clock())


def must_hold(payload: Any, fill: int) -> None:
    """`AssertionError` unless the payload is the one that was put last."""
    found = {int(payload[index]) for index in (0, len(payload) // 2, -1)}
    if found != {fill}:
        raise AssertionError(f"read bytes {sorted(found)} where {fill} was put")
