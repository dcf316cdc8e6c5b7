"""What a search of the shared-memory caches finds, protected or not, and that each property can fail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from mmcache_ref.model import shm_caches
from mmcache_ref.model.component import Missed, Outcome
from mmcache_ref.model.explore import Exploration, explore
from mmcache_ref.model.shm_accidents import Clear, Forge, Read, Reject, Submit
from mmcache_ref.model.shm_caches import initial, operations, step, view
from mmcache_ref.model.shm_environment import ACCIDENTS, DEFAULT_PROTECTIONS, Config, configure
from mmcache_ref.model.shm_properties import PROPERTIES
from mmcache_ref.model.shm_requests import State
from mmcache_ref.oracle.clauses import spec_directory

CHAPTER = (spec_directory() / "08-shm-caches.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| `(?P<name>[a-z-]+)` \|(?P<cells>.*)\|$", re.MULTILINE)
FALLS = re.compile(r"(?P<clause>SC-\d\d) in (?P<steps>\d+)")
Stepped = tuple[State, Outcome]


@cache
def found_by(accidents: frozenset[str], protections: frozenset[str], preset: str = "tiny") -> Exploration:
    config = configure(preset, accidents=accidents, protections=protections)
    found = explore(shm_caches, config, properties=PROPERTIES)
    assert found.complete
    return found


def search(accidents: Iterable[str], protections: Iterable[str] = ()) -> Exploration:
    """The tiny preset with these accidents, searched completely."""
    return found_by(frozenset(accidents), frozenset(protections))


def falls(found: Exploration) -> dict[str, int]:
    """Each clause that falls, with the steps of the shortest run."""
    steps: dict[str, int] = {}
    for verdict in found.verdicts.values():
        if verdict.run is not None:
            clause = verdict.property.clause
            steps[clause] = min(len(verdict.run) - 1, steps.get(clause, 99))
    return steps


def rows(heading: str) -> dict[str, dict[str, int]]:
    """Of the table below this heading of the chapter: the name of each row, and what falls."""
    section = CHAPTER.split(f"## {heading}\n")[1].split("\n## ")[0]
    return {
        row["name"]: {each["clause"]: int(each["steps"]) for each in FALLS.finditer(row["cells"])}
        for row in ROW.finditer(section)
    }


@pytest.mark.clause("SC-28", "SC-29", "SC-31", "SC-32", "SC-34", "SC-35", "SC-36")
def test_without_accidents_everything_holds() -> None:
    found = search([])
    assert found.violated == ()
    assert found.verdicts["nothing-gone"].checked > 100


@pytest.mark.clause(*(f"SC-{number}" for number in range(38, 45)), "SC-30", "SC-34", "SC-35")
@pytest.mark.parametrize("accident", sorted(ACCIDENTS))
def test_an_accident_breaks_what_the_chapter_says_by_runs_so_short(accident: str) -> None:
    assert falls(search([accident])) == rows("What each accident costs")[accident]


@pytest.mark.clause(*(f"SC-{number}" for number in range(38, 45)), "SC-30", "SC-34", "SC-35")
@pytest.mark.parametrize("accident", sorted(ACCIDENTS))
def test_with_its_protections_an_accident_does_no_harm(accident: str) -> None:
    assert search([accident], ACCIDENTS[accident].protections).violated == ()


@pytest.mark.clause(*(f"SC-{number}" for number in range(38, 45)), "SC-30")
@pytest.mark.parametrize("protection", sorted(DEFAULT_PROTECTIONS))
def test_each_default_protection_is_needed(protection: str) -> None:
    """The chapter says what falls without it, though all others are kept, and by how short a run."""
    accidents = [name for name, accident in ACCIDENTS.items() if protection in accident.protections]
    found = [falls(search([accident], DEFAULT_PROTECTIONS - {protection})) for accident in accidents]
    fallen = {
        clause: min(each[clause] for each in found if clause in each) for each in found for clause in each
    }
    assert fallen == rows("The default protections of shared memory")[protection] != {}
    assert all(search([accident], DEFAULT_PROTECTIONS).violated == () for accident in accidents)


def test_the_chapter_has_a_row_for_each_accident_and_each_default_protection() -> None:
    assert sorted(rows("What each accident costs")) == sorted(ACCIDENTS)
    assert sorted(rows("The default protections of shared memory")) == sorted(DEFAULT_PROTECTIONS)


@pytest.mark.slow
@pytest.mark.clause(*(f"SC-{number}" for number in range(26, 46)))
def test_with_all_accidents_and_the_default_protections_everything_is_asked_and_holds() -> None:
    found = search(ACCIDENTS, DEFAULT_PROTECTIONS)
    assert found.violated == ()
    assert all(verdict.checked for verdict in found.verdicts.values())


@pytest.mark.parametrize(
    "accidents", [["fan-out", "resume"], ["worker-death", "oversize"], ["replay", "reject"]]
)
def test_every_outcome_has_its_clauses(accidents: Sequence[str]) -> None:
    for protections in (frozenset[str](), DEFAULT_PROTECTIONS, frozenset({"recoverable-miss"})):
        assert set(search(accidents, protections).taken) <= set(shm_caches.RULES)


def test_enabled_operations_follow_from_the_shape_of_the_state() -> None:
    """What is remembered by shape is what is found by trying."""
    config = configure("tiny", accidents=["abort", "strip", "replay", "resume"], protections=["default"])
    found = explore(shm_caches, config, properties={})
    for state in found.states[::7]:
        tried = [
            each for each in shm_caches.alphabet(config) if step(config, state, each)[1].kind != "disabled"
        ]
        assert operations(config, state) == tried


# Each property can fail


def spoiled(breaks: Any) -> Any:
    """The model with one rule broken: `breaks` is given each step and returns another."""

    def broken_step(config: Config, state: State, operation: Any) -> Stepped:
        after, outcome = step(config, state, operation)
        return breaks(config, state, operation, after, outcome)  # type: ignore[no-any-return]

    return SimpleNamespace(
        NAME=shm_caches.NAME, initial=initial, operations=operations, step=broken_step, view=view
    )


def keeps_what_was_refused(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    if outcome.kind not in {"unsupplied", "refused"}:
        return after, outcome
    return before._replace(retries=(*before.retries, *before.retries)[:2], outdated=frozenset("z")), outcome


def accepts_a_forged_handle(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    return after, Outcome("refused", ()) if isinstance(operation, Forge) else outcome


def sends_in_reverse(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    if len(after.channel) <= len(before.channel):
        return after, outcome
    *others, last = after.channel
    return after._replace(channel=(*others, last._replace(features=last.features[::-1]))), outcome


def runs_after_one_worker(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    if isinstance(operation, Read) and len(after.channel) == len(before.channel):
        return after._replace(channel=after.channel[:-1]), outcome
    return after, outcome


def serves_something_else(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    if isinstance(operation, Read) and outcome.kind == "acknowledged":
        return after, outcome._replace(result=(*outcome.result, None))
    return after, outcome


def names_one_miss_too_few(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    return after, outcome._replace(result=Missed(())) if outcome.kind == "missed" else outcome


def counts_twice(config: Config, before: State, operation: Any, after: State, outcome: Outcome) -> Stepped:
    if not isinstance(operation, Read) or not after.store.entries:
        return after, outcome
    first, *others = after.store.entries
    more = first._replace(acknowledged=first.acknowledged + 1)
    return after._replace(store=after.store._replace(entries=(more, *others))), outcome


def counts_nothing(config: Config, before: State, operation: Any, after: State, outcome: Outcome) -> Stepped:
    return after._replace(store=before.store) if isinstance(operation, Read) else after, outcome


def never_stores_when_full(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    return step(config, before, operation) if not before.store.entries else refuse(before, after, outcome)


def refuse(before: State, after: State, outcome: Outcome) -> Stepped:
    """A put that is refused although there would be room."""
    if outcome.kind != "put":
        return after, outcome
    how = tuple([type(each)("item", each.content) for each in outcome.result])
    return before, Outcome("no-room", how)


def frees_before_it_refuses(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    if outcome.kind != "too-large":
        return after, outcome
    return step(config, after._replace(channel=()), Clear())[0]._replace(channel=after.channel), outcome


def resumes_a_miss(config: Config, before: State, operation: Any, after: State, outcome: Outcome) -> Stepped:
    if outcome.kind == "sent":
        *others, last = after.channel
        gone = last._replace(features=before.running[0].features if before.running else ())
        return after._replace(channel=(*others, gone)), outcome
    return after, outcome


BROKEN = [
    (keeps_what_was_refused, [], "refused-first"),
    (keeps_what_was_refused, ["replay"], "forged-refused"),
    (accepts_a_forged_handle, ["forge"], "forged-refused"),
    (runs_after_one_worker, [], "read-by-all"),
    (serves_something_else, [], "as-requested"),
    (names_one_miss_too_few, ["worker-death", "clear-in-flight"], "exact-miss"),
    (counts_twice, [], "paid-once"),
    (counts_nothing, [], "nothing-stranded"),
    (counts_nothing, [], "reclaimable"),
    (never_stores_when_full, [], "refused-for-room"),
    (never_stores_when_full, [], "reclaimable"),
    (frees_before_it_refuses, ["oversize"], "large-is-harmless"),
    (resumes_a_miss, ["worker-death"], "one-retry"),
]


@pytest.mark.parametrize(
    ("breaks", "accidents", "name"),
    [
        pytest.param(
            *each, marks=pytest.mark.clause(PROPERTIES[each[2]].clause), id=f"{each[0].__name__}-{each[2]}"
        )
        for each in BROKEN
    ],
)
def test_a_broken_rule_is_found(breaks: Any, accidents: Sequence[str], name: str) -> None:
    protections = DEFAULT_PROTECTIONS - ({"drained-clear"} if "clear-in-flight" in accidents else set())
    config = configure("tiny", accidents=accidents, protections=protections)
    found = explore(spoiled(breaks), config, properties={name: PROPERTIES[name]}, max_states=3000)
    assert found.violated == (name,)
    assert name not in search(accidents, protections).violated


@pytest.mark.clause("SC-28")
def test_items_in_another_order_are_found() -> None:
    config = configure("small", depth=1)
    found = explore(spoiled(sends_in_reverse), config, properties=PROPERTIES, max_states=200)
    assert "carried-in-order" in found.violated
    assert explore(shm_caches, config, properties=PROPERTIES, max_states=200).violated == ()


def test_the_letters_of_the_tiny_preset_cover_what_requests_are_for() -> None:
    config = configure("tiny", accidents=["all"])
    letters = shm_caches.alphabet(config)
    assert {len(letter.request) for letter in letters if isinstance(letter, Submit | Reject)} == {1}
    assert {letter.children for letter in letters if isinstance(letter, Submit)} == {1, 2}
