"""A request whose parts are right by themselves is wrong as a whole; what is known is passed over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from broken import names, receiver_repeats_share_an_object

from mmcache_ref import reference
from mmcache_ref.model import receiver
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.shrink import shrink

ONE = Content(1, 1)
BUDGET_2 = receiver.Config(2)


class ForgetfulTouches(reference.LruKeyReplicatedReceiverCache):
    """A miss is an `AssertionError` (KR-11), and a request touches nothing (IF-13)."""

    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        assert mm_item is not None or self._cache.get(mm_hash) is not None, mm_hash
        return super().get_and_update_item(mm_item, mm_hash)

    def get_and_update_features(self, mm_features: Any) -> Any:
        for feature in mm_features:
            feature.data = self.get_and_update_item(feature.data, feature.mm_hash or feature.identifier)
        return mm_features


def trial_of(source: Any) -> Trial:
    return Trial(COMPONENTS["receiver"], Namespace(source, "test"))


def forgetful() -> Trial:
    replaced = names(LruKeyReplicatedReceiverCache=ForgetfulTouches)
    return trial_of(SimpleNamespace(**replaced))


@pytest.mark.clause("IF-14")
def test_a_request_whose_updates_are_right_one_by_one_breaks_the_clause_about_requests() -> None:
    both = receiver.Features((receiver.Feature("a", ONE), receiver.Feature("a", Content(1, 2))))
    mismatch = trial_of(receiver_repeats_share_an_object).run(BUDGET_2, (both,)).mismatch
    assert mismatch is not None
    assert mismatch.clause == "IF-14"
    assert "KR-08" not in mismatch.suspects


@pytest.mark.clause("KR-08")
def test_a_request_whose_update_is_wrong_by_itself_breaks_the_clause_about_updates() -> None:
    class PrefersOld(reference.LruKeyReplicatedReceiverCache):
        def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
            return self._cache.get(mm_hash) or super().get_and_update_item(mm_item, mm_hash)

    both = receiver.Features((receiver.Feature("a", ONE), receiver.Feature("a", Content(1, 2))))
    replaced = names(LruKeyReplicatedReceiverCache=PrefersOld)
    mismatch = trial_of(SimpleNamespace(**replaced)).run(BUDGET_2, (both,)).mismatch
    assert mismatch is not None
    assert mismatch.clause == "KR-08"


@pytest.mark.clause("IF-13")
def test_a_run_of_what_is_wrong_as_a_whole_is_not_shrunk_into_a_wrong_part() -> None:
    """Without `b` and its touch the request ends with a miss, which is wrong by itself."""
    asked = receiver.Features((receiver.Feature("c", ONE), receiver.Feature("a")))
    operations = (receiver.Update("a", ONE), receiver.Update("b", ONE), asked)
    trial = forgetful()
    run = shrink(trial, trial.run(BUDGET_2, operations))
    assert run.mismatch is not None
    assert run.mismatch.clause == "IF-13"
    assert 1 < len(run.steps) <= 3


def test_a_known_outcome_is_passed_over_where_the_state_is_right() -> None:
    lockstep = forgetful().start(BUDGET_2)
    lockstep.perform(receiver.Update("a", ONE))
    mismatch = lockstep.perform(receiver.Update("b"))
    assert mismatch is not None
    assert mismatch.clause == "KR-11"
    assert lockstep.pass_over_last()
    assert lockstep.perform(receiver.Update("a")) is None
    assert lockstep.reported == [receiver.Update("a", ONE), receiver.Update("a")]


def test_nothing_is_passed_over_where_the_state_is_wrong_or_not_seen() -> None:
    """The request stops at its first miss, so `a` is not stored."""
    asked = receiver.Features((receiver.Feature("b"), receiver.Feature("a", ONE)))
    lockstep = forgetful().start(BUDGET_2)
    assert lockstep.perform(asked) is not None
    assert not lockstep.pass_over_last()
    blind = Trial(COMPONENTS["receiver"], Namespace(reference, "reference"), level=0).start(BUDGET_2)
    blind.perform(receiver.Update("a", ONE))
    assert not blind.pass_over_last()


@pytest.mark.clause("IF-13")
def test_a_fault_that_ends_most_examples_does_not_hide_another() -> None:
    runs = fuzz(forgetful(), seconds=600, seed=0, max_examples=400).runs
    assert {"KR-11", "IF-13"} <= runs.keys()
    assert all(run.is_repeatable for run in runs.values())


def test_a_target_that_fails_when_the_oracle_asks_again_costs_no_verdict() -> None:
    class Exits(reference.LruKeyReplicatedReceiverCache):
        """Makes one cache, and then no other."""

        made = 0

        def __init__(self, model_config: Any) -> None:
            type(self).made += 1
            if type(self).made > 1:
                raise SystemExit(3)
            super().__init__(model_config)

        def get_and_update_features(self, mm_features: Any) -> Any:
            return list(mm_features)

    replaced = names(LruKeyReplicatedReceiverCache=Exits)
    asked = receiver.Features((receiver.Feature("a", ONE),))
    mismatch = trial_of(SimpleNamespace(**replaced)).run(BUDGET_2, (asked,)).mismatch
    assert mismatch is not None
    assert mismatch.clause == "IF-14"
