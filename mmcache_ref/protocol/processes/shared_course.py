"""The shared-memory protocol over processes that work at the same time: the side of clients and channel.

The books are those of `SharedDeployment`; each step of it that takes a process has a begin here, and its end
when the answer has come. A worker reads one message at a time, and what happens to a message happens between
readings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..messages import Request, RequestItem
from ..shared_deployment import SharedDeployment
from ..shared_messages import Reading, Retry, SharedMessage
from .course import Cleared, Course, Failed, Refused, Sent, oldest
from .host import Host, Pending
from .parts import Occasion
from .shared_remote import RemoteSharedFrontEnd, RemoteSharedWorker


class Read(NamedTuple):
    """A worker has read a message for one child."""

    message: SharedMessage
    worker: int
    reading: Reading


class Served(NamedTuple):
    """Every worker has read a message for every child; its request runs until it is finished."""

    message: SharedMessage


class Missed(NamedTuple):
    """Some worker could not read a message: its request will be retried."""

    message: SharedMessage


class _Asked(NamedTuple):
    """Something for P0: how it is begun, what is done with the message, and what it is about."""

    did: str
    request: Request
    children: int
    start: Callable[[], Pending[Any]]
    done: Callable[[Any], object]
    about: int = 0
    details: Mapping[str, Any] = {}


class SharedCourse(Course):
    """Has the processes of a deployment at work.

    Args:
        deployment: made by `SharedProcesses`.
        choose: from the messages that a worker has yet to read, oldest first, to the place of the next one.
        finishes: a request is finished as soon as it was served.

    A part that dies is replaced, with the protections that the deployment has.
    """

    def __init__(
        self,
        deployment: SharedDeployment,
        *,
        choose: Callable[[Sequence[SharedMessage]], int] = oldest,
        finishes: bool = True,
    ) -> None:
        super().__init__()
        self.deployment = deployment
        self._choose = choose
        self._finishes = finishes
        self._asked: list[_Asked] = []
        self._reading: dict[int, SharedMessage] = {}
        self.is_paused = False
        """Whether workers begin no more readings."""

    @property
    def front_end(self) -> RemoteSharedFrontEnd:
        """P0."""
        front_end = self.deployment.front_end
        assert isinstance(front_end, RemoteSharedFrontEnd)
        return front_end

    @property
    def workers(self) -> list[RemoteSharedWorker]:
        """The workers."""
        return [worker for worker in self.deployment.workers if isinstance(worker, RemoteSharedWorker)]

    @property
    def under_way(self) -> int:
        """How many requests are asked for, under way, or to be retried."""
        deployment = self.deployment
        return (
            len(self._asked)
            + self.is_busy(self.front_end.host)
            + len(deployment.channel)
            + len(deployment.running)
            + len(deployment.retries)
        )

    # What clients ask of P0; it is done in this order

    def submit(self, request: Request, children: int = 1) -> None:
        """See `SharedDeployment`."""
        self._ask("submit", request, children, self.deployment.send)

    def reject(self, request: Request, children: int = 1) -> None:
        """See `SharedDeployment`."""
        self._ask("reject", request, children, self.deployment.note_rejected)

    def bring(self, item: RequestItem, handle: Any, did: str = "replay", **details: Any) -> None:
        """See `replay` and `forge` of `SharedDeployment`; `details` are for an event log."""

        def start() -> Pending[Any]:
            return self.front_end.begin_bring(item, handle)

        self._asked.append(_Asked(did, (item,), 1, start, self.deployment.send, details=details))

    def clear(self) -> None:
        """See `SharedDeployment`. While it has to wait, P0 takes nothing else."""
        asked = _Asked("clear", (), 1, lambda: self.front_end.begin_clear(), self._note_clear)
        self._asked.append(asked)

    # What happens to messages and requests, at once

    def free_messages(self) -> list[SharedMessage]:
        """Those under way that no worker is reading right now."""
        read = self._reading.values()
        return [each for each in self.deployment.channel if each not in read]

    def abort(self, message: SharedMessage) -> None:
        """See `SharedDeployment`; of `free_messages` only."""
        self.deployment.abort(self.deployment.channel.index(message))

    def strip(self, message: SharedMessage) -> None:
        """See `SharedDeployment`; of `free_messages` only."""
        self.deployment.strip(self.deployment.channel.index(message))

    def finish(self, position: int = 0) -> None:
        """See `SharedDeployment`."""
        self.deployment.finish(position)

    def resume(self, position: int = 0) -> list[Reading]:
        """See `SharedDeployment`. Waits until nothing else is under way; empty when a worker died of it."""
        message = self.deployment.running[position]

        def operate() -> list[Reading]:
            if message not in self.deployment.running:
                return []
            return self.deployment.resume(self.deployment.running.index(message))

        readings: list[Reading] | None = self.whole(operate)
        self.deployment.is_dead = self.deployment.is_dead and readings is not None
        return readings or []

    def replace_worker(self, worker: int) -> None:
        """Kill a worker; another one takes its place."""
        self.workers[worker].host.end()
        self.recover()

    # The course of things

    def hosts(self) -> list[Host]:
        """See `Course`."""
        return [self.front_end.host, *(worker.host for worker in self.workers)]

    def feed(self) -> None:
        """P0 takes the next of what it was asked, each idle worker the next message.   [SC-50]

        What was missed is looked into first.
        """
        if self.deployment.is_dead:
            return
        if self.deployment.suspects:
            self.whole(self.deployment.examine)
        if not self.is_busy(self.front_end.host):
            self._feed_front_end()
        for worker in self.workers:
            if not self.is_busy(worker.host) and not self.is_paused:
                self._feed_worker(worker)

    def _feed_front_end(self) -> None:
        deployment = self.deployment
        is_clear = bool(self._asked) and self._asked[0].did == "clear"
        if deployment.retries and not is_clear:
            self._retry()
        elif self._asked and not (is_clear and deployment.must_drain()):
            asked = self._asked.pop(0)
            self._begin(asked, lambda: self._ask_again(asked))

    def _retry(self) -> None:
        retry = self.deployment.retries.pop(0)
        self.deployment.work.retries += 1
        asked = _Asked(
            "retry",
            retry.request,
            retry.children,
            lambda: self.front_end.begin_unrecorded(retry.request, retry.children),
            self.deployment.send,
            retry.name,
        )
        self._begin(asked, lambda: self.deployment.retries.append(retry))

    def _begin(self, asked: _Asked, lost: Callable[[], None]) -> None:
        def done(message: Any) -> None:
            asked.done(message)
            self.events.append(Cleared(asked.did) if asked.did == "clear" else Sent(asked.did, message))

        def failed(error: Exception) -> None:
            if asked.did in ("submit", "reject"):
                self.deployment.note_broken_off()
            self.events.append(Refused(asked.did, asked.request, error))

        self.front_end.host.note("note_occasion", Occasion(asked.did, asked.about, asked.details))
        self.begin(self.front_end.host, asked.start, done, failed, lost)

    def _ask_again(self, asked: _Asked) -> None:
        """P0 died with a request: its client sends it once more. A handle of the client's is void by then."""
        if asked.did == "submit":
            self.deployment.retries.append(Retry(asked.request, asked.children))

    def _feed_worker(self, worker: RemoteSharedWorker) -> None:
        owed = [each for each in self.deployment.channel if each.owed[worker.number]]
        if not owed:
            return
        message = owed[self._choose(owed)]
        self._reading[worker.number] = message

        def done(reading: Reading) -> None:
            del self._reading[worker.number]
            reading = self.deployment.note_reading(message, worker.number, reading)
            self.events.append(Read(message, worker.number, reading))
            self._note_end(message)

        def failed(error: Exception) -> None:
            del self._reading[worker.number]
            self.deployment.is_dead = True
            self.events.append(Failed(f"w{worker.number}", error))

        def lost() -> None:
            del self._reading[worker.number]

        worker.host.note("note_occasion", Occasion("read", message.name))
        self.begin(worker.host, lambda: worker.begin_read(message), done, failed, lost)

    def _note_end(self, message: SharedMessage) -> None:
        """What has become of a message that everybody has read."""
        if not message.is_read or message.is_release:
            return
        if message.missing:
            self.events.append(Missed(message))
        else:
            self.events.append(Served(message))
            if self._finishes:
                self.deployment.finish(self.deployment.running.index(message))

    def _note_clear(self, _: None) -> None:
        for worker in self.workers:
            worker.receiver.clear_cache()

    def replace(self, part: str) -> None:
        """See `Course`: a worker, or P0 with its segment.   [SC-47, SC-49, SC-51, SC-52]

        Where the name of the segment is gone no worker can attach any more, and P0 is started again; also
        where a worker was lost while all of them were being attached to a new one.
        """
        others = [worker for worker in self.workers if worker.host.part != part]
        if part == "p0" or any(each.segment != self.front_end.segment for each in others):
            self.deployment.restart_front_end()
            return
        try:
            self.deployment.die(int(part[1:]))
        except FileNotFoundError:
            self.deployment.restart_front_end()

    def _ask(self, did: str, request: Request, children: int, done: Callable[[Any], Any]) -> None:
        def start() -> Pending[Any]:
            return self.front_end.begin_handle(request, children)

        self._asked.append(_Asked(did, request, children, start, done))
