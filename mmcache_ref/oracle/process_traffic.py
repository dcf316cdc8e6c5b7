"""What clients and the environment do to deployments whose processes all work at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final, get_args

from mmcache_ref import protocol
from mmcache_ref.model.component import Content, Missed
from mmcache_ref.model.events import Did, Took
from mmcache_ref.model.shm_accidents import Forgery
from mmcache_ref.oracle.adapters.base import raised
from mmcache_ref.oracle.adapters.shm_handles import SeenHandles
from mmcache_ref.oracle.choices import key_replicated as pair_choices
from mmcache_ref.oracle.choices import shm_caches as shared_choices
from mmcache_ref.oracle.draws import Draw
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.process_log import ProcessLog
from mmcache_ref.oracle.recorded_parts import PEAK
from mmcache_ref.protocol.processes import (
    Answered,
    Cleared,
    Died,
    Failed,
    PairCourse,
    Read,
    Refused,
    Sent,
    Served,
    SharedCourse,
    unpack,
)
from mmcache_ref.protocol.processes.course import MEANWHILE

TRIES: Final = 100
"""So many requests are made up until one needs no accident that is switched off."""
RARE: Final = 6
"""One step in so many brings an accident."""
DEATHS: Final = {"worker-death", "restart-p1"}
"""They are rarer still: a process takes a second or more to come up."""


class Traffic:
    """Random requests and accidents; what is served is compared with what was asked for.

    Attributes:
        wrong: what was served and must not have been, in words; the first one.
        error: what ended the engine, in words.
        peak: the most bytes that a P1 held which is gone.
        killed: the parts that somebody else killed: what they did last, no event tells of.
    """

    def __init__(self, cache: str, config: Any, draw: Draw, folder: str) -> None:
        self._config, self._draw, self._folder = config, draw, folder
        self._model = FAMILIES[cache].model
        self._channel = ProcessLog(folder, "channel")
        self.operations: Counter[str] = Counter()
        self.requests = self.refused = self.peak = 0
        self.wrong = self.error = ""
        self.killed: list[str] = []
        self._is_ours = ""

    def meddle(self) -> None:
        """Now and then an accident, of those that are switched on and can happen now."""
        possible = {name: each for name, each in self._accidents().items() if name in self._config.accidents}
        if not possible or not self._draw.is_one_in(RARE):
            return
        name = self._draw.of(list(possible))
        if name not in DEATHS or self._draw.is_one_in(RARE):
            possible[name]()

    def _accidents(self) -> dict[str, Callable[[], None]]:
        """By the name of each accident that is no request how it is brought about."""
        raise NotImplementedError

    def _request(self, choose: Callable[..., Any]) -> protocol.Request:
        """A request that needs no accident that is switched off."""
        initial = self._model.initial(self._config)
        for _ in range(TRIES):
            chosen = choose(self._config, initial, self._draw)
            if self._config.needs(chosen) <= self._config.accidents:
                break
        return tuple(
            [
                protocol.RequestItem(
                    item.key, item.content, getattr(item, "modality", "image"), item.supplied
                )
                for item in chosen
            ]
        )

    def _note(self, did: str, message: Any, saw: Any = None) -> None:
        """What happened to a message between the processes."""
        self.operations[did] += 1
        self._channel.write(Took, did, saw, message=message.name, keys=_keys(message.request))

    def _note_for(self, part: str, did: str, **more: Any) -> None:
        """What happened to a process, which cannot write it down itself."""
        self.operations[did] += 1
        log = ProcessLog(self._folder, part)
        log.write(Did, did, None, **more)
        log.close()

    def _hear_of_death(self, died: Died) -> None:
        """A process ended: as it had to here, killed by somebody else, or of itself."""
        if died.was_killed:
            self.killed.append(died.part)
        elif died.part == self._is_ours:
            self._is_ours = ""
        elif died.reason != MEANWHILE and not self.error:
            self.error = f"{died.part} was lost, to which nothing was done: {died.reason}"

    def _end(self, part: str, error: Exception) -> None:
        """Nothing is served any more."""
        self.error = f"{part}: {type(error).__name__}: {error}"

    def _compare(self, request: protocol.Request, due: Iterable[Any], served: Iterable[Any]) -> None:
        due, served = tuple(due), tuple(served)
        if due != served and not self.wrong:
            self.wrong = f"[{' '.join(_keys(request))}] was served {served}, must be {due}"

    def close(self) -> None:
        """Give the file of the channel back."""
        self._channel.close()


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


class PairTraffic(Traffic):
    """Requests and accidents around a key-replicated pair."""

    def __init__(self, config: Any, draw: Draw, folder: str, course: PairCourse) -> None:
        super().__init__("lru", config, draw, folder)
        self._course = course
        course.on_death = self._note_death

    def _note_death(self, part: str) -> None:
        if part == "p1":
            self._note_for(part, "restart-p1", holds=())

    def ask(self) -> None:
        """A client makes a request, which may be treated otherwise than being sent."""
        course = self._course
        ways = {
            "bypass": course.bypass,
            "dry-run": course.dry_run,
            "invalidate-race": course.check,
            "reject": course.reject,
            "second-engine": course.second_engine,
            "second-front-end": course.second_front_end,
        }
        others = [way for name, way in ways.items() if name in self._config.accidents]
        self.requests += 1
        way = self._draw.of(others) if others and self._draw.is_one_in(4) else course.submit
        try:
            way(self._request(pair_choices.request))
        except protocol.UnsuppliedError:
            self.refused += 1

    def hear(self, happened: Any) -> None:
        """Take note of what the processes did, and compare what was served."""
        match happened:
            case Sent(did, _):
                self.operations[did] += 1
            case Refused(did, _, _):
                self.operations[did] += 1
                self.refused += 1
            case Answered(message, answer):
                self.operations["deliver"] += 1
                if answer.items is not None:
                    self._compare(message.request, [item.data for item in message.request], answer.items)
            case Died():
                self._hear_of_death(happened)
            case Cleared(did):
                self.operations[did] += 1
            case Failed(part, error):
                self._end(part, error)

    def finish_one(self) -> None:
        """A request is done when it is served."""

    def _accidents(self) -> dict[str, Callable[[], None]]:
        course = self._course
        possible: dict[str, Callable[[], None]] = {
            "clear-p0": course.clear_p0,
            "clear-p1": course.clear_p1,
            "clear-both": course.clear_both,
            "restart-p1": self._restart,
        }
        if course.deployment.channel.messages:
            possible |= {"abort": self._abort, "drop": self._drop}
        if course.deployment.reports:
            possible["lost-report"] = self._lose_report
        return possible

    def _restart(self) -> None:
        self._course.settle()
        self.peak = max(self.peak, self._course.engine.receiver.observed()[PEAK])
        self._is_ours = "p1"
        self._course.restart_p1()

    def _abort(self) -> None:
        place = self._place()
        message = self._course.deployment.channel.messages[place]
        self._course.abort(place)
        self._note("abort", message)

    def _drop(self) -> None:
        place = self._place()
        message = self._course.deployment.channel.messages[place]
        if self._course.drop(place):
            self._note("drop", message)

    def _lose_report(self) -> None:
        if self._course.lose_report(self._draw.up_to(len(self._course.deployment.reports) - 1)):
            self.operations["lose-report"] += 1

    def _place(self) -> int:
        return self._draw.up_to(len(self._course.deployment.channel.messages) - 1)


def _due(message: Any) -> tuple[Content | None, ...]:
    """What every worker must get of a message: of what was stripped, nothing."""
    pairs = zip(message.request, message.items, strict=True)
    return tuple([None if carried is None else item.data for item, carried in pairs])


def _keys(request: Iterable[Any]) -> tuple[str, ...]:
    return tuple([item.mm_hash for item in request])
