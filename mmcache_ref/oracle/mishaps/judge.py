"""Does a target live through every mishap? Rounds of one mishap each, on a segment of its own."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import msgspec

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.shm_units import UNIT
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.errors import NotOffered, TargetUnavailable
from mmcache_ref.oracle.mishaps.leftovers import descriptors, is_running
from mmcache_ref.oracle.mishaps.mishaps import MISHAPS, Mishap, Scene, signal_to
from mmcache_ref.oracle.mishaps.session import ACCIDENTS, Finding, Hopeless, Session
from mmcache_ref.oracle.mishaps.target_parts import told_recipe
from mmcache_ref.oracle.mishaps.trapped_lock import TrappedLock
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.verdict import EXIT_CODES, Status
from mmcache_ref.protocol import SHARED_DEFAULT, RobustLock, SharedDeployment
from mmcache_ref.protocol.processes.errors import ProcessLost
from mmcache_ref.protocol.processes.host import Hosts
from mmcache_ref.protocol.processes.shared_remote import SharedProcesses

CAPACITY: Final = 24
"""Units of the ring: a dozen items."""
LIMIT: Final = 4
REQUESTS: Final = 120
"""Of one round: half of them before the mishap at the latest, a quarter after it at least."""
AFTERWARDS: Final = 40
ANSWER_SECONDS: Final = 60.0


class Options(msgspec.Struct, frozen=True):
    """How a target is judged: `seconds` are spent at least, and each mishap happens once at least.

    With `has_checksum` a target that offers `CheckedMsgpackSerde` has it.
    """

    workers: int = 2
    seconds: float = 20.0
    seed: int = 0
    profile: str = "safe"
    requests: int = REQUESTS
    answer_seconds: float = ANSWER_SECONDS
    has_checksum: bool = True
    protections: tuple[str, ...] = tuple(sorted(SHARED_DEFAULT))


class Broken(msgspec.Struct, frozen=True):
    """A clause that did not hold after a mishap; `seed` repeats the round, with no other before it."""

    clause: str
    rule: str
    says: str
    seed: int


class Survived(msgspec.Struct, frozen=True):
    """One kind of mishap: in how many rounds it happened, and what broke."""

    mishap: str
    clause: str
    rounds: int = 0
    broken: tuple[Broken, ...] = ()


class Judged(msgspec.Struct, frozen=True):
    """One target among real processes; `reason` says why nothing could be determined."""

    target: str
    options: Options
    status: Status
    mishaps: tuple[Survived, ...] = ()
    requests: int = 0
    retried: int = 0
    lost: int = 0
    seconds: float = 0.0
    reason: str = ""

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
    only: tuple[str, ...] = tuple(MISHAPS),
) -> Judged:
    """Every mishap once, then those that the seed chooses, until the time is over.

    No segment and no process is left, whatever happens.
    """
    began = time.monotonic()
    segments.sweep()
    rounds = Rounds(target, options, lock)
    counted = {name: Survived(name, MISHAPS[name].clause) for name in only}
    reason = ""
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
            never = [name for name, each in counted.items() if not each.rounds and not each.broken]
            reason = f"did not happen in any round: {', '.join(never)}" if never else ""
    except (TargetUnavailable, NotOffered, ProcessLost) as error:
        reason = str(error)
    after = rounds.left_behind()
    found = tuple(counted.values())
    if after:
        found = (
            *found,
            Survived("the end of all processes", "SC-52", 1, with_findings((), after, options.seed)),
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
    )


def _plan(options: Options, names: tuple[str, ...], began: float) -> Iterator[tuple[int, str]]:
    """Seeds of rounds, and their mishaps: every one in order, then as the seeds choose."""
    for number, name in enumerate(names):
        yield options.seed + number, name
    seed = options.seed + len(names)
    while time.monotonic() - began < options.seconds:
        yield seed, names[seed % len(names)]
        seed += 1


def with_findings(broken: tuple[Broken, ...], findings: list[Finding], seed: int) -> tuple[Broken, ...]:
    """The first finding of each clause."""
    for finding in findings:
        if finding.clause not in {each.clause for each in broken}:
            broken += (Broken(finding.clause, clause(finding.clause).rule, finding.says, seed),)
    return broken


@dataclass
class Rounds:
    """The processes of a target, which serve one round after the other."""

    target: str
    options: Options
    make_lock: Callable[[], Any] = RobustLock
    requests: int = 0
    retried: int = 0
    lost: int = 0
    _seen: set[int] = field(default_factory=set)
    _named: set[str] = field(default_factory=set)
    _cleanup: ExitStack = field(default_factory=ExitStack)
    _open: int | None = None

    def __enter__(self) -> Rounds:
        self._recipe = told_recipe(
            self.target, CAPACITY, LIMIT, self.options.workers, has_checksum=self.options.has_checksum
        )
        self._deployment = getattr(resolve(self.target), "SharedDeployment", SharedDeployment)
        context = multiprocessing.get_context("spawn")
        self._lock = TrappedLock(self.make_lock(), context)
        self._hosts = self._cleanup.enter_context(
            Hosts(self._lock, answer_seconds=self.options.answer_seconds)
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    @contextmanager
    def session(self, seed: int) -> Iterator[Session]:
        """A deployment on a segment of its own, and its clients."""
        processes = SharedProcesses(self._hosts, self._recipe, self.options.workers, kills=False)
        try:
            try:
                session = Session(
                    processes, Random(seed), f"{seed}.", self.options.protections, self._deployment
                )
            except ProcessLost:
                raise
            except Exception as error:
                raise TargetUnavailable(f"the caches of {self.target} cannot be made: {error!r}") from error
            yield session
        finally:
            self._lock.take_away()
            self._named.add(processes.segment)
            processes.close()

    def perform(self, name: str, seed: int) -> tuple[bool, list[Finding]]:
        """One round, in a session of its own."""
        with self.session(seed) as session:
            return self.live_through(session, name, seed)

    def live_through(self, session: Session, name: str, seed: int) -> tuple[bool, list[Finding]]:
        """One round; whether its mishap happened, and what the profile says is wrong."""
        mishap, happened = MISHAPS[name], True
        session.begin(mishap.clause)
        served, retried = session.served, session.retried
        try:
            happened = self._round(session, mishap, Random(seed))
        except Hopeless as error:
            session.find(mishap.clause, str(error))
        except Exception as error:
            session.find(mishap.clause, f"the engine cannot go on: {type(error).__name__}: {error}")
        self.requests += session.served - served
        self.retried += session.retried - retried
        self.lost += len(session.lost)
        return happened, [each for each in session.findings if self._is_judged(each, mishap)]

    def _round(self, session: Session, mishap: Mishap, random: Random) -> bool:
        """Requests, the mishap in the middle of them, and the question whether everything goes on."""
        self._remember(session)
        self._ask_for_descriptors(session)
        begins = session.served + random.randint(5, self.options.requests // 2)
        scene = Scene(session, self._lock, random, CAPACITY * UNIT)
        happened = False

        def meanwhile() -> None:
            nonlocal happened
            if not happened and session.served >= begins:
                happened = mishap.act(scene)
            self._remember(session)

        try:
            # A clear of the clients would make good what is damaged.
            kinds = [each for each in ACCIDENTS if each != "clear" or not mishap.is_damage]
            session.serve(self.options.requests, meanwhile, kinds)
            for _ in range(3):
                if not happened:
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
        if mishap.needs_clear:
            session.deployment.clear()
        if not session.can_store(2 * CAPACITY):
            session.find(mishap.clause, "nothing is stored any more, although nothing is under way")
        self._remember(session)
        return happened

    def _is_judged(self, finding: Finding, mishap: Mishap) -> bool:
        if self.options.profile == "safe":
            return True
        return not mishap.is_damage and not clause(finding.clause).is_stronger

    def _remember(self, session: Session) -> None:
        self._named.add(session.processes.segment)
        self._seen |= {host.pid for host in session.course.hosts()}

    def _ask_for_descriptors(self, session: Session) -> None:
        """With all processes up, this one has no more descriptors open than in the round before."""
        now = descriptors()
        if self._open is not None and now > self._open:
            session.find("SC-52", f"{now} descriptors are open, and {self._open} were in the round before")
        self._open = now

    def left_behind(self) -> list[Finding]:
        """What is left when all is over; it is removed."""
        found = []
        for name in sorted(filter(None, self._named)):
            if segments.exists(name):
                found.append(Finding("SC-49", f"the segment {name} is left"))
                segments.remove(name)
        found += [Finding("SC-52", f"the process {each} is left") for each in self._seen if is_running(each)]
        return found
