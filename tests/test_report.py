"""Reports: JSON, JUnit, text and files of one verdict, made by hand."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest
from rich.console import Console

from mmcache_ref.model import lru
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.stored import read_run
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.verdict import (
    ComponentVerdict,
    Coverage,
    Report,
    Status,
    TargetVerdict,
    clause_verdict,
    report,
    schema,
    worst,
)
from mmcache_ref.oracle.wording import operation_in_words, ranges, result_in_words, state_in_words
from mmcache_ref.report.files import report_json, write_report
from mmcache_ref.report.junit import junit
from mmcache_ref.report.text import report_text

BROKEN = "py:broken.lru_touch_keeps_order"


def touch_run() -> Run:
    """Three operations on a target whose touch does not move."""
    one = Content(1, 7)
    operations = (lru.Put("a", one), lru.Put("b", one), lru.Touch("a"))
    return Trial(COMPONENTS["lru"], resolve(BROKEN)).run(lru.Config(2), operations)


@pytest.fixture
def verdict() -> Report:
    """A target that breaks LRU-09, keeps LRU-10 and does not reach LRU-18; and one that cannot be loaded."""
    clauses = (
        clause_verdict("LRU-09", 12, touch_run(), "fuzz", 41),
        clause_verdict("LRU-10", 3, None, None, None),
        clause_verdict("LRU-18", 0, None, None, None),
    )
    coverage = Coverage(
        states=4, edges=50, graph_states=4, graph_edges=60, fuzz_operations=1234, cases=2, all_cases=2
    )
    judged = ComponentVerdict("lru", "violates", 2, clauses, coverage, 1.5)
    unloaded = ComponentVerdict("lru", "undetermined", reason="no module <named> 'x' \x00 & so on")
    return report(
        "1.2.3",
        [
            TargetVerdict(BROKEN, "safe", 0, 2.0, (judged,)),
            TargetVerdict("py:x", "safe", 0, 0.1, (unloaded,)),
        ],
    )


def text_of(verdict: Report, width: int = 400) -> str:
    file = io.StringIO()
    Console(file=file, width=width, highlight=False).print(report_text(verdict), crop=False)
    return file.getvalue()


def test_the_json_is_what_the_schema_says(verdict: Report) -> None:
    document = msgspec.json.decode(report_json(verdict))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(document, schema())
    assert document["status"] == "violates"
    assert [target["target"] for target in document["targets"]] == [BROKEN, "py:x"]
    broken = document["targets"][0]["components"][0]["clauses"][0]
    assert broken["run"]["mismatch"]["clause"] == "LRU-09"
    assert broken["rule"] == clause("LRU-09").rule
    assert broken["sentence"].startswith(
        "After operation 3, touch a, the keys in eviction order are a b, must be"
    )
    assert broken["follows_from"] == []


def test_the_schema_refuses_what_is_no_report(verdict: Report) -> None:
    document = msgspec.json.decode(report_json(verdict))
    document["targets"][0]["components"][0]["status"] = "perhaps"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema())


def test_the_junit_counts_what_it_holds(verdict: Report) -> None:
    root = ElementTree.fromstring(junit(verdict))
    judged, unloaded = root.findall("testsuite")
    counts = {name: judged.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    assert len(judged.findall("testcase")) == 3
    assert len(judged.findall("testcase/failure")) == 1
    assert (unloaded.get("tests"), unloaded.get("errors")) == ("1", "1")
    failure = judged.find("testcase/failure")
    assert failure is not None
    assert failure.get("type") == "LRU-09"
    message = failure.get("message") or ""
    assert message.startswith("After operation 3, touch a, the keys in eviction order are a b, must be b a; ")
    assert clause("LRU-09").rule in (failure.text or "")
    assert "mmcache-ref replay" in (failure.text or "")
    error = unloaded.find("testcase/error")
    assert error is not None
    assert error.get("message") == "no module <named> 'x'  & so on"


def test_the_text_names_the_clause_quotes_its_rule_and_shows_the_run(verdict: Report) -> None:
    text = text_of(verdict)
    assert f"LRU-09 broken by {BROKEN}, lru, 3 operations (fuzz seed 41)" in text
    assert f"“{clause('LRU-09').rule}”" in text
    steps = [line.split()[:3] for line in text.splitlines() if re.match(r" +[123]  ", line)]
    assert steps == [["1", "put", "a"], ["2", "put", "b"], ["3", "touch", "a"]]
    assert "order (L2), by the clauses: [b, a]" in text
    assert "order (L2), of the target:  [a, b]" in text
    assert "kept (1): LRU-10" in text
    assert "not reached: LRU-18" in text
    assert "all 4 states, 50 of 60 edges, 1,234 fuzz operations, all 2 cases" in text
    assert "no module <named> 'x'" in text


def test_the_sentence_stands_between_the_clause_and_its_rule(verdict: Report) -> None:
    lines = [line.strip() for line in text_of(verdict).splitlines()]
    head = lines.index(f"LRU-09 broken by {BROKEN}, lru, 3 operations (fuzz seed 41)")
    assert lines[head + 1].startswith(
        "After operation 3, touch a, the keys in eviction order are a b, must be b a; "
    )
    assert lines[head + 1].endswith("Look at: LRUCache.touch: a cached key.")
    assert lines[head + 2] == f"“{clause('LRU-09').rule}”"


def test_what_follows_from_another_violation_is_told_last_and_without_its_run() -> None:
    root = clause_verdict("LRU-09", 12, touch_run(), "exhaustive", None)
    follower = msgspec.structs.replace(root, follows_from=("LRU-09 (lru)",))
    components = (
        ComponentVerdict("receiver", "violates", 2, (follower,)),
        ComponentVerdict("lru", "violates", 2, (root,)),
    )
    found = report("1", [TargetVerdict(BROKEN, "safe", 0, 2.0, components)])
    lines = text_of(found).splitlines()
    heads = [line.strip() for line in lines if " broken by " in line or "follows" in line]
    assert heads == [
        f"LRU-09 broken by {BROKEN}, lru, 3 operations (exhaustive)",
        "Probably follows from LRU-09 (lru):",
        f"LRU-09 broken by {BROKEN}, receiver, 3 operations (exhaustive)",
    ]
    assert sum("result, by the clauses" in line for line in lines) == 1
    assert sum("Look at: " in line for line in lines) == 2
    repeats = [shlex.split(line) for line in text_of(found, 40).splitlines() if "repeat: " in line]
    assert [read_run(run).operations for *_, run in repeats] == [touch_run().operations] * 2


def test_the_text_ends_with_the_verdict_of_each_target(verdict: Report) -> None:
    first, second = text_of(verdict).splitlines()[-2:]
    assert first.startswith(f"{BROKEN} violates: LRU-09 (profile safe, seed 0")
    assert second.startswith("py:x undetermined")


@pytest.mark.parametrize("width", [40, 120])
def test_the_replay_command_is_one_line_that_a_shell_takes(verdict: Report, width: int) -> None:
    (line,) = [line for line in text_of(verdict, width).splitlines() if line.startswith("repeat: ")]
    program, verb, target, run = shlex.split(line.removeprefix("repeat: "))
    assert (program, verb, target) == ("mmcache-ref", "replay", BROKEN)
    assert read_run(run).operations == touch_run().operations


def test_the_files_of_a_report(verdict: Report, tmp_path: Path) -> None:
    write_report(verdict, tmp_path / "out")
    files = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")}
    run_file = "runs/py-broken.lru_touch_keeps_order-lru-LRU-09.json"
    assert files == {"verdict.txt", "verdict.json", "junit.xml", run_file}
    assert read_run(str(tmp_path / "out" / run_file)).operations == touch_run().operations
    assert (tmp_path / "out" / "verdict.json").read_text(encoding="utf-8") == report_json(verdict)
    assert ElementTree.parse(tmp_path / "out" / "junit.xml").getroot().tag == "testsuites"
    assert "\x1b[" not in (tmp_path / "out" / "verdict.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("identifiers", "expected"),
    [
        ([], ""),
        (["LRU-07"], "LRU-07"),
        (["LRU-01", "LRU-02"], "LRU-01…LRU-02"),
        (["LRU-05", "LRU-03", "LRU-04", "LRU-07"], "LRU-03…LRU-05, LRU-07"),
        (["IF-09", "IF-10", "KR-11"], "IF-09…IF-10, KR-11"),
        (["LRU-01", "IT-02"], "IT-02, LRU-01"),
    ],
)
def test_neighbouring_clauses_are_drawn_together(identifiers: list[str], expected: str) -> None:
    assert ranges(identifiers) == expected


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], "undetermined"),
        (["conforms"], "conforms"),
        (["conforms", "undetermined"], "undetermined"),
        (["undetermined", "violates", "conforms"], "violates"),
    ],
)
def test_the_worst_of_several_counts_and_nothing_is_no_pass(statuses: list[Status], expected: str) -> None:
    assert worst(statuses) == expected


def test_a_clause_is_kept_only_if_something_was_compared() -> None:
    assert clause_verdict("LRU-09", 0, None, None, None).status == "not reached"
    assert clause_verdict("LRU-09", 1, None, None, None).status == "kept"
    assert clause_verdict("LRU-09", 0, touch_run(), "exhaustive", None).status == "broken"


def test_operations_results_and_states_read_as_words() -> None:
    assert operation_in_words(lru.Put("a", Content(3, 7))) == "put a 3 B/7"
    assert operation_in_words(lru.Length()) == "len"
    assert result_in_words(None) == "nothing"
    assert result_in_words({"result": "raised", "error": "ValueError", "says": ""}) == "ValueError"
    assert result_in_words({"result": "missed", "hashes": ["a", "a"]}) == "MultiModalCacheMissError(a, a)"
    assert state_in_words({"order": ["b", "a"], "bytes": 5, "hits": 1}) == "b a, 5 B"
    assert state_in_words({"order": []}) == "empty"
