"""Another process, seen by who started it: calls, their answers, and what becomes of it."""

from __future__ import annotations

import contextlib
import multiprocessing
import select
import signal
import socket
import time
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext
from typing import Any, Final, Generic, TypeVar

from ..robust_lock import RobustLock
from . import wire
from .errors import ProcessLost, raised_by
from .serving import DROP, MAKE, Call, serve

START_SECONDS: Final = 900.0
"""A published release may have to be downloaded, and a busy machine imports slowly."""
ANSWER_SECONDS: Final = 60.0
STOP_SECONDS: Final = 30.0
"""How long a process that hears that it is over may take to end; torch alone needs a second or more."""
BUSY_SECONDS: Final = 2.0
"""The same for one that has a call under way, which may never end."""

Result = TypeVar("Result")


class Pending(Generic[Result]):
    """A call that is under way in another process."""

    def __init__(self, host: Host, seconds: float, then: Callable[[Any], Result]) -> None:
        self.host = host
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        self._then = then

    @property
    def is_ready(self) -> bool:
        """Whether an answer has begun to come, or the process has ended."""
        return self.host.is_readable

    @property
    def is_overdue(self) -> bool:
        """Whether the time is over that the call may take."""
        return time.monotonic() > self.deadline

    def wait(self) -> Result:
        """The result; what the call raised, and `ProcessLost` when no answer comes in time."""
        return self._then(self.host.answer(self))


