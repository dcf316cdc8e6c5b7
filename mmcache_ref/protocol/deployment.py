"""One P0, one channel and one P1 in one process, and every accident of the field as a method.

The methods have the names of the operations of `model/key_replicated.py`, and do one step each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .channel import Channel
from .engine import Engine
from .front_end import FrontEnd
from .implementation import Implementation
from .messages import Answer, Message, Report, Request
from .protections import DEFAULT, PROTECTIONS, chosen
from .work import Work


class Deployment:
    """The protocol around a pair of caches, deterministic: nothing happens but what is called.

    Args:
        implementation: the caches, and the functions around them.
        protections: names of `PROTECTIONS`.
        front_end, channel, engine: the classes of its parts, or what makes parts that behave so.

    Attributes:
        reports: misses that P0 has not heard of, the oldest first.
        retries: requests that their clients will send again, the oldest first.
        work: what it has cost so far.
    """

    def __init__(
        self,
        implementation: Implementation,
        protections: Iterable[str] = DEFAULT,
        *,
        front_end: Callable[..., FrontEnd] = FrontEnd,
        channel: Callable[..., Channel] = Channel,
        engine: Callable[..., Engine] = Engine,
    ) -> None:
        self.protections = chosen(protections, PROTECTIONS)
        self.work = Work()
        self.channel = channel(self.protections)
        self.front_end = front_end(implementation, self.channel, self.protections, self.work)
        self.engine = engine(implementation, self.protections, self.work)
        self.reports: list[Report] = []
        self.retries: list[Request] = []
        self._second_front_end = front_end(
            implementation, channel(self.protections), self.protections, self.work
        )
        self._second_engine = engine(implementation, self.protections, self.work)

    @property
    def seconds(self) -> tuple[FrontEnd, Engine]:
        """The other P0 and the other P1, which accidents bring in."""
        return self._second_front_end, self._second_engine

    def submit(self, request: Request) -> Message:
        """P0 handles a request from its check to the channel.   [DR-01]"""
        return self.front_end.submit(request)

    def deliver(self, position: int = 0) -> Answer | None:
        """P1 takes the message at this place; None when it has to wait.   [DR-04, DR-14]"""
        message = self.channel.receive(position)
        if message is None:
            return None
        return self.note_answer(message, self.engine.ingest(message))

    def note_answer(self, message: Message, answer: Answer) -> Answer:
        """P1 has taken a message: P0 will hear of a miss.   [DR-04]"""
        if answer.items is None:
            number = self.engine.number
            report = Report(message.request, answer.missing, number, message.number, message.name)
            self.reports.append(report)
        return answer

    def handle_report(self, position: int = 0) -> bool:
        """P0 hears of a miss, and the client will retry; False when that has to wait.   [DR-05, DR-18]"""
        report = self.reports[position]
        return self.note_handled(report, self.front_end.handle_report(report))

    def note_handled(self, report: Report, has_heard: bool) -> bool:
        """P0 has heard of a miss, unless that has to wait: the client will retry.   [DR-05, DR-18]"""
        if has_heard:
            del self.reports[next(place for place, each in enumerate(self.reports) if each is report)]
            self.retries.append(report.request)
        return has_heard

    def retry(self, position: int = 0) -> Message:
        """P0 handles a request once more, with all its data.   [DR-09]"""
        return self.front_end.retry(self.retries.pop(position))

    def reject(self, request: Request) -> Message | None:
        """Accident: a request is refused at the last moment, and never sent.   [DR-13]"""
        return self.front_end.refuse(request)

    def dry_run(self, request: Request) -> Message | None:
        """Accident: a request goes through P0, and the result is thrown away.   [DR-13]"""
        return self.front_end.dry_run(request)

    def bypass(self, request: Request) -> Message:
        """Accident: a request reaches P1 with its data and past P0's cache.   [DR-17]"""
        return self.front_end.send_unrecorded(request)

    def abort(self, position: int = 0) -> None:
        """Accident: the request of the message at this place is aborted.   [DR-22]"""
        self.channel.abort(position)

    def drop(self, position: int = 0) -> None:
        """Accident: the message at this place is lost on its way.   [DR-24]"""
        kept = self.channel.drop(position)
        if kept is not None:
            self.work.resent_messages += 1
            self.work.resent_bytes += self.front_end.payload_bytes(kept)

    def lose_report(self, position: int = 0) -> bool:
        """Accident: the client is about to retry before P0 has heard of the miss.   [DR-19]"""
        if "report-always" in self.protections:
            return self.handle_report(position)
        self.retries.append(self.reports.pop(position).request)
        return True

    def check(self, request: Request) -> tuple[bool, ...]:
        """Accident: a request stops between its check and its update.   [DR-18]"""
        return self.front_end.check(request)

    def update(self) -> Message:
        """The request that was checked goes on.   [DR-18]"""
        return self.front_end.update()

    def clear_p0(self) -> bool:
        """Accident: P0 alone is cleared; False when that has to wait.   [DR-15]"""
        return self.front_end.clear()

    def clear_p1(self) -> None:
        """Accident: P1 alone is cleared.   [DR-15]"""
        self.engine.clear()

    def clear_both(self) -> bool:
        """Accident: P0 is cleared, and P1 hears of it later; False when that has to wait.   [DR-15]

        It waits for a check, and for P1 to have heard of the clear before: one at a time is under way.
        """
        if self.channel.clearing or not self.front_end.clear():
            return False
        self.channel.send_clear(self.front_end.number)
        return True

    def finish_clear(self) -> bool:
        """P1 hears of the clear; False when that has to wait.   [DR-14, DR-15]"""
        number = self.channel.receive_clear()
        if number is None:
            return False
        self.engine.finish_clear(number)
        return True

    def restart_p1(self) -> None:
        """Accident: P1 starts again, empty, and everything under way is lost.   [DR-15]"""
        self.channel.break_off()
        self.engine.restart(max(self.front_end.number, self.engine.number) + 1)

    def restart_p0(self) -> None:
        """Accident: P0 starts again, empty, which for P1 is a clear of P0 alone.   [DR-15]"""
        self.front_end.restart(max(self.front_end.number, self.engine.number) + 1)

    def second_front_end(self, request: Request) -> Answer:
        """Accident: another P0 handles a request, up to the answer of the same P1.   [DR-21]"""
        other = self._second_front_end
        if "paired" in self.protections:
            return self.engine.serve_without_cache(other.unshared(request))
        other.check(request)
        answer = self.engine.look_up(other.merge())
        for mm_hash in answer.missing:
            other.sender.invalidate(mm_hash)
        return answer

    def second_engine(self, request: Request) -> Answer:
        """Accident: P0 sends a request to another P1, which takes it at once.   [DR-21]"""
        if "paired" in self.protections:
            return self._second_engine.serve_without_cache(self.front_end.unshared(request))
        self.front_end.check(request)
        message = self.front_end.merge()
        answer = self._second_engine.look_up(message)
        if answer.items is None:
            number = self.front_end.number
            self.reports.append(Report(request, answer.missing, number, number, message.name))
        return answer
