"""Ids that begin late: what no run is long enough to bring about."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from mmcache_ref.model import object_store, ring_buffer, shm_pair
from mmcache_ref.model.component import Content
from mmcache_ref.model.object_store import OVERHEAD
from mmcache_ref.model.ring_buffer import Config
from mmcache_ref.model.shm_pair_alphabet import Feature, Receive, Update, Validate
from mmcache_ref.oracle.adapters.ring_ids import begin_at, wrap_at
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.targets import resolve

LAST = 2**31 - 1
"""The last id before 0 comes again."""


def served(name: str, config: Any, *operations: Any) -> list[Any]:
    """What the reference returns, which is what the model says."""
    run = Trial(COMPONENTS[name], resolve("reference")).run(config, operations)
    assert run.mismatch is None
    return [step.expected for step in run.steps]


@pytest.mark.clause("RB-10")
def test_the_ids_of_a_ring_wrap_at_their_usual_end() -> None:
    config = Config(capacity=60, first_id=LAST)
    allocated = served("ring-buffer", config, ring_buffer.Allocate(4), ring_buffer.Allocate(4))
    assert allocated == [(0, LAST), (12, 0)]


@pytest.mark.clause("OS-15", "OS-20", "RB-10")
def test_a_handle_with_a_late_id_is_signed_and_read() -> None:
    config = object_store.Config(2 * (OVERHEAD + 1), OVERHEAD, first_id=LAST)
    content, read_back = Content(1, 1), {"nbytes": 1, "fill": 1}
    asked = [object_store.Put("a", content), object_store.Put("b", content)]
    read = [object_store.Signature("a"), object_store.Get("a"), object_store.Get("b")]
    assert served("object-store", config, *asked, *read)[2:] == [True, read_back, read_back]


@pytest.mark.clause("SC-06", "SC-15")
def test_a_cache_hands_out_late_ids() -> None:
    config = shm_pair.Config(2, 2, first_id=LAST)
    asked = [Update("a", Content(1, 1)), Update("b", Content(1, 2)), Validate("a"), Validate("b")]
    assert served("shm-pair", config, *asked, Receive(Feature("a")), Receive(Feature("b")))


def test_ids_begin_below_their_end() -> None:
    with pytest.raises(ValueError, match="cannot begin with 4"):
        ring_buffer.initial(Config(60, id_max=4, first_id=4))


def test_a_ring_without_these_attributes_cannot_be_asked() -> None:
    ring = SimpleNamespace(monotonic_id_start=0)
    begin_at(ring, 0)
    with pytest.raises(NotOffered, match="no monotonic_id_end"):
        begin_at(ring, 7)
    with pytest.raises(NotOffered, match="no ID_MAX"):
        wrap_at(ring, 7)


def test_a_ring_whose_attributes_are_fixed_cannot_be_asked() -> None:
    class Fixed:
        @property
        def ID_MAX(self) -> int:  # noqa: N802 - the name of upstream's attribute
            return 9

    with pytest.raises(NotOffered, match="ID_MAX of the target's ring cannot be set"):
        wrap_at(Fixed(), 7)
