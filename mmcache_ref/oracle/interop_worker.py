"""One process of the interop matrix: a target's object store, told over a pipe what to do."""

from __future__ import annotations

from typing import Any, Final

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.interop_values import catalogue, fingerprint
from mmcache_ref.oracle.targets import resolve

NAMES: Final = ("SingleWriterShmRingBuffer", "SingleWriterShmObjectStorage")
COUNT_BYTES: Final = 4
"""A payload begins with the reader count (spec, chapter 7)."""


class Endpoint:
    """The store of one target, on one segment after the other."""

    def __init__(self, lock: Any, target: str) -> None:
        self.target = resolve(target)
        missing = [name for name in NAMES if not hasattr(self.target, name)]
        if missing:
            raise TargetUnavailable(f"{self.target.label} has no {' and no '.join(missing)}")
        self.values = catalogue()
        self.lock = lock
        self.serde = serde_for(self.target)
        self.store: Any = None

    def open(self, name: str, capacity: int, limit: int, readers: int, create: bool) -> None:
        """Make the segment, or attach to it."""
        ring = self.target.SingleWriterShmRingBuffer(capacity, name=name, create=create)
        self.store = self.target.SingleWriterShmObjectStorage(
            max_object_size=limit,
            n_readers=readers,
            ring_buffer=ring,
            serde_class=self.serde,
            reader_lock=None if create else self.lock,
        )

    def close(self) -> None:
        store, self.store = self.store, None
        if store is not None:
            store.close()

    def put(self, key: str, value: str) -> tuple[int, int, list[int]]:
        """Store a value of the catalogue; its handle."""
        address, monotonic_id = self.store.put(key, self.values[value](self.target))
        return address, monotonic_id, self.store.get_signature(key)

    def get(self, key: str, address: Any, monotonic_id: Any, signature: Any) -> Any:
        """What the handle names, as a fingerprint."""
        return fingerprint(self.store.get(address, monotonic_id, signature, key))

    def count(self, key: str) -> int:
        """The reader count of a stored key."""
        address, _ = self.store.key_index[key]
        with self.store.ring_buffer.access_buf(address) as (payload, _):
            return int.from_bytes(payload[:COUNT_BYTES], "little", signed=True)

    def keys(self) -> list[str]:
        return list(self.store.key_index)

    def clear(self) -> None:
        self.store.clear()


def serde_for(target: Any) -> type:
    """The serde of the reference; what comes back are items of the target's own classes."""
    serde: Any = resolve("reference").MsgpackSerde

    class OwnItems(serde):  # type: ignore[misc]
        item_classes = type(serde.item_classes)(
            target.MultiModalKwargsItem,
            target.MultiModalFieldElem,
            target.MultiModalBatchedField,
            target.MultiModalFlatField,
            target.MultiModalSharedField,
        )

    return OwnItems
