"""Every edge of a graph is walked, and executed on a target."""

from __future__ import annotations

import pytest

from mmcache_ref.model import lru, shm_caches
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.walks import Walks
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.executing import execute, walks_of
from mmcache_ref.tlc.graph import Edge, Graph

TREE = Graph.of(0, [Edge(0, "left", 1), Edge(0, "right", 2), Edge(2, "left", 3), Edge(2, "stay", 2)])
SMALL = lru.Config(budget=1, keys=("a", "b"), sizes=(0, 1, 2))


def all_walks(walks: Walks) -> list[list[str]]:
    found = []
    while walked := [way.label.call for way in walks.walk()]:
        found.append(walked)
    return found


def test_walks_take_every_edge_and_begin_again_where_no_way_leads_on() -> None:
    assert sorted(all_walks(walks_of(TREE))) == [["left"], ["right", "stay", "left"]]


def test_a_broken_edge_is_not_taken_again() -> None:
    walks = walks_of(TREE)
    broken = next(way for ways in walks.leaving for way in ways if way.label.call == "right")
    walks.taken.add(broken.number)
    walks.broken.add(broken.number)
    assert all_walks(walks) == [["left"]]


@pytest.fixture(scope="module")
def graph() -> Graph:
    binding = BINDINGS["lru"]
    return binding.graph(binding.explore(SMALL))


def test_the_reference_executes_every_edge(graph: Graph) -> None:
    found = execute(BINDINGS["lru"], SMALL, graph, resolve("reference"))
    assert found.is_complete
    assert found.executed == found.edges == graph.edges


def test_a_fault_is_met_with_the_run_that_shows_it(graph: Graph) -> None:
    found = execute(BINDINGS["lru"], SMALL, graph, resolve("fault:D06"))
    assert not found.is_complete
    assert [len(found.runs[clause].steps) for clause in found.runs] == [1]
    assert "LRU-10" in found.runs


def test_messages_in_another_order_are_another_state_where_edges_are_compared() -> None:
    binding = BINDINGS["shm-caches"]
    config = binding.config("tiny")
    assert [binding.explore(config, exact=exact).distinct for exact in (False, True)] == [114, 568]


@pytest.fixture(scope="module")
def children() -> tuple[shm_caches.Config, Graph]:
    binding = BINDINGS["shm-caches"]
    config = binding.config("tiny", accidents=["fan-out"], protections=["default"], depth=1)
    return config, binding.graph(binding.explore(config, exact=True))


def test_the_reference_executes_every_edge_over_shared_memory(
    children: tuple[shm_caches.Config, Graph],
) -> None:
    found = execute(BINDINGS["shm-caches"], *children, resolve("reference"))
    assert found.is_complete
    assert found.executed == children[1].edges


def test_a_fault_of_the_protocol_is_met_on_some_edge(children: tuple[shm_caches.Config, Graph]) -> None:
    found = execute(BINDINGS["shm-caches"], *children, resolve("fault:S04"))
    assert not found.is_complete
    assert "SC-39" in found.runs


def test_an_edge_that_the_python_model_lacks_is_told(graph: Graph) -> None:
    more = Graph.of(graph.initial, [Edge(graph.initial, "another call", graph.initial)])
    found = execute(BINDINGS["lru"], SMALL, more, resolve("reference"))
    assert (found.executed, found.is_complete) == (0, False)
    assert "another call" in found.unknown[0]


def test_an_edge_that_leads_elsewhere_is_told(graph: Graph) -> None:
    call = next(call for call, after in graph.leaving[graph.initial] if after != graph.initial)
    wrong = Graph.of(graph.initial, [Edge(graph.initial, call, graph.initial)])
    found = execute(BINDINGS["lru"], SMALL, wrong, resolve("reference"))
    assert (found.executed, found.is_complete) == (0, False)
