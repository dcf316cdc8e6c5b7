"""Stores with one race each: the scheduler finds it, with few preemptions, and names the clause."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import racing_stores as stores

from mmcache_ref import reference
from mmcache_ref.oracle.interleaving.judge import judge, replay
from mmcache_ref.oracle.interleaving.scenarios import SCENARIOS
from mmcache_ref.oracle.interleaving.verdicts import Options, ScenarioVerdict


def judged(made: type, scenario: str, preemptions: int = 1) -> ScenarioVerdict:
    """The reference with another store or ring."""
    return judge(namespace(made), SCENARIOS[scenario], Options(preemptions))


def namespace(made: type) -> SimpleNamespace:
    (name,) = [base.__name__ for base in made.__mro__ if base.__name__ in vars(reference)]
    return SimpleNamespace(**{**vars(reference), name: made})


CALLS = {"ring-allocate": [2, 1], "ring-stale": [2, 1], "stale-get-free-put": [2, 1, 1]}
"""How many calls of each thread are needed, where it is not one of each of two."""
SLOW = pytest.mark.slow
RACES = [
    (stores.CountsWithoutLock, "get-get", {"OS-32": 1}),
    (stores.CountsWithoutLock, "stale-get-put", {"OS-23": 1}),
    (stores.CountsInOneLine, "get-get", {"OS-32": 1}),
    (stores.ReadsTheCountBeforeTheLock, "get-get", {"OS-32": 1}),
    (stores.DoesNotWaitForTheLock, "get-get", {"OS-32": 1}),
    (stores.CountsOnlyWhenTheLockIsFree, "get-free", {"OS-32": 1}),
    (stores.HasALockOfItsOwn, "get-get", {"OS-32": 1}),
    (stores.CountsBeforeItCompares, "stale-get-put", {"OS-23": 1}),
    (stores.CountsBeforeItCompares, "validated-handle", {"OS-23": 1}),
    (stores.ComparesBeforeTheLock, "stale-get-put", {"OS-23": 1}),
    (stores.GivesTheLockBackInBetween, "stale-get-put", {"OS-23": 1}),
    (stores.FreesWithoutTheLock, "stale-get-put", {"OS-23": 1}),
    (stores.AcknowledgesBeforeItCopies, "get-put", {"OS-41": 1}),
    (stores.LooksForTheSecretEachTime, "get-clear", {"OS-41": 1}),
    (stores.SealsBeforeItCopies, "early-get", {"OS-08": 1}),
    (stores.KeepsTheLockOfAStaleHandle, "get-clear", {"OS-46": 1}),
    (stores.RingThatReadsTheHeaderTwice, "ring-stale", {"RB-15": 1}),
    (stores.RingThatWritesBeforeItLooks, "ring-allocate", {"RB-29": 1}),
    (stores.RingThatWipesBeforeItAsks, "ring-take-back", {"RB-29": 1}),
    pytest.param(stores.WipesBehindTheLock, "stale-get-put", {"OS-23": 2}, marks=SLOW),
    pytest.param(stores.WipesOnlyInAClear, "stale-get-put", {"OS-23": 2}, marks=SLOW),
    (stores.WipesOnlyInAClear, "stale-get-free-put", {"OS-23": 1}),
    pytest.param(stores.ComparesTheIdAlone, "stale-get-free-put", {"OS-23": 2}, marks=SLOW),
]


@pytest.mark.parametrize(("made", "scenario", "clauses"), RACES)
def test_a_race_is_found_with_the_fewest_preemptions(
    made: type, scenario: str, clauses: dict[str, int]
) -> None:
    verdict = judged(made, scenario, max(clauses.values()))
    assert verdict.status == "violates"
    assert not verdict.reason
    assert {each.clause: each.preemptions for each in verdict.findings} == clauses
    for finding in verdict.findings:
        # No call is left that is not needed, and the blocks are those that the preemptions make.
        made_by = [len(calls) for calls in finding.scenario.threads.values()]
        assert made_by == CALLS.get(scenario, [1, 1])
        assert len(finding.schedule) == 2 + finding.preemptions or len(made_by) == 3
        again = replay(namespace(made), finding.scenario, finding.schedule)
        assert again.findings == (finding,)


@pytest.mark.parametrize("scenario", ["stale-get-put", "get-clear", "ring-reuse"])
@pytest.mark.parametrize(
    "made",
    [
        stores.ClearsTwice,
        stores.ReadsItsSizeAgain,
        stores.TriesTheLockUntilItIsFree,
        stores.WipesBeforeTheLock,
        stores.WipesTwice,
        stores.RingWithAHeaderInTwoSteps,
    ],
)
def test_what_looks_like_a_race_and_is_none_is_not_one(made: type, scenario: str) -> None:
    verdict = judged(made, scenario)
    assert verdict.status == "conforms"
    assert verdict.schedules > 10
