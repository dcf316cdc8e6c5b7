"""What was covered and what was not, in short, in full, and as Markdown."""

from __future__ import annotations

import io
import re

import msgspec
import pytest
from rich.console import Console

from mmcache_ref.model import lru
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.verdict import (
    ComponentVerdict,
    Coverage,
    Reached,
    Report,
    TargetVerdict,
    clause_verdict,
    report,
)
from mmcache_ref.report.coverage import not_covered
from mmcache_ref.report.markdown import markdown
from mmcache_ref.report.text import report_text

FUZZ = Reached(900, 210, 800, True, ("get: hit", "put: stored"), ("LRU-07", "LRU-13"))
PARTLY = Coverage(
    states=4,
    edges=40,
    graph_states=5,
    graph_edges=60,
    silent_edges=3,
    fuzz_operations=900,
    cases=5,
    all_cases=12,
    unreached_cases=("a: 1", "a: 2", "a: 3", "a: 4", "a: 5", "a: 6", "a: 7"),
    mismatching_edges=2,
    seen=("hits", "total"),
    hidden=("order", "pins"),
    exhaustive=Reached(40, 4, 40, False, ("get: hit",), ("LRU-07",)),
    fuzz=FUZZ,
)


def judged(coverage: Coverage) -> ComponentVerdict:
    one = Content(1, 7)
    operations = (lru.Put("a", one), lru.Put("b", one), lru.Touch("a"))
    run = Trial(COMPONENTS["lru"], resolve("py:broken.lru_touch_keeps_order")).run(lru.Config(2), operations)
    clauses = (
        clause_verdict("LRU-09", 12, run, "exhaustive", None),
        clause_verdict("LRU-10", 3, None, None, None),
        clause_verdict("LRU-22", 0, None, None, None),
    )
    return ComponentVerdict("lru", "violates", 1, clauses, coverage, 1.5)


def a_report(coverage: Coverage) -> Report:
    target = TargetVerdict("py:x|y", "safe", 0, 2.0, (judged(coverage),), "mmcache-ref conform 'py:x|y'")
    return report("1.0", [target])


def text_of(verdict: Report, *, whole: bool = False, width: int = 300) -> str:
    file = io.StringIO()
    Console(file=file, width=width, highlight=False).print(report_text(verdict, whole=whole), crop=False)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines())


def test_the_gaps_of_a_component_are_named() -> None:
    assert not_covered(judged(PARTLY)) == [
        "20 of 60 edges were not executed: they lie behind 2 edges that mismatched",
        "on 3 edges the profile says nothing",
        "7 of 12 cases: a: 1; a: 2; a: 3; a: 4; a: 5; a: 6 and 1 more",
        "nothing was compared for LRU-22",
        "the target does not show, or the level leaves out: order, pins",
    ]
    assert "a: 6; a: 7" in not_covered(judged(PARTLY), is_short=False)[2]


def test_the_short_form_shows_what_fuzzing_reached_by_itself() -> None:
    text = text_of(a_report(PARTLY))
    assert "4 of 5 states, 40 of 60 edges, 900 fuzz operations, 5 of 12 cases" in text
    assert "fuzzing reached at least 210 states, at least 800 transitions, 2 cases, 2 clauses" in text
    assert "Not covered" in text
    assert "cases: get: hit" not in text


def test_a_vacuous_stage_is_said_aloud() -> None:
    vacuous = msgspec.structs.replace(PARTLY, fuzz_operations=0, fuzz=Reached())
    text = text_of(a_report(vacuous))
    assert "│ not fuzzed" in text
    assert "nothing was fuzzed" in not_covered(judged(vacuous))
    assert "fuzz         nothing reached" in text_of(a_report(vacuous), whole=True)


def test_what_was_covered_whole_has_no_gaps() -> None:
    whole = Coverage(
        states=5, edges=60, graph_states=5, graph_edges=60, fuzz_operations=9, cases=2, all_cases=2
    )
    verdict = msgspec.structs.replace(judged(whole), clauses=judged(whole).clauses[:2])
    assert not_covered(verdict) == []
    target = TargetVerdict("py:x", "safe", 0, 2.0, (verdict,))
    assert "Not covered" not in text_of(report("1.0", [target]))


def test_the_long_form_lists_cases_clauses_comparisons_and_reasons() -> None:
    text = text_of(a_report(PARTLY), whole=True)
    assert "level        L1: hits, total" in text
    assert "900 operations, at least 210 states" in text
    assert "cases: get: hit; put: stored" in text
    assert "clauses: LRU-07, LRU-13" in text
    assert "comparisons  LRU-09 12, LRU-10 3" in text
    assert re.search(r"FA-10 +no component makes an invalid configuration", text)


def test_clauses_that_were_not_asked_for_are_told_from_those_that_nobody_judges() -> None:
    text = text_of(a_report(PARTLY), width=1000)
    asked = next(line for line in text.splitlines() if line.startswith("Not asked for: "))
    nobody = next(line for line in text.splitlines() if line.startswith("Judged by no component: "))
    assert "FA-01" in asked
    assert "FA-10" in nobody
    assert "FA-10" not in asked


def test_the_upstream_profile_says_that_it_leaves_clauses_out() -> None:
    names = tuple(ComponentVerdict(name, "undetermined", reason="x") for name in COMPONENTS)
    target = TargetVerdict("py:x", "upstream", 0, 2.0, names)
    lines = text_of(report("1.0", [target]), width=1000).splitlines()
    left_out = next(line for line in lines if line.startswith("Left out by profile upstream: "))
    undetermined = next(line for line in lines if line.startswith("Not determined: "))
    assert "KR-13" in left_out
    assert "KR-12" not in left_out
    assert "KR-01…KR-12" in undetermined


def test_rules_of_a_protocol_that_the_target_does_not_bring_are_not_its_matter() -> None:
    drift = msgspec.structs.replace(judged(PARTLY), component="drift")
    target = TargetVerdict("py:x", "safe", 0, 2.0, (drift,))
    lines = text_of(report("1.0", [target]), width=1000).splitlines()
    (line,) = [
        line for line in lines if line.startswith("Not a matter of these targets, which bring no protocol")
    ]
    assert line.endswith("DR-24, DR-26")


def test_markdown_has_the_table_the_sentence_and_the_run() -> None:
    text = markdown(a_report(PARTLY))
    rows = [line for line in text.splitlines() if line.startswith("| lru ")]
    assert len(rows) == 1
    assert rows[0].startswith("| lru | ❌ violates at L1 | LRU-09 | 1 | 4 of 5 states, ")
    assert "### LRU-09 in lru" in text
    assert "After operation 3, touch a, the keys in eviction order are a b, must be b a;" in text
    assert "3. touch a  ->  nothing   [b a, 2 B]" in text
    assert "mmcache-ref replay 'py:x|y' " in text
    assert "- lru: on 3 edges the profile says nothing" in text
    assert f"> {clause('LRU-09').rule}".replace("`", "\\`") in text


@pytest.mark.parametrize("odd", ["a | b", "<b>x</b>", "```", "`x`", "# y"])
def test_nothing_that_a_target_says_becomes_a_mark_of_markdown(odd: str) -> None:
    unloaded = ComponentVerdict("lru", "undetermined", reason=odd)
    text = markdown(report("1.0", [TargetVerdict("py:x", "safe", 0, 0.1, (unloaded,))]))
    (line,) = [line for line in text.splitlines() if line.startswith("**lru**: ")]
    assert not re.search(r"(?<!\\)[`<>#]", line)
