"""The chunks of the object store, byte by byte: what stands where, and in which order it gets there."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Lock
from typing import Any, Final

from .ring_buffer import SingleWriterShmRingBuffer
from .ring_placement import HEADER_BYTES
from .seals import MARK_BYTES, NO_SEAL, SEAL_BYTES, barrier, is_marked, marked, seal

HEAD: Final = struct.Struct("<iii")
"""Id, size of the chunk, reader count."""
HEAD_BYTES: Final = HEAD.size
SEALED_HEAD: Final = struct.Struct("<iii16s")
"""Id, size of the chunk, reader count, seal."""
SEALED_HEAD_BYTES: Final = SEALED_HEAD.size
COUNT: Final = struct.Struct("<i")
LARGEST_COUNT: Final = 2 ** (8 * COUNT.size - 1) - 1
LOCK_SECONDS: Final = 60.0
"""A reader holds the lock for microseconds; one that has it for so long is dead."""


class ObjectChunks:
    """Objects in the chunks of a ring, with seals if the serde leaves room for them.

    `begin` is where a chunk begins in the segment, and `signature` is that of its handle.
    """

    flag_bytes: Final = COUNT.size

    def __init__(
        self, ring_buffer: SingleWriterShmRingBuffer, has_seals: bool, reader_lock: Lock | None
    ) -> None:
        self.ring_buffer = ring_buffer
        self.is_writer = ring_buffer.is_writer
        self._memory = ring_buffer.shared_memory.buf
        self._capacity = ring_buffer.data_buffer_size
        self._area_begin = ring_buffer.DATA_OFFSET
        self._area_end = self._area_begin + self._capacity
        self._has_seals = has_seals
        self._reader_lock = reader_lock
        self._secret = b""
        self._last_seal = b"", 0, NO_SEAL
        self._checks_seals = False
        self._is_closed = False
        if self.is_writer and has_seals:
            self._mark_secret()
        self._current_secret()

    def _mark_secret(self) -> None:
        """Say in the segment that this writer seals.   [OS-22]"""
        end = self.ring_buffer.AUTH_SECRET_BYTES
        mark = marked(self.ring_buffer.get_auth_secret())[-MARK_BYTES:]
        self.ring_buffer.shared_memory.buf[end - MARK_BYTES : end] = mark

    def _current_secret(self) -> bytes:
        """The secret of the segment; notes whether its writer seals.   [OS-22, OS-43]

        The writer asks the segment once: what others write there later is not its secret.
        """
        if self.is_writer and self._secret and not self._is_closed:
            return self._secret
        secret = self.ring_buffer.get_auth_secret()
        if secret != self._secret:
            self._secret = secret
            self._checks_seals = self._has_seals and is_marked(secret)
        return secret

    def _restore_secret(self) -> None:
        """Write the secret into the segment again, whatever stands there.   [OS-43]"""
        self._memory[: len(self._secret)] = self._secret

    def _closed(self) -> AssertionError:
        """What a use of a closed store raises: what a closed ring does.   [OS-37, RB-31]"""
        return AssertionError(f"the buffer {self.ring_buffer.shared_memory.name!r} has been closed")

    def _place(self, address: int) -> int:
        """Where in the segment the chunk at a virtual address begins."""
        return self._area_begin + address % self._capacity

    def _publish(
        self, address: int, signature: bytes, data: Any, data_bytes: int, metadata: bytes, md_bytes: int
    ) -> None:
        """Reader count, then the payload with no seal, then the seal.   [OS-08]"""
        memory, begin = self._memory, self._place(address)
        payload = begin + HEAD_BYTES
        end = payload + md_bytes + data_bytes
        COUNT.pack_into(memory, payload - COUNT.size, 0)
        self.copy_to_buffer(data, data_bytes, metadata, md_bytes, memory[payload:end])
        if self._has_seals:
            barrier()
            memory[payload : payload + SEAL_BYTES] = seal(self._secret, signature, end - begin)
            barrier()

    def copy_to_buffer(
        self, data: Any, data_bytes: int, metadata: bytes, md_bytes: int, data_view: memoryview
    ) -> None:
        """Copy metadata and data; where the seal goes, zeros.   [OS-01]

        Raises `ValueError` when the bytes are not as many as was said.
        """
        data_view[:md_bytes] = metadata
        if self._has_seals:
            if md_bytes < SEAL_BYTES:
                raise ValueError(
                    f"the serde has SEAL_BYTES, and its metadata of {md_bytes} bytes no room for them"
                )
            data_view[:SEAL_BYTES] = NO_SEAL
        position = md_bytes
        for part in data if isinstance(data, list) else [data]:
            data_view[position : position + len(part)] = part
            position += len(part)
        if position != md_bytes + data_bytes:
            raise ValueError(f"the serde said {data_bytes} bytes of data, and gave {position - md_bytes}")

    def _size_in_place(self, begin: int, monotonic_id: int, signature: bytes) -> int | None:
        """The size of the chunk at this place if it is the handle's, else `None`.   [OS-21, OS-22, OS-42]"""
        room = self._area_end - begin
        least = SEALED_HEAD_BYTES if self._checks_seals else HEAD_BYTES
        if room < least:
            return None
        size: int
        if self._checks_seals:
            found_id, size, _, found_seal = SEALED_HEAD.unpack_from(self._memory, begin)
        else:
            found_id, size, _ = HEAD.unpack_from(self._memory, begin)
        if found_id != monotonic_id or not least <= size <= room:
            return None
        if self._checks_seals and found_seal != self._seal(signature, size):
            return None
        return size

    def _seal(self, signature: bytes, size: int) -> bytes:
        """The seal of a chunk, made once for the look before a copy and the one behind it.   [OS-22]

        The very signature is that of one handle under one secret.
        """
        known, known_size, made = self._last_seal
        if signature is not known or size != known_size:
            made = seal(self._secret, signature, size)
            self._last_seal = signature, size, made
        return made

    def _acknowledge(self, begin: int, monotonic_id: int, signature: bytes) -> bool:
        """Count one read if the chunk is still in its place; whether it is.   [OS-23, OS-32, OS-41, OS-46]"""
        barrier()
        if self._reader_lock is None:
            return self._size_in_place(begin, monotonic_id, signature) is not None
        self._lock(self._reader_lock)
        try:
            if self._size_in_place(begin, monotonic_id, signature) is None:
                return False
            self.increment_reader_flag(self._memory[begin + HEADER_BYTES : begin + HEAD_BYTES])
            return True
        finally:
            self._reader_lock.release()

    @staticmethod
    def _lock(lock: Lock) -> None:
        """Take the readers' lock, or say loudly that somebody died with it.   [OS-40]"""
        if not lock.acquire(timeout=LOCK_SECONDS):
            raise RuntimeError(
                f"the readers' lock was not free for {LOCK_SECONDS} s: a process may have died holding it. "
                "Start the workers again with a new lock"
            )

    def increment_reader_flag(self, data_view: memoryview) -> None:
        """Add one to the reader count with which the view begins; the caller holds the lock.   [OS-20, OS-45]

        The largest count stays: nobody has read so often, something else has written there.
        """
        (count,) = COUNT.unpack_from(data_view)
        COUNT.pack_into(data_view, 0, count + 1 if count < LARGEST_COUNT else LARGEST_COUNT)

    @contextmanager
    def _no_reader_counts(self) -> Iterator[None]:
        """Holds the lock while seals go, if the writer has it.   [OS-23, OS-46]

        It is taken before anything changes: who cannot have it has changed nothing.   [OS-40]
        """
        if self._reader_lock is None or not self._has_seals:
            yield
            return
        self._lock(self._reader_lock)
        try:
            yield
        finally:
            self._reader_lock.release()

    def _wipe(self, addresses: Iterable[int]) -> None:
        """Make the seals at these addresses invalid; no reader counts meanwhile.   [OS-26]"""
        if self._has_seals:
            memory, capacity, first = self._memory, self._capacity, self._area_begin + HEAD_BYTES
            for address in addresses:
                place = first + address % capacity
                memory[place : place + SEAL_BYTES] = NO_SEAL
            barrier()
