"""Stores with one race each, and stores that look like it and have none: all else is the reference."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from mmcache_ref.reference import SingleWriterShmObjectStorage, SingleWriterShmRingBuffer
from mmcache_ref.reference.handles import verified
from mmcache_ref.reference.object_chunks import COUNT, HEAD
from mmcache_ref.reference.seals import NO_SEAL, SEAL_BYTES, seal

NUMBER = struct.Struct("<i")


class Store(SingleWriterShmObjectStorage):
    """What the stores below have in common: a reader's steps by name."""

    def is_in_place(self, begin: int, monotonic_id: int, signature: bytes) -> bool:
        return self._size_in_place(begin, monotonic_id, signature) is not None

    def count(self, begin: int) -> None:
        self.increment_reader_flag(self._memory[begin + HEAD.size - COUNT.size :])

    @property
    def lock(self) -> Any:
        return self._reader_lock


class CountsWithoutLock(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        if not self.is_in_place(*handle):
            return False
        self.count(handle[0])
        return True


class CountsBeforeItCompares(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        with self.lock:
            self.count(handle[0])
            return self.is_in_place(*handle)


class ComparesBeforeTheLock(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        if not self.is_in_place(*handle):
            return False
        with self.lock:
            self.count(handle[0])
        return True


class GivesTheLockBackInBetween(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        with self.lock:
            is_there = self.is_in_place(*handle)
        if is_there:
            with self.lock:
                self.count(handle[0])
        return is_there


class ReadsTheCountBeforeTheLock(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        place = handle[0] + HEAD.size - COUNT.size
        (count,) = COUNT.unpack_from(self._memory, place)
        with self.lock:
            is_there = self.is_in_place(*handle)
            if is_there:
                COUNT.pack_into(self._memory, place, count + 1)
        return is_there


class CountsInOneLine(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        is_there = self.is_in_place(*handle)
        if is_there:
            self._memory[handle[0] + HEAD.size - COUNT.size] += 1
        return is_there


class DoesNotWaitForTheLock(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        has_lock = self.lock.acquire(False)
        is_there = self.is_in_place(*handle)
        if is_there:
            self.count(handle[0])
        if has_lock:
            self.lock.release()
        return is_there


class CountsOnlyWhenTheLockIsFree(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        if not self.lock.acquire(False):
            return self.is_in_place(*handle)
        self.lock.release()
        return super()._acknowledge(*handle)


class HasALockOfItsOwn(Store):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._reader_lock: Any = threading.Lock()


class KeepsTheLockOfAStaleHandle(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        self.lock.acquire()
        if not self.is_in_place(*handle):
            return False
        self.count(handle[0])
        self.lock.release()
        return True


class AcknowledgesBeforeItCopies(Store):
    def get(self, address: int, monotonic_id: int, signature: Any = None, key: str | None = None) -> Any:
        handle = self._verified(key, address, monotonic_id, signature)
        begin = self._place(address)
        size = self._size_in_place(begin, monotonic_id, handle)
        if size is None or not self._acknowledge(begin, monotonic_id, handle):
            raise self._stale(address, monotonic_id)
        return self.ser_de.deserialize(self._memory[begin + HEAD.size : begin + size])


class ComparesTheIdAlone(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        with self.lock:
            is_there = bool(NUMBER.unpack_from(self._memory, handle[0])[0] == handle[1])
            if is_there:
                self.count(handle[0])
        return is_there


class LooksForTheSecretEachTime(Store):
    """And its writer wipes it before it restores it."""

    def _verified(self, key: Any, address: Any, monotonic_id: Any, signature: Any) -> bytes:
        return verified(self._current_secret(), key, address, monotonic_id, signature)

    def _restore_secret(self) -> None:
        self._memory[: len(self._secret)] = bytes(len(self._secret))
        super()._restore_secret()


class SealsBeforeItCopies(Store):
    def _publish(
        self, address: int, signature: bytes, data: Any, data_bytes: int, metadata: bytes, md_bytes: int
    ) -> None:
        begin = self._place(address) + HEAD.size
        size = HEAD.size + md_bytes + data_bytes
        complete = seal(self._secret, signature, size)
        COUNT.pack_into(self._memory, begin - COUNT.size, 0)
        self._memory[begin : begin + SEAL_BYTES] = complete
        self._memory[begin + SEAL_BYTES : begin + md_bytes] = metadata[SEAL_BYTES:]
        begin += md_bytes
        for part in data:
            self._memory[begin : begin + len(part)] = part
            begin += len(part)


class FreesWithoutTheLock(Store):
    @contextmanager
    def _no_reader_counts(self) -> Iterator[None]:
        yield


class WipesBehindTheLock(Store):
    def _wipe(self, addresses: Iterable[int]) -> None:
        self._unwiped = [*addresses]

    @contextmanager
    def _no_reader_counts(self) -> Iterator[None]:
        with super()._no_reader_counts():
            yield
        super()._wipe(self._unwiped)


class WipesOnlyInAClear(Store):
    def _free(self, nbytes: int) -> list[int]:
        usual, self._wipe = self._wipe, lambda addresses: None  # type: ignore[method-assign]
        try:
            return super()._free(nbytes)
        finally:
            self._wipe = usual  # type: ignore[method-assign]


class RingThatReadsTheHeaderTwice(SingleWriterShmRingBuffer):
    def payload_at(self, address: int) -> tuple[memoryview, tuple[int, int]]:
        _, header = super().payload_at(address)
        begin = self.DATA_OFFSET + address % self.data_buffer_size
        (size,) = NUMBER.unpack_from(self.shared_memory.buf, begin + NUMBER.size)
        return self.shared_memory.buf[begin + self.MD_SIZE : begin + size], (header[0], size)


class RingThatWritesBeforeItLooks(SingleWriterShmRingBuffer):
    """For room; and puts back what was there if there is none."""

    def allocate_buf(self, size: int) -> tuple[int, int]:
        buf = self.shared_memory.buf
        begin = self.DATA_OFFSET + self.data_buffer_end % self.data_buffer_size
        before = bytes(buf[begin : begin + self.MD_SIZE])
        buf[begin : begin + self.MD_SIZE] = bytes(self.MD_SIZE)
        try:
            return super().allocate_buf(size)
        except MemoryError:
            buf[begin : begin + self.MD_SIZE] = before
            raise


class RingThatWipesBeforeItAsks(SingleWriterShmRingBuffer):
    """And writes the ids again of the chunks that it does not free."""

    def free_buf(self, is_free_fn: Callable[[int, memoryview], bool], nbytes: int | None = None) -> list[int]:
        buf = self.shared_memory.buf
        places = {each: self.DATA_OFFSET + at % self.data_buffer_size for each, at in self.metadata.items()}
        for begin in places.values():
            NUMBER.pack_into(buf, begin, -1)
        freed = super().free_buf(is_free_fn, nbytes)
        for identifier in self.metadata:
            NUMBER.pack_into(buf, places[identifier], identifier)
        return freed


# Without a race


class ClearsTwice(Store):
    """Once before the lock is taken, and again under it."""

    def clear(self) -> None:
        self._wipe([address for address, _ in self.key_index.values()])
        with self._no_reader_counts():
            self.ring_buffer.clear()
        super().clear()


class ReadsItsSizeAgain(Store):
    def _size_in_place(self, begin: int, monotonic_id: int, signature: bytes) -> int | None:
        if super()._size_in_place(begin, monotonic_id, signature) is None:
            return None
        return int(NUMBER.unpack_from(self._memory, begin + NUMBER.size)[0])


class WipesBeforeTheLock(Store):
    """Whoever compared before the wipe has counted when the lock is free again."""

    def _free(self, nbytes: int) -> list[int]:
        freed = list(self.ring_buffer.free_buf(self.default_is_free_check, nbytes))
        addresses = []
        for monotonic_id in freed:
            addresses.append(self.key_index.pop(self.id_index.pop(monotonic_id))[0])
            del self.writer_flag[monotonic_id], self._signatures[monotonic_id]
        self._wipe(addresses)
        with self._no_reader_counts():
            return freed


class WipesTwice(Store):
    def _wipe(self, addresses: Iterable[int]) -> None:
        for address in addresses:
            place = self._place(address) + HEAD.size
            for _ in range(2):
                self._memory[place : place + SEAL_BYTES] = NO_SEAL


class RingWithAHeaderInTwoSteps(SingleWriterShmRingBuffer):
    def _write_header(self, buf: memoryview, address: int, identifier: int, chunk_size: int) -> None:
        begin = self.DATA_OFFSET + address % self.data_buffer_size
        NUMBER.pack_into(buf, begin, identifier)
        NUMBER.pack_into(buf, begin + NUMBER.size, chunk_size)


class TriesTheLockUntilItIsFree(Store):
    def _acknowledge(self, *handle: Any) -> bool:
        while not self.lock.acquire(False):
            pass
        try:
            is_there = self.is_in_place(*handle)
            if is_there:
                self.count(handle[0])
            return is_there
        finally:
            self.lock.release()
