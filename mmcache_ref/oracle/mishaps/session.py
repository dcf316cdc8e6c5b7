"""Clients that ask for much at once: requests through a deployment of processes, and every answer checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from mmcache_ref.model.component import Content
from mmcache_ref.oracle.adapters.base import Unexpected
from mmcache_ref.protocol.messages import RequestItem
from mmcache_ref.protocol.processes.course import Died, Failed, Refused, Sent
from mmcache_ref.protocol.processes.shared_course import Read, SharedCourse
from mmcache_ref.protocol.processes.shared_remote import SharedProcesses
from mmcache_ref.protocol.shared_deployment import SharedDeployment
from mmcache_ref.protocol.shared_messages import Retry, SharedMessage, is_handle
from mmcache_ref.protocol.shared_protections import SHARED_DEFAULT

WINDOW: Final = 6
"""Requests under way, retries among them."""
RUNNING: Final = 3
"""Requests that run before the oldest one is finished."""
KEYS: Final = 24
LARGEST: Final = 3
"""Units of an item."""
STEP_SECONDS: Final = 0.02
"""For how long to wait for an answer before one looks round."""
RETRIES: Final = 20
"""So many retries for each request on average, and nothing is served any more."""

ACCIDENTS: Final = (*["submit"] * 16, "fan-out", "reject", "abort", "clear")
"""What may become of one of so many requests: see `SharedDeployment`."""
HANGS: Final = "has not"
"""So says the loss of a process that did not answer in time."""
MOST_LOSSES: Final = 10
"""So many processes lost in one round, and it ends."""

Meanwhile = Callable[[], None]
Request = tuple[RequestItem, ...]


class Hopeless(Exception):  # noqa: N818 - reads as what it is
    """It makes no sense to go on."""


class Finding(NamedTuple):
    """A clause that did not hold, and what was seen."""

    clause: str
    says: str


class Session:
    """One deployment, and what its clients saw of it.

    Attributes:
        findings: what was wrong, in the order in which it was seen.
        served: requests that were finished, every worker having read their items.
        retried: requests that were sent again.
        lost: the parts that were lost, in order.
        expected: the parts that may be lost, since something was done to them.
        blamed: the clause that an error breaks which no clause documents.
    """

    def __init__(
        self,
        processes: SharedProcesses,
        random: Random,
        prefix: str = "",
        protections: Iterable[str] = SHARED_DEFAULT,
        kind: Callable[..., SharedDeployment] = SharedDeployment,
    ) -> None:
        self.processes = processes
        self.deployment = kind(protections=protections, **processes.parts())
        self.course = SharedCourse(self.deployment, finishes=False)
        self.findings: list[Finding] = []
        self.served = 0
        self._owed = 0
        self.lost: list[str] = []
        self.expected: set[str] = set()
        self.blamed = "SC-47"
        self._random = random
        self._prefix = prefix
        self._fresh = 0
        self._stored: list[bool] = []

    def begin(self, clause: str) -> None:
        """A new round: what goes wrong from now on is blamed on this clause."""
        self.findings, self.lost, self.expected, self.blamed = [], [], set(), clause
        self._owed = 0

    @property
    def retried(self) -> int:
        """Requests that were sent again."""
        return int(self.deployment.work.retries)

    def handles(self) -> list[int]:
        """The addresses that messages under way name, of those first that somebody has yet to read."""
        return [
            int(item["address"].data)
            for message in (*self.deployment.channel, *self.deployment.running)
            for item in message.items
            if is_handle(item)
        ]

    def find(self, clause: str, says: str) -> None:
        """Note that a clause did not hold."""
        self.findings.append(Finding(clause, says))

    # Requests

    def serve(
        self, requests: int, meanwhile: Meanwhile = lambda: None, kinds: Sequence[str] = ("submit",)
    ) -> None:
        """So many requests of these kinds, from the first to the end of the last one."""
        made = [(self._random.choice(kinds), self._request()) for _ in range(requests)]
        self._serve(made, meanwhile)

    def can_store(self, units: int) -> bool:
        """Whether of items that nobody has asked for, of so many units in all, any was stored.   [SC-35]"""
        self._fresh += 1
        names = [f"fresh{self._fresh}.{number}" for number in range(units // LARGEST + 1)]
        self._serve([("submit", (self._item(name, LARGEST),)) for name in names])
        return any(self._stored)

    def _request(self) -> Request:
        names = self._random.sample(range(KEYS), self._random.randint(1, 3))
        return tuple([self._item(f"k{name}", 1 + name % LARGEST) for name in names])

    def _item(self, name: str, units: int) -> RequestItem:
        key = f"{self._prefix}{name}"
        return RequestItem(key, Content(units, sum(key.encode()) % 251))

    def _ask(self, kind: str, request: Request) -> None:
        """A client's request, with what else happens to it, or to the one before."""
        if kind == "reject":
            self.course.reject(request)
            return
        if kind == "clear":
            self.course.clear()
        if kind == "abort":
            self._abort()
        self._owed += 1
        self.course.submit(request, 2 if kind == "fan-out" else 1)

    def _abort(self) -> None:
        """The oldest request that can be aborted is: its client waits for nothing."""
        free = [message for message in self.course.free_messages() if not message.is_release]
        if free:
            self._owed -= 1
            self.course.abort(free[0])

    def _serve(self, requests: list[tuple[str, Request]], meanwhile: Meanwhile = lambda: None) -> None:
        """Requests and their retries, until none is left, or nothing is served any more.   [SC-47]"""
        requests.reverse()
        self._stored.clear()
        patience = self.retried + RETRIES * (1 + len(requests))
        while requests or self.course.under_way:
            while requests and self.course.under_way < WINDOW:
                self._ask(*requests.pop())
            for event in self.course.step(STEP_SECONDS):
                self._note(event)
            meanwhile()
            while len(self.deployment.running) > RUNNING or (self.deployment.running and not requests):
                self.course.finish()
                self.served += 1
                self._owed -= 1
            if self.retried > patience:
                self.find(self.blamed, "requests are retried for ever, and never served")
                raise Hopeless("nothing is served any more")
        if self._owed:
            self.find(self.blamed, f"{self._owed} requests ended with neither their items nor a miss")
        self._owed = 0

    # What happened

    def _note(self, event: Any) -> None:
        match event:
            case Sent(_, message):
                self._stored += [is_handle(item) for item in message.items]
            case Refused(_, request, error):
                self.find(self.blamed, f"P0 raised {_in_words(error)}")
                self.deployment.retries.append(Retry(request))
            case Read(message, worker, reading):
                if not message.is_release and reading.items is not None:
                    self._check(message, worker, reading.items)
            case Failed(part, error):
                self.find(self.blamed, f"{part} raised {_in_words(error)}")
                self._replace(part)
            case Died(part, _, reason):
                self.lost.append(part)
                self._ask_for_reason(part, reason)

    def _ask_for_reason(self, part: str, reason: str) -> None:
        """Only what something was done to may be lost, and not by hanging."""
        if part not in self.expected:
            self.find(self.blamed, f"{part} was lost, to which nothing was done: {reason}")
        if HANGS in reason:
            self.find(self.blamed, reason)
            raise Hopeless(reason)
        if len(self.lost) > MOST_LOSSES:
            raise Hopeless(f"{len(self.lost)} processes were lost to one mishap")

    def _replace(self, part: str) -> None:
        """The engine goes on with another process after an error that no clause documents."""
        host = next(each for each in self.course.hosts() if each.part == part)
        self.expected.add(part)
        host.process.kill()
        self.deployment.is_dead = False

    def _check(self, message: SharedMessage, worker: int, items: tuple[Any, ...]) -> None:
        """What was read is what was asked for.   [SC-31]"""
        for item, found in zip(message.request, items, strict=True):
            if found != item.data:
                asked, read = _content(item.data), _content(found)
                self.find(
                    self.blamed if self.blamed == "SC-50" else "SC-31",
                    f"w{worker} read {read} for {item.mm_hash!r}, which is {asked}",
                )


def _content(content: Content | Unexpected) -> str:
    return f"{content.nbytes} units of {content.fill}" if isinstance(content, Content) else content.what


def _in_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
