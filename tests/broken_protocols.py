"""Protocols with one class replaced by a broken one, and whether the oracle finds them by their rule."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mmcache_ref import protocol, reference
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace


def namespace(part: type[Any]) -> Namespace:
    """The reference and its protocol, with one class of it replaced."""
    replaced = {part.__bases__[0].__name__: part}
    return Namespace(SimpleNamespace(**{**vars(protocol), **vars(reference), **replaced}), part.__name__)


def is_found_by(component: str, part: type[Any], clause: str, *, operations: int) -> None:
    """Fuzzing names the clause, by a run that is not much longer than the shortest that it found."""
    trial = Trial(COMPONENTS[component], namespace(part))
    found = fuzz(trial, seconds=600, seed=0, max_operations=operations)
    assert clause in found.runs, list(found.runs)
    shortest = min(found.runs.values(), key=lambda run: len(run.steps))
    assert len(found.runs[clause].steps) <= len(shortest.steps) + 6
