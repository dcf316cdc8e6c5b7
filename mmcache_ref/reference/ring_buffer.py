"""A ring of byte chunks in shared memory: one process writes, others read.

The writer alone knows which chunks are live; the segment holds only the secret and the chunks. Where a
chunk goes is decided by the functions of `ring_placement`, where the memory comes from by `segments`. Not
safe for use by several threads of the writer at once.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from struct import Struct

from . import segments
from .ring_placement import HEADER_BYTES, NO_ROOM, free_up_to, is_chunk, next_id, place

HEADER = Struct("<ii")


class SingleWriterShmRingBuffer:
    """Chunks of bytes in one shared-memory segment, freed in order of allocation.   [RB-01]

    `metadata` maps the id of each live chunk to its address, oldest first; `data_buffer_start` and
    `data_buffer_end` are begin and end, `monotonic_id_start` and `monotonic_id_end` the oldest live id
    and the next one. Only the writer's are kept: a reader learns addresses from elsewhere.

    Args:
        data_buffer_size: the capacity in bytes, headers of chunks included.
        name: of the segment; a writer without one makes one up.
        create: whether this is the writer, who creates the segment, or a reader, who attaches to it.
    """

    ID_NBYTES = 4
    SIZE_NBYTES = 4
    MD_SIZE = HEADER_BYTES
    AUTH_SECRET_BYTES = 32
    DATA_OFFSET = 32
    ID_MAX = 2**31

    def __init__(self, data_buffer_size: int, name: str | None = None, create: bool = False) -> None:
        if data_buffer_size < 1:
            raise ValueError(f"a ring has a capacity of 1 byte or more, not {data_buffer_size!r}")
        self.data_buffer_size = data_buffer_size
        self.is_writer = create
        # A plain dictionary would look for its first key behind all that were deleted before it.
        self.metadata: dict[int, int] = OrderedDict()
        self._sizes: dict[int, int] = {}
        self.data_buffer_start = self.data_buffer_end = 0
        self.monotonic_id_start = self.monotonic_id_end = 0
        size = self.DATA_OFFSET + data_buffer_size
        if create:
            self.shared_memory = segments.create(size, name)
            self._init_auth_secret()
        elif name is not None:
            self.shared_memory = segments.attach(name, size)
        else:
            raise ValueError("a reader needs the name of the segment: take it from the writer's handle()")

    def handle(self) -> tuple[int, str]:
        """Capacity and name: what a reader is made of.   [RB-26]"""
        return self.data_buffer_size, self.shared_memory.name

    def get_auth_secret(self) -> bytes:
        """The 32 bytes that sign handles.   [RB-02]"""
        return bytes(self.shared_memory.buf[: self.AUTH_SECRET_BYTES])

    def _init_auth_secret(self) -> None:
        """Fill the secret at random.   [RB-02]"""
        self.shared_memory.buf[: self.AUTH_SECRET_BYTES] = secrets.token_bytes(self.AUTH_SECRET_BYTES)

    def int2byte(self, integer: int) -> bytes:
        """The 4 bytes of a number as they stand in a header, or `OverflowError`.   [RB-04]"""
        return integer.to_bytes(self.ID_NBYTES, "little", signed=True)

    def byte2int(self, byte_data: bytes) -> int:
        """The number that such bytes stand for.   [RB-04]"""
        return int.from_bytes(byte_data, "little", signed=True)

    def allocate_buf(self, size: int) -> tuple[int, int]:
        """Room for `size` bytes behind the youngest chunk: its address and its id.   [RB-06, RB-07, RB-08]

        Raises:
            AssertionError: `size` is not positive, or this is not the writer.
            MemoryError: there is no room now, or the chunk is too large for a header; nothing changes.
        """
        buf = self._writable("allocate buffers")
        if size <= 0:
            raise AssertionError(f"Size must be greater than 0, not {size}")
        chunk_size = size + HEADER_BYTES
        address = place(self.data_buffer_start, self.data_buffer_end, chunk_size, self.data_buffer_size)
        if address == NO_ROOM or not self._has_free_id():
            raise MemoryError(
                f"Not enough space in the data buffer for {chunk_size} of {self.data_buffer_size} bytes: "
                "call free_buf() to free what is not needed any more"
            )
        identifier = self.monotonic_id_end
        self._write_header(buf, address, identifier, chunk_size)
        self.metadata[identifier] = address
        self._sizes[identifier] = chunk_size
        self.data_buffer_end = address + chunk_size
        self.monotonic_id_end = next_id(identifier, self.ID_MAX)
        return address, identifier

    def _has_free_id(self) -> bool:
        """Whether the next id is that of no live chunk.   [RB-11]"""
        return self.monotonic_id_end not in self.metadata

    def _write_header(self, buf: memoryview, address: int, identifier: int, chunk_size: int) -> None:
        """The first bytes of a chunk that are written, before its address is handed out.   [RB-03, RB-29]"""
        HEADER.pack_into(buf, self.DATA_OFFSET + address % self.data_buffer_size, identifier, chunk_size)

    def payload_at(self, address: int) -> tuple[memoryview, tuple[int, int]]:
        """The payload of the chunk at an address, and its id and size as the segment has them.   [RB-14]

        Raises `ValueError` when what stands there cannot be the header of a chunk.   [RB-15]
        """
        buf = self.shared_memory.buf
        capacity = self.data_buffer_size
        place_in_area = address % capacity
        if place_in_area + HEADER_BYTES < capacity:
            begin = self.DATA_OFFSET + place_in_area
            header = HEADER.unpack_from(buf, begin)
            if is_chunk(place_in_area, header[1], capacity):
                return buf[begin + HEADER_BYTES : begin + header[1]], header
        raise ValueError(
            f"there is no chunk at the address {address}: the data there has been modified or is invalid"
        )

    @contextmanager
    def access_buf(self, address: int) -> Iterator[tuple[memoryview, tuple[int, int]]]:
        """As `payload_at`, and the view ends with the `with` block.   [RB-14]"""
        payload, header = self.payload_at(address)
        with payload:
            yield payload, header

    def free_buf(self, is_free_fn: Callable[[int, memoryview], bool], nbytes: int | None = None) -> list[int]:
        """Free the oldest chunks while each is free, and return their ids in order.   [RB-16, RB-18, RB-19]

        With `nbytes` it stops when chunks of so many bytes in all are freed. Every question is asked before
        anything changes, so one that raises changes nothing.
        """
        buf = self._writable("free buffers")
        freed = self._free_prefix(buf, is_free_fn, self.data_buffer_size if nbytes is None else nbytes)
        self._forget(freed)
        return freed

    def _free_prefix(
        self, buf: memoryview, is_free: Callable[[int, memoryview], bool], nbytes: int
    ) -> list[int]:
        """The ids of the oldest chunks that are free, up to `nbytes` bytes.   [IF-20, RB-16, RB-17, RB-24]"""
        free: list[int] = []
        free_bytes = 0
        sizes, offset, capacity = self._sizes, self.DATA_OFFSET, self.data_buffer_size
        for identifier, address in self.metadata.items():
            if free_bytes >= nbytes:
                break
            size = sizes[identifier]
            begin = offset + address % capacity
            payload = buf[begin + HEADER_BYTES : begin + size]
            try:
                if not is_free(identifier, payload):
                    break
            finally:
                payload.release()
            free.append(identifier)
            free_bytes += size
        return free

    def _forget(self, freed: list[int]) -> None:
        """Drop these oldest chunks; begin is the oldest that is left, or 0.   [RB-12, RB-13, RB-20, RB-25]"""
        metadata, sizes = self.metadata, self._sizes
        for identifier in freed:
            del metadata[identifier], sizes[identifier]
        if not metadata:
            self.monotonic_id_start = self.monotonic_id_end
            self.data_buffer_start = self.data_buffer_end = 0
        elif freed:
            self.monotonic_id_start, oldest = next(iter(metadata.items()))
            self.data_buffer_start, self.data_buffer_end = free_up_to(
                self.data_buffer_start, self.data_buffer_end, oldest, self.data_buffer_size
            )

    def clear(self) -> None:
        """Forget every chunk; ids go on.   [RB-21]"""
        self._writable("clear the buffer")
        self._forget(list(self.metadata))

    def close(self) -> None:
        """Unmap the segment, and if this is the writer remove its name; again: nothing.   [RB-30]"""
        self.shared_memory.close()

    def _writable(self, deed: str) -> memoryview:
        """The bytes of the segment, or `AssertionError` unless this is an open writer.   [RB-28, RB-31]"""
        if not self.is_writer:
            raise AssertionError(f"Only the writer can {deed}.")
        return self.shared_memory.buf
