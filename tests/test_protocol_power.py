"""Protocols with one rule broken: each is found, by the rule of the protocol that it breaks."""

from __future__ import annotations

from typing import Any

import pytest
from broken_protocols import is_found_by

from mmcache_ref.protocol import Answer, Channel, Deployment, Engine, FrontEnd, Message, Report, Request


class ClaimsInRetries(FrontEnd):
    def retry(self, request: Request) -> Message:
        self._work.retries += 1
        self.check(tuple([item._replace(is_supplied=True) for item in request]))
        return self.update()


class RetriesWithoutData(FrontEnd):
    def retry(self, request: Request) -> Message:
        self._work.retries += 1
        for item in request:
            self.sender.invalidate(item.mm_hash)
        self.check(request)
        return self.update()


class ProcessesRetriesTwice(FrontEnd):
    def retry(self, request: Request) -> Message:
        self.unrecorded(request)
        return super().retry(request)


class ClearsUnderTheOldNumber(FrontEnd):
    def clear(self) -> bool:
        if self.must_wait():
            return False
        self.sender.clear_cache()
        return True


class ForgetsTheFirstMissOnly(FrontEnd):
    def handle_report(self, report: Report) -> bool:
        return super().handle_report(report._replace(missing=report.missing[:1]))


class BelievesOldReports(FrontEnd):
    def handle_report(self, report: Report) -> bool:
        return super().handle_report(report._replace(sent_under=1 << 30))


class MissesNewNumbers(FrontEnd):
    def handle_report(self, report: Report) -> bool:
        return super().handle_report(report._replace(number=0))


class HoldsWhatItRefused(FrontEnd):
    def check(self, request: Request) -> tuple[bool, ...]:
        self.checked = (request, ())  # type: ignore[assignment]
        return super().check(request)


class LastInFirstOut(Channel):
    def send(self, message: Message) -> Message:
        sent = super().send(message)
        self._messages.insert(0, self._messages.pop())
        return sent


class HasRoomForOne(Channel):
    def send(self, message: Message) -> Message:
        return message if self._messages else super().send(message)


class SendsAgainLast(Channel):
    def drop(self, position: int) -> Message | None:
        self._messages.append(self._messages.pop(position))
        return self._messages[-1]


class TakesOutTheAborted(Channel):
    def abort(self, position: int) -> None:
        del self._messages[position]


class KeepsTheOutdated(Engine):
    def _is_outdated(self, message: Message) -> bool:
        return False


class StartsUnderTheOldNumber(Engine):
    def restart(self, number: int) -> None:
        self.receiver = self._implementation.make_receiver()


class LearnsWithoutClearing(Engine):
    def _learn_of(self, number: int) -> None:
        self.number = number


class SaysOneMissOnly(Engine):
    def look_up(self, message: Message) -> Answer:
        answer = super().look_up(message)
        return answer._replace(missing=tuple(dict.fromkeys(answer.missing)))


class SharesWithOthers(Deployment):
    def second_front_end(self, request: Request) -> Answer:
        return self.engine.look_up(self._second_front_end.unshared(request))


PROTOCOLS: list[tuple[type[Any], str]] = [
    (ClaimsInRetries, "DR-23"),
    (RetriesWithoutData, "DR-23"),
    (ProcessesRetriesTwice, "DR-26"),
    (ClearsUnderTheOldNumber, "DR-15"),
    (ForgetsTheFirstMissOnly, "DR-05"),
    (BelievesOldReports, "DR-15"),
    (MissesNewNumbers, "DR-15"),
    (HoldsWhatItRefused, "DR-02"),
    (LastInFirstOut, "DR-14"),
    (HasRoomForOne, "DR-24"),
    (SendsAgainLast, "DR-24"),
    (TakesOutTheAborted, "DR-22"),
    (KeepsTheOutdated, "DR-15"),
    (StartsUnderTheOldNumber, "DR-15"),
    (LearnsWithoutClearing, "DR-15"),
    (SaysOneMissOnly, "DR-08"),
    (SharesWithOthers, "DR-21"),
]


@pytest.mark.clause(*{clause for _, clause in PROTOCOLS})
@pytest.mark.parametrize(("part", "clause"), PROTOCOLS, ids=[part.__name__ for part, _ in PROTOCOLS])
def test_a_broken_protocol_is_found_by_its_rule(part: type[Any], clause: str) -> None:
    is_found_by("drift", part, clause, operations=3_000)
