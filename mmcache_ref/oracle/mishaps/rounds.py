"""Rounds of one mishap each: requests, the mishap in the middle of them, and whether everything goes on."""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, ClassVar, Final

import msgspec

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.shm_units import UNIT
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.errors import NotOffered, TargetUnavailable
from mmcache_ref.oracle.known_process import Known, began, is_running
from mmcache_ref.oracle.mishaps.clients import Clients, Finding, Hopeless
from mmcache_ref.oracle.mishaps.leftovers import descriptors
from mmcache_ref.oracle.mishaps.mishaps import Mishap, Scene, signal_to
from mmcache_ref.oracle.mishaps.trapped_lock import TrappedLock
from mmcache_ref.oracle.supervisor import rehearse
from mmcache_ref.protocol import RobustLock
from mmcache_ref.protocol.processes import Hosts, ProcessLost

CAPACITY: Final = 24
"""Units that the caches have room for: a dozen items."""
REQUESTS: Final = 120
"""Of one round: half of them before the mishap at the latest, a quarter after it at least."""
AFTERWARDS: Final = 40
ANSWER_SECONDS: Final = 60.0
MOST_STARTS: Final = 20
WRONG_CONTENT: Final = frozenset({"SC-31", "SC-50", "DR-10"})
"""Nothing that is done to processes makes it right to serve another content."""


class Options(msgspec.Struct, frozen=True):
    """How a target is judged: `seconds` are spent at least, and each mishap happens once at least.

    `cache` is `shm` or `lru`, the pair; it has its default protections where none are given.

    With `has_checksum` a target that offers `CheckedMsgpackSerde` has it.
    """

    workers: int = 2
    seconds: float = 20.0
    seed: int = 0
    profile: str = "safe"
    cache: str = "shm"
    requests: int = REQUESTS
    answer_seconds: float = ANSWER_SECONDS
    has_checksum: bool = True
    protections: tuple[str, ...] | None = None


class Broken(msgspec.Struct, frozen=True):
    """A clause that did not hold after a mishap; `seed` repeats the round, with no other before it."""

    clause: str
    rule: str
    says: str
    seed: int


def with_findings(broken: tuple[Broken, ...], findings: list[Finding], seed: int) -> tuple[Broken, ...]:
    """The first finding of each clause."""
    for finding in findings:
        if finding.clause not in {each.clause for each in broken}:
            broken += (Broken(finding.clause, clause(finding.clause).rule, finding.says, seed),)
    return broken


