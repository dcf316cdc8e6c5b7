"""Objects under keys in shared memory: one process writes, the others read and say so."""

from __future__ import annotations

from multiprocessing.synchronize import Lock
from typing import Any

from .handles import (
    HandleSignatureError,
    ShmObjectStorageHandle,
    StaleHandleError,
    key_digest,
    plain_key,
    sign,
    verified,
)
from .object_chunks import COUNT, HEAD_BYTES, ObjectChunks
from .ring_buffer import SingleWriterShmRingBuffer
from .ring_placement import HEADER_BYTES, LARGEST_CHUNK
from .seals import SEAL_BYTES, barrier
from .serde import MsgpackSerde, ObjectSerde


class SingleWriterShmObjectStorage(ObjectChunks):
    """The object store over one ring: the writer's if the ring is the writer's.   [OS-30, OS-36]

    `max_object_size` is in serialized bytes; each of `n_readers` readers acknowledges each reference once.
    `reader_lock` is shared by the readers; a writer may have it too.
    """

    def __init__(
        self,
        max_object_size: int,
        n_readers: int,
        ring_buffer: SingleWriterShmRingBuffer,
        serde_class: type[ObjectSerde] = MsgpackSerde,
        reader_lock: Lock | None = None,
    ) -> None:
        if not ring_buffer.is_writer and reader_lock is None:
            raise ValueError(
                "a reader of the object store needs the lock that the readers share; it got None"
            )
        self.ser_de = serde_class()
        super().__init__(ring_buffer, getattr(self.ser_de, "SEAL_BYTES", 0) == SEAL_BYTES, reader_lock)
        self.max_object_size = max_object_size
        self.n_readers = n_readers
        self.serde_class = serde_class
        if self.is_writer:
            self.key_index: dict[str, tuple[int, int]] = {}
            self.id_index: dict[int, str] = {}
            self.writer_flag: dict[int, int] = {}
            self._touched: set[int] = set()
            self._signatures: dict[int, bytes] = {}

    # Storing

    def put(self, key: str, value: Any) -> tuple[int, int]:
        """Store a new object and give it one reference; its address and id.   [OS-01, OS-02, OS-03, OS-07]

        Raises `ValueError` for a key that is stored and for an object over the limit, `MemoryError` when
        there is no room, `TypeError` for a key that is not a string, and what the serde raises.
        """
        assert self.is_writer, "only the writer of the object store can put"
        if self._is_closed:
            raise self._closed()
        if type(key) is not str:
            key = plain_key(key)
        if key in self.key_index:
            raise ValueError(f"Key {key!r} already exists in the storage: its object must be freed first")
        digest = key_digest(key)
        data, data_bytes, metadata, md_bytes = self.ser_de.serialize(value)
        size = self.flag_bytes + data_bytes + md_bytes
        if size > self.max_object_size:
            raise ValueError(
                f"Serialized object size ({size} bytes) exceeds max object size "
                f"({self.max_object_size} bytes)"
            )
        self._refuse_what_never_fits(size)
        address, monotonic_id, end_before = self._allocate(size)
        signature = sign(self._secret, digest, address, monotonic_id)
        try:
            self._publish(address, signature, data, data_bytes, metadata, md_bytes)
        except BaseException:
            self._take_back(monotonic_id, end_before)
            raise
        self._signatures[monotonic_id] = signature
        self.writer_flag[monotonic_id] = 1
        self.id_index[monotonic_id] = key
        self.key_index[key] = address, monotonic_id
        return address, monotonic_id

    def _refuse_what_never_fits(self, size: int) -> None:
        """Refuse an object whose chunk is larger than the ring, before anything is freed for it.   [OS-06]"""
        chunk, capacity = size + HEADER_BYTES, self._capacity
        if chunk > capacity or chunk > LARGEST_CHUNK:
            raise MemoryError(
                f"Not enough space: a chunk of {chunk} bytes never fits a ring of {capacity} bytes"
            )

    def _allocate(self, size: int) -> tuple[int, int, int]:
        """Address and id of a new chunk of `size` bytes; where the ring ended before.   [IF-20, OS-04, OS-05]

        Frees in order what it needs; each turn frees a chunk or is the last one.
        """
        limit = 2 * self.max_object_size
        while True:
            end_before = self.ring_buffer.data_buffer_end
            try:
                return *self.ring_buffer.allocate_buf(size), end_before
            except MemoryError:
                if not self._free(limit):
                    raise
            limit = 1

    def _take_back(self, monotonic_id: int, end_before: int) -> None:
        """The youngest chunk was never there.   [OS-07]"""
        ring = self.ring_buffer
        del ring.metadata[monotonic_id]
        ring.monotonic_id_end = monotonic_id
        ring.data_buffer_end = end_before

    # Looking up

    def is_cached(self, key: str) -> bool:
        """Whether the key is stored.   [OS-09]"""
        if self._is_closed:
            raise self._closed()
        return key in self.key_index

    def get_cached(self, key: str) -> tuple[int, int]:
        """One more reference to the object of a stored key; its address and id.   [OS-10, OS-11]"""
        if self._is_closed:
            raise self._closed()
        address, monotonic_id = self.key_index[key]
        self.increment_writer_flag(monotonic_id)
        self._touched.discard(monotonic_id)
        return address, monotonic_id

    def increment_writer_flag(self, id: int) -> None:
        """Hand out one more reference to the chunk.   [OS-32]"""
        self.writer_flag[id] += 1

    def touch(
        self, key: str, address: int = 0, monotonic_id: int = 0, signature: list[int] | None = None
    ) -> None:
        """On the writer protect a key until its lookup; on a reader check.   [OS-12, OS-14, OS-17]

        A reader raises as `get` does, and counts nothing.
        """
        if not self.is_writer:
            handle = self._verified(key, address, monotonic_id, signature)
            if self._size_in_place(self._place(address), monotonic_id, handle) is None:
                raise self._stale(address, monotonic_id)
        else:
            if self._is_closed:
                raise self._closed()
            if (entry := self.key_index.get(key)) is not None:
                self._touched.add(entry[1])

    def release_touches(self) -> None:
        """End every touch.   [OS-13]"""
        if self._is_closed:
            raise self._closed()
        self._touched.clear()

    # Handles

    def get_signature(self, key: str) -> list[int]:
        """The signature of the current handle of a stored key.   [OS-15, OS-11]"""
        if self._is_closed:
            raise self._closed()
        return list(self._signatures[self.key_index[key][1]])

    def verify_signature(
        self, key: str | None, address: int, monotonic_id: int, signature: list[int] | None
    ) -> None:
        """Accept a handle that the writer gave; on the writer it must be the current one.   [OS-16, OS-17]

        Raises `HandleSignatureError` for every other.
        """
        self._verified(key, address, monotonic_id, signature)
        if self.is_writer and self.key_index.get(key or "") != (address, monotonic_id):
            raise HandleSignatureError(
                "Invalid SHM handle signature: the key has another handle now, or none"
            )

    def _verified(self, key: Any, address: Any, monotonic_id: Any, signature: Any) -> bytes:
        """The signature of a handle that the writer gave, else `HandleSignatureError`.   [OS-18, OS-43]

        A reader asks the segment for the secret again only where the one that it knows refuses the handle.
        """
        if self._is_closed:
            raise self._closed()
        known = self._secret
        try:
            return verified(known, key, address, monotonic_id, signature)
        except HandleSignatureError:
            if self._current_secret() == known:
                raise
            return verified(self._secret, key, address, monotonic_id, signature)

    # Reading

    def get(
        self, address: int, monotonic_id: int, signature: list[int] | None = None, key: str | None = None
    ) -> Any:
        """A copy of the object that the handle names, acknowledged by one reader.   [OS-20, OS-18]

        Raises `HandleSignatureError` for a handle that is not the key's, `StaleHandleError` when the object
        is not in its place any more, before or during the copy, and what the serde raises.
        """
        if self.is_writer:
            handle = self._own_signature(address, monotonic_id)
        else:
            handle = self._verified(key, address, monotonic_id, signature)
        begin = self._place(address)
        size = self._size_in_place(begin, monotonic_id, handle)
        if size is None:
            raise self._stale(address, monotonic_id)
        barrier()
        try:
            value = self.ser_de.deserialize(self._memory[begin + HEAD_BYTES : begin + size])
        except Exception:
            barrier()
            if self._size_in_place(begin, monotonic_id, handle) is None:
                raise self._stale(address, monotonic_id) from None
            raise
        if not self._acknowledge(begin, monotonic_id, handle):
            raise self._stale(address, monotonic_id)
        return value

    def _own_signature(self, address: int, monotonic_id: int) -> bytes:
        """The writer's own handle needs no proof, but must be that of a chunk that lives.   [OS-20, OS-21]"""
        if self._is_closed:
            raise self._closed()
        if self.ring_buffer.metadata.get(monotonic_id) != address or monotonic_id not in self._signatures:
            raise self._stale(address, monotonic_id)
        return self._signatures[monotonic_id]

    @staticmethod
    def _stale(address: int, monotonic_id: int) -> StaleHandleError:
        return StaleHandleError(
            f"the data of address {address}, id {monotonic_id} has been modified or is invalid"
        )

    # Freeing

    def default_is_free_check(self, id: int, buf: memoryview) -> bool:
        """Whether nobody needs the chunk: no touch, no reference left.   [OS-25, OS-31, OS-33]"""
        return id not in self._touched and COUNT.unpack_from(buf)[0] >= self.writer_flag[id] * self.n_readers

    def free_unused(self) -> None:
        """Free in order, up to twice the largest object.   [OS-27]"""
        self._free(2 * self.max_object_size)

    def _free(self, nbytes: int) -> list[int]:
        """Free in order until `nbytes` are freed or a chunk is not free; the freed ids.   [OS-26]"""
        assert self.is_writer, "only the writer of the object store can free"
        with self._no_reader_counts():
            freed = list(self.ring_buffer.free_buf(self.default_is_free_check, nbytes))
            places, keys, references, signatures = (
                self.key_index,
                self.id_index,
                self.writer_flag,
                self._signatures,
            )
            addresses = []
            for monotonic_id in freed:
                address, _ = places.pop(keys.pop(monotonic_id))
                addresses.append(address)
                del references[monotonic_id], signatures[monotonic_id]
            self._wipe(addresses)
        return freed

    def clear(self) -> None:
        """Forget every object; ids go on, and the segment is in order again.   [OS-28, OS-29, OS-43]"""
        assert self.is_writer, "only the writer of the object store can clear"
        if self._is_closed:
            raise self._closed()
        with self._no_reader_counts():
            self._wipe([address for address, _ in self.key_index.values()])
            self._restore_secret()
        self.ring_buffer.clear()
        self.key_index.clear()
        self.id_index.clear()
        self.writer_flag.clear()
        self._touched.clear()
        self._signatures.clear()

    # Sharing

    def handle(self) -> ShmObjectStorageHandle:
        """What another process needs to read this store.   [OS-34]"""
        return ShmObjectStorageHandle(
            max_object_size=self.max_object_size,
            n_readers=self.n_readers,
            ring_buffer_handle=self.ring_buffer.handle(),
            serde_class=self.serde_class,
            reader_lock=self._reader_lock,
        )

    @staticmethod
    def create_from_handle(handle: ShmObjectStorageHandle) -> SingleWriterShmObjectStorage:
        """A reader of the store that the handle names.   [OS-34, OS-35]"""
        if handle.reader_lock is None:
            raise ValueError(
                "a reader of the object store needs the lock that the readers share; it got None"
            )
        ring = SingleWriterShmRingBuffer(*handle.ring_buffer_handle)
        return SingleWriterShmObjectStorage(
            handle.max_object_size, handle.n_readers, ring, handle.serde_class, handle.reader_lock
        )

    def close(self) -> None:
        """Close the ring: nothing can be done with the store any more.   [OS-37]"""
        self._is_closed = True
        self.ring_buffer.close()
