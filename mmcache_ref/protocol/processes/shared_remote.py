"""P0 and the workers of the shared-memory caches, seen by the deployment: each call is one in its process.

A `SharedDeployment` takes them in place of `SharedFrontEnd` and `SharedWorker`, and keeps the same books.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from ..messages import Request, RequestItem
from ..shared_deployment import SharedDeployment
from ..shared_front_end import SharedFrontEnd
from ..shared_implementation import SharedImplementation
from ..shared_messages import Reading, SharedMessage
from ..shared_protections import SHARED_DEFAULT
from ..shared_work import SharedWork
from ..shared_worker import SharedWorker
from .host import Host, Hosts, Pending
from .parts import Accounts, Processes, Recipe, RemoteCache, elsewhere
from .shared_parts import SharedFrontEndPart, SharedWorkerPart


class RemoteSharedFrontEnd(SharedFrontEnd):
    """P0 in a process of its own. `begin_…` returns as soon as the call is under way."""

    def __init__(
        self, host: Host, recipe: Recipe, segment: str, protections: frozenset[str], work: SharedWork
    ) -> None:
        self.host = host
        self.segment = segment
        self.broken_off = None
        self._accounts = Accounts(work)
        host.told = self._hear
        self.sender = RemoteCache(host, host.make(SharedFrontEndPart, recipe, segment, protections))

    @property
    def pid(self) -> int:
        """The process, for the operating system."""
        return self.host.pid

    def _hear(self, news: Any) -> None:
        counts, self.broken_off = news
        self._accounts.take(counts)

    def begin_handle(self, request: Request, children: int = 1) -> Pending[SharedMessage]:
        """See `SharedFrontEnd.handle`."""
        return self.host.begin("handle", request, children)

    def handle(self, request: Request, children: int = 1) -> SharedMessage:
        """See `SharedFrontEnd`."""
        return self.begin_handle(request, children).wait()

    def begin_unrecorded(self, request: Request, children: int = 1) -> Pending[SharedMessage]:
        """See `SharedFrontEnd.unrecorded`."""
        return self.host.begin("unrecorded", request, children)

    def unrecorded(self, request: Request, children: int = 1) -> SharedMessage:
        """See `SharedFrontEnd`."""
        return self.begin_unrecorded(request, children).wait()

    def begin_bring(self, item: RequestItem, handle: Any) -> Pending[SharedMessage]:
        """See `SharedFrontEnd.bring`."""
        return self.host.begin("bring", item, handle)

    def bring(self, item: RequestItem, handle: Any) -> SharedMessage:
        """See `SharedFrontEnd`."""
        return self.begin_bring(item, handle).wait()

    def begin_clear(self) -> Pending[None]:
        """See `SharedFrontEnd.clear`."""
        return self.host.begin("clear")

    def clear(self) -> None:
        """See `SharedFrontEnd`."""
        self.begin_clear().wait()


class _RemoteReceiver(RemoteCache):
    """The cache of a worker. Nobody waits for its clear, which changes nothing (SC-24)."""

    def clear_cache(self) -> None:
        """A note to the worker."""
        self._host.note("of_cache", "clear_cache", (), {})


class RemoteSharedWorker(SharedWorker):
    """A worker in a process of its own. `begin_…` returns as soon as the call is under way."""

    def __init__(
        self,
        host: Host,
        recipe: Recipe,
        segment: str,
        number: int,
        protections: frozenset[str],
        work: SharedWork,
    ) -> None:
        self.host = host
        self.segment = segment
        self.number = number
        accounts = Accounts(work)
        host.told = lambda news: accounts.take(news[0])
        offered = host.make(SharedWorkerPart, recipe, segment, number, protections)
        self.receiver = _RemoteReceiver(host, offered)

    @property
    def pid(self) -> int:
        """The process, for the operating system."""
        return self.host.pid

    def begin_read(self, message: SharedMessage) -> Pending[Reading]:
        """See `SharedWorker.read`."""
        return self.host.begin("read", message)

    def read(self, message: SharedMessage) -> Reading:
        """See `SharedWorker`."""
        return self.begin_read(message).wait()

    def read_again(self, message: SharedMessage) -> Reading:
        """See `SharedWorker`."""
        reading: Reading = self.host.call("read_again", message)
        return reading

    def finish_reading(self, message: SharedMessage) -> None:
        """A note to the worker."""
        self.host.note("finish_reading", _name_of(message))

    def forget(self, message: SharedMessage) -> None:
        """A note to the worker."""
        self.host.note("forget", _name_of(message))


def _name_of(message: SharedMessage) -> SharedMessage:
    """A message of which only the name is needed."""
    return dataclasses.replace(message, items=(), request=(), sizes=(), missing=[])


class SharedProcesses(Processes):
    """Makes the parts of a `SharedDeployment` in processes: where they are, and which segment they share.

    Its recipe makes `SharedParts`; `workers` says how many read.
    """

    def __init__(self, hosts: Hosts, recipe: Recipe, workers: int, *, kills: bool = True) -> None:
        super().__init__(hosts, recipe, kills=kills)
        self._workers = workers
        self._segment = ""
        self._attached: dict[str, str] = {}

    @property
    def segment(self) -> str:
        """The name of the segment in use."""
        return self._segment

    def deployment(self, protections: Iterable[str] = SHARED_DEFAULT) -> SharedDeployment:
        """A deployment of these processes."""
        return SharedDeployment(protections=protections, **self.parts())

    def parts(self) -> dict[str, Any]:
        """What a deployment, of whatever class, is told to be made of."""
        self._hosts.prepare("p0", *(f"w{number}" for number in range(self._workers)))
        return {
            "implementation": _nowhere(self._workers),
            "front_end": self.make_front_end,
            "worker": self.make_worker,
        }

    def make_front_end(
        self, implementation: SharedImplementation, protections: frozenset[str], work: SharedWork
    ) -> RemoteSharedFrontEnd:
        """P0 with a segment of a fresh name."""
        host = self._host("p0")
        if self._segment:
            self._recipe.remove(self._segment)
        self._segment = self._recipe.fresh_name()
        return RemoteSharedFrontEnd(host, self._recipe, self._segment, protections, work)

    def make_worker(
        self,
        implementation: SharedImplementation,
        number: int,
        protections: frozenset[str],
        work: SharedWork,
    ) -> RemoteSharedWorker:
        """A worker that is attached to the segment in use; if it was attached to another one, its process
        goes on."""
        part = f"w{number}"
        host = self._host(part, is_kept=self._attached.get(part) != self._segment)
        self._attached[part] = self._segment
        return RemoteSharedWorker(host, self._recipe, self._segment, number, protections, work)

    def close(self) -> None:
        """See `Processes`; the segment is removed."""
        try:
            super().close()
        finally:  # also when that is interrupted
            if self._segment:
                self._recipe.remove(self._segment)


def _nowhere(workers: int) -> SharedImplementation:
    """An implementation of which only the number of workers is known here: the rest is in the processes."""
    return SharedImplementation(workers, elsewhere, elsewhere, elsewhere, elsewhere, elsewhere, elsewhere)
