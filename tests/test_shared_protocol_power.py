"""Protocols around the shared memory with one rule broken: each is found, by the rule that it breaks."""

from __future__ import annotations

from typing import Any

import pytest
from broken_protocols import is_found_by, namespace

from mmcache_ref.oracle.choices.shm_caches import BROKEN_OFF
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import execute_graph
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.protocol import (
    Reading,
    Request,
    RequestItem,
    SharedDeployment,
    SharedFrontEnd,
    SharedMessage,
    SharedWorker,
    UnsuppliedError,
)


class AsksForNoData(SharedFrontEnd):
    def handle(self, request: Request, children: int = 1) -> SharedMessage:
        return super().handle(tuple([item._replace(is_supplied=True) for item in request]), children)


class BelievesClients(SharedFrontEnd):
    def bring(self, item: RequestItem, handle: Any) -> SharedMessage:
        return self._message((item,), [handle], 1, [True])


class ReferencesNothing(SharedFrontEnd):
    def reference(self, mm_hash: str) -> Any:
        handle, _ = super().reference(mm_hash)
        self.sender._shm_cache.writer_flag[handle["monotonic_id"].data] -= 1
        return handle


class UpdatesWithoutTouches(SharedFrontEnd):
    def _merge(self, request: Request, is_cached: list[bool], made: list[tuple[Any, Any]]) -> list[Any]:
        self.sender.touch_sender_cache_item = lambda mm_hash: None
        return super()._merge(request, is_cached, made)


class ForgetsWhatItWasGiven(SharedFrontEnd):
    def _merge(self, request: Request, is_cached: list[bool], made: list[tuple[Any, Any]]) -> list[Any]:
        try:
            return super()._merge(request, is_cached, made)
        except AssertionError:
            self._given.clear()
            raise


class BreaksOffAgain(SharedFrontEnd):
    def handle(self, request: Request, children: int = 1) -> SharedMessage:
        before = self.broken_off
        try:
            return super().handle(request, children)
        except UnsuppliedError:
            self.broken_off = before
            raise


class RetriesThroughTheCache(SharedFrontEnd):
    def unrecorded(self, request: Request, children: int = 1) -> SharedMessage:
        return self.handle(tuple([item._replace(is_supplied=True) for item in request]), children)


class RetriesOneChild(SharedFrontEnd):
    def unrecorded(self, request: Request, children: int = 1) -> SharedMessage:
        return super().unrecorded(request)


class AcknowledgesEachChild(SharedWorker):
    def is_acknowledged(self, message: SharedMessage) -> bool:
        return False


class KeepsNothing(SharedWorker):
    def keeps_until_done(self) -> bool:
        return False


class DiesOfWhatIsGone(SharedWorker):
    def recovers(self) -> bool:
        return False


class StopsAtTheFirstMiss(SharedWorker):
    def read(self, message: SharedMessage) -> Reading:
        reading = super().read(message)
        return reading if reading.items is not None else Reading(None, reading.missing[:1])


class DropsTheRejected(SharedDeployment):
    def reject(self, request: Request, children: int = 1) -> SharedMessage:
        message = super().reject(request, children)
        self.channel.remove(message)
        return message


class DropsTheAborted(SharedDeployment):
    def abort(self, position: int = 0) -> None:
        del self.channel[position]


class ReleasesForEachChild(SharedDeployment):
    def _release(self, message: SharedMessage) -> None:
        message.is_release = True


class ClearsAtOnce(SharedDeployment):
    def must_drain(self) -> bool:
        return False


class WaitsForEveryMessage(SharedDeployment):
    def must_drain(self) -> bool:
        return bool(self.channel)


class StripsHandles(SharedDeployment):
    def keeps_handles(self) -> bool:
        return False


class SurvivesDeaths(SharedDeployment):
    def clears_on_death(self) -> bool:
        return False


class ReadsForOneChild(SharedDeployment):
    def read(self, position: int = 0, worker: int = 0) -> Reading:
        self.channel[position].owed[worker] = 1
        return super().read(position, worker)


class RunsBeforeAllHaveRead(SharedDeployment):
    def read(self, position: int = 0, worker: int = 0) -> Reading:
        self.channel[position].owed[worker + 1 :] = [0] * len(self.channel[position].owed[worker + 1 :])
        return super().read(position, worker)


PROTOCOLS: list[tuple[type[Any], str]] = [
    (AsksForNoData, "SC-26"),
    (BelievesClients, "SC-27"),
    (ReferencesNothing, "SC-43"),
    (UpdatesWithoutTouches, "SC-25"),
    (ForgetsWhatItWasGiven, "SC-38"),
    (RetriesThroughTheCache, "SC-45"),
    (RetriesOneChild, "SC-45"),
    (AcknowledgesEachChild, "SC-39"),
    (KeepsNothing, "SC-40"),
    (DiesOfWhatIsGone, "SC-42"),
    (StopsAtTheFirstMiss, "SC-33"),
    (DropsTheRejected, "SC-38"),
    (DropsTheAborted, "SC-38"),
    (ReleasesForEachChild, "SC-38"),
    (ClearsAtOnce, "SC-41"),
    (WaitsForEveryMessage, "SC-12"),
    (StripsHandles, "SC-30"),
    (SurvivesDeaths, "SC-44"),
    (ReadsForOneChild, "SC-29"),
    (RunsBeforeAllHaveRead, "SC-29"),
]


@pytest.mark.clause(*{clause for _, clause in PROTOCOLS})
@pytest.mark.parametrize(("part", "clause"), PROTOCOLS, ids=[part.__name__ for part, _ in PROTOCOLS])
def test_a_broken_protocol_is_found_by_its_rule(part: type[Any], clause: str) -> None:
    is_found_by("shm-caches", part, clause, operations=2_500)


@pytest.mark.clause("SC-26", "SC-38")
@pytest.mark.parametrize(("part", "clause"), [(ForgetsWhatItWasGiven, "SC-38"), (BreaksOffAgain, "SC-26")])
def test_a_small_graph_shows_what_becomes_of_a_request_that_is_broken_off(
    part: type[Any], clause: str
) -> None:
    found = execute_graph(Trial(COMPONENTS["shm-caches"], namespace(part)), BROKEN_OFF)
    assert clause in found.runs
