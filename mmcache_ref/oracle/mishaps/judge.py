"""Does a target live through every mishap? Rounds of one mishap each, in a deployment of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.errors import NotOffered, TargetUnavailable
from mmcache_ref.oracle.mishaps.pair_rounds import PairRounds
from mmcache_ref.oracle.mishaps.rounds import Broken, Options, Rounds, with_findings
from mmcache_ref.oracle.mishaps.shared_rounds import SharedRounds
from mmcache_ref.oracle.verdict import EXIT_CODES, Status
from mmcache_ref.protocol import RobustLock
from mmcache_ref.protocol.processes import ProcessLost

ROUNDS: Final[Mapping[str, type[Rounds]]] = {"lru": PairRounds, "shm": SharedRounds}
"""By the name of the caches."""


class Survived(msgspec.Struct, frozen=True):
    """One kind of mishap: in how many rounds it happened, and what broke."""

    mishap: str
    clause: str
    rounds: int = 0
    broken: tuple[Broken, ...] = ()


class Judged(msgspec.Struct, frozen=True):
    """One target among real processes; `reason` says why nothing could be determined.

    `is_offered`: the target has such caches.
    """

    target: str
    options: Options
    status: Status
    mishaps: tuple[Survived, ...] = ()
    requests: int = 0
    retried: int = 0
    lost: int = 0
    seconds: float = 0.0
    reason: str = ""
    is_offered: bool = True

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.status]


Observe = Callable[[str], None]


def judge(
    target: str,
    options: Options,
    observe: Observe = lambda what: None,
    *,
    lock: Callable[[], Any] = RobustLock,
    only: tuple[str, ...] | None = None,
) -> Judged:
    """Every mishap once, then those that the seed chooses, until the time is over.

    No segment and no process is left, whatever happens.
    """
    began = time.monotonic()
    segments.sweep()
    rounds = ROUNDS[options.cache](target, options, lock)
    only = only or tuple(rounds.mishaps)
    counted = {name: Survived(name, rounds.mishaps[name].clause) for name in only}
    reason, is_offered = "", True
    try:
        with rounds:
            for seed, name in _plan(options, only, began):
                observe(f"{name}: {rounds.requests:,} requests served")
                happened, findings = rounds.perform(name, seed)
                before = counted[name]
                counted[name] = msgspec.structs.replace(
                    before,
                    rounds=before.rounds + happened,
                    broken=with_findings(before.broken, findings, seed),
                )
            never = [
                name
                for name, each in counted.items()
                if not each.rounds and not each.broken and name not in rounds.impossible
            ]
            reason = f"did not happen in any round: {', '.join(never)}" if never else ""
            if rounds.impossible.issuperset(only):
                reason = f"this target has nothing to which it could happen: {', '.join(only)}"
            reason = rounds.killed_in_words() or reason
    except (TargetUnavailable, NotOffered, ProcessLost) as error:
        reason, is_offered = str(error), not isinstance(error, NotOffered)
    after = rounds.left_behind()
    found = tuple(counted.values())
    if after:
        found = (
            *found,
            Survived("the end of all processes", rounds.tidy, 1, with_findings((), after, options.seed)),
        )
    is_broken = any(each.broken for each in found)
    return Judged(
        target,
        options,
        "violates" if is_broken else "undetermined" if reason else "conforms",
        found,
        rounds.requests,
        rounds.retried,
        rounds.lost,
        time.monotonic() - began,
        reason,
        is_offered,
    )


def _plan(options: Options, names: tuple[str, ...], began: float) -> Iterator[tuple[int, str]]:
    """Seeds of rounds, and their mishaps: every one in order, then as the seeds choose."""
    for number, name in enumerate(names):
        yield options.seed + number, name
    seed = options.seed + len(names)
    while time.monotonic() - began < options.seconds:
        yield seed, names[seed % len(names)]
        seed += 1
