"""Calls that are under way in several processes at once, and the end of any of these processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import wait
from typing import Any, Final, NamedTuple

from ..messages import Request
from .errors import ProcessLost
from .host import Host, Pending

MEANWHILE: Final = "it was started anew together with another one"
"""The reason of a part to which nothing happened itself."""


class Died(NamedTuple):
    """A process ended, or was ended since it hung; when one hears of it another one is in its place.

    `was_killed`: somebody killed it (SIGKILL) who has nothing to do with the deployment.
    """

    part: str
    pid: int
    reason: str
    was_killed: bool = False


class Failed(NamedTuple):
    """A part raised what no protection makes an answer of; nothing is served after that."""

    part: str
    error: Exception


class Sent(NamedTuple):
    """P0 made a message of what it was asked."""

    did: str
    message: Any


class Refused(NamedTuple):
    """P0 refused what it was asked: a request without data, or a handle that it does not accept."""

    did: str
    request: Request
    error: Exception


class Cleared(NamedTuple):
    """A side was cleared: by which step."""

    did: str


def oldest(choices: Sequence[Any]) -> int:
    """The place of the first one."""
    return 0


class _Call(NamedTuple):
    """A call under way: what is done with its result, with an error, and when its process is lost."""

    pending: Pending[Any]
    done: Callable[[Any], None]
    failed: Callable[[Exception], None]
    lost: Callable[[], None]


class Course:
    """One thread that has many processes at work. Who inherits says what to begin, and who replaces a part.

    Attributes:
        events: what happened and nobody has taken note of.
    """

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.on_death: Callable[[str], None] = lambda part: None
        """Hears of each part that was replaced, before anything goes on."""
        self._calls: dict[Host, _Call] = {}
        self._lost: dict[str, str] = {}

    # What who inherits says

    def hosts(self) -> list[Host]:
        """The processes of all parts."""
        raise NotImplementedError

    def feed(self) -> None:
        """Begin what can be begun."""
        raise NotImplementedError

    def replace(self, part: str) -> None:
        """Put another process in the place of a part that is lost. Nothing is under way in any other one."""
        raise NotImplementedError

    # What it offers

    @property
    def is_idle(self) -> bool:
        """Whether nothing is under way in any process."""
        return not self._calls

    def is_busy(self, host: Host) -> bool:
        """Whether a call is under way in this process."""
        return host in self._calls

    def begin(
        self,
        host: Host,
        start: Callable[[], Pending[Any]],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        lost: Callable[[], None],
    ) -> None:
        """Begin a call in a process that has none under way; one of the last three is called later."""
        try:
            self._calls[host] = _Call(start(), done, failed, lost)
        except ProcessLost as error:
            lost()
            self._note_loss(host, str(error))

    def step(self, seconds: float = 1.0) -> list[Any]:
        """Begin what can be begun, wait for an answer or a death, and do what follows; what happened.

        Returns after `seconds` at the latest, or at once when nothing is under way.
        """
        self.recover()
        self.feed()
        if self._calls or self._lost:
            self._wait(seconds)
        self.recover()
        happened, self.events = self.events, []
        return happened

    def settle(self) -> None:
        """Wait until nothing is under way, and begin nothing."""
        while self._calls:
            self._wait(min(each.pending.deadline for each in self._calls.values()) - time.monotonic())

    def recover(self) -> None:
        """Replace every part that is lost, once nothing is under way in the others."""
        while self._lost or self._has_death():
            self.settle()
            part, reason = self._lost.popitem()
            before = {host.part: host for host in self.hosts()}
            if before[part].process.is_alive():  # it was replaced together with another part
                continue
            try:
                self.replace(part)
                self._attempts = 0
            except ProcessLost as error:
                self._tried(part, error)
                self._lost.setdefault(error.part, str(error))
                if self._host_of(part) is before[part]:
                    self._lost.setdefault(part, reason)
            for host in self.hosts():
                if host is not before[host.part]:
                    why = reason if host.part == part else self._lost.pop(host.part, MEANWHILE)
                    lost = before[host.part]
                    self.events.append(Died(host.part, lost.pid, why, lost.was_killed))
                    self.on_death(host.part)

    def _host_of(self, part: str) -> Host:
        return next(host for host in self.hosts() if host.part == part)

    def whole(self, operate: Callable[[], Any]) -> Any:
        """Do something with several parts at once, while nothing is under way; None when one is lost."""
        self.settle()
        self.recover()
        try:
            return operate()
        except ProcessLost as error:
            self._lost.setdefault(error.part, str(error))
            return None

    # How it works

    _attempts: int = 0
    MOST_ATTEMPTS: int = 20

    def _tried(self, part: str, error: ProcessLost) -> None:
        self._attempts += 1
        if self._attempts > self.MOST_ATTEMPTS:
            says = f"could not be replaced in {self.MOST_ATTEMPTS} attempts; the last one: {error}"
            raise ProcessLost(part, says, was_killed=error.was_killed) from error

    def _has_death(self) -> bool:
        """Take note of processes that ended without a call under way."""
        for host in self.hosts():
            if host not in self._calls and not host.process.is_alive():
                self._lost.setdefault(host.part, f"the process ended with exit code {host.process.exitcode}")
        return bool(self._lost)

    def _wait(self, seconds: float) -> None:
        """Wait for an answer, a death, or the end of the time that a call has; complete what is ready."""
        due = min((each.pending.deadline for each in self._calls.values()), default=0.0) - time.monotonic()
        watched: dict[Any, Host] = {host.pipe: host for host in self._calls}
        deaths = [host.process.sentinel for host in self.hosts() if host.process.is_alive()]
        ready = wait([*watched, *deaths], max(0.0, min(seconds, due)))
        for each in ready:
            host = watched.get(each)
            if host is not None:
                self._complete(host)
        for host, call in list(self._calls.items()):
            if call.pending.is_overdue and not call.pending.is_ready:
                self._complete(host)

    def _complete(self, host: Host) -> None:
        call = self._calls[host]
        try:
            result = call.pending.wait()
        except ProcessLost as error:
            del self._calls[host]
            call.lost()
            self._note_loss(host, str(error))
        except Exception as error:
            del self._calls[host]
            call.failed(error)
        else:
            del self._calls[host]
            call.done(result)

    def _note_loss(self, host: Host, reason: str) -> None:
        self._lost.setdefault(host.part, reason)
