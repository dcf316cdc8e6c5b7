"""The machinery of `make mutants`: what differs is killed, what does not survives, and the list says so."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from mutants import survivors
from mutants.forked import Ended, run_forked
from mutants.generate import Mutant, Name, mutants_of
from mutants.judge import NOTED, Kill, judge, noting
from mutants.report import Findings, describe, written
from mutants.session import Results, _Result

REFERENCE = Path(__file__).parent.parent / "mmcache_ref" / "reference"

SMALL = '''\
"""A module."""

def least(known: dict[str, int | None], *, at: int = 0) -> int | None:
    """The least."""
    for key in known:
        if key in known and at < 1:
            return known[key]
    return None
'''


@pytest.fixture(autouse=True, scope="module")
def torch_is_there() -> None:
    """Importing it takes long: a child that had to would look like one that hangs."""
    importlib.import_module("torch")


def ask(*jobs: Callable[[], Any], wall_seconds: float = 60.0) -> list[Any]:
    answers = dict(run_forked(jobs, processes=2, wall_seconds=wall_seconds))
    return [answers[number] for number in range(len(jobs))]


def verdict(module: str, before: str, after: str, component: str) -> Kill | None:
    source = (REFERENCE / f"{module}.py").read_text()
    assert source.count(before) == 1
    [answer] = ask(
        partial(judge, f"reference.{module}", source.replace(before, after), [component], [component], 5)
    )
    assert not isinstance(answer, Ended), answer
    return None if answer is None else msgspec.convert(answer, Kill)


def found(source: str) -> set[tuple[str, str]]:
    return {(mutant.name.line, mutant.name.becomes) for mutant in mutants_of("m", source)}


def test_a_changed_rule_is_killed_by_its_clause() -> None:
    kill = verdict("key_replicated", "raise MultiModalCacheMissError([mm_hash])", "pass", "receiver")
    assert kill is not None
    assert (kill.stage, kill.component, kill.clause) == ("fuzz", "receiver", "KR-11")


def test_a_changed_rule_of_the_protocol_is_killed() -> None:
    source = (REFERENCE.parent / "protocol" / "channel.py").read_text()
    broken = source.replace("class Channel:", "class Channel:\n    __slots__ = ()\n", 1)
    assert broken != source
    [answer] = ask(partial(judge, "protocol.channel", broken, ["key-replicated"], [], 5))
    assert answer is not None


def test_what_nobody_can_tell_from_the_reference_survives() -> None:
    # The first touch of a new cache ends the touches of a request before it: there is nothing to end.
    before = "self._entries: dict[str, V] = {}\n        self._is_updating = False"
    assert verdict("promises", before, before.replace("False", "True"), "receiver") is None


def test_a_mutant_that_cannot_be_imported_is_killed() -> None:
    kill = verdict("promises", "class PromisedEntries", "1 / 0\n\n\nclass PromisedEntries", "receiver")
    assert kill is not None
    assert kill.stage == "import"


def test_a_mutant_that_hangs_is_killed() -> None:
    kill = verdict(
        "factories", "    model_config = vllm_config.model_config\n", "    while True: pass\n", "factories"
    )
    assert kill is not None
    assert kill.clause == "IF-20"


def test_the_parent_process_sees_nothing_of_a_mutant() -> None:
    from mmcache_ref import reference

    verdict("key_replicated", "raise MultiModalCacheMissError([mm_hash])", "pass", "receiver")
    assert "raise MultiModalCacheMissError" in (REFERENCE / "key_replicated.py").read_text()
    cache = reference.LruKeyReplicatedReceiverCache(reference.ModelConfig())
    with pytest.raises(reference.MultiModalCacheMissError):
        cache.get_and_update_item(None, "a")


def test_a_process_that_does_not_answer_is_ended() -> None:
    assert isinstance(ask(partial(time.sleep, 600), wall_seconds=0.2)[0], Ended)
    assert ask(partial(os._exit, 3)) == [Ended("the process ended with code 3")]
    assert ask(lambda: 1 // 0) == [Ended("ZeroDivisionError: integer division or modulo by zero")]


def test_no_process_is_left_when_the_run_is_given_up(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"

    def lasting() -> None:
        pid_file.write_text(str(os.getpid()))
        time.sleep(600)

    for _ in run_forked([lambda: None, lasting], processes=2):
        while not pid_file.exists() or not pid_file.read_text():
            time.sleep(0.01)
        break
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_statements_orders_and_conditions_are_mutated() -> None:
    assert found(SMALL) >= {
        ("return known[key]", "pass"),
        ("for key in known:", "for key in reversed(list(known)):"),
        ("for key in known:", "for key in []:"),
        ("if key in known and at < 1:", "if key not in known and at < 1:"),
        ("if key in known and at < 1:", "if key in known or at < 1:"),
        ("if key in known and at < 1:", "if key in known and at <= 1:"),
        ("if key in known and at < 1:", "if not key in known and at < 1:"),
        ("if key in known and at < 1:", "if key in known and at < 2:"),
    }


def test_a_change_of_an_annotation_or_of_how_a_parameter_is_passed_is_none() -> None:
    heads = {becomes for line, becomes in found(SMALL) if line.startswith("def ")}
    assert {head.partition("at: ")[2] for head in heads} == {
        "int = 1) -> int | None:",
        "int = -1) -> int | None:",
    }


def test_an_order_is_mutated_only_where_it_may_matter() -> None:
    source = "def f(xs):\n    return all(x for x in xs), list(x for x in xs), [x for x in xs]\n"
    changed = [
        mutant.name.becomes for mutant in mutants_of("m", source) if mutant.operator == "ReverseIteration"
    ]
    assert changed == [
        "return all(x for x in xs), list(x for x in reversed(list(xs))), [x for x in xs]",
        "return all(x for x in xs), list(x for x in xs), [x for x in reversed(list(xs))]",
    ]


def test_a_mutant_keeps_its_name_when_other_lines_move() -> None:
    moved = SMALL.replace("def least", "FIRST = None\n\n\ndef least")
    assert {mutant.name for mutant in mutants_of("m", SMALL)} <= {
        mutant.name for mutant in mutants_of("m", moved)
    }


def test_what_a_module_executes_is_noted_by_the_first_line_of_each_statement() -> None:
    source = "def f(\n    x,\n):\n    if x:\n        return 1\n    return 2\n\nf(0)\n"
    noted: set[int] = set()
    exec(noting(source), {NOTED: noted})
    assert noted == {1, 4, 6, 8}
    assert {mutant.statement for mutant in mutants_of("m", source)} <= {1, 4, 5, 6, 8}


def test_equal_changes_of_equal_lines_are_counted() -> None:
    names = [mutant.name for mutant in mutants_of("m", "def f(c):\n    c.go()\n    c.wait()\n    c.go()\n")]
    assert sorted(written(name) for name in names) == [
        "c.go() => pass",
        "c.go() => pass #2",
        "c.wait() => pass",
    ]


GO = Name("m", "f", "c.go()", "pass")
WAIT = Name("m", "f", "c.wait()", "pass")
LISTED = """
[[explained]]
module = "m"
function = "f"
kind = "equivalent"
why = "Nothing waits."
mutants = ["c.wait() => pass"]
"""


def findings(listed: str, tmp_path: Path, *, kills: dict[Name, Kill | None] | None = None) -> Findings:
    (tmp_path / "survivors.toml").write_text(listed)
    mutants = {name: Mutant(name, "RemoveStatement", 2, 2, "", "") for name in (GO, WAIT)}
    if kills is None:
        kills = {GO: Kill("exhaustive", "lru", "LRU-01", 2), WAIT: None}
    listed = survivors.read(tmp_path / "survivors.toml")
    excluded = {each: sum(map(each.covers, mutants)) for each in listed.excluded}
    return Findings(mutants, kills, survivors.by_name(listed), excluded)


def test_an_explained_equivalent_survivor_is_good_and_not_part_of_the_score(tmp_path: Path) -> None:
    good = findings(LISTED, tmp_path)
    assert good.is_good
    assert good.score == 1.0


def test_a_survivor_that_is_not_listed_fails(tmp_path: Path) -> None:
    bad = findings("", tmp_path)
    assert bad.unexplained == [WAIT]
    assert not bad.is_good
    text = describe(bad, {WAIT: ["lru"]})
    assert "SURVIVED, not explained: m:f, line 2" in text
    assert "explain: '''c.wait() => pass'''" in text


def test_a_listed_mutant_that_is_killed_fails(tmp_path: Path) -> None:
    killed = Kill("fuzz", "lru", "LRU-13", 9)
    bad = findings(LISTED, tmp_path, kills={GO: killed, WAIT: killed})
    assert bad.refuted == [WAIT]
    assert not bad.is_good
    assert "KILLED, though explained: m:f: c.wait() => pass" in describe(bad, {})


def test_a_listed_mutant_that_is_gone_fails(tmp_path: Path) -> None:
    bad = findings(LISTED.replace('"]', '", "c.wait() => pass #2"]'), tmp_path)
    assert bad.gone == [Name("m", "f", "c.wait()", "pass", 2)]
    assert not bad.is_good


def test_a_score_below_the_demanded_one_fails(tmp_path: Path) -> None:
    bad = findings(LISTED.replace("equivalent", "unspoken"), tmp_path)
    assert [*bad.unexplained, *bad.refuted, *bad.gone] == []
    assert bad.score == 0.5
    assert not bad.is_good


EXCLUDED = """
[[excluded]]
module = "m"
functions = ["f"]
why = "Nobody asks."
"""


def test_an_exclusion_covers_a_function_and_what_is_in_it(tmp_path: Path) -> None:
    [exclusion] = findings(LISTED + EXCLUDED, tmp_path).excluded
    assert exclusion.covers(GO)
    assert exclusion.covers(Name("m", "f.inner", "c.go()", "pass"))
    assert not exclusion.covers(Name("m", "further", "c.go()", "pass"))
    assert not exclusion.covers(Name("n", "f", "c.go()", "pass"))


def test_an_exclusion_covers_the_lines_with_its_texts(tmp_path: Path) -> None:
    by_line = EXCLUDED.replace('functions = ["f"]', 'lines = ["c.w"]')
    [exclusion] = findings(LISTED + by_line, tmp_path).excluded
    assert exclusion.covers(WAIT)
    assert not exclusion.covers(GO)
    assert not exclusion.covers(Name("n", "f", "c.wait()", "pass"))


def test_an_exclusion_of_what_is_gone_fails(tmp_path: Path) -> None:
    assert findings(LISTED + EXCLUDED, tmp_path).is_good
    bad = findings(LISTED + EXCLUDED.replace('"f"', '"g"'), tmp_path)
    assert not bad.is_good
    assert "GONE, though excluded: m: g" in describe(bad, {})


@pytest.mark.parametrize(
    ("changed", "complaint"),
    [
        (LISTED.replace("Nothing waits.", " "), "no reason"),
        (LISTED + LISTED, "explained twice"),
        (LISTED.replace(" => ", " "), "no =>"),
    ],
)
def test_an_explanation_has_words_and_one_place(changed: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=complaint):
        findings(changed, tmp_path)


def test_results_are_kept_for_the_same_basis_only(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    Results(path, "basis").add(_Result("one", Kill("fuzz", "lru", "LRU-01", 3)))
    with path.open("ab") as file:
        file.write(b'{"digest":"tw')
    assert Results(path, "basis").kills == {"one": Kill("fuzz", "lru", "LRU-01", 3)}
    assert Results(path, "another").kills == {}


def test_the_list_of_survivors_can_be_read() -> None:
    assert survivors.by_name(survivors.read())
