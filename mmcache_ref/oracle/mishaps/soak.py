"""One deployment for minutes on end, one mishap after the other: does anything grow, drift or leak?"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from random import Random
from typing import Any, Final

import msgspec

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.errors import NotOffered, TargetUnavailable
from mmcache_ref.oracle.known_process import began
from mmcache_ref.oracle.mishaps.clients import Clients, Finding
from mmcache_ref.oracle.mishaps.judge import ROUNDS
from mmcache_ref.oracle.mishaps.leftovers import descriptors, resident_bytes
from mmcache_ref.oracle.mishaps.rounds import Broken, Options, with_findings
from mmcache_ref.oracle.verdict import EXIT_CODES, Status
from mmcache_ref.protocol import RobustLock
from mmcache_ref.protocol.processes import ProcessLost

MIB: Final = 2**20
CEILING_MIB: Final = 1024
"""Memory that one process may have in use."""
GROWTH_BYTES: Final = 64 * MIB
"""By so much one process may grow after it was first looked at."""
MORE_DESCRIPTORS: Final = 4
"""So many more may be open then."""
ORACLE: Final = "oracle"
"""How the process that judges is called among the others."""


class Usage(msgspec.Struct, frozen=True):
    """What one process has in use; `part` is `p0`, `w0` …, or the one that judges. `began` tells processes of
    one id apart."""

    part: str
    process: int
    resident: int
    descriptors: int
    began: int = 0


class Minute(msgspec.Struct, frozen=True):
    """How things stand after so many seconds; `segment` is the size of the shared memory in bytes."""

    seconds: float
    requests: int
    mishaps: int
    retried: int
    lost: int
    segment: int
    usage: tuple[Usage, ...]
    broken: int


class Soaked(msgspec.Struct, frozen=True):
    """What came of it; `mishaps` counts each kind. `is_offered`: the target has such caches."""

    target: str
    options: Options
    minutes: float
    status: Status
    told: tuple[Minute, ...] = ()
    mishaps: dict[str, int] = {}
    broken: tuple[Broken, ...] = ()
    reason: str = ""
    is_offered: bool = True

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.status]


class Watch:
    """Compares what processes have in use with what they had when they were first looked at."""

    def __init__(self, ceiling_mib: int) -> None:
        self._ceiling = ceiling_mib * MIB
        self._first: dict[tuple[int, int], Usage] = {}
        self._segment: int | None = None

    def look(self, session: Clients) -> tuple[tuple[Usage, ...], int, list[Finding]]:
        """What is in use, the bytes of the segment, and what has grown."""
        found = [(host.part, host.pid) for host in session.course.hosts()]
        usage = tuple(
            [
                Usage(part, process, resident_bytes(process), descriptors(process), began(process) or 0)
                for part, process in (*found, (ORACLE, os.getpid()))
            ]
        )
        name = session.segment
        size = len(segments.content(name)) if name and segments.exists(name) else 0
        return usage, size, [*self.compare(usage, session.tidy), *self._compare_segment(size)]

    def compare(self, usage: tuple[Usage, ...], clause: str) -> list[Finding]:
        """What is over the ceiling, or more than it was."""
        found = []
        for each in usage:
            first = self._first.setdefault((each.process, each.began), each)
            if each.resident > self._ceiling:
                found.append(Finding(clause, f"{each.part} has {each.resident // MIB} MiB in use"))
            if each.resident > first.resident + GROWTH_BYTES:
                grown = f"from {first.resident // MIB} to {each.resident // MIB} MiB"
                found.append(Finding(clause, f"{each.part} has grown {grown}"))
            if each.descriptors > first.descriptors + MORE_DESCRIPTORS:
                grown = f"{each.descriptors} descriptors open, {first.descriptors} at first"
                found.append(Finding(clause, f"{each.part} has {grown}"))
        return found

    def _compare_segment(self, size: int) -> list[Finding]:
        before, self._segment = self._segment, size or self._segment
        if before is None or size in (0, before):
            return []
        return [Finding("SC-49", f"the segment has {size:,} bytes, and had {before:,}")]


def soak(
    target: str,
    options: Options,
    minutes: float,
    tell: Callable[[Minute], None] = lambda minute: None,
    *,
    ceiling_mib: int = CEILING_MIB,
    every: float = 60.0,
    lock: Callable[[], Any] = RobustLock,
) -> Soaked:
    """Serve, with a random mishap again and again, until the time is over; `tell` hears of every minute.

    One mishap happens at least. It ends early after a round in which something broke. No segment and no
    process is left.
    """
    began = time.monotonic()
    segments.sweep()
    rounds = ROUNDS[options.cache](target, options, lock)
    random, watch = Random(options.seed), Watch(ceiling_mib)
    told: list[Minute] = []
    counts = dict.fromkeys(rounds.mishaps, 0)
    broken: tuple[Broken, ...] = ()
    reason, is_offered = "", True

    def look(session: Clients) -> None:
        nonlocal broken
        usage, size, grown = watch.look(session)
        broken = with_findings(broken, grown, options.seed)
        seconds = time.monotonic() - began
        counted = rounds.requests, sum(counts.values()), rounds.retried, rounds.lost
        told.append(Minute(seconds, *counted, size, usage, len(broken)))
        tell(told[-1])

    try:
        with rounds, rounds.session(options.seed) as session:
            while not broken and (time.monotonic() - began < 60 * minutes or not any(counts.values())):
                name = random.choice(tuple(rounds.mishaps))
                happened, findings = rounds.live_through(session, name, random.getrandbits(32))
                counts[name] += happened
                broken = with_findings(broken, findings, options.seed)
                if time.monotonic() - began >= every * (len(told) + 1):
                    look(session)
            if not broken:
                look(session)
        reason = rounds.killed_in_words()
    except (TargetUnavailable, NotOffered, ProcessLost) as error:
        reason, is_offered = str(error), not isinstance(error, NotOffered)
    broken = with_findings(broken, rounds.left_behind(), options.seed)
    status: Status = "violates" if broken else "undetermined" if reason else "conforms"
    return Soaked(target, options, minutes, status, tuple(told), counts, broken, reason, is_offered)