@contextlib.contextmanager
def no_interrupt() -> Iterator[None]:
    """What is started here is born with SIGINT held back, until it ignores it (`ignore_interrupt`): a
    terminal interrupts the whole group."""
    resource_tracker.ensure_running()  # else it is started here, too, and lets SIGINT through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Host:
    """A spawned process that holds one part of a deployment, one after the other.

    It has at most one call under way. It ends with its parent, whatever way that ends, or by `stop`.

    Args:
        part: how errors call it: `p0`, `p1`, `w0` and so on.
        lock: what makers in it get as their first argument; locks only travel as a process is started.
        answer_seconds: how long a call may take.
    """

    def __init__(
        self,
        part: str = "",
        lock: Any = None,
        *,
        context: SpawnContext | None = None,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        self.part = part
        self.answer_seconds = answer_seconds
        self._notes: list[Call] = []
        self._under_way: Pending[Any] | None = None
        self._is_ended_here = False
        self.told: Callable[[Any], None] = lambda news: None
        """Gets what the part tells besides the results of calls."""
        self.pipe, theirs = socket.socketpair()
        spawn = context or multiprocessing.get_context("spawn")
        with theirs:
            self.process = spawn.Process(target=serve, args=(theirs, lock), daemon=True)
            with no_interrupt():
                self.process.start()

    @property
    def pid(self) -> int:
        """The process, for the operating system."""
        assert self.process.pid is not None
        return self.process.pid

    @property
    def was_killed(self) -> bool:
        """Whether somebody else killed the process (SIGKILL): it ended, but not of itself."""
        return self.process.exitcode == -signal.SIGKILL and not self._is_ended_here

    @property
    def is_busy(self) -> bool:
        """Whether a call is under way."""
        return self._under_way is not None

    @property
    def is_readable(self) -> bool:
        """Whether something has come, or the socket has ended."""
        poll = select.poll()
        poll.register(self.pipe, select.POLLIN)
        return bool(poll.poll(0))

    def make(self, make: Callable[..., Any], *arguments: Any) -> Any:
        """Have `make(lock, *arguments)` make its part, in place of the one before; what it offers."""
        return self.begin(MAKE, make, *arguments, seconds=START_SECONDS).wait()

    def drop(self) -> None:
        """Have it drop its part, and give back what that holds."""
        self._notes.clear()
        self.call(DROP)

    def note(self, method: str, *arguments: Any) -> None:
        """A call that nobody waits for: it goes with the next one, before it."""
        self._notes.append((method, arguments))

    def call(self, method: str, *arguments: Any) -> Any:
        """The result of a call. Raises what it raised, or `ProcessLost`."""
        return self.begin(method, *arguments).wait()

    def begin(
        self,
        method: str,
        *arguments: Any,
        then: Callable[[Any], Any] = lambda result: result,
        seconds: float | None = None,
    ) -> Pending[Any]:
        """Begin a call; `then` makes of its result what `Pending.wait` returns."""
        assert self._under_way is None, f"{self.part} has a call under way"
        seconds = self.answer_seconds if seconds is None else seconds
        notes, self._notes = self._notes, []
        try:
            wire.send(self.pipe, wire.packed((notes, (method, arguments))), seconds)
        except wire.Ended:
            raise self._lost("ended") from None
        except wire.Silence:
            raise self._lost(f"has not taken a call for {seconds:.0f} s", is_hung=True) from None
        self._under_way = Pending(self, seconds, then)
        return self._under_way

    def answer(self, call: Pending[Any]) -> Any:
        """The result of the call that is under way."""
        try:
            kind, result, news = wire.receive(self.pipe, max(0.0, call.deadline - time.monotonic()))
        except wire.Ended:
            raise self._lost("ended") from None
        except wire.Silence:
            raise self._lost(f"has not answered for {call.seconds:.0f} s", is_hung=True) from None
        except (wire.Rubbish, TypeError, ValueError) as error:
            raise self._lost(f"answered rubbish ({error})") from None
        self._under_way = None
        if news is not None:
            self.told(news)
        if kind == "raised":
            raise raised_by(result)
        return result

    def _lost(self, says: str, *, is_hung: bool = False) -> ProcessLost:
        """The error for a process that is of no use any more: its end of the socket is given up."""
        self._under_way = None
        self.pipe.close()
        if not is_hung:
            self.process.join(STOP_SECONDS)
        self.kill()
        code = self.process.exitcode
        advice = "start another one in its place; what was under way in it is lost"
        ended = f"its exit code is {code}" if not is_hung else "it was killed"
        says = f"the process {self.pid} {says}; {ended}: {advice}"
        return ProcessLost(self.part, says, is_hung=is_hung, was_killed=self.was_killed)

    def stop(self) -> None:
        """End the process: by closing its socket, else by force."""
        self.pipe.close()
        self.process.join(BUSY_SECONDS if self.is_busy else STOP_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End the process by force, and take note of it."""
        self.pipe.close()
        self.end()

    def end(self) -> None:
        """End the process by force, as somebody else might."""
        if self.process.is_alive():
            self._is_ended_here = True
            self.process.kill()
        self.process.join()


class Hosts:
    """Processes for the parts of deployments, one deployment after the other: those of an earlier one serve
    again.

    Args:
        lock: given to every process as it is started; a `RobustLock` where there is none.
        locks: from the name of a part to the lock that its process is given, where they differ.
        answer_seconds: how long a call may take.
    """

    def __init__(
        self,
        lock: Any = None,
        *,
        locks: Callable[[str], Any] | None = None,
        answer_seconds: float = ANSWER_SECONDS,
    ) -> None:
        shared = RobustLock() if lock is None and locks is None else lock
        self._lock_of = locks or (lambda part: shared)
        self._context = multiprocessing.get_context("spawn")
        self._answer_seconds = answer_seconds
        self._idle: dict[str, list[Host]] = {}
        self._taken: list[Host] = []

    def take(self, part: str) -> Host:
        """A process for this part."""
        idle = self._idle.get(part, [])
        while idle and not idle[-1].process.is_alive():
            idle.pop().kill()
        host = idle.pop() if idle else self._start(part)
        self._taken.append(host)
        return host

    def prepare(self, *parts: str) -> None:
        """Start processes that will be taken, so that they come up side by side."""
        for part in parts:
            if not self._idle.get(part):
                self._idle.setdefault(part, []).append(self._start(part))

    def _start(self, part: str) -> Host:
        return Host(part, self._lock_of(part), context=self._context, answer_seconds=self._answer_seconds)

    def give_back(self, host: Host) -> None:
        """The deployment of this process is over; a dead or busy one ends."""
        if host not in self._taken:
            return
        self._taken.remove(host)
        host.told = lambda news: None
        if host.is_busy or not host.process.is_alive():
            host.kill()
            return
        try:
            host.drop()
        except Exception:
            host.kill()
        else:
            self._idle.setdefault(host.part, []).append(host)

    def reclaim(self) -> None:
        """Give back what an earlier deployment took and nobody uses any more."""
        for host in tuple(self._taken):
            self.give_back(host)

    def close(self) -> None:
        """End them all."""
        hosts = [*self._taken, *(host for idle in self._idle.values() for host in idle)]
        self._taken, self._idle = [], {}
        for host in hosts:
            host.pipe.close()
        for host in hosts:
            host.stop()

    def __enter__(self) -> Hosts:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
