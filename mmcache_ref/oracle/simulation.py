"""A target in its protocol for a while: random requests and accidents, each step compared with the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Final

import msgspec

from mmcache_ref.model.component import Op, Outcome, Raised, Refused, tag
from mmcache_ref.model.explore import Property
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.base import Unexpected
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.draws import SEED_BITS, Draw
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.families import FAMILIES, Family, is_possible, promised
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.lockstep import DISABLED, INITIAL, Lockstep, Trial
from mmcache_ref.oracle.quiet import quiet_logs
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.oracle.shrink import shrink
from mmcache_ref.oracle.trace_check import Checked
from mmcache_ref.oracle.verdict import Status
from mmcache_ref.oracle.wording import operation_in_words

IDLE: Final = 10_000
"""So many choices in a row that are not possible end a simulation."""
ENDING: Final = 1_000
"""So many steps at most bring to its end what is under way."""


class Plan(msgspec.Struct, frozen=True):
    """What is simulated: `cache` is `lru` or `shm`; `workers` read, which an LRU pair does not have.

    `accidents` may be `all`, among `protections` may be `default`. `in_processes`: every part in its own, all
    at work at once.
    """

    cache: str
    requests: int = 500
    workers: int = 2
    seed: int = 0
    accidents: tuple[str, ...] = ()
    protections: tuple[str, ...] = ("default",)
    in_processes: bool = False

    @property
    def config(self) -> Any:
        """The model's configuration; a `ValueError` lists the known names where one is unknown."""
        return FAMILIES[self.cache].config(self.accidents, self.protections, self.workers)


class Broken(msgspec.Struct, frozen=True):
    """A promise to users that the protocol did not keep, as the model says too: at which operation."""

    clause: str
    rule: str
    step: int
    operation: str


class Simulated(msgspec.Struct, frozen=True):
    """What came of it.

    Attributes:
        status: `violates` when the target left the model (`run`, whose `said` tells how) or when what users
            rely on was broken (`broken`); `reason` says why it is undetermined, or what ended it early.
        operations: how often each was performed, the accidents among them.
        refused: requests that lacked data, or could not be handled.
        hits, lookups: of P0's cache.
        work: what the protocol counted, as far as the target's counts.
        moved_bytes: that travelled in messages, or were copied into or out of the segment.
        peak_bytes: the most that was stored at once.
        stranded_bytes: the most that was stored at once and would never have been given back but by a clear.
        judged: of a simulation in processes, what its log comes to.
    """

    target: str
    plan: Plan
    status: Status
    operations: dict[str, int] = {}
    requests: int = 0
    refused: int = 0
    hits: int = 0
    lookups: int = 0
    work: dict[str, int] = {}
    moved_bytes: int = 0
    peak_bytes: int = 0
    stranded_bytes: int = 0
    broken: tuple[Broken, ...] = ()
    run: Run | None = None
    said: str = ""
    reason: str = ""
    judged: Checked | None = None


Observer = Callable[[Lockstep, Op], None]
"""Is told of each operation after it was performed on both sides."""


def simulate(
    target: str,
    namespace: Any,
    plan: Plan,
    *,
    progress: Callable[[int], None] = lambda requests: None,
    observer: Observer = lambda lockstep, operation: None,
) -> Simulated:
    """Simulate until so many requests were made and nothing is under way, or something goes wrong.

    No segment is left, whatever happens.
    """
    segments.sweep()
    try:
        with quiet_logs(), hang_guard() as guard:
            trial = Trial(COMPONENTS[FAMILIES[plan.cache].component], namespace, guard=guard)
            return Simulation(target, plan, trial, progress, observer).simulated()
    except NotOffered as error:
        return Simulated(target, plan, "undetermined", reason=str(error))
    finally:
        segments.close_all()


