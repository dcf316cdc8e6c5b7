"""The hazards of shared memory, run by run: the model and the reference fail without the protection alone."""

from __future__ import annotations

import pytest
from hazards import ENTRIES, protected, stored, unprotected, violated

from mmcache_ref.model import shm_caches, shm_properties
from mmcache_ref.model.explore import replay
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial

HAZARDS = [name for name in ENTRIES if name.startswith("shm-caches-") and f"{name}.protected" in ENTRIES]


@pytest.mark.parametrize("name", HAZARDS)
def test_the_model_without_the_protection_violates_the_property(name: str) -> None:
    config = shm_caches.configure("tiny", accidents=protected(name).accidents)
    operations = [step.operation for step in stored(name).steps]
    *_, before, last = replay(shm_caches, config, shm_caches.initial(config), operations)
    asked = violated(name, shm_properties.PROPERTIES)
    assert asked.holds(config, before.state, last.operation, last.outcome, last.state) is False


@pytest.mark.parametrize("name", HAZARDS)
def test_the_reference_fails_without_the_protection_alone(name: str) -> None:
    run = stored(name)
    operations = [step.operation for step in run.steps]
    taken = frozenset(protected(name).protections)
    for left_out, clause in ((taken, ENTRIES[name].clauses[0]), (frozenset(), None)):
        found = Trial(COMPONENTS[run.component], unprotected(left_out)).run(run.config, operations).mismatch
        assert (found and found.clause) == clause
