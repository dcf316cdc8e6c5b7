"""P0 and P1 of a key-replicated pair, seen by the deployment: each call is one in its process.

A `Deployment` takes them in place of `FrontEnd` and `Engine`, and keeps the same books.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, cast

from ..channel import Channel
from ..deployment import Deployment
from ..engine import Engine
from ..front_end import Checked, FrontEnd
from ..implementation import Implementation
from ..messages import Answer, Message, Report, Request
from ..protections import DEFAULT
from ..work import Work
from .errors import ProcessLost
from .host import Host, Hosts, Pending
from .pair_parts import EnginePart, FrontEndPart
from .parts import Accounts, Processes, Recipe, RemoteCache, elsewhere


class _Side:
    """A side in a process of its own, which is started when it is first needed.

    Args:
        take: gives a process for this side; the one before ends.
        make: the class of its part, called with `arguments`.
    """

    def __init__(
        self, take: Callable[[], Host], make: Callable[..., Any], arguments: tuple[Any, ...], work: Work
    ) -> None:
        self._take, self._make, self._arguments, self._work = take, make, arguments, work
        self.number = 0
        self.checked: Checked | None = None
        """Only P0 has one."""

    @cached_property
    def host(self) -> Host:
        """The process."""
        host = self._take()
        accounts = Accounts(self._work)

        def hear(news: Any) -> None:
            accounts.take(news[0])
            self.number, self.checked = news[1]

        host.told = hear
        self._cache = RemoteCache(host, host.make(self._make, *self._arguments))
        return host

    @property
    def is_started(self) -> bool:
        """Whether there is a process yet."""
        return "host" in vars(self)

    @property
    def pid(self) -> int:
        """The process, for the operating system."""
        return self.host.pid

    @property
    def cache(self) -> RemoteCache:
        """The cache of this side."""
        self.host  # noqa: B018 - it is made with the part
        return self._cache

    def begin(self, method: str, *arguments: Any) -> Pending[Any]:
        """A call of the method of this name of the side's own class."""
        return self.host.begin(method, *arguments)

    def restart(self, number: int) -> None:
        """In another process, under this number. Where that is lost, too, the one before is still the one
        that has to be replaced."""
        before = vars(self).pop("host", None)
        try:
            self.host.call("restart", number)
        except ProcessLost:
            if before is not None:
                vars(self).setdefault("host", before)
            raise


class RemoteFrontEnd(_Side, FrontEnd):
    """P0 in a process of its own. `begin` returns as soon as the call is under way."""

    def __init__(
        self,
        take: Callable[[], Host],
        recipe: Recipe,
        channel: Channel,
        protections: frozenset[str],
        work: Work,
    ) -> None:
        super().__init__(take, FrontEndPart, (recipe, protections), work)
        self._channel = channel
        self._protections = protections

    @property
    def sender(self) -> Any:
        """P0's cache."""
        return self.cache

    def begin(self, method: str, *arguments: Any) -> Pending[Any]:
        """A call of the method of this name of `FrontEnd`; what it sends goes into the channel then."""

        def then(result: Any) -> Any:
            return self._channel.send(result) if method in _SENDING else result

        return self.host.begin(method, *arguments, then=then)

    def check(self, request: Request) -> tuple[bool, ...]:
        """See `FrontEnd`."""
        return cast("tuple[bool, ...]", self.begin("check", request).wait())

    def update(self) -> Message:
        """See `FrontEnd`."""
        return cast(Message, self.begin("update").wait())

    def submit(self, request: Request) -> Message:
        """See `FrontEnd`."""
        return cast(Message, self.begin("submit", request).wait())

    def retry(self, request: Request) -> Message:
        """See `FrontEnd`."""
        return cast(Message, self.begin("retry", request).wait())

    def send_unrecorded(self, request: Request) -> Message:
        """See `FrontEnd`."""
        return cast(Message, self.begin("send_unrecorded", request).wait())

    def refuse(self, request: Request) -> Message | None:
        """See `FrontEnd`."""
        return cast("Message | None", self.begin("refuse", request).wait())

    def dry_run(self, request: Request) -> Message | None:
        """See `FrontEnd`."""
        return cast("Message | None", self.begin("dry_run", request).wait())

    def merge(self) -> Message:
        """See `FrontEnd`."""
        return cast(Message, self.begin("merge").wait())

    def unshared(self, request: Request) -> Message:
        """See `FrontEnd`."""
        return cast(Message, self.begin("unshared", request).wait())

    def handle_report(self, report: Report) -> bool:
        """See `FrontEnd`."""
        return cast(bool, self.begin("handle_report", report).wait())

    def clear(self) -> bool:
        """See `FrontEnd`."""
        return cast(bool, self.begin("clear").wait())

    def payload_bytes(self, message: Message) -> int:
        """See `FrontEnd`."""
        return cast(int, self.begin("payload_bytes", message).wait())


