"""A target is praised for the rules of a protocol where it brings one of that family, and nowhere else."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mmcache_ref import protocol, reference
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.suite import Options, judge


def praised_for(component: str, part: str) -> set[str]:
    """The clauses that are told of the reference's caches with this part of the protocol."""
    names = {**vars(reference), part: getattr(protocol, part)}
    options = Options((component,), stages=())
    verdict = judge(COMPONENTS[component], Namespace(SimpleNamespace(**names), part), options, seconds=0)
    return {each.id for each in verdict.clauses}


@pytest.mark.parametrize(
    ("component", "part", "others", "clause"),
    [
        ("drift", "FrontEnd", "SharedFrontEnd", "DR-14"),
        ("drift", "FrontEnd", "SharedFrontEnd", "DR-26"),
        ("shm-caches", "SharedFrontEnd", "FrontEnd", "SC-25"),
        ("shm-caches", "SharedFrontEnd", "FrontEnd", "SC-38"),
    ],
)
def test_the_protocol_of_a_family_is_judged_where_the_target_brings_it(
    component: str, part: str, others: str, clause: str
) -> None:
    assert clause in praised_for(component, part)
    assert clause not in praised_for(component, others)
