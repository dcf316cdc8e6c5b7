"""Caches in shared memory beside those that are driven: made for a moment, to see how one begins and ends."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

from mmcache_ref.model.component import Content
from mmcache_ref.model.receiver import Received
from mmcache_ref.model.shm_pair_results import ANOTHER
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.shm_units import Segment, UnitPayloads
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.quiet import heard_warnings

_NUMBERS = itertools.count()
"""A logger may keep quiet about a hash that it has named before."""


class OtherCaches:
    """Senders and receivers on segments that `new_segment` makes; receivers without what they need, also on
    the `segment` that is driven."""

    def __init__(self, new_segment: Callable[[], Segment], segment: Segment, payloads: UnitPayloads) -> None:
        self._new_segment = new_segment
        self._segment = segment
        self._payloads = payloads

    def attach(self, lacking: str) -> Any:
        """A receiver without what it needs; and whether it has made it."""
        segment = self._new_segment() if lacking == "segment" else self._segment
        try:
            segment.make_receiver(0, has_lock=lacking != "lock")
            return "a receiver"
        finally:
            if lacking == "segment":
                is_made = segments.exists(segment.name)
                segment.close()
                if is_made:
                    raise AssertionError("the receiver has made a segment")

    def close_another(self) -> Any:
        """What is left when another sender is closed, twice: its name, and what a worker can read."""
        segment = self._new_segment()
        try:
            sender = segment.make_sender()
            close = offered(sender, "close")
            handle, _ = sender.get_and_update_item(self._payloads.processed(ANOTHER), "a")
            receiver = segment.make_receiver(0)
            close()
            close()
            is_gone = not segments.exists(segment.name)
            content = self._payloads.content(receiver.get_and_update_item(handle, "a"))
            return is_gone, Received(content) if isinstance(content, Content) else content
        finally:
            segment.close()

    def warnings(self, units: int, items: int) -> int:
        """How many warnings another sender gives after its first, for so many items that are too large."""
        segment = self._new_segment()
        try:
            sender = segment.make_sender()
            with heard_warnings() as heard:
                for fill in range(items):
                    made = self._payloads.processed(Content(units, fill))
                    sender.get_and_update_item(made, f"large {next(_NUMBERS)}")
            return max(0, len(heard) - 1)
        finally:
            segment.close()

    def fresh(self, hashes: Sequence[str]) -> Any:
        """Counters of another sender, and whether it has a key that one before it was given."""
        used, another = self._new_segment(), self._new_segment()
        try:
            before = used.make_sender()
            with contextlib.suppress(Exception):
                for key in hashes:
                    before.get_and_update_item(self._payloads.processed(ANOTHER), key)
            sender = another.make_sender()
            counters = tuple(sender.make_stats()) if hasattr(sender, "make_stats") else (0, 0)
            known = []
            for key in hashes:
                try:
                    is_served = sender.get_and_update_item(None, key) is not None
                except Exception:
                    is_served = False
                known.append(is_served or bool(sender.is_cached_item(key)))
            return (*counters, *known)
        finally:
            used.close()
            another.close()


def offered(cache: Any, name: str) -> Any:
    """A method that not every release has."""
    if not hasattr(cache, name):
        raise NotOffered(f"the target's cache has no {name}()")
    return getattr(cache, name)