_SENDING = frozenset({"update", "submit", "retry", "send_unrecorded"})
"""What puts a message into the channel."""


class RemoteEngine(_Side, Engine):
    """P1 in a process of its own. `begin` returns as soon as the call is under way."""

    def __init__(
        self, take: Callable[[], Host], recipe: Recipe, protections: frozenset[str], work: Work
    ) -> None:
        super().__init__(take, EnginePart, (recipe, protections), work)

    @property
    def receiver(self) -> Any:
        """P1's cache."""
        return self.cache

    def ingest(self, message: Message) -> Answer:
        """See `Engine`."""
        return cast(Answer, self.begin("ingest", message).wait())

    def look_up(self, message: Message) -> Answer:
        """See `Engine`."""
        return cast(Answer, self.begin("look_up", message).wait())

    def serve_without_cache(self, message: Message) -> Answer:
        """See `Engine`."""
        return cast(Answer, self.begin("serve_without_cache", message).wait())

    def clear(self) -> None:
        """See `Engine`."""
        self.begin("clear").wait()

    def finish_clear(self, number: int) -> None:
        """See `Engine`."""
        self.begin("finish_clear", number).wait()


class PairProcesses(Processes):
    """Makes the parts of a `Deployment` in processes. Its recipe makes `PairParts`."""

    def __init__(self, hosts: Hosts, recipe: Recipe, *, kills: bool = True) -> None:
        super().__init__(hosts, recipe, kills=kills)
        self._made: list[str] = []

    def deployment(self, protections: Iterable[str] = DEFAULT) -> Deployment:
        """A deployment of these processes."""
        return Deployment(protections=protections, **self.parts())

    def parts(self) -> dict[str, Any]:
        """What a deployment, of whatever class, is told to be made of."""
        self._hosts.prepare("p0", "p1")
        self._made.clear()
        return {
            "implementation": _nowhere(),
            "front_end": self._make_front_end,
            "engine": self._make_engine,
        }

    def _make_front_end(
        self, implementation: Implementation, channel: Channel, protections: frozenset[str], work: Work
    ) -> RemoteFrontEnd:
        return RemoteFrontEnd(self._taking("p0"), self._recipe, channel, protections, work)

    def _make_engine(
        self, implementation: Implementation, protections: frozenset[str], work: Work
    ) -> RemoteEngine:
        return RemoteEngine(self._taking("p1"), self._recipe, protections, work)

    def _taking(self, side: str) -> Callable[[], Host]:
        """Gives processes to a side of the deployment; its second one is the second front end or engine."""
        part = f"second {side}" if side in self._made else side
        self._made.append(part)
        return lambda: self._host(part)


def _nowhere() -> Implementation:
    """An implementation of which nothing is known here: it is in the processes."""
    return Implementation(elsewhere, elsewhere, elsewhere, elsewhere, elsewhere, elsewhere)
