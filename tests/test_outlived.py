"""A pin that outlives its key is blamed where pins are not shown, and nothing else is blamed on it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from broken import names

from mmcache_ref import reference
from mmcache_ref.model import lru
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace

ONE, TWO = Content(1, 1), Content(2, 1)
BUDGET_2 = lru.Config(2)
PINNED_ONCE = (lru.Put("a", ONE), lru.Pin("a"), lru.Pop("a", has_default=False), lru.Put("a", ONE))


class KeepsPins(reference.LRUCache[Any, Any]):
    """A key that leaves stays pinned."""

    def _forget(self, key: Any, size: float) -> None:
        is_pinned = key in self.pinned_items
        super()._forget(key, size)
        if is_pinned:
            self.pinned_items.add(key)


class CountsPins(reference.LRUCache[Any, Any]):
    """Pinning is a hit."""

    def pin(self, key: Any) -> None:
        super().pin(key)
        self.get(key)


class PinsTheAbsent(reference.LRUCache[Any, Any]):
    """A key that is not there is refused, and pinned."""

    def pin(self, key: Any) -> None:
        self.pinned_items.add(key)
        super().pin(key)


class KeepsBytes(reference.LRUCache[Any, Any]):
    """What leaves is still counted."""

    def _forget(self, key: Any, size: float) -> None:
        super()._forget(key, 0)
        self._currsize += 0 if self._entries else size


def outcomes_of(cache: type) -> Trial:
    """Judged by outcomes alone: no pins, no order."""
    return Trial(COMPONENTS["lru"], Namespace(SimpleNamespace(**names(LRUCache=cache)), "test"), level=0)


def blamed(cache: type, *operations: lru.Operation) -> str | None:
    mismatch = outcomes_of(cache).run(BUDGET_2, operations).mismatch
    return None if mismatch is None else mismatch.clause


@pytest.mark.clause("LRU-22")
@pytest.mark.parametrize(
    "last", [lru.Put("a", TWO), lru.SetItem("a", TWO), lru.PopItem(), lru.RemoveOldest()], ids=repr
)
def test_a_pin_that_outlives_its_key_is_blamed_where_an_eviction_shows_it(last: lru.Operation) -> None:
    assert blamed(reference.LRUCache, *PINNED_ONCE, last) is None
    assert blamed(KeepsPins, *PINNED_ONCE, last) == "LRU-22"


@pytest.mark.clause("LRU-22")
def test_what_failed_by_the_pin_before_does_not_hide_it() -> None:
    before = (lru.Put("a", TWO), lru.Pin("a"), lru.Put("b", ONE), lru.Delete("a"), lru.Put("a", TWO))
    assert blamed(KeepsPins, *before, lru.PopItem()) == "LRU-22"


def test_a_pin_that_is_over_is_not_blamed_for_what_is_wrong_without_it() -> None:
    assert blamed(KeepsBytes, *PINNED_ONCE, lru.PutIfFits("b", ONE), lru.Contains("a")) not in (
        None,
        "LRU-22",
    )


def test_a_pin_that_was_refused_is_none_that_is_over() -> None:
    seen = blamed(PinsTheAbsent, lru.Pin("a"), lru.Put("a", ONE), lru.Put("a", TWO))
    assert seen not in (None, "LRU-22")


def test_a_pin_that_counts_is_blamed_for_that_also_when_it_is_over() -> None:
    assert blamed(CountsPins, *PINNED_ONCE, lru.Stat()) == "LRU-27"


@pytest.mark.clause("LRU-22")
def test_fuzzing_by_outcomes_blames_the_pins_alone() -> None:
    runs = fuzz(outcomes_of(KeepsPins), seconds=600, seed=0, max_examples=400).runs
    assert runs.keys() == {"LRU-22"}
    assert len(runs["LRU-22"].steps) <= 6
