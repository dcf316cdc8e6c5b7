"""Payloads for a ring that is counted in units: how many bytes an item needs for its chunk to be so large."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable
from typing import Any, Final

from mmcache_ref.model.component import Content
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.base import Payloads, Unexpected

UNIT: Final = 4096
"""Bytes of a chunk of one unit, header and all."""
HEADER: Final = 8
"""Bytes of a chunk that the limit of an object does not count."""
SENDER: Final = "ShmObjectStoreSenderCache"
RECEIVER: Final = "ShmObjectStoreReceiverCache"
_MIB: Final = 2**20
_GIB: Final = 2**30
_USUAL_OVERHEAD: Final = 512
"""Bytes of a chunk besides the payload, where a target does not let one measure them."""
_TRIES: Final = 8

Lengths = dict[tuple[int, int], int]
"""From units and fill (odd or even) to the bytes of the payload."""
_measured: weakref.WeakKeyDictionary[Any, dict[bool, Lengths]] = weakref.WeakKeyDictionary()
"""For each target, and for the usual payloads or others."""


class UnitPayloads:
    """Items whose chunks in the target's ring are whole units long.

    A target's serde decides how much of a chunk is not payload; it is measured once, with two items in a
    ring of their own: the second begins where the first one ends.
    """

    def __init__(self, namespace: Any, payloads: Payloads | None = None) -> None:
        self._namespace = namespace
        self.payloads = payloads or Payloads(namespace)
        self._lengths = _measured.setdefault(namespace, {}).setdefault(payloads is None, {})

    def measured(self, most: int) -> Lengths:
        """The bytes of payloads up to so many units, for a process that shall not measure them again."""
        for units in range(1, most + 1):
            for fill in (0, 1):
                self._in_bytes(Content(units, fill))
        return dict(self._lengths)

    def know(self, lengths: Lengths) -> None:
        """What another process measured with the same target."""
        self._lengths |= lengths

    def item(self, content: Content) -> Any:
        """A fresh item of so many units."""
        return self.payloads.item(self._in_bytes(content))

    def processed(self, content: Content) -> tuple[Any, list[Any]]:
        """What P0 makes of data: an item and its prompt updates."""
        return self.item(content), self.payloads.prompt_updates(content)

    def content(self, item: Any) -> Content | Unexpected | None:
        """The units and the fill of an item that came out of the target."""
        content = self.payloads.content(item)
        if not isinstance(content, Content):
            return content
        for (units, parity), length in self._lengths.items():
            if length == content.nbytes and parity == content.fill % 2:
                return Content(units, content.fill)
        return Unexpected(f"an item of {content.nbytes} B, which nobody sent")

    def bytes_of(self, content: Content) -> int:
        """Bytes of the payload of such an item."""
        return self._in_bytes(content).nbytes

    def _in_bytes(self, content: Content) -> Content:
        kind = (content.nbytes, content.fill % 2)
        if kind not in self._lengths:
            self._lengths[kind] = self._measure(content)
        return Content(self._lengths[kind], content.fill)

    def _measure(self, content: Content) -> int:
        """The payload with which a chunk is exactly so long; a guess where that cannot be found out."""
        wanted = content.nbytes * UNIT
        length = wanted - _USUAL_OVERHEAD
        with contextlib.suppress(Exception):
            for _ in range(_TRIES):
                difference = wanted - self.chunk_bytes(Content(length, content.fill))
                if not difference:
                    return length
                if abs(difference) >= UNIT:
                    break
                length += difference
        return wanted - _USUAL_OVERHEAD

    def chunk_bytes(self, content: Content) -> int:
        """The distance of two items in a ring that has room for both."""
        room = 2 * (content.nbytes + UNIT)
        segment = Segment(self._namespace, capacity=room, limit=room, workers=1)
        try:
            sender = segment.make_sender()
            addresses = []
            for key in "ab":
                handle, _ = sender.get_and_update_item(self.payloads.processed(content), key)
                addresses.append(int(handle["address"].data))
            return addresses[1] - addresses[0]
        finally:
            segment.close()


class Segment:
    """The shared memory of one deployment of a target's caches, removed with its owner at the latest.

    Args:
        capacity: bytes of the ring.
        limit: bytes of the largest object.
        workers: how many receivers attach.
        lock: what the receivers share; one of its own where none is given.
        name: a fresh one where none is given.
    """

    def __init__(
        self, namespace: Any, *, capacity: int, limit: int, workers: int, lock: Any = None, name: str = ""
    ) -> None:
        self._namespace = namespace
        self.name = name or segments.fresh_name()
        self._lock = lock or threading.Lock()
        self._config = namespace.make_vllm_config(
            mm_processor_cache_gb=capacity / _GIB,
            mm_processor_cache_type="shm",
            mm_shm_cache_max_object_size_mb=limit / _MIB,
            world_size=workers,
        )
        self._left: list[str] = []
        self._closings: list[Callable[[], object]] = []
        self.close = segments.close_with(self, self._left, self._closings)
        """Close everything that was made, and remove the segment."""

    def make_sender(self) -> Any:
        """P0's cache, with an empty segment."""
        self._left.append(self.name)
        with self._namespace.ring_named(self.name):
            sender = getattr(self._namespace, SENDER)(self._config)
        if hasattr(sender, "close"):
            self._closings.append(sender.close)
        else:
            # As in early releases: their ring removes its segment as it is collected, and else complains.
            self._left.clear()
        return sender

    def make_receiver(self, worker: int, *, has_lock: bool = True) -> Any:
        """A worker's cache, attached to the sender's segment."""
        with self._namespace.ring_named(self.name):
            receiver = getattr(self._namespace, RECEIVER)(self._config, self._lock if has_lock else None)
        if hasattr(receiver, "close"):
            self._closings.append(receiver.close)
        return receiver
