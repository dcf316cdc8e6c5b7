"""The model of the factories: the decision table, written out."""

from __future__ import annotations

from typing import Any

import pytest

from mmcache_ref.model.component import Outcome, Raised
from mmcache_ref.model.factories import (
    GIB,
    PROCESSOR_ONLY,
    RECEIVER,
    SENDER,
    SHM_RECEIVER,
    SHM_SENDER,
    Config,
    Configuration,
    Make,
    MakeTaken,
    State,
    cache_type,
    makes_shared_memory,
    needs_large_segment,
    observe,
    operations,
    step,
)

UNKNOWN = Raised("ValueError")
LRU = Configuration()
SHM = Configuration(1000, "shm")


def made(function: Any, configuration: Configuration, has_lock: bool = True) -> tuple[Any, State]:
    """What comes back, and what it was given."""
    state, outcome = step(Config(), State(7), Make(function, configuration, has_lock))
    return outcome.result, state


def make(function: Any, configuration: Configuration, has_lock: bool = True) -> tuple[Any, int | None]:
    """What comes back, and its budget."""
    result, state = made(function, configuration, has_lock)
    return result, state.budget


@pytest.mark.clause("FA-01", "FA-02", "FA-03")
@pytest.mark.parametrize(
    ("configuration", "expected"),
    [
        (Configuration(), "lru"),
        (Configuration(cache_type="shm"), "shm"),
        (Configuration(is_multimodal=False), None),
        (Configuration(budget_bytes=0), None),
        (Configuration(budget_bytes=-1), None),
        (Configuration(budget_bytes=1), "lru"),
        (Configuration(api_processes=2), "processor_only"),
        (Configuration(api_processes=0), "processor_only"),
        (Configuration(data_parallel_size=2), "processor_only"),
        (Configuration(data_parallel_size=2, is_externally_balanced=True), "lru"),
        (Configuration(api_processes=2, data_parallel_size=2, is_externally_balanced=True), "processor_only"),
        (Configuration(api_processes=2, cache_type="fifo"), "processor_only"),
        (Configuration(api_processes=2, budget_bytes=0), None),
    ],
)
def test_the_type_of_cache(configuration: Configuration, expected: str | None) -> None:
    assert cache_type(configuration) == expected


NONE = Configuration(budget_bytes=0)
ALONE = Configuration(api_processes=2, budget_bytes=1000)
FIFO = Configuration(cache_type="fifo")


@pytest.mark.clause("FA-04", "FA-05", "FA-06", "FA-07", "FA-08", "FA-11")
@pytest.mark.parametrize(
    ("function", "configuration", "expected", "budget"),
    [
        ("processor", LRU, SENDER, 4 * GIB),
        ("processor", ALONE, PROCESSOR_ONLY, 1000),
        ("processor", NONE, "None", None),
        ("processor", FIFO, UNKNOWN, None),
        ("processor_only", LRU, PROCESSOR_ONLY, 4 * GIB),
        ("processor_only", SHM, PROCESSOR_ONLY, 1000),
        ("processor_only", FIFO, PROCESSOR_ONLY, 4 * GIB),
        ("processor_only", NONE, "None", None),
        ("engine", LRU, RECEIVER, 4 * GIB),
        ("engine", SHM, "None", None),
        ("engine", ALONE, "None", None),
        ("engine", NONE, "None", None),
        ("engine", FIFO, UNKNOWN, None),
        ("worker", LRU, "None", None),
        ("worker", ALONE, "None", None),
        ("worker", NONE, "None", None),
        ("worker", FIFO, UNKNOWN, None),
    ],
)
def test_what_each_function_makes(
    function: Any, configuration: Configuration, expected: Any, budget: int | None
) -> None:
    assert make(function, configuration) == (expected, budget)


@pytest.mark.clause("FA-08")
def test_a_worker_needs_no_lock_without_shared_memory() -> None:
    assert make("worker", LRU, has_lock=False) == ("None", None)


@pytest.mark.clause("FA-08")
def test_a_worker_needs_a_lock_for_shared_memory() -> None:
    assert make("worker", Configuration(1000, "shm"), has_lock=False) == (Raised("ValueError"), None)


@pytest.mark.clause("FA-03", "FA-05", "FA-08", "FA-13", "FA-14")
def test_a_shared_memory_cache_is_given_ring_objects_and_readers() -> None:
    configuration = Configuration(1000, "shm", workers=3, object_bytes=500)
    given = State(ring=1000, object_limit=500, readers=3)
    assert made("processor", configuration) == (SHM_SENDER, given)
    assert made("worker", configuration) == (SHM_RECEIVER, given)
    assert not State(7).is_shared


def test_the_alphabet_makes_no_large_segment_and_leaves_out_nothing_else() -> None:
    """3 budgets, 3 types, two flags and two counts of 2 values: 144 configurations. Five calls of each: the
    worker with and without lock.

    The 16 configurations with `shm` and 4 GiB are left out, also where no segment must be made: a wrong
    factory would make it. Of those with 1,000 bytes 3 make one (one engine, or two that are balanced from
    outside), for P0 and for the worker with a lock.
    """
    all_made = [each for each in operations(Config(), State()) if isinstance(each, Make)]
    assert len(all_made) == 144 * 5 - 16 * 5
    assert sum(map(makes_shared_memory, all_made)) == 3 * 2
    assert not any(map(needs_large_segment, all_made))
    assert made("processor", Configuration(cache_type="shm")) == (None, State(7))
    assert len(set(all_made)) == len(all_made)


def test_what_can_be_observed() -> None:
    nothing = {"budget": None, "named": None, "ring": None, "object limit": None, "readers": None}
    assert observe(Config(), State()) == nothing
    assert observe(Config(), State(1000)) == nothing | {"budget": 1000}
    shared = {"named": True, "ring": 1000, "object limit": 500, "readers": 3}
    assert observe(Config(), State(ring=1000, object_limit=500, readers=3)) == nothing | shared


@pytest.mark.clause("FA-15")
def test_under_a_name_in_use_no_sender_is_made() -> None:
    refused = Outcome("refused", Raised("FileExistsError"))
    assert step(Config(), State(7), MakeTaken(SHM)) == (State(), refused)
    assert step(Config(), State(7), MakeTaken(LRU))[1].kind == "disabled"
    [asked] = [each for each in operations(Config(), State()) if isinstance(each, MakeTaken)]
    assert makes_shared_memory(asked)
    assert not needs_large_segment(asked)
