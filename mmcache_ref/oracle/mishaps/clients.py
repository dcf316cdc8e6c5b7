"""Clients that ask for much at once, and check every answer: what they share whatever the caches are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, ClassVar, Final, NamedTuple

from mmcache_ref.model.component import Content
from mmcache_ref.oracle.adapters.base import Unexpected
from mmcache_ref.oracle.shm_words import units
from mmcache_ref.protocol.messages import RequestItem
from mmcache_ref.protocol.processes import Died, Failed

WINDOW: Final = 6
"""Requests under way, retries among them."""
KEYS: Final = 24
LARGEST: Final = 3
"""Units of an item."""
STEP_SECONDS: Final = 0.02
"""For how long to wait for an answer before one looks round."""
RETRIES: Final = 20
"""So many retries for each request on average, and nothing is served any more."""
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


class Clients:
    """What clients of one deployment asked for and saw. Who inherits knows the deployment.

    Attributes:
        processes, deployment, course: what is asked; who inherits makes them.
        accidents: what may become of one of so many requests.
        tidy: the clause that says that nothing is left, grows, or is waited for without end.
        findings: what was wrong, in the order in which it was seen.
        served: requests that were finished.
        lost: the parts that were lost, in order.
        expected: the parts that may be lost, since something was done to them.
        killed: the parts that somebody else killed: nothing follows from it for the target, and little from
            what came after it.
        blamed: the clause that an error breaks which no clause documents.
        is_undisturbed: nothing was done to anybody yet.
    """

    processes: Any
    deployment: Any
    course: Any
    accidents: ClassVar[tuple[str, ...]]
    tidy: ClassVar[str]

    def __init__(self, random: Random, prefix: str = "") -> None:
        self.findings: list[Finding] = []
        self.served = 0
        self._owed = 0
        self.lost: list[str] = []
        self.expected: set[str] = set()
        self.killed: list[str] = []
        self.blamed = self.tidy
        self.is_undisturbed = True
        self._random = random
        self._prefix = prefix
        self._fresh = 0

    def begin(self, clause: str) -> None:
        """A new round: what goes wrong from now on is blamed on this clause."""
        self.findings, self.lost, self.expected, self.blamed = [], [], set(), clause
        self.killed = []
        self._owed = 0

    @property
    def retried(self) -> int:
        """Requests that were sent again after a miss."""
        return int(self.deployment.work.retries)

    @property
    def segment(self) -> str:
        """The name of the shared memory, where there is any."""
        return ""

    def find(self, clause: str, says: str) -> None:
        """Note that a clause did not hold."""
        self.findings.append(Finding(clause, says))

    def look_after(self, units: int, *, needs_clear: bool) -> None:
        """Whether all is well, long after a mishap; the caches have room for so many units."""
        raise NotImplementedError

    # Requests

    def serve(
        self, requests: int, meanwhile: Meanwhile = lambda: None, kinds: Sequence[str] = ("submit",)
    ) -> None:
        """So many requests of these kinds, from the first to the end of the last one."""
        made = [(self._random.choice(kinds), self._request()) for _ in range(requests)]
        self._serve(made, meanwhile)

    def _request(self) -> Request:
        names = self._random.sample(range(KEYS), self._random.randint(1, 3))
        return tuple([self._item(f"k{name}", 1 + name % LARGEST) for name in names])

    def _item(self, name: str, units: int) -> RequestItem:
        key = f"{self._prefix}{name}"
        return RequestItem(key, Content(units, sum(key.encode()) % 251))

    def _ask(self, kind: str, request: Request) -> None:
        """A client's request, with what else happens to it, or to the one before."""
        raise NotImplementedError

    def _serve(self, requests: list[tuple[str, Request]], meanwhile: Meanwhile = lambda: None) -> None:
        """Requests and their retries, until none is left, or nothing is served any more.   [SC-47, DR-32]"""
        requests.reverse()
        patience = self.retried + RETRIES * (1 + len(requests))
        while requests or self.course.under_way:
            while requests and self.course.under_way < WINDOW:
                self._ask(*requests.pop())
            for event in self.course.step(STEP_SECONDS):
                self._note(event)
            meanwhile()
            self._finish(is_last=not requests)
            if self.retried > patience:
                self.find(self.blamed, "requests are retried for ever, and never served")
                raise Hopeless("nothing is served any more")
        if self._owed:
            self.find(self.blamed, f"{self._owed} requests ended with neither their items nor a miss")
        self._owed = 0

    def _finish(self, *, is_last: bool) -> None:
        """Finish requests that run, all of them when no more are coming."""

    # What happened

    def _note(self, event: Any) -> None:
        match event:
            case Failed(part, error):
                self.find(self.blamed, f"{part} raised {in_words(error)}")
                self._replace(part)
            case Died(part, _, reason, was_killed):
                self.is_undisturbed = False
                self.lost.append(part)
                if was_killed and part not in self.expected:
                    self.killed.append(part)
                else:
                    self._ask_for_reason(part, reason)

    def _ask_for_reason(self, part: str, reason: str) -> None:
        """Only what something was done to may be lost, and not by hanging."""
        if part not in self.expected:
            self.find(self.blamed, f"{part} was lost, to which nothing was done: {reason}")
        if HANGS in reason:
            self.find(self.blamed, reason)
            raise Hopeless(reason)
        losses = len(self.lost) - len(self.killed)
        if losses > MOST_LOSSES:
            raise Hopeless(f"{losses} processes were lost to one mishap")

    def _replace(self, part: str) -> None:
        """The engine goes on with another process after an error that no clause documents."""
        host = next(each for each in self.course.hosts() if each.part == part)
        self.expected.add(part)
        self.is_undisturbed = False
        host.process.kill()


def content_in_words(content: Content | Unexpected) -> str:
    """What was read, or what was asked for."""
    return f"{units(content.nbytes)} of {content.fill}" if isinstance(content, Content) else content.what


def in_words(error: BaseException) -> str:
    """An error by its class and what it says."""
    return f"{type(error).__name__}: {error}"
