"""One server and two workers on the loopback address find what one process finds."""

from __future__ import annotations

import msgspec
import pytest

from mmcache_ref.tlc.checking import judge_distributed
from mmcache_ref.tlc.manifest import Entry, read_manifest

ENTRIES = {entry.name: (module, entry) for module, entry in read_manifest().entries}


def test_a_server_and_two_workers_find_the_same_states() -> None:
    joining: list[str] = []
    judged = judge_distributed(*ENTRIES["ring-buffer-tiny"], workers=2, ready=joining.append)
    assert judged.wrong == []
    assert judged.found.result == "success"
    assert joining[0].endswith("tlc2.tool.distributed.TLCWorker 127.0.0.1")


@pytest.mark.slow
def test_another_number_of_states_than_recorded_is_noticed() -> None:
    module, entry = ENTRIES["ring-buffer-tiny"]
    other = msgspec.json.decode(msgspec.json.encode(entry), type=Entry)
    other.distinct_states = 409
    assert judge_distributed(module, other, workers=1).wrong == ["distinct states: 408, must be 409"]


@pytest.mark.slow
def test_a_violation_of_an_unnamed_property_is_not_as_recorded() -> None:
    judged = judge_distributed(*ENTRIES["ring-buffer-straddling"], workers=1)
    assert judged.wrong == [f"names nothing, must name {judged.entry.violated}"]
    assert judged.found.result == "safety failure"
    assert len(judged.found.trace) == 2
