"""The state machine as a user subclasses it."""

from __future__ import annotations

import unittest

import pytest
from hypothesis import Phase, settings

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.machines import LockstepMachine, Violation


class BrokenLru(LockstepMachine):
    component_name = "lru"
    target = "py:broken.lru_get_miss_uncounted"


class BrokenLruKnown(BrokenLru):
    known = frozenset({"LRU-08"})


class PromiselessSender(LockstepMachine):
    component_name = "sender"
    target = "py:broken.sender_keeps_no_promise"
    profile = "upstream"


def run(machine: type[LockstepMachine], examples: int = 30) -> None:
    case = machine.TestCase
    case.settings = settings(
        max_examples=examples, stateful_step_count=10, phases=(Phase.generate, Phase.shrink), database=None
    )
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
    (test,) = suite
    getattr(test, "runTest")()  # noqa: B009 - not known to the type of unittest


@pytest.mark.parametrize("component", COMPONENTS)
def test_the_reference_passes(component: str) -> None:
    run(type("Passing", (LockstepMachine,), {"component_name": component}), examples=5)


def test_a_broken_target_fails_with_the_clause_and_a_run() -> None:
    with pytest.raises(Violation, match="lru breaks LRU-08 after 1 operations") as caught:
        run(BrokenLru, examples=200)
    assert caught.value.run.mismatch is not None
    assert caught.value.run.mismatch.clause == "LRU-08"
    assert len(caught.value.run.steps) == 1


def test_a_known_clause_passes() -> None:
    run(BrokenLruKnown)


def test_the_profile_is_the_machines_own() -> None:
    run(PromiselessSender, examples=20)


def test_two_machines_of_one_component_do_not_share_their_target() -> None:
    passing = type("Passing", (LockstepMachine,), {"component_name": "lru"})
    run(passing, examples=5)
    with pytest.raises(Violation):
        run(type("Failing", (BrokenLru,), {}), examples=200)
    run(passing, examples=5)
