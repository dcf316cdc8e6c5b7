"""The hazards of shared memory, run by run: the model and the reference fail without the protection alone."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

from mmcache_ref import protocol, reference
from mmcache_ref.model import shm_caches, shm_properties
from mmcache_ref.model.explore import replay
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.stored import read_run
from mmcache_ref.tlc.manifest import Bound, models_directory, read_manifest

ENTRIES = {entry.name: entry for _, entry in read_manifest().entries}
HAZARDS = [name for name in ENTRIES if name.startswith("shm-caches-") and f"{name}.protected" in ENTRIES]


def stored(name: str) -> Run:
    return read_run(str(models_directory() / "runs" / f"{name}.json"))


def protected(name: str) -> Bound:
    """The search in which the hazard is harmless: its accident, and the protection against it."""
    bound = ENTRIES[f"{name}.protected"].bound
    assert bound is not None
    return bound


def unprotected(left_out: frozenset[str]) -> Namespace:
    """The reference in a deployment that leaves these protections out."""

    def deployment(implementation: Any, protections: Any) -> Any:
        return protocol.SharedDeployment(implementation, frozenset(protections) - left_out)

    names = {name: getattr(package, name) for package in (reference, protocol) for name in package.__all__}
    return Namespace(SimpleNamespace(**{**names, "SharedDeployment": deployment}), "unprotected")


@pytest.mark.parametrize("name", HAZARDS)
def test_the_model_without_the_protection_violates_the_property(name: str) -> None:
    config = shm_caches.configure("tiny", accidents=protected(name).accidents)
    operations = [step.operation for step in stored(name).steps]
    *_, before, last = replay(shm_caches, config, shm_caches.initial(config), operations)
    asked = shm_properties.PROPERTIES[
        "-".join(re.findall("[A-Z][a-z]+", ENTRIES[name].violated or "")).lower()
    ]
    assert asked.holds(config, before.state, last.operation, last.outcome, last.state) is False


@pytest.mark.parametrize("name", HAZARDS)
def test_the_reference_fails_without_the_protection_alone(name: str) -> None:
    run = stored(name)
    operations = [step.operation for step in run.steps]
    taken = frozenset(protected(name).protections)
    for left_out, clause in ((taken, ENTRIES[name].clauses[0]), (frozenset(), None)):
        found = Trial(COMPONENTS[run.component], unprotected(left_out)).run(run.config, operations).mismatch
        assert (found and found.clause) == clause
