"""Caches that share state are told by that, in a run that any process repeats."""

from __future__ import annotations

import pytest
from broken import receiver_entries_are_shared, sender_promises_are_shared

from mmcache_ref import reference
from mmcache_ref.model import processor_cache, receiver
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.shared_state import ALONE, shared_state
from mmcache_ref.oracle.suite import Options, judge

CACHES = ("processor-only", "sender", "receiver")


@pytest.mark.clause("IF-19")
@pytest.mark.parametrize(
    ("source", "name"),
    [
        (receiver_entries_are_shared, "receiver"),
        (sender_promises_are_shared, "sender"),
        (receiver_entries_are_shared, "drift"),
    ],
)
def test_nothing_else_is_said_of_caches_that_share_state(source: object, name: str) -> None:
    verdict = judge(COMPONENTS[name], Namespace(source, "test"), Options((name,)), seconds=0)
    assert [each.id for each in verdict.broken] == ["IF-19"]
    assert verdict.reason == ALONE
    assert {each.status for each in verdict.clauses} == {"broken", "not reached"}


@pytest.mark.clause("IF-19")
@pytest.mark.parametrize("budget", [0, 1, 2, 5])
def test_caches_of_the_reference_share_nothing(budget: int) -> None:
    namespace = Namespace(reference, "reference")
    configs = {name: processor_cache.Config(budget) for name in CACHES[:2]} | {
        "receiver": receiver.Config(budget)
    }
    for name, config in configs.items():
        trial = Trial(COMPONENTS[name], namespace)
        operation = (receiver if name == "receiver" else processor_cache).Fresh(("a", "b"))
        assert trial.run(config, (operation,)).mismatch is None


def test_a_component_without_caches_is_not_asked() -> None:
    namespace = Namespace(reference, "reference")
    assert shared_state(Trial(COMPONENTS["items"], namespace)) is None
    assert shared_state(Trial(COMPONENTS["key-replicated"], namespace)) is None
