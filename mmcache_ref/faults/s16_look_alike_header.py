"""A handle is taken for valid because of the id that lies at its address.   [OS-22, OS-42]

An image lies at an address with id 1; the store is cleared, and other objects are put, such that the count
of readers of one of them, which is 1, lies exactly there. The stale handle finds its id, and strange bytes
are decoded. What lies at an address is the handle's own chunk only if its seal says so, which binds key,
address, id and size.
"""

from __future__ import annotations

from mmcache_ref.reference.object_chunks import HEAD, ObjectChunks

from .fault import Fault


def ask_the_id_only(self: ObjectChunks, begin: int, monotonic_id: int, signature: bytes) -> int | None:
    """The id is proof enough, whatever size stands beside it."""
    room = self.ring_buffer.DATA_OFFSET + self.ring_buffer.data_buffer_size - begin
    if room < HEAD.size:
        return None
    found_id, size, _ = HEAD.unpack_from(self._memory, begin)
    if found_id != monotonic_id:
        return None
    return int(size) if HEAD.size <= size <= room else room


FAULT = Fault(
    name="S16",
    title="whatever has the right id at an old address is taken for the object",
    replaces="reference.object_chunks:ObjectChunks._size_in_place",
    rule=ask_the_id_only,
    component="object-store",
    clauses=("OS-22", "OS-42"),
    accidents=("look-alike", "clear-meanwhile"),
    without=("seals",),
)
