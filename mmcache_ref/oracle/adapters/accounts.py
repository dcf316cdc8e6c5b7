"""What a protocol's statistics and work must come to, by what was asked of it and what it returned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mmcache_ref.model.component import Content

COUNTED: Final = (
    "messages",
    "claims",
    "payload_bytes",
    "retries",
    "misses",
    "set_aside",
    "resent_messages",
    "resent_bytes",
)
"""The work that follows from what a deployment returns, besides what is processed."""


class Accounts:
    """Counts kept beside a deployment, to be compared with its own.   [KR-07, DR-26]

    `processed` is counted where it happens: the processor is the oracle's.
    """

    def __init__(self) -> None:
        self.hits = 0
        self.lookups = 0
        self.processed = 0
        self._due: Counter[str] = Counter()

    def sent(self, contents: Sequence[Any], is_cached: Sequence[bool]) -> None:
        """P0 made a message out of a request of which the check said what is cached."""
        self.hits += sum(content is None for content in contents)
        self.lookups += len(contents)
        self._due["processed"] += sum(not hit for hit in is_cached)
        self._made(contents)

    def sent_unrecorded(self, contents: Sequence[Any]) -> None:
        """P0 made a message past its cache."""
        self._due["processed"] += len(contents)
        self._made(contents)

    def resent(self, contents: Sequence[Any]) -> None:
        """A message was lost, and sent again."""
        self._due["resent_messages"] += 1
        self._due["resent_bytes"] += _nbytes(contents)

    def retried(self) -> None:
        """A request was sent once more."""
        self._due["retries"] += 1

    def missed(self) -> None:
        """P1 could not serve a message."""
        self._due["misses"] += 1

    def set_aside(self) -> None:
        """P1 served a message without its cache, or could not."""
        self._due["set_aside"] += 1

    def sender_cleared(self) -> None:
        """The sender's statistics begin again."""
        self.hits = self.lookups = 0

    def take(self, statistics: Sequence[int], work: Mapping[str, int]) -> None:
        """Believe the deployment, where nothing that it returned says what it did."""
        self.hits, self.lookups = statistics
        for name in COUNTED:
            if name in work:
                self._due[name] = work[name]
        self._due["processed"] = self.processed

    def uncounted(self, statistics: Sequence[int]) -> tuple[int, ...]:
        """Hits and lookups that the sender's statistics lack."""
        hits, lookups = statistics
        return (self.hits - hits, self.lookups - lookups)

    def differing(self, work: Mapping[str, int]) -> tuple[tuple[str, int, int], ...]:
        """Name, count and due count of the work that is not what it must be."""
        counts: dict[str, int] = {name: work[name] for name in COUNTED if name in work}
        counts["processed"] = self.processed
        if work.get("processed", self.processed) != self.processed:
            counts["processed"] = work["processed"]
        return tuple(
            [
                (name, count, self._due[name])
                for name, count in sorted(counts.items())
                if count != self._due[name]
            ]
        )

    def _made(self, contents: Sequence[Any]) -> None:
        self._due["messages"] += 1
        self._due["claims"] += sum(content is None for content in contents)
        self._due["payload_bytes"] += _nbytes(contents)


def _nbytes(contents: Sequence[Any]) -> int:
    return sum(content.nbytes for content in contents if isinstance(content, Content))
