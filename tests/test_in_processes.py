"""The protocols with every part in a process of its own, held against the model, step by step."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.guard import hang_guard
from mmcache_ref.oracle.in_processes import in_processes
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.process_parts import pair_recipe
from mmcache_ref.oracle.simulation import Plan, Simulated, Simulation
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol.processes import Hosts


def simulated(hosts: Hosts, target: str, plan: Plan) -> Simulated:
    """The operations of a simulation, with the deployment in these processes."""
    component = in_processes(COMPONENTS[FAMILIES[plan.cache].component], hosts)
    with hang_guard() as guard:
        trial = Trial(component, resolve(target), guard=guard)
        found = Simulation(target, plan, trial, lambda requests: None, lambda step, operation: None)
        return found.simulated()


@pytest.mark.clause("SC-25", "SC-29", "SC-38", "SC-44", "DR-01", "DR-15", "DR-21")
@pytest.mark.parametrize("cache", ["lru", "shm"])
def test_every_accident_ends_as_the_model_says_over_processes_too(hosts: Hosts, cache: str) -> None:
    found = simulated(hosts, "reference", Plan(cache, 60, 2, 0, accidents=("all",)))
    assert (found.status, found.said, found.reason) == ("conforms", "", "")
    accidents = {"lru": {"restart-p1", "second-engine", "drop"}, "shm": {"worker-death", "resume", "replay"}}
    assert accidents[cache] <= found.operations.keys()
    assert found.moved_bytes > 0


@pytest.mark.clause("SC-42")
def test_a_worker_that_ends_in_its_process_ends_the_engine(hosts: Hosts) -> None:
    found = simulated(hosts, "reference", Plan("shm", 60, 1, 0, accidents=("all",), protections=()))
    assert found.status == "violates"
    assert {"SC-35", "SC-42"} & {each.clause for each in found.broken}


@pytest.mark.slow
@pytest.mark.upstream
@pytest.mark.parametrize("workers", [1, 4])
def test_the_published_caches_conform_over_processes_where_they_do_in_one(workers: int) -> None:
    with Hosts() as hosts:
        found = simulated(hosts, "vllm@0.32.0", Plan("shm", 60, workers, 1, accidents=("abort", "fan-out")))
    assert (found.status, found.said) == ("conforms", "")


def test_a_target_without_a_name_is_for_one_process_only() -> None:
    with pytest.raises(NotOffered, match="no name by which another process could find it"):
        pair_recipe(Namespace(Path, "something"), 10)
