"""Shrinking: what can be left out of a run is left out, and the clause stays the same."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from broken import lru_pop_keeps_pin, lru_touch_keeps_order, names

from mmcache_ref import reference
from mmcache_ref.model import lru
from mmcache_ref.model.component import Content, Op
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.shrink import shrink

ONE = Content(1, 1)
CONFIG = lru.Config(6)
PADDING: tuple[Op, ...] = (
    lru.Length(),
    lru.Get("x"),
    lru.Stat(),
    lru.Usage(),
    lru.RemoveOldest(),
    lru.Clear(),
)
BETWEEN = PADDING[:4]


def lru_trial(lru_class: Any) -> Trial:
    return Trial(COMPONENTS["lru"], Namespace(SimpleNamespace(**names(LRUCache=lru_class)), "test"))


def test_operations_that_do_not_matter_go() -> None:
    needed = (lru.Put("a", ONE), lru.Put("b", ONE), lru.Touch("a"))
    padded = (*PADDING, needed[0], *BETWEEN, needed[1], *BETWEEN, needed[2], *PADDING)
    run = shrink(lru_trial(lru_touch_keeps_order.LRUCache), CONFIG, padded, "LRU-09")
    assert run.operations == needed
    assert run.mismatch is not None
    assert run.mismatch.clause == "LRU-09"


def test_a_run_of_which_nothing_can_go_stays() -> None:
    needed = (lru.Put("a", ONE), lru.Pin("a"), lru.Pop("a"))
    run = shrink(lru_trial(lru_pop_keeps_pin.LRUCache), CONFIG, needed, "LRU-22")
    assert run.operations == needed


def test_a_run_that_agrees_comes_back_whole() -> None:
    run = shrink(lru_trial(reference.LRUCache), CONFIG, PADDING, "LRU-09")
    assert run.operations == PADDING
    assert run.mismatch is None


def test_a_run_that_breaks_another_clause_comes_back_as_it_is() -> None:
    run = shrink(
        lru_trial(lru_touch_keeps_order.LRUCache),
        CONFIG,
        (lru.Length(), lru.Put("a", ONE), lru.Put("b", ONE), lru.Touch("a")),
        "LRU-13",
    )
    assert len(run.steps) == 4
    assert run.mismatch is not None
    assert run.mismatch.clause == "LRU-09"


def test_a_target_that_breaks_only_once_gives_a_whole_run_without_mismatch() -> None:
    class BreaksOnce(reference.LRUCache[Any, Any]):
        has_broken = False

        def touch(self, key: Any) -> None:
            if BreaksOnce.has_broken:
                super().touch(key)
            BreaksOnce.has_broken = True

    operations = (*PADDING, lru.Put("a", ONE), lru.Put("b", ONE), lru.Touch("a"))
    trial = lru_trial(BreaksOnce)
    assert trial.run(CONFIG, operations).mismatch is not None
    assert shrink(trial, CONFIG, operations, "LRU-09").operations == operations
