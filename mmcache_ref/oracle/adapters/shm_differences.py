"""Counters of the shared-memory sender against the differences that it tells.   [SC-13]"""

from __future__ import annotations

from typing import Any

from mmcache_ref.oracle.adapters.base import Unexpected, counted, read


class Differences:
    """Asked after each operation: a difference is what was counted since it was asked for last, or since a
    clear, after which counters are lower than before."""

    def __init__(self) -> None:
        self._told = (0, 0)
        self.total = 0
        self.fault: Unexpected | None = None

    def ask(self, sender: Any) -> None:
        """Ask for totals and difference; `fault` then is what is wrong with the difference, if anything."""
        self.fault = None
        total = read(lambda: counted(sender.make_stats()))
        told = read(lambda: counted(sender.make_stats(delta=True)))
        if not isinstance(total, tuple):
            return
        before = self._told if total[1] >= self._told[1] else (0, 0)
        expected = (total[0] - before[0], total[1] - before[1])
        self._told = total
        self.total = total[1]
        if told != expected:
            self.fault = Unexpected(f"a difference of {told}, not {expected}")
