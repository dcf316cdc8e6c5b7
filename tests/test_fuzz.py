"""The fuzz stage: one seed, one course; one fault does not hide another."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from broken import lru_get_miss_uncounted, names
from lru_trials import lru_trial

from mmcache_ref import reference
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.fuzz import Fuzzed, fuzz
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.run import plain


def fuzz_lru(lru_class: Any, *, seed: int = 0, examples: int = 60, **options: Any) -> Fuzzed:
    return fuzz(lru_trial(lru_class), seconds=600, seed=seed, max_examples=examples, **options)


class TwoFaults(lru_get_miss_uncounted.LRUCache):
    """Misses of `get` are not counted, and touches do not move."""

    def touch(self, key: Any) -> None:
        return


def test_the_same_seed_takes_the_same_course() -> None:
    first, second = (fuzz_lru(lru_get_miss_uncounted.LRUCache, seed=3) for _ in range(2))
    assert list(first.runs) == ["LRU-08"]
    assert plain(first.runs) == plain(second.runs)
    assert (first.examples, first.seeds) == (second.examples, second.seeds)


def test_another_seed_takes_another_course() -> None:
    def course(seed: int) -> list[tuple[tuple[str, str], int]]:
        trial = Trial(COMPONENTS["lru"], Namespace(reference, "reference"))
        fuzz(trial, seconds=600, seed=seed, max_examples=5)
        return sorted(trial.tally.cases.items())

    assert course(0) == course(0)
    assert course(0) != course(1)


def test_two_faults_are_both_found_and_told_apart() -> None:
    runs = fuzz_lru(TwoFaults, examples=200).runs
    assert {"LRU-08", "LRU-09"} <= runs.keys()
    assert len(runs["LRU-08"].steps) == 1
    assert len(runs["LRU-09"].steps) <= 3


def test_a_known_clause_is_not_reported_and_does_not_hide_another() -> None:
    runs = fuzz_lru(TwoFaults, examples=200, known=frozenset({"LRU-08"})).runs
    assert list(runs) == ["LRU-09"]


def test_a_violation_carries_the_seed_of_its_batch() -> None:
    found = fuzz_lru(lru_get_miss_uncounted.LRUCache, seed=40)
    assert found.seeds.keys() == found.runs.keys()
    assert found.seeds["LRU-08"] >= 40


def test_nothing_is_found_in_the_reference() -> None:
    found = fuzz_lru(reference.LRUCache, examples=20)
    assert found.runs == {}
    assert found.examples >= 20


def test_no_time_is_no_example() -> None:
    trial = Trial(COMPONENTS["lru"], Namespace(reference, "reference"))
    assert fuzz(trial, seconds=0, seed=0).examples == 0


def test_a_question_without_a_state_is_shown_alone_however_many_known_ones_came_before() -> None:
    """IT-18 is known to be broken, and asked again and again before another clause shows."""

    class Both(reference.MultiModalCache):
        @classmethod
        def get_item_size(cls, value: Any, *, debug: bool = False) -> int:
            if isinstance(value, list | tuple | dict) and not value:
                raise TypeError("a value without leaves")
            return super().get_item_size(value, debug=debug) + isinstance(value, str)

    target = Namespace(SimpleNamespace(**names(MultiModalCache=Both)), "both")
    for seed in range(4):
        trial = Trial(COMPONENTS["items"], target)
        found = fuzz(trial, seconds=600, seed=seed, known=frozenset({"IT-18"}), max_operations=3_000)
        assert found.runs
        assert all(run.is_repeatable and len(run.steps) == 1 for run in found.runs.values())
