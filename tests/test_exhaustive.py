"""The exhaustive stage: every edge of the model's graph, and an honest count of what was not reached."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from broken import lru_pop_keeps_pin, names, sender_keeps_no_promise
from lru_trials import lru_trial

from mmcache_ref import reference
from mmcache_ref.model import lru, receiver
from mmcache_ref.oracle import guard as guard_module
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import MOST_HANGS, Exhaustive, execute_graph
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.suite import Options, graph_size, judge

ONE_KEY = lru.Config(budget=1, keys=("a",), sizes=(1,))
"""Three states: empty, a cached, a cached and pinned."""


def test_every_edge_of_every_state_is_executed() -> None:
    found = execute_graph(lru_trial(), ONE_KEY)
    alphabet = list(lru.operations(ONE_KEY, lru.initial(ONE_KEY)))
    assert (found.states, found.edges) == (3, 3 * len(alphabet))
    assert (found.mismatching_edges, found.silent_edges, found.is_complete) == (0, 0, True)
    assert found.runs == {}


@pytest.mark.parametrize("name", ["items", "receiver", "factories"])
def test_on_the_reference_the_whole_tiny_graph_is_executed(name: str) -> None:
    component = COMPONENTS[name]
    trial = Trial(component, Namespace(reference, "reference"))
    found = execute_graph(trial, component.executed_config)
    assert (found.states, found.edges) == graph_size(name)
    assert found.is_complete


@pytest.mark.slow
@pytest.mark.parametrize("name", ["lru", "processor-only", "sender"])
def test_on_the_reference_the_larger_tiny_graphs_are_executed_too(name: str) -> None:
    test_on_the_reference_the_whole_tiny_graph_is_executed(name)


class StoresNothing(reference.LRUCache[Any, Any]):
    """Every insertion fails."""

    def put_if_fits(self, key: Any, value: Any) -> bool:
        raise OSError("read-only")


def test_what_lies_behind_a_mismatch_does_not_count_as_reached() -> None:
    found = execute_graph(lru_trial(StoresNothing), ONE_KEY)
    alphabet = len(list(lru.operations(ONE_KEY, lru.initial(ONE_KEY))))
    assert (found.states, found.edges) == (1, alphabet)
    # put, setitem, put_if_fits, setdefault, update, and pairs in another cache, with the one key and size
    assert found.mismatching_edges == 6


def test_a_graph_that_was_not_reached_is_not_called_exhaustive() -> None:
    class ReceivesNothing(reference.LruKeyReplicatedReceiverCache):
        def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
            raise OSError("offline")

    names_of_target = names(LruKeyReplicatedReceiverCache=ReceivesNothing)
    namespace = Namespace(SimpleNamespace(**names_of_target), "test")
    verdict = judge(COMPONENTS["receiver"], namespace, Options(("receiver",)), seconds=0)
    states, edges = graph_size("receiver")
    coverage = verdict.coverage
    assert not coverage.is_exhaustive
    assert (coverage.graph_states, coverage.graph_edges) == (states, edges)
    assert coverage.states == 1
    assert coverage.edges < edges


class Spins(reference.LRUCache[Any, Any]):
    """No operation on a key returns."""

    def __contains__(self, key: object) -> bool:
        while True:
            pass


def test_a_target_that_hangs_often_is_not_asked_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_module, "OPERATION_CPU_SECONDS", 0.02)
    config = lru.Config(budget=2, keys=("a", "b"), sizes=(1,))
    with hang_guard() as guard:
        found = execute_graph(lru_trial(Spins, guard=guard), config)
    assert found.mismatching_edges >= MOST_HANGS
    assert not found.is_complete
    assert list(found.runs) == ["LRU-18"]


def runs_of(lru_class: Any, config: lru.Config, **options: Any) -> Exhaustive:
    return execute_graph(lru_trial(lru_class), config, **options)


def test_the_run_of_a_clause_is_a_shortest_one() -> None:
    """Cached, pinned, popped: no two of these show that the pin stayed."""
    found = runs_of(lru_pop_keeps_pin.LRUCache, ONE_KEY)
    assert [type(each) for each in found.runs["LRU-22"].operations] == [lru.Put, lru.Pin, lru.Pop]


def test_the_search_for_one_clause_ends_with_its_run() -> None:
    whole = runs_of(lru_pop_keeps_pin.LRUCache, ONE_KEY)
    only = runs_of(lru_pop_keeps_pin.LRUCache, ONE_KEY, only="LRU-22")
    assert list(only.runs) == ["LRU-22"]
    assert only.edges <= whole.edges
    assert runs_of(lru_pop_keeps_pin.LRUCache, ONE_KEY, only="LRU-13").runs == {}


def test_edges_on_which_the_profile_says_nothing_are_counted_apart() -> None:
    config = receiver.PRESETS["tiny"]
    component = COMPONENTS["receiver"]
    silent = execute_graph(Trial(component, Namespace(reference, "reference"), "upstream"), config)
    told = execute_graph(Trial(component, Namespace(reference, "reference"), "safe"), config)
    assert silent.silent_edges > 0
    assert told.silent_edges == 0
    assert silent.mismatching_edges == 0


def test_the_upstream_profile_does_not_blame_what_upstream_does() -> None:
    component = COMPONENTS["sender"]
    config = component.executed_config
    namespace = Namespace(sender_keeps_no_promise, "test")
    assert "KR-13" in execute_graph(Trial(component, namespace, "safe"), config, only="KR-13").runs
    assert execute_graph(Trial(component, namespace, "upstream"), config).runs == {}
