"""The breadth-first search, on models small enough to count by hand, and on a model of the package."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from rich.console import Console

from mmcache_ref.model import drift, key_replicated, lru
from mmcache_ref.model.component import Op, Outcome, tag
from mmcache_ref.model.explore import Exploration, Progress, Property, explore
from mmcache_ref.report.exploration import exploration_json, exploration_status, exploration_text


class Add(Op, frozen=True, tag="add"):
    """Add one or two."""

    amount: int


class Reset(Op, frozen=True, tag="reset"):
    """Back to zero."""


class Counting(NamedTuple):
    """Where the counter is, and how many steps were made (which its view leaves out)."""

    value: int
    steps: int = 0


class Counter5:
    """A counter from 0 to `config` that adds one or two; from 2 on it can be reset."""

    NAME = "counter"

    def initial(self, config: int) -> Counting:
        return Counting(0)

    def operations(self, config: int, state: Counting) -> list[Op]:
        return [Add(1), Add(2), *([Reset()] if state.value >= 2 else [])]

    def step(self, config: int, state: Counting, operation: Op) -> tuple[Counting, Outcome]:
        match operation:
            case Add(amount) if state.value + amount <= config:
                return Counting(state.value + amount, state.steps + 1), Outcome("added", amount)
            case Add():
                return state, Outcome("full")
            case _:
                return Counting(0, state.steps + 1), Outcome("reset")

    def view(self, state: Counting) -> int:
        return state.value

    def observe(self, config: int, state: Counting) -> dict[str, object]:
        return {"order": (f"value {state.value}",), "bytes": state.steps}


def counted(config: int = 5, **options: Any) -> Exploration:
    return explore(Counter5(), config, **{"properties": {}, **options})


def never(limit: int) -> Property:
    return Property("X-01", "state", lambda config, state: state.value != limit)


def test_states_and_successors_are_counted_as_tlc_counts_them() -> None:
    """0..5 are six states; two successors from 0 and 1, three from 2..5, and the initial state: 17."""
    found = counted()
    assert (found.distinct, found.generated, found.complete) == (6, 17, True)


def test_the_depth_is_the_number_of_levels() -> None:
    """0; 1 2; 3 4; 5."""
    assert counted().depth == 4


def test_every_kind_of_step_is_counted() -> None:
    assert counted().taken == Counter({("add", "added"): 9, ("add", "full"): 3, ("reset", "reset"): 4})


def test_a_violation_comes_with_a_shortest_run() -> None:
    verdict = counted(properties={"never-5": never(5)}).verdicts["never-5"]
    assert verdict.verdict == "violated"
    assert verdict.run is not None
    assert [step.state.value for step in verdict.run][-1] == 5
    assert len(verdict.run) == 4
    assert verdict.run[0] == (None, None, Counting(0))


def test_the_search_goes_on_after_a_violation() -> None:
    found = counted(properties={"never-1": never(1), "never-5": never(5), "never-7": never(7)})
    assert found.violated == ("never-1", "never-5")
    assert found.complete
    assert found.verdicts["never-7"].verdict == "holds"
    assert found.verdicts["never-7"].checked == 6
    assert found.verdicts["never-1"].checked == 2


def test_the_initial_state_is_checked_too() -> None:
    verdict = counted(properties={"never-0": never(0)}).verdicts["never-0"]
    assert (verdict.verdict, len(verdict.run or ()), verdict.found_after) == ("violated", 1, 1)


def test_a_step_is_checked_with_what_was_before_and_after() -> None:
    def small_steps(config: int, before: Any, operation: Op, outcome: Outcome, after: Any) -> bool | None:
        return None if outcome.kind == "full" else after.value - before.value < 2

    asked = Property("X-02", "step", small_steps, frozenset({"add"}))
    verdict = counted(properties={"small": asked}).verdicts["small"]
    assert verdict.checked == 2
    assert verdict.run is not None
    assert verdict.run[-1] == (Add(2), Outcome("added", 2), Counting(2, 1))


def test_a_step_is_checked_only_for_the_named_operations() -> None:
    asked = Property("X-02", "step", lambda *step: False, frozenset({"subtract"}))
    verdict = counted(properties={"subtracts": asked}).verdicts["subtracts"]
    assert (verdict.verdict, verdict.checked) == ("holds", 0)


def test_a_recovery_that_fails_is_part_of_the_run() -> None:
    def returns(model: Counter5, config: int, state: Counting) -> list[Op] | None:
        _, outcome = model.step(config, state, Add(1))
        return None if outcome.kind == "added" else [Add(1)]

    asked = Property("X-03", "recovery", returns, tried=lambda state: state.value > 0)
    verdict = counted(properties={"returns": asked}).verdicts["returns"]
    assert verdict.checked == 5
    assert verdict.run is not None
    assert [(step.state.value, step.outcome and step.outcome.kind) for step in verdict.run[-2:]] == [
        (5, "added"),
        (5, "full"),
    ]


@pytest.mark.parametrize("limits", [{"max_states": 3}, {"seconds": 0.0}])
def test_a_search_that_is_cut_short_is_no_pass(limits: dict[str, Any]) -> None:
    found = counted(properties={"never-7": never(7)}, **limits)
    assert not found.complete
    assert found.verdicts["never-7"].verdict == "undetermined"
    assert exploration_status(found) == "undetermined"


def test_a_violation_counts_also_when_the_search_is_cut_short() -> None:
    found = counted(properties={"never-1": never(1), "never-7": never(7)}, max_states=3)
    assert exploration_status(found) == "violates"


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmcache_ref.model.explore.PROGRESS_INTERVAL", 0.0)
    seen: list[Progress] = []
    counted(config=5000, progress=seen.append)
    assert len(seen) == 5
    assert seen[0][:4] == (1, 1, 1, 1)
    assert all(before.distinct < after.distinct for before, after in pairwise(seen))


def test_the_edges_are_every_successor_of_every_state() -> None:
    edges = list(counted().edges())
    assert len(edges) == 16
    assert (5, Add(2), Outcome("full"), 5) in edges
    assert (4, Reset(), Outcome("reset"), 0) in edges


def test_the_tree_reaches_each_state_once_by_a_shortest_run() -> None:
    found = counted()
    assert [(found.states[a].value, found.states[b].value) for a, _, b in found.tree()] == [
        (0, 1),
        (0, 2),
        (1, 3),
        (2, 4),
        (3, 5),
    ]
    assert [step.state.value for step in found.path(Counting(5))] == [0, 1, 3, 5]


def test_a_state_that_was_not_found_has_no_path() -> None:
    with pytest.raises(KeyError):
        counted().path(Counting(6))


def test_a_module_of_the_package_is_a_model() -> None:
    found = explore(lru, lru.PRESETS["tiny"], properties={}, seconds=60)
    assert found.complete
    assert found.distinct == len({lru.view(state) for state in found.states})
    assert found.generated == 1 + sum(found.taken.values())


def test_each_tag_is_the_name_in_json() -> None:
    assert [tag(operation) for operation in (Add(1), Reset(), key_replicated.SubmitAgain())] == [
        "add",
        "reset",
        "retry",
    ]


def text_of(found: Exploration) -> str:
    console = Console(width=140, record=True, quiet=False, file=None)
    with console.capture() as captured:
        console.print(exploration_text(found))
    return captured.get()


@pytest.fixture(scope="module")
def rejected() -> Exploration:
    config = key_replicated.configure("tiny", accidents=["reject"])
    return explore(key_replicated, config, properties=drift.PROPERTIES)


def test_the_text_shows_verdicts_counts_and_the_run(rejected: Exploration) -> None:
    lines = text_of(rejected).splitlines()
    table = [line for line in lines if "no-miss" in line]
    assert "DR-07" in table[0]
    assert "violated" in table[0]
    assert "3 steps" in table[0]
    counts = next(line for line in lines if "distinct" in line)
    assert f"{rejected.distinct:,} distinct" in counts
    assert "complete" in counts
    start = next(number for number, line in enumerate(lines) if line.startswith("DR-07 no-miss"))
    run = [" ".join(line.replace("│", " ").split()) for line in lines[start + 5 : start + 8]]
    assert run == ["1 reject a a* rejected", "2 submit a a* [a] claimed", "3 deliver a* missed a missed: a"]


def test_the_text_says_which_accident_never_happened() -> None:
    config = key_replicated.configure("tiny", accidents=["lost-report", "new-content"])
    text = text_of(explore(key_replicated, config, properties=drift.PROPERTIES))
    assert "Never happened: lost-report." in text
    assert "served 1 B" in text


def test_the_json_holds_what_the_text_says_and_the_run(rejected: Exploration) -> None:
    document = exploration_json(rejected)
    assert document["status"] == "violates"
    assert document["config"]["accidents"] == ["reject"]
    assert (document["distinct"], document["complete"]) == (rejected.distinct, True)
    miss = next(each for each in document["properties"] if each["name"] == "no-miss")
    assert (miss["clause"], miss["verdict"]) == ("DR-07", "violated")
    assert [step["operation"] and step["operation"]["op"] for step in miss["run"]] == [
        None,
        "reject",
        "submit",
        "deliver",
    ]
    assert miss["run"][-1]["outcome"]["result"] == {"result": "missed", "hashes": ["a"]}
    assert miss["run"][-1]["state"]["reports"][0]["missing"] == ["a"]


def test_a_model_without_columns_of_its_own_is_shown_too() -> None:
    text = text_of(counted(properties={"never-5": never(5)}))
    assert "X-01 never-5: 3 steps" in text
    assert "value 5, 3 B" in text
