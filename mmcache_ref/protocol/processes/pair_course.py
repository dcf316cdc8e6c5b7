"""The protocol of a key-replicated pair over processes that all work at once: clients and channel.

The books are those of `Deployment`; each step of it that takes a process has a begin here, and its end when
the answer has come. P1 ingests one message at a time, and P0 handles one request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ..deployment import Deployment
from ..messages import Answer, Message, Report, Request
from .course import Cleared, Course, Failed, Refused, Sent, oldest
from .errors import ProcessLost, cause_of
from .host import Host, Pending
from .pair_remote import RemoteEngine, RemoteFrontEnd
from .parts import Occasion


class Answered(NamedTuple):
    """P1 has taken a message: it serves it, or says what it misses; then the request will be retried."""

    message: Message
    answer: Answer


class Lost(NamedTuple):
    """A request went down with a process or with the connection. Its client may send it again."""

    request: Request


class _Asked(NamedTuple):
    """Something for P0: its name, method and arguments of `FrontEnd`, and what is done with the result."""

    did: str
    method: str
    arguments: tuple[Any, ...]
    done: Callable[[Any], object]
    about: int = 0


UPDATE: Final = _Asked("update", "update", (), lambda message: None)
"""P0 goes on with the request that was checked."""


class PairCourse(Course):
    """Has the processes of a deployment at work.

    Args:
        deployment: made by `PairProcesses`.
        choose: from the messages under way, oldest first, to the place of the next one that P1 takes.

    A part that dies is replaced, with the protections that the deployment has.
    """

    def __init__(
        self, deployment: Deployment, *, choose: Callable[[Sequence[Message]], int] = oldest
    ) -> None:
        super().__init__()
        self.deployment = deployment
        self._choose = choose
        self._asked: list[_Asked] = []
        self._asked_of_engine: list[str] = []
        self._heard: Report | None = None
        self._names: list[int] = []
        self._ingested: Message | None = None
        self._finishing_clear = False

    @property
    def front_end(self) -> RemoteFrontEnd:
        """P0."""
        front_end = self.deployment.front_end
        assert isinstance(front_end, RemoteFrontEnd)
        return front_end

    @property
    def engine(self) -> RemoteEngine:
        """P1."""
        engine = self.deployment.engine
        assert isinstance(engine, RemoteEngine)
        return engine

    @property
    def under_way(self) -> int:
        """How much is asked for, checked, under way, or to be retried."""
        deployment = self.deployment
        return (
            (self.front_end.checked is not None)
            + len(self._asked)
            + len(self._asked_of_engine)
            + self.is_busy(self.front_end.host)
            + self.is_busy(self.engine.host)
            + len(deployment.channel.messages)
            + len(deployment.reports)
            + len(deployment.retries)
            + bool(deployment.channel.clearing)
        )

    # What is asked of P0; it is done in this order

    def submit(self, request: Request) -> None:
        """See `Deployment`."""
        self._ask("submit", "submit", request)

    def reject(self, request: Request) -> None:
        """See `Deployment`."""
        self._ask("reject", "refuse", request)

    def dry_run(self, request: Request) -> None:
        """See `Deployment`."""
        self._ask("dry-run", "dry_run", request)

    def bypass(self, request: Request) -> None:
        """See `Deployment`."""
        self._ask("bypass", "send_unrecorded", request)

    def check(self, request: Request) -> None:
        """See `Deployment`: P0 goes on with it in a step of its own."""
        self._ask("check", "check", request)

    def clear_p0(self) -> None:
        """See `Deployment`."""
        self._asked.append(_Asked("clear-p0", "clear", (), lambda is_done: None))

    def clear_both(self) -> None:
        """See `Deployment`. P0 does it when P1 has done the one before.   [DR-15]"""

        def done(is_done: bool) -> None:
            if is_done:
                self.deployment.channel.send_clear(self.front_end.number)

        self._asked.append(_Asked("clear-both", "clear", (), done))

    def clear_p1(self) -> None:
        """See `Deployment`. P1 does it before it takes another message."""
        self._asked_of_engine.append("clear")

    # What happens at once

    def abort(self, position: int = 0) -> None:
        """See `Deployment`."""
        self.deployment.abort(position)

    def lose_report(self, position: int = 0) -> bool:
        """See `Deployment`; False where P0 hears of it first, or is hearing of it now."""
        report = self.deployment.reports[position]
        if "report-always" in self.deployment.protections or report is self._heard:
            return False
        self._names.append(report.name)
        self.front_end.host.note("note_occasion", Occasion("lose-report", report.name))
        self.front_end.host.note("hear", report, None)
        return self.deployment.lose_report(position)

    def drop(self, position: int = 0) -> bool:
        """See `Deployment`. Waits until nothing else is under way; False when the message is gone by then."""
        name = self.deployment.channel.messages[position].name

        def operate() -> bool:
            names = [message.name for message in self.deployment.channel.messages]
            if name in names:
                self.deployment.drop(names.index(name))
            return name in names

        return bool(self.whole(operate))

    def restart_p1(self) -> None:
        """Kill P1; another one takes its place, and everything under way is lost."""
        self.engine.host.end()
        self.recover()

    def restart_p0(self) -> None:
        """Kill P0; another one takes its place, with an empty cache."""
        self.front_end.host.end()
        self.recover()

    def second_front_end(self, request: Request) -> Answer | None:
        """See `Deployment`. Waits until nothing else is under way; None when a process died of it."""
        return self._second("second-front-end", lambda: self.deployment.second_front_end(request), request)

    def second_engine(self, request: Request) -> Answer | None:
        """See `Deployment`. Waits until nothing else is under way; None when a process died of it."""
        return self._second("second-engine", lambda: self.deployment.second_engine(request), request)

    def _second(self, did: str, operate: Callable[[], Answer], request: Request) -> Answer | None:
        """What a second side brings about; P0 writes down what came of it."""

        def whole() -> Answer:
            if self.front_end.checked is not None:
                self._begin(UPDATE, lambda: None)
                self.settle()
            reports = len(self.deployment.reports)
            outcome: Any
            try:
                outcome = operate()
            except Exception as error:
                if isinstance(error, ProcessLost):
                    raise
                outcome = error
            made = [report.name for report in self.deployment.reports[reports:]]
            self.front_end.host.note("note_occasion", Occasion(did, details={"made": made}))
            told = cause_of(outcome) if isinstance(outcome, Exception) else outcome
            self.front_end.host.call("hear", request, told)
            if isinstance(outcome, Exception):
                raise outcome
            answer: Answer = outcome
            return answer

        answered: Answer | None = self.whole(whole)
        return answered

    # The course of things

    def hosts(self) -> list[Host]:
        """See `Course`: those of the sides that were started."""
        return [side.host for side in self._sides() if side.is_started]

    def _sides(self) -> list[Any]:
        return [self.front_end, self.engine, *self.deployment.seconds]

    def feed(self) -> None:
        """P0 hears of a miss, retries, or takes the next of what it was asked; P1 takes the next message."""
        if not self.is_busy(self.front_end.host):
            self._feed_front_end()
        if not self.is_busy(self.engine.host):
            self._feed_engine()

    def _feed_front_end(self) -> None:
        deployment = self.deployment
        if self.front_end.checked is not None and (self.front_end.must_wait() or not deployment.reports):
            self._begin(UPDATE, lambda: None)
        elif deployment.reports:
            self._hear(deployment.reports[0])
        elif deployment.retries:
            request, name = deployment.retries.pop(0), self._names.pop(0)
            asked = _Asked("retry", "retry", (request,), lambda message: None, name)

            def lost() -> None:
                deployment.retries.append(request)
                self._names.append(name)

            self._begin(asked, lost)
        elif self._asked and not (self._asked[0].did == "clear-both" and self._is_clearing()):
            asked = self._asked.pop(0)
            self._begin(asked, lambda: self._note_lost(asked.arguments[:1]))

    def _is_clearing(self) -> bool:
        """Whether a clear of both is on its way to P1, or P1 is at it."""
        return bool(self.deployment.channel.clearing) or self._finishing_clear

    def _hear(self, report: Report) -> None:
        self._heard = report

        def done(has_heard: bool) -> None:
            self._heard = None
            if self.deployment.note_handled(report, has_heard):
                self._names.append(report.name)

        def over() -> None:
            self._heard = None

        def failed(error: Exception) -> None:
            over()
            self.events.append(Failed("p0", error))

        self.front_end.host.note("note_occasion", Occasion("handle-report", report.name))
        self.begin(
            self.front_end.host, lambda: self.front_end.begin("handle_report", report), done, failed, over
        )

    def _begin(self, asked: _Asked, lost: Callable[[], None]) -> None:
        def done(result: Any) -> None:
            asked.done(result)
            if asked.method != "clear":
                self.events.append(Sent(asked.did, result))
            elif result is not False:
                self.events.append(Cleared(asked.did))

        def failed(error: Exception) -> None:
            request = asked.arguments[0] if asked.arguments else ()
            self.events.append(Refused(asked.did, request, error))

        self.front_end.host.note("note_occasion", Occasion(asked.did, asked.about))
        self.begin(
            self.front_end.host,
            lambda: self.front_end.begin(asked.method, *asked.arguments),
            done,
            failed,
            lost,
        )

    def _feed_engine(self) -> None:
        channel = self.deployment.channel
        if self._asked_of_engine:
            self._asked_of_engine.pop(0)
            self._call_engine("clear-p1", lambda: self.engine.begin("clear"))
            return
        number = channel.receive_clear() if channel.clearing else None
        if number is not None:
            self._finishing_clear = True
            self._call_engine("finish-clear", lambda: self.engine.begin("finish_clear", number))
            return
        if not channel.messages:
            return
        message = channel.receive(self._choose(channel.messages))
        if message is not None:
            self._ingest(message)

    def _call_engine(self, did: str, start: Callable[[], Pending[Any]]) -> None:
        """A clear, which a P1 that dies meanwhile does not need."""

        def over() -> None:
            self._finishing_clear = False

        def failed(error: Exception) -> None:
            over()
            self.events.append(Failed("p1", error))

        def done(_: None) -> None:
            over()
            self.events.append(Cleared(did))

        self.engine.host.note("note_occasion", Occasion(did))
        self.begin(self.engine.host, start, done, failed, over)

    def _ingest(self, message: Message) -> None:
        self._ingested = message

        def done(answer: Answer) -> None:
            self._ingested = None
            self.events.append(Answered(message, self.deployment.note_answer(message, answer)))

        def failed(error: Exception) -> None:
            self._ingested = None
            self.events.append(Failed("p1", error))

        def lost() -> None:
            self._ingested = None
            self._note_lost((message.request,))

        self.engine.host.note("note_occasion", Occasion("deliver", message.name))
        self.begin(self.engine.host, lambda: self.engine.begin("ingest", message), done, failed, lost)

    def _note_lost(self, requests: Sequence[Request]) -> None:
        self.events += [Lost(request) for request in requests]

    def replace(self, part: str) -> None:
        """See `Course`: P0, P1, or the second one of either.   [DR-15, DR-32, DR-33]"""
        if part == "p0":
            checked = self.front_end.checked
            self.deployment.restart_p0()
            self._note_lost(() if checked is None else (checked.request,))
        elif part == "p1":
            self._note_lost([message.request for message in self.deployment.channel.messages])
            self.deployment.restart_p1()
        else:
            (side,) = [side for side in self._sides() if side.is_started and side.host.part == part]
            side.restart(0)

    def _ask(self, did: str, method: str, request: Request) -> None:
        self._asked.append(_Asked(did, method, (request,), lambda result: None))