@dataclass
class Rounds:
    """The processes of a target, which serve one round after the other. Who inherits knows the caches."""

    mishaps: ClassVar[Mapping[str, Mishap]]
    tidy: ClassVar[str]

    target: str
    options: Options
    make_lock: Callable[[], Any] = RobustLock
    requests: int = 0
    retried: int = 0
    lost: int = 0
    killed: Counter[str] = field(default_factory=Counter)
    impossible: set[str] = field(default_factory=set)
    """Mishaps that cannot happen to this target."""
    _seen: set[Known] = field(default_factory=set)
    _named: set[str] = field(default_factory=set)
    _cleanup: ExitStack = field(default_factory=ExitStack)
    _open: int | None = None

    def __enter__(self) -> Rounds:
        rehearse(self.target)
        self.prepare()
        context = multiprocessing.get_context("spawn")
        self._lock = TrappedLock(self.make_lock(), context)
        self._hosts = self._cleanup.enter_context(
            Hosts(self._lock, answer_seconds=self.options.answer_seconds)
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    def prepare(self) -> None:
        """Learn what the target offers; `NotOffered` where it lacks the caches."""
        raise NotImplementedError

    def make(self) -> Any:
        """The processes of one session."""
        raise NotImplementedError

    def ask(self, processes: Any, random: Random, prefix: str) -> Clients:
        """Clients of these processes."""
        raise NotImplementedError

    @contextmanager
    def session(self, seed: int) -> Iterator[Clients]:
        """A deployment of its own, and its clients."""
        processes = self.make()
        try:
            yield self._started(processes, seed)
        finally:
            self._lock.take_away()
            self._named.add(getattr(processes, "segment", ""))
            processes.close()

    def _started(self, processes: Any, seed: int) -> Clients:
        """Clients of these processes; when somebody else kills one that starts, all are given back and it is
        begun anew."""
        for _ in range(MOST_STARTS):
            try:
                return self.ask(processes, Random(seed), f"{seed}.")
            except ProcessLost as error:
                if not error.was_killed:
                    raise
                self.killed[error.part] += 1
                processes.close()
            except Exception as error:
                raise TargetUnavailable(f"the caches of {self.target} cannot be made: {error!r}") from error
        raise TargetUnavailable(f"in {MOST_STARTS} attempts some process was killed as it started")

    def perform(self, name: str, seed: int) -> tuple[bool, list[Finding]]:
        """One round, in a session of its own."""
        with self.session(seed) as session:
            return self.live_through(session, name, seed)

    def live_through(self, session: Clients, name: str, seed: int) -> tuple[bool, list[Finding]]:
        """One round; whether its mishap happened, and what the profile says is wrong."""
        mishap, happened = self.mishaps[name], True
        session.begin(mishap.clause)
        served, retried = session.served, session.retried
        try:
            happened = self._round(session, name, Random(seed))
        except Hopeless as error:
            session.find(mishap.clause, str(error))
        except ProcessLost as error:
            happened = False
            session.find(mishap.clause, f"the engine cannot go on: {error}")
            session.killed += [error.part] * error.was_killed
        except Exception as error:
            session.find(mishap.clause, f"the engine cannot go on: {type(error).__name__}: {error}")
        self.requests += session.served - served
        self.retried += session.retried - retried
        self.lost += len(session.lost)
        self.killed.update(session.killed)
        return happened, [
            each
            for each in session.findings
            if self._is_judged(each, mishap) and (not session.killed or each.clause in WRONG_CONTENT)
        ]

    def killed_in_words(self) -> str:
        """Which processes somebody else killed; nothing where nobody did.

        What users must never see is judged all the same, but that is not all.
        """
        if not self.killed:
            return ""
        parts = ", ".join([f"{part} {count} ×" for part, count in sorted(self.killed.items())])
        return f"somebody else killed processes meanwhile: {parts}"

    def _round(self, session: Clients, name: str, random: Random) -> bool:
        """Requests, the mishap in the middle of them, and the question whether everything goes on."""
        mishap = self.mishaps[name]
        self._remember(session)
        self._ask_for_descriptors(session)
        begins = session.served + random.randint(5, self.options.requests // 2)
        scene = Scene(session, self._lock, random, CAPACITY * UNIT)
        happened = False

        def meanwhile() -> None:
            nonlocal happened
            if not happened and name not in self.impossible and session.served >= begins:
                session.is_undisturbed = False
                try:
                    happened = mishap.act(scene)
                except NotOffered:
                    self.impossible.add(name)
            self._remember(session)

        try:
            # A clear of the clients would make good what is damaged.
            unfit = {*mishap.without, *(["clear"] if mishap.is_damage else [])}
            kinds = [each for each in session.accidents if each not in unfit]
            session.serve(self.options.requests, meanwhile, kinds)
            for _ in range(3):
                if not happened and name not in self.impossible:
                    session.serve(self.options.requests // 3, meanwhile)
        finally:
            signal_to(scene.victim, signal.SIGCONT)
        self._lock.take_away()
        before = session.served
        session.serve(AFTERWARDS)
        if session.served < before + AFTERWARDS:
            session.find(
                mishap.clause, f"only {session.served - before} of {AFTERWARDS} later requests served"
            )
        session.look_after(CAPACITY, needs_clear=mishap.needs_clear)
        self._remember(session)
        return happened

    def _is_judged(self, finding: Finding, mishap: Mishap) -> bool:
        if self.options.profile == "safe":
            return True
        return not mishap.is_damage and not clause(finding.clause).is_stronger

    def _remember(self, session: Clients) -> None:
        self._named.add(session.segment)
        for host in session.course.hosts():
            since = began(host.pid)
            if since is not None:
                self._seen.add(Known(host.pid, since))

    def _ask_for_descriptors(self, session: Clients) -> None:
        """With all processes up, this one has no more descriptors open than in the round before."""
        gc.collect()  # what only waits to be collected is no leak
        now = descriptors()
        if self._open is not None and now > self._open:
            session.find(self.tidy, f"{now} descriptors are open, and {self._open} were in the round before")
        self._open = now

    def left_behind(self) -> list[Finding]:
        """What is left when all is over; it is removed."""
        found = []
        for name in sorted(filter(None, self._named)):
            if segments.exists(name):
                found.append(Finding("SC-49", f"the segment {name} is left"))
                segments.remove(name)
        found += [
            Finding(self.tidy, f"the process {each.process} is left")
            for each in self._seen
            if is_running(each)
        ]
        return found
