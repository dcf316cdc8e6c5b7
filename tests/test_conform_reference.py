"""The reference conforms: every component, both profiles, both stages."""

from __future__ import annotations

import pytest

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import execute_graphs
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Profile
from mmcache_ref.oracle.suite import graph_size
from mmcache_ref.oracle.targets import resolve

SLOW = {"lru", "processor-only", "sender", "key-replicated", "object-store", "ring-buffer", "shm-pair"}
"""Their tiny graphs take some seconds."""
EXAMPLES = 200


@pytest.mark.parametrize("profile", ["safe", "upstream"])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in SLOW else []) for name in COMPONENTS]
)
def test_on_every_edge_of_the_tiny_graph(name: str, profile: Profile) -> None:
    component = COMPONENTS[name]
    found = execute_graphs(Trial(component, resolve("reference"), profile))
    assert found.runs == {}
    assert found.is_complete
    if profile == "safe":
        # In the other profile, what lies behind an edge that it is silent on need not be reached.
        assert (found.states, found.edges, found.silent_edges) == (*graph_size(name), 0)


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["safe", "upstream"])
@pytest.mark.parametrize("name", COMPONENTS)
def test_on_generated_runs(name: str, profile: Profile) -> None:
    trial = Trial(COMPONENTS[name], resolve("reference"), profile)
    found = fuzz(trial, seconds=3600, seed=0, max_examples=EXAMPLES)
    assert found.runs == {}
    assert found.examples >= EXAMPLES
