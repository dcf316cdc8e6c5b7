"""What clients and the environment do to the processes of a key-replicated pair."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mmcache_ref import protocol
from mmcache_ref.oracle.choices import key_replicated as pair_choices
from mmcache_ref.oracle.draws import Draw
from mmcache_ref.oracle.process_traffic import Traffic
from mmcache_ref.oracle.recorded_parts import PEAK
from mmcache_ref.protocol.processes import Answered, Cleared, Died, Failed, PairCourse, Refused, Sent


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
