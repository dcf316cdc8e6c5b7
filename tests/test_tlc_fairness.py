"""What TLC assumes to be fair is what the clauses say: nothing more, which no model would notice."""

from __future__ import annotations

import re

import pytest

from mmcache_ref.oracle.clauses import all_clauses, clause
from mmcache_ref.tlc.manifest import models_directory
from mmcache_ref.tlc.sources import clauses_of_definitions

ASSUMED = re.compile(r"(Weak|Strong) fairness of ((?:`[^`]+`(?:, | and )?)+)")
KINDS = {"Weak": "WF", "Strong": "SF"}
MODULE = models_directory() / "KeyReplicated.tla"


def by_clause() -> set[tuple[str, str, str]]:
    """Clause, kind and action, by the notes of the clauses."""
    return {
        (identifier, KINDS[kind], action)
        for identifier, each in all_clauses().items()
        if each.file == "05-drift.md"
        for kind, actions in ASSUMED.findall(each.notes)
        for action in re.findall("`([^`]+)`", actions)
    }


def by_module() -> set[tuple[str, str, str]]:
    """The same, by the formulas and the clauses above them."""
    clauses = clauses_of_definitions(MODULE)
    found = set()
    for text in MODULE.read_text(encoding="utf-8").split("\n\n"):
        definition = re.search(r"^(\w+) ==", text, re.MULTILINE)
        for kind, action in re.findall(r"(WF|SF)_\w+\((?:\\E .*?/\\ )?(\w+(?:\(1\))?)", text):
            assert definition is not None
            found |= {(identifier, kind, action) for identifier in clauses[definition[1]]}
    return found


@pytest.mark.clause("DR-27")
@pytest.mark.clause("DR-28")
@pytest.mark.clause("DR-29")
def test_the_module_assumes_the_fairness_that_the_clauses_name() -> None:
    assert by_module() == by_clause()
    assert {identifier for identifier, _, _ in by_clause()} == {"DR-27", "DR-28", "DR-29"}


def test_only_clauses_that_speak_of_the_end_assume_fairness() -> None:
    assert all(
        "again and again" in clause(each).rule or "in the end" in clause(each).rule
        for each, _, _ in by_clause()
    )