class Simulation:
    """One simulation while it goes on."""

    def __init__(
        self, target: str, plan: Plan, trial: Trial, progress: Callable[[int], None], observer: Observer
    ) -> None:
        self._target, self._plan, self._trial = target, plan, trial
        self._progress, self._observer = progress, observer
        self._family: Family = FAMILIES[plan.cache]
        self._lockstep = trial.start(plan.config)
        self._operations: Counter[str] = Counter()
        self._requests = self._refused = self._hits = self._lookups = 0
        self._peak = self._stranded = 0
        self._kept: dict[str, Property] = promised(self._family, self._lockstep.config)
        self._broken: list[Broken] = []
        self._mismatch: Mismatch | None = None

    def simulated(self) -> Simulated:
        """What came of it."""
        reason = self._make_requests() or self._end()
        run, said = None, ""
        if self._mismatch is not None:
            run = self._run(self._mismatch)
            said = sentence(run)
        work = self._work()
        return Simulated(
            self._target,
            self._plan,
            "violates" if run is not None or self._broken else "undetermined" if reason else "conforms",
            dict(sorted(self._operations.items())),
            self._requests,
            self._refused,
            self._hits,
            self._lookups,
            work,
            sum(work.get(name, 0) for name in self._family.moved),
            self._peak,
            self._stranded,
            tuple(self._broken),
            run,
            said,
            reason,
        )

    @property
    def _is_over(self) -> bool:
        """Whether nothing more can happen: target and model parted, or the engine died."""
        return self._mismatch is not None or getattr(self._lockstep.state, "is_dead", False)

    def _make_requests(self) -> str:
        """Random operations until there were enough requests; why they ended early, if they did."""
        draw = Draw(Seeded(self._plan.seed), self._lockstep.performed)
        choose, idle = self._trial.component.choose, 0
        while self._requests < self._plan.requests and not self._is_over:
            config = self._lockstep.config
            operation = choose(config, self._lockstep.state, draw)
            if is_possible(config, operation) and self._perform(operation):
                idle = 0
            elif (idle := idle + 1) == IDLE:
                return "nothing can happen any more"
        return ""

    def _end(self) -> str:
        """Bring to its end what is under way; why that was not possible, if it was not."""
        model, config = self._lockstep.model, self._lockstep.config
        for _ in range(ENDING):
            state = self._lockstep.state
            if self._is_over:
                break
            following = (
                each
                for each in self._family.ending(config, state)
                if model.step(config, state, each)[0] != state
            )
            operation = next(following, None)
            if operation is None:
                return ""
            self._perform(operation)
        else:
            return f"{ENDING} steps after the last request something was still under way"
        return "" if self._mismatch is not None else "the engine died: nothing was served after that"

    def _perform(self, operation: Op) -> bool:
        """Perform an operation on both sides and count; False when it is not enabled."""
        lockstep = self._lockstep
        before = lockstep.state
        self._mismatch = lockstep.perform(operation)
        outcome = lockstep.outcome
        if outcome.kind == DISABLED and self._mismatch is None:
            return False
        self._operations[tag(operation)] += 1
        if hasattr(operation, "request"):
            self._requests += 1
            self._refused += isinstance(outcome.result, Refused | Raised)
            self._progress(self._requests)
        if self._mismatch is not None:
            if self._mismatch.kind != INITIAL and not isinstance(lockstep.result, Unexpected):
                self._observer(lockstep, operation)
            return True
        self._count(before, operation, outcome)
        self._ask(before, operation, outcome)
        self._observer(lockstep, operation)
        return True

    def _count(self, before: Any, operation: Op, outcome: Outcome) -> None:
        after = self._lockstep.state
        hits, lookups = self._family.lookups(before, operation, outcome, after)
        self._hits += hits
        self._lookups += lookups
        self._peak = max(self._peak, self._family.stored(after))
        self._stranded = max(self._stranded, self._family.stranded(self._lockstep.config, after))

    def _ask(self, before: Any, operation: Op, outcome: Outcome) -> None:
        """Is what users rely on still true? Each promise is asked for until it is broken."""
        config, after = self._lockstep.config, self._lockstep.state
        for name, asked in list(self._kept.items()):
            if asked.kind == "state":
                holds = asked.holds(config, after)
            elif tag(operation) in asked.tags:
                holds = asked.holds(config, before, operation, outcome, after)
            else:
                continue
            if holds is False:
                del self._kept[name]
                words = operation_in_words(operation)
                step = sum(self._operations.values())
                self._broken.append(Broken(asked.clause, clause(asked.clause).rule, step, words))

    def _run(self, mismatch: Mismatch) -> Run:
        """The shortest run that parts target and model so; the whole one where it cannot be repeated."""
        lockstep = self._lockstep
        run = self._trial.run(lockstep.config, lockstep.performed)
        if run.mismatch is None or run.mismatch.clause != mismatch.clause:
            return self._trial.recorded(lockstep.config, lockstep.performed, mismatch)
        return shrink(self._trial, run)

    def _work(self) -> dict[str, int]:
        """What the deployment counted; nothing where it counts nothing."""
        deployment: Any = getattr(self._lockstep.adapter, "deployment", None)
        work = getattr(deployment, "work", None)
        counts: Mapping[str, int] = work.report() if work is not None else {}
        return dict(counts)


class Seeded:
    """Gives a `Draw` its choices from a seed of one's own."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def draw(self, strategy: object) -> bytes:
        """Random bytes, whatever is asked for."""
        return self._random.randbytes(SEED_BITS // 8)
