"""A touch counts as a reference handed out.   [OS-14, OS-12]

P0 touches every object of a request before its lookups, so that no put of the same request takes their
places. The request then fails before it comes to its lookup. No worker was ever handed the reference that
the touch counted, so none will acknowledge it: the object stays for ever, and as objects are reclaimed in
order, so does everything behind it. A touch protects until the lookup or until touches are released, and
counts nothing.
"""

from __future__ import annotations

from mmcache_ref.reference.object_store import SingleWriterShmObjectStorage

from .fault import Fault


def touch_and_count(
    self: SingleWriterShmObjectStorage,
    key: str,
    address: int = 0,
    monotonic_id: int = 0,
    signature: list[int] | None = None,
) -> None:
    """The first touch of a key is one more reference."""
    if not self.is_writer:
        self.verify_signature(key, address, monotonic_id, signature)
    elif (entry := self.key_index.get(key)) is not None and entry[1] not in self._touched:
        self._touched.add(entry[1])
        self.increment_writer_flag(entry[1])


FAULT = Fault(
    name="S01",
    title="a touch counts as a reference, which nobody will ever acknowledge",
    replaces="reference.object_store:SingleWriterShmObjectStorage.touch",
    rule=touch_and_count,
    component="object-store",
    clauses=("OS-14", "OS-12"),
    upstream=("#28525", "#54994"),
)
