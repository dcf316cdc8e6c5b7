"""One P0, a channel and several workers in one process, and every accident of the field as a method.

The methods have the names of the operations of `model/shm_caches.py`, and do one step each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .messages import Request, RequestItem
from .protections import chosen
from .shared_front_end import SharedFrontEnd
from .shared_implementation import SharedImplementation
from .shared_messages import Reading, Retry, SharedMessage, is_handle
from .shared_protections import SHARED_DEFAULT, SHARED_PROTECTIONS
from .shared_work import SharedWork
from .shared_worker import SharedWorker


class SharedDeployment:
    """The protocol around the shared-memory caches, deterministic: nothing happens but what is called.

    Args:
        implementation: the caches, and the functions around them.
        protections: names of `SHARED_PROTECTIONS`.
        front_end, worker: the classes of its parts, or what makes parts that behave so.

    Attributes:
        channel: messages that some worker has yet to read, the oldest first.
        running: messages that every worker has read and whose requests are not finished, the oldest first.
        retries: requests that their clients will send again, the oldest first.
        suspects: hashes that were missed since `examine` was last called, with their handles.
        is_dead: a worker met a stale handle and took the engine with it.
        work: what it has cost so far.
    """

    def __init__(
        self,
        implementation: SharedImplementation,
        protections: Iterable[str] = SHARED_DEFAULT,
        *,
        front_end: Callable[..., SharedFrontEnd] = SharedFrontEnd,
        worker: Callable[..., SharedWorker] = SharedWorker,
    ) -> None:
        self.protections = chosen(protections, SHARED_PROTECTIONS)
        self.work = SharedWork()
        self._implementation = implementation
        self._front_end = front_end
        self._worker = worker
        self.front_end = self._make_front_end()
        self.workers = [self._make_worker(number) for number in range(implementation.workers)]
        self.channel: list[SharedMessage] = []
        self.running: list[SharedMessage] = []
        self.retries: list[Retry] = []
        self.suspects: dict[str, Any] = {}
        self.is_dead = False

    def _make_front_end(self) -> SharedFrontEnd:
        return self._front_end(self._implementation, self.protections, self.work)

    def _make_worker(self, number: int) -> SharedWorker:
        return self._worker(self._implementation, number, self.protections, self.work)

    def close(self) -> None:
        """Give the segment back."""
        self.front_end.sender.close()

    # The course of a request

    def submit(self, request: Request, children: int = 1) -> SharedMessage:
        """P0 handles a request from its check to the channel.   [SC-25, SC-28]"""
        return self.send(self._handled(request, children))

    def send(self, message: SharedMessage) -> SharedMessage:
        """Put a message behind all others; it is returned."""
        self.work.messages += 1
        self.channel.append(message)
        self.work.peak_bytes = max(
            self.work.peak_bytes, sum(sum(each.sizes) for each in (*self.channel, *self.running))
        )
        return message

    def read(self, position: int = 0, worker: int = 0) -> Reading:
        """A worker reads the message at this place, for its next child.   [SC-29, SC-42]

        A release has no reader: what it names is acknowledged and dropped.
        """
        message = self.channel[position]
        return self.note_reading(message, worker, self._survived(self.workers[worker].read, message))

    def note_reading(self, message: SharedMessage, worker: int, reading: Reading) -> Reading:
        """A worker has read a message: what follows from that.   [SC-29, SC-42]"""
        if message.is_release:
            reading = Reading(())
        message.owed[worker] -= 1
        if reading.items is None:
            self._miss(message, worker, reading.missing)
        self._settle(message)
        return reading

    def finish(self, position: int = 0) -> None:
        """The request at this place of those that run is done.   [SC-29]"""
        self._forget(self.running.pop(position))

    def retry(self, position: int = 0) -> SharedMessage:
        """A request is sent once more, with all its data and past the cache.   [SC-45]"""
        self.work.retries += 1
        request, children, _ = self.retries.pop(position)
        return self.send(self.front_end.unrecorded(request, children))

    def clear(self) -> bool:
        """P0 is cleared; False when that has to wait.   [SC-41]"""
        if self.must_drain():
            return False
        self._clear()
        return True

    # Accidents

    def reject(self, request: Request, children: int = 1) -> SharedMessage:
        """Accident: a request is refused after its update, and never sent.   [SC-38]"""
        return self.note_rejected(self._handled(request, children))

    def note_rejected(self, message: SharedMessage) -> SharedMessage:
        """P0 has updated its cache with a request that is refused.   [SC-38]"""
        if self.releases():
            self._release(message)
            self.send(message)
        else:
            self._strand(message)
        return message

    def abort(self, position: int = 0) -> None:
        """Accident: the request of the message at this place is aborted.   [SC-38]"""
        message = self.channel[position]
        if self.releases():
            self._release(message)
            self._settle(message)
        else:
            self._strand(message)
            self.channel.remove(message)
            self._forget(message)

    def strip(self, position: int = 0) -> None:
        """Accident: the payloads of a message are dropped, as their tokens are cached already.   [SC-30]"""
        message = self.channel[position]
        stays = self.keeps_handles()
        if not stays:
            self._strand(message)
        message.items = tuple([item if stays and is_handle(item) else None for item in message.items])

    def resume(self, position: int = 0) -> list[Reading]:
        """Accident: a request was preempted, and every worker reads it again.   [SC-40]"""
        message = self.running[position]
        readings = [self._survived(worker.read_again, message) for worker in self.workers]
        if any(reading.items is None for reading in readings):
            self.running.remove(message)
            self._forget(message)
            self.retries.append(_retry(message))
        return readings

    def die(self, worker: int) -> None:
        """Accident: a worker dies, and a new one takes its place. All requests under way end.   [SC-44]"""
        self._replace_workers((worker,))

    def restart_p1(self) -> None:
        """Accident: P1 dies with all its workers, and new ones take their places.   [SC-48]"""
        self._replace_workers(range(len(self.workers)))

    def examine(self) -> bool:
        """Clear the store if a handle was missed that is still the current one of its key.   [SC-50]

        Whether it was so. All requests under way end.
        """
        suspects, self.suspects = self.suspects, {}
        if not any(self.front_end.is_current(handle, mm_hash) for mm_hash, handle in suspects.items()):
            return False
        self.retries += self._end_all()
        self._clear()
        return True

    def replay(self, item: RequestItem, handle: Any) -> SharedMessage:
        """Accident: a client brings a handle that it saw before.   [SC-27, SC-43]"""
        return self.send(self.front_end.bring(item, handle))

    def forge(self, item: RequestItem, handle: Any) -> SharedMessage:
        """Accident: a client brings a handle that was never issued.   [SC-27]"""
        return self.send(self.front_end.bring(item, handle))

    def restart_front_end(self) -> None:
        """Accident: P0 dies with its segment, and a new one takes its place. All requests under way end, and
        every worker attaches to the new segment.   [SC-49]"""
        self.retries += self._ended()
        self.channel.clear()
        self.running.clear()
        self.suspects.clear()
        self.front_end = self._make_front_end()
        self.workers = [self._make_worker(number) for number in range(len(self.workers))]

    def _ended(self) -> list[Retry]:
        """The retries of all requests that are under way."""
        under_way = [message for message in self.channel if not message.is_release] + self.running
        return [_retry(message) for message in under_way]

    # Protections

    def must_drain(self) -> bool:
        """Whether a clear waits for handles that are under way.   [SC-41]"""
        return "drained-clear" in self.protections and any(
            message.has_handles and message.is_awaited for message in self.channel
        )

    def releases(self) -> bool:
        """Whether a request that ends early is read for the sake of its references.   [SC-38]"""
        return "release-on-abort" in self.protections

    def keeps_handles(self) -> bool:
        """Whether handles stay in a message that is stripped.   [SC-30]"""
        return "keep-handles" in self.protections

    def clears_on_death(self) -> bool:
        """Whether the store is cleared, and what was under way retried, when a worker dies.   [SC-44]"""
        return "clear-on-death" in self.protections

    # What they share

    def _handled(self, request: Request, children: int) -> SharedMessage:
        """What P0 made of a request; what a failing one was given before is released.   [SC-38]"""
        try:
            return self.front_end.handle(request, children)
        except Exception:
            self.note_broken_off()
            raise

    def note_broken_off(self) -> None:
        """P0 failed in the middle of a request: what it had been given is released.   [SC-38]"""
        message = self.front_end.broken_off
        if message is not None and message.has_handles:
            if self.releases():
                self._release(message)
                self.send(message)
            else:
                self._strand(message)

    def _replace_workers(self, dead: Iterable[int]) -> None:
        """New workers for those that are dead; what was under way is over.   [SC-44, SC-48]"""
        dead = tuple(dead)
        ended = self._end_all(dead)
        if self.clears_on_death():
            self.retries += ended
        for worker in dead:
            self.workers[worker] = self._make_worker(worker)
        if self.clears_on_death():
            self._clear()

    def _end_all(self, dead: Iterable[int] = ()) -> list[Retry]:
        """Every request under way ends: its retry. Who is alive reads what is in its queue as releases."""
        ended = self._ended()
        for message in self.channel:
            for worker in dead:
                self._strand(message, worker)
                message.owed[worker] = 0
            self._release(message)
        for message in (*self.channel, *self.running):
            if message.is_read:
                self._forget(message)
        self.channel = [message for message in self.channel if not message.is_read]
        self.running.clear()
        return ended

    def _survived(self, read: Any, message: SharedMessage) -> Reading:
        """What a worker read; an error ends it, and with it the engine."""
        try:
            reading: Reading = read(message)
        except Exception:
            self.is_dead = True
            raise
        return reading

    def _miss(self, message: SharedMessage, worker: int, missing: Iterable[str]) -> None:
        """A worker could not read a message: it reads it for no other child."""
        message.owed[worker] = 0
        message.missing += missing

    def _settle(self, message: SharedMessage) -> None:
        """A message that everybody has read leaves the channel: it runs, is retried, or was a release."""
        if not message.is_read:
            return
        self.channel.remove(message)
        if message.is_release:
            self._forget(message)
        elif message.missing:
            self.suspects |= {
                item.mm_hash: carried
                for item, carried in zip(message.request, message.items, strict=True)
                if item.mm_hash in message.missing and is_handle(carried)
            }
            self._forget(message)
            self.retries.append(_retry(message))
        else:
            self.running.append(message)
            for worker in self.workers:
                worker.finish_reading(message)

    def _release(self, message: SharedMessage) -> None:
        """Nobody waits for this message any more: who has not read it reads it once.   [SC-38, SC-44]"""
        if not message.is_release:
            self.work.releases += 1
            message.owed = [
                int(owed > 0 and message.is_untouched_by(worker)) for worker, owed in enumerate(message.owed)
            ]
            message.children = 1
            message.is_release = True

    def _strand(self, message: SharedMessage, worker: int | None = None) -> None:
        """Count the acknowledgements that a message would have brought, of all workers or of one."""
        gone = range(len(message.owed)) if worker is None else (worker,)
        readers = sum(message.owed[each] > 0 and message.is_untouched_by(each) for each in gone)
        handles = [size for item, size in zip(message.items, message.sizes, strict=True) if is_handle(item)]
        self.work.stranded += readers * len(handles)
        self.work.stranded_bytes += sum(handles) if readers else 0

    def _clear(self) -> None:
        """P0 forgets everything, then each worker hears of it.   [SC-12, SC-24]"""
        self.front_end.clear()
        for worker in self.workers:
            worker.receiver.clear_cache()

    def _forget(self, message: SharedMessage) -> None:
        for worker in self.workers:
            worker.forget(message)


def _retry(message: SharedMessage) -> Retry:
    return Retry(message.request, message.children, message.name)
