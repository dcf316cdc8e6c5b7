"""The clauses of the specification, and the matrix of the views that serve them."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from mmcache_ref.oracle import matrix as matrix_module
from mmcache_ref.oracle.clauses import Clause, all_clauses, clause, parse, spec_directory
from mmcache_ref.oracle.errors import UnknownClause
from mmcache_ref.oracle.matrix import matrix, missing
from mmcache_ref.report.clauses import clause_text, matrix_table

TEXT = """# A chapter

Views: model, test

## Part

### AB-01 · MUST · seed
The rule, which
goes on.

A note.

### AB-02 · SHOULD · stronger: D03, S01
Another rule.

Views: reference

## Next part

Some prose.
"""


def test_a_clause_is_a_heading_a_rule_and_notes() -> None:
    first, second = parse(TEXT, "01-x.md")
    assert first == Clause(
        "AB-01", "MUST", False, (), "The rule, which goes on.", "A note.", ("model", "test"), "01-x.md"
    )
    assert second == Clause(
        "AB-02", "SHOULD", True, ("D03", "S01"), "Another rule.", "", ("reference",), "01-x.md"
    )


def test_a_clause_may_stand_in_the_text_before_its_views_do() -> None:
    _, second = parse(TEXT.replace("Views: reference", "Views: –"), "01-x.md")
    assert second.views == ()


@pytest.mark.parametrize(
    "heading",
    [
        "AB-1 · MUST · seed",
        "AB-01 - MUST - seed",
        "AB-01 · must · seed",
        "AB-01 · MUST · stronger",
        "AB-01 · MUST · stronger: ",
        "AB-01 · MUST",
    ],
)
def test_a_malformed_heading_is_an_error_that_quotes_it(heading: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"09-y.md: not the heading of a clause: '### {heading}'")):
        parse(f"### {heading}\nA rule.\n", "09-y.md")


def test_a_clause_without_a_rule_is_an_error() -> None:
    with pytest.raises(ValueError, match="AB-01 has no rule"):
        parse("### AB-01 · MUST · seed\n\n### AB-02 · MUST · seed\nA rule.\n", "01-x.md")


def test_every_heading_of_the_specification_is_a_clause() -> None:
    written = [
        line.split()[1]
        for path in sorted(spec_directory().glob("[0-9]*.md"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("### ")
    ]
    assert written == list(all_clauses())
    assert len(written) == len(set(written))
    assert len(written) > 100


def test_the_numbers_of_a_chapter_leave_no_hole() -> None:
    numbers: dict[str, list[int]] = {}
    for identifier in all_clauses():
        prefix, _, number = identifier.partition("-")
        numbers.setdefault(prefix, []).append(int(number))
    assert all(sorted(found) == list(range(1, len(found) + 1)) for found in numbers.values())


def test_a_stronger_clause_names_the_faults_it_answers_and_a_seed_none() -> None:
    for each in all_clauses().values():
        assert bool(each.faults) == each.is_stronger, each.id


def test_a_rule_is_a_sentence_and_demands_views() -> None:
    for each in all_clauses().values():
        assert each.rule.endswith("."), each.id
        assert each.views, each.id
        assert set(each.views) <= set(matrix_module.VIEWS), each.id


def test_an_unknown_clause_says_where_to_look() -> None:
    with pytest.raises(UnknownClause, match="no clause 'ZZ-99': `mmcache-ref clauses` lists them all"):
        clause("ZZ-99")


def test_the_matrix_finds_docstrings_tables_and_marks() -> None:
    cells = matrix()
    assert cells.keys() == all_clauses().keys()
    serving = cells["LRU-09"]
    assert "lru.py:touch" in serving["reference"]
    assert any(place.startswith("lru") for place in serving["model"])
    assert any(place.startswith("test_clauses.py:") for place in cells["LRU-02"]["test"])
    assert cells["LRU-09"]["vector"] == ()


@pytest.mark.clause("LRU-02")
def test_this_mark_is_the_one_that_the_matrix_finds() -> None:
    assert any(place.startswith("test_clauses.py:") for place in matrix()["LRU-02"]["test"])


def test_notes_are_paragraphs_without_the_line_breaks_of_the_source() -> None:
    text = "### AB-01 · MUST · seed\nThe rule\nof two lines.\n\nA note that\nis broken.\n\nAnother\none.\n"
    (found,) = parse(text, "ab.md")
    assert found.rule == "The rule of two lines."
    assert found.notes == "A note that is broken.\n\nAnother one."


def test_a_table_in_the_notes_keeps_its_rows_and_is_drawn_as_one() -> None:
    text = "### AB-01 · MUST · seed\nA rule.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nA note\nthat is broken.\n"
    (found,) = parse(text, "x.md")
    assert found.notes == "| a | b |\n|---|---|\n| 1 | 2 |\n\nA note that is broken."
    console = Console(width=60)
    with console.capture() as printed:
        console.print(clause_text(found, {}))
    assert [line.split() for line in printed.get().splitlines() if "1" in line.split()] == [["1", "2"]]
    assert "|" not in printed.get()


def test_a_view_that_is_not_installed_is_unknown_and_not_missing() -> None:
    clause = all_clauses()["LRU-09"]
    serving: dict[str, tuple[str, ...]] = dict.fromkeys(("model", "test", "vector"), ())

    def lines(unknown: tuple[str, ...]) -> list[str]:
        file = io.StringIO()
        Console(file=file, width=80).print(matrix_table([(clause, serving)], tuple(serving), unknown))
        return file.getvalue().splitlines()

    def row(unknown: tuple[str, ...]) -> list[str]:
        return next(line for line in lines(unknown) if line.startswith("LRU-09")).split()

    assert row(("test",)) == ["LRU-09", "MUST", "seed", "missing", "?", "–"]
    assert row(()) == ["LRU-09", "MUST", "seed", "missing", "missing", "–"]
    said = " ".join(" ".join(lines(("test",))).split())
    assert "– is a view that its file does not demand. No clause demands a vector yet." in said
    assert said.endswith("? is unknown: test is not installed here.")
    assert "unknown" not in " ".join(lines(()))


def test_only_the_first_line_of_a_docstring_serves(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(
        'def serves():\n    """A sentence.   [AB-01, AB-02]\n\n    It is like [AB-03].\n    """\n'
        'def mentions():\n    """As AB-04 says."""\n'
        'TABLE = {"kind": "AB-05", "words": "see AB-06"}\n',
        encoding="utf-8",
    )
    found = matrix_module._named_in_docstrings(tmp_path)
    assert dict(found) == {
        "AB-01": ["code.py:serves"],
        "AB-02": ["code.py:serves"],
        "AB-05": ["code.py:8"],
    }


def test_a_mark_serves_on_a_test_a_class_and_a_parameter(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "import pytest\n"
        '@pytest.mark.clause("AB-01", "AB-02")\ndef test_one(): ...\n'
        '@pytest.mark.clause("AB-03")\nclass TestTwo: ...\n'
        'CASES = [pytest.param(1, marks=pytest.mark.clause("AB-04"))]\n'
        '@pytest.mark.slow\ndef test_three(): "AB-05"\n',
        encoding="utf-8",
    )
    assert set(matrix_module._marked_tests(tmp_path)) == {"AB-01", "AB-02", "AB-03", "AB-04"}


def test_a_must_without_a_demanded_view_is_a_hole_and_a_should_is_none() -> None:
    somewhere: tuple[str, ...] = ("somewhere",)
    cells = {identifier: dict.fromkeys(matrix_module.VIEWS, somewhere) for identifier in all_clauses()}
    assert missing(cells) == []
    cells["LRU-09"]["test"] = ()
    cells["LRU-09"]["vector"] = ()
    cells["LRU-30"]["test"] = ()
    assert [(hole.id, views) for hole, views in missing(cells)] == [("LRU-09", ("test",))]
