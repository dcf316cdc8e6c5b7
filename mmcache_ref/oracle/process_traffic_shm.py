"""What clients and the environment do to the processes of the caches in shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

from mmcache_ref import protocol
from mmcache_ref.model.component import Content, Missed
from mmcache_ref.model.shm_accidents import Forgery
from mmcache_ref.oracle.adapters.base import raised
from mmcache_ref.oracle.adapters.shm_handles import SeenHandles
from mmcache_ref.oracle.choices import shm_caches as shared_choices
from mmcache_ref.oracle.draws import Draw
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.process_traffic import Traffic
from mmcache_ref.protocol.processes import (
    Cleared,
    Died,
    Failed,
    Read,
    Refused,
    Sent,
    Served,
    SharedCourse,
    unpack,
)


class SharedTraffic(Traffic):
    """Requests and accidents around the caches in shared memory."""

    def __init__(self, namespace: Any, config: Any, draw: Draw, folder: str, course: SharedCourse) -> None:
        super().__init__("shm", config, draw, folder)
        self._course = course
        self._handles = SeenHandles(namespace)
        self._seen: list[str] = []
        self._resumed: set[int] = set()
        course.on_death = self._note_death

    def _note_death(self, part: str) -> None:
        if part != "p0":
            self._note_for(part, "worker-death")

    def ask(self) -> None:
        """A client makes a request; some are refused after their update."""
        children = 1
        if "fan-out" in self._config.accidents and self._draw.is_one_in(3):
            children += 1 + self._draw.up_to(1)
        self.requests += 1
        request = self._request(shared_choices.request)
        if "reject" in self._config.accidents and self._draw.is_one_in(8):
            self._course.reject(request, children)
        else:
            self._course.submit(request, children)

    def hear(self, happened: Any) -> None:
        """Take note of what the processes did, and compare what was served."""
        match happened:
            case Sent(did, message):
                self.operations[did] += 1
                for item, carried in zip(message.request, message.items, strict=True):
                    if protocol.is_handle(carried):
                        self._handles.note(item.mm_hash, unpack(carried))
                        self._seen.append(item.mm_hash)
            case Refused(did, _, _):
                self.operations[did] += 1
                self.refused += did in ("submit", "reject")
            case Read(message, _, reading):
                self.operations["read"] += 1
                if reading.items is not None and not message.is_release:
                    self._compare(message.request, _due(message), reading.items)
            case Cleared(did):
                self.operations[did] += 1
            case Failed(part, error):
                self._end(part, error)
            case Served() if self._draw.is_one_in(2):
                self.finish_one()
            case Died():
                self._hear_of_death(happened)

    def finish_one(self) -> None:
        """A request that every worker has read is done."""
        running = self._course.deployment.running
        if running and not self.error:
            place = self._draw.up_to(len(running) - 1)
            message = running[place]
            self._course.finish(place)
            self._note("finish", message)

    def _accidents(self) -> dict[str, Callable[[], None]]:
        free = [message for message in self._course.free_messages() if not message.is_release]
        fresh = [
            message
            for message in free
            if all(message.is_untouched_by(worker) for worker in range(len(message.owed)))
            and any(item is not None for item in message.items)
        ]
        running = self._course.deployment.running
        tired = [place for place, each in enumerate(running) if each.name not in self._resumed]
        possible: dict[str, Callable[[], None]] = {"clear-in-flight": self._clear, "worker-death": self._kill}
        if free:
            possible["abort"] = lambda: self._abort(self._draw.of(free))
        if fresh:
            possible["strip"] = lambda: self._strip(self._draw.of(fresh))
        if tired:
            possible["resume"] = lambda: self._resume(self._draw.of(tired))
        if self._seen:
            possible |= {"replay": self._replay, "forge": self._forge}
        return possible

    def _clear(self) -> None:
        self._course.clear()

    def _kill(self) -> None:
        self._course.settle()
        worker = self._draw.up_to(self._config.workers - 1)
        self._is_ours = f"w{worker}"
        self._course.replace_worker(worker)

    def _abort(self, message: Any) -> None:
        self._course.abort(message)
        self._note("abort", message)

    def _strip(self, message: Any) -> None:
        self._course.strip(message)
        self._note("strip", message)

    def _resume(self, place: int) -> None:
        message = self._course.deployment.running[place]
        self._resumed.add(message.name)
        try:
            readings = self._course.resume(place)
        except Exception as error:  # the end of the engine, where no protection makes a miss of it
            self._end("a worker", error)
            self._note("resume", message, raised(error))
            return
        if not readings:
            return
        missed = [Missed(tuple(each.missing)) for each in readings if each.items is None]
        for each in readings:
            if each.items is not None:
                self._compare(message.request, _due(message), each.items)
        self._note("resume", message, missed[-1] if missed else tuple([each.items for each in readings]))

    def _replay(self) -> None:
        key = self._draw.of(self._seen)
        try:
            is_old = self._draw.is_one_in(2)
            handle = self._handles.outdated(key) if is_old else self._handles.current(key)
        except NotOffered:
            return
        self._course.bring(self._item(key, key), handle)

    def _forge(self) -> None:
        key, how = self._draw.of(self._seen), self._draw.of(get_args(Forgery))
        try:
            shown, handle = self._draw.of(list(self._handles.forged(key, how)))
        except NotOffered:
            return
        self._course.bring(self._item(shown, key), handle, "forge", key=key, how=how, at="p0")

    def _item(self, shown: str, key: str) -> protocol.RequestItem:
        return protocol.RequestItem(shown, shared_choices.usual(key, self._config))


def _due(message: Any) -> tuple[Content | None, ...]:
    """What every worker must get of a message: of what was stripped, nothing."""
    pairs = zip(message.request, message.items, strict=True)
    return tuple([None if carried is None else item.data for item, carried in pairs])
