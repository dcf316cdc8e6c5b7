"""What can happen to the processes around shared memory and to their segment, each as one mishap."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.mishaps.damage import write_into
from mmcache_ref.oracle.mishaps.trapped_lock import TrappedLock
from mmcache_ref.protocol.processes import wire

STOPPED_SECONDS: Final = 0.1
"""For how long a process is stopped: others wait meanwhile."""
TRAP_TIMES: Final = 4
"""A trap is set for one of so many coming acknowledgements."""


@dataclass
class Scene:
    """One mishap while it happens.

    Attributes:
        step: how far it is.
        victim: the process that it happens to.
        until: when what was stopped goes on, by the monotonic clock.
    """

    session: Any
    lock: TrappedLock
    random: Random
    capacity: int
    step: int = 0
    victim: int = 0
    until: float = 0.0

    def choose_worker(self) -> Any:
        """A worker, from whom a loss is expected from now on."""
        return self._choose(self.random.choice(self.session.course.workers))

    def choose_front_end(self) -> Any:
        """P0, likewise."""
        return self._choose(self.session.course.front_end)

    def choose_engine(self) -> Any:
        """P1 of a pair, likewise."""
        return self._choose(self.session.course.engine)

    def _choose(self, part: Any) -> Any:
        self.session.expected.add(part.host.part)
        self.victim = part.pid
        return part


Act = Callable[[Scene], bool]
"""One step of a mishap; True when it has happened. It is called again and again until then."""


@dataclass(frozen=True)
class Mishap:
    """One kind of mishap.

    Attributes:
        says: what happens.
        clause: what says how everybody else lives through it.
        act: makes it happen.
        needs_clear: what it did lasts until the store is cleared (OS-45).
        is_damage: only with the clauses that 0.32 does not keep anything follows for what is read.
        without: accidents of clients that do not happen meanwhile.
    """

    says: str
    clause: str
    act: Act
    needs_clear: bool = False
    is_damage: bool = False
    without: frozenset[str] = frozenset()


def signal_to(process: int, signum: int) -> None:
    """A signal to a process, which may have ended; none to nobody."""
    if not process:
        return
    with suppress(ProcessLookupError):
        os.kill(process, signum)


def killed_at(place: str, choose: Callable[[Scene], Any]) -> Act:
    """A process dies as it comes to this place for one of the next few times."""

    def act(scene: Scene) -> bool:
        if scene.step == 0:
            choose(scene)
            scene.lock.set_trap(scene.victim, place, scene.random.randint(1, TRAP_TIMES))
            scene.step = 1
        return not scene.lock.is_set

    return act


def _stopped_in_lock(scene: Scene) -> bool:
    """A reader that holds the lock is stopped, and goes on a little later."""
    if scene.step == 0:
        scene.victim = scene.random.choice(scene.session.course.workers).pid
        times = scene.random.randint(1, TRAP_TIMES)
        scene.lock.set_trap(scene.victim, "as it has got the lock", times, signal.SIGSTOP)
        scene.step = 1
    if scene.step == 1 and not scene.lock.is_set:
        scene.until = time.monotonic() + STOPPED_SECONDS
        scene.step = 2
    return scene.step == 2 and _goes_on(scene)


def _goes_on(scene: Scene) -> bool:
    if time.monotonic() < scene.until:
        return False
    signal_to(scene.victim, signal.SIGCONT)
    return True


def stopped(choose: Callable[[Scene], int]) -> Act:
    """A process is stopped, and goes on a little later."""

    def act(scene: Scene) -> bool:
        if scene.step == 0:
            scene.victim = choose(scene)
            scene.until = time.monotonic() + STOPPED_SECONDS
            scene.step = 1
            signal_to(scene.victim, signal.SIGSTOP)
        return _goes_on(scene)

    return act


def killed(choose: Callable[[Scene], Any]) -> Act:
    """A process is killed, whatever it does."""

    def act(scene: Scene) -> bool:
        signal_to(choose(scene).pid, signal.SIGKILL)
        return True

    return act


def _p1_killed(scene: Scene) -> bool:
    """P1 and all its workers are gone at once."""
    for worker in scene.session.course.workers:
        scene.session.expected.add(worker.host.part)
        signal_to(worker.pid, signal.SIGKILL)
    return True


def _segment_removed(scene: Scene) -> bool:
    """The name is removed; later a worker dies, and the one in its place cannot attach."""
    if scene.step == 0:
        segments.remove(scene.session.segment)
        scene.until = scene.session.served + 20
        scene.step = 1
    if scene.session.served < scene.until:
        return False
    signal_to(scene.choose_worker().pid, signal.SIGKILL)
    return True


def _damaged(part: str) -> Act:
    def act(scene: Scene) -> bool:
        addresses = scene.session.handles()
        name = scene.session.segment
        return bool(addresses) and write_into(name, part, addresses[0], scene.capacity, scene.random)

    return act


def cut(choose: Callable[[Scene], Any]) -> Act:
    """A connection ends in the middle of a message, or what comes is none."""

    def act(scene: Scene) -> bool:
        host = choose(scene).host
        data = wire.packed(((), ("read", (bytes(1000),))))
        whole = wire.head_of(data) + data
        part = whole[: scene.random.randrange(1, len(whole))]
        with suppress(OSError):
            host.pipe.sendall(scene.random.choice([part, scene.random.randbytes(64)]))
            host.pipe.shutdown(scene.random.choice([1, 2]))
        return True

    return act


MISHAPS: Final[Mapping[str, Mishap]] = {
    "kill-before-lock": Mishap(
        "a reader is killed before it takes the lock",
        "SC-47",
        killed_at("before it asks for the lock", Scene.choose_worker),
    ),
    "kill-with-lock": Mishap(
        "a reader is killed with the lock, before it counts",
        "SC-46",
        killed_at("as it has got the lock", Scene.choose_worker),
    ),
    "kill-after-count": Mishap(
        "a reader is killed with the lock, after it counted",
        "SC-46",
        killed_at("as it gives the lock back", Scene.choose_worker),
    ),
    "kill-after-lock": Mishap(
        "a reader is killed after its acknowledgement",
        "SC-47",
        killed_at("after it gave the lock back", Scene.choose_worker),
    ),
    "kill-reader": Mishap("a reader is killed", "SC-47", killed(Scene.choose_worker)),
    "stop-with-lock": Mishap("a reader is stopped with the lock, and goes on", "SC-52", _stopped_in_lock),
    "stop-reader": Mishap(
        "a reader is stopped, and goes on",
        "SC-52",
        stopped(lambda scene: int(scene.random.choice(scene.session.course.workers).pid)),
    ),
    "stop-writer": Mishap(
        "the writer is stopped, and goes on",
        "SC-52",
        stopped(lambda scene: int(scene.session.course.front_end.pid)),
    ),
    "kill-p1": Mishap("P1 is killed with all readers", "SC-48", _p1_killed),
    "kill-writer": Mishap("the writer is killed", "SC-49", killed(Scene.choose_front_end)),
    "remove-segment": Mishap("somebody removes the name of the segment", "SC-51", _segment_removed),
    "cut-reader": Mishap(
        "the connection of a reader ends inside a message", "SC-52", cut(Scene.choose_worker)
    ),
    "cut-writer": Mishap(
        "the connection of the writer ends inside a message", "SC-52", cut(Scene.choose_front_end)
    ),
    "write-secret": Mishap(
        "bytes are written over in the secret", "SC-50", _damaged("secret"), is_damage=True
    ),
    "write-header": Mishap("bytes are written over in a header", "SC-50", _damaged("header"), is_damage=True),
    "write-count": Mishap(
        "bytes are written over in a reader count",
        "OS-45",
        _damaged("count"),
        is_damage=True,
        needs_clear=True,
    ),
    "write-payload": Mishap(
        "bytes are written over in a payload", "SC-50", _damaged("payload"), is_damage=True
    ),
}
"""Name to mishap, in the order in which they are tried."""
