"""What TLC assumes to be fair is what the clauses say: nothing more, which no model would notice."""

from __future__ import annotations

import re

import pytest

from mmcache_ref.oracle.clauses import all_clauses, clause
from mmcache_ref.tlc.manifest import models_directory
from mmcache_ref.tlc.sources import clauses_of_definitions

ASSUMED = re.compile(r"(Weak|Strong) fairness of ((?:`[^`]+`(?:, | and )?)+)")
KINDS = {"Weak": "WF", "Strong": "SF"}
CHAPTERS = {"05-drift.md": "KeyReplicated", "08-shm-caches.md": "ShmCaches"}


def by_clause(chapter: str) -> set[tuple[str, str, str]]:
    """Clause, kind and action, by the notes of the clauses."""
    return {
        (identifier, KINDS[kind], action)
        for identifier, each in all_clauses().items()
        if each.file == chapter
        for kind, actions in ASSUMED.findall(each.notes)
        for action in re.findall("`([^`]+)`", actions)
    }


def by_module(chapter: str) -> set[tuple[str, str, str]]:
    """The same, by the formulas and the clauses above them."""
    module = models_directory() / f"{CHAPTERS[chapter]}.tla"
    clauses = clauses_of_definitions(module)
    found = set()
    for text in module.read_text(encoding="utf-8").split("\n\n"):
        definition = re.search(r"^(\w+) ==", text, re.MULTILINE)
        for kind, action in re.findall(r"(WF|SF)_\w+\((?:\\E .*?/\\ )?(\w+(?:\(1(?:, \w+)?\))?)", text):
            assert definition is not None
            found |= {(identifier, kind, action) for identifier in clauses[definition[1]]}
    return found


@pytest.mark.clause("DR-27")
@pytest.mark.clause("DR-28")
@pytest.mark.clause("DR-29")
@pytest.mark.clause("SC-53")
@pytest.mark.clause("SC-54")
@pytest.mark.parametrize(
    ("chapter", "assumed"),
    [("05-drift.md", {"DR-27", "DR-28", "DR-29"}), ("08-shm-caches.md", {"SC-53", "SC-54"})],
)
def test_the_module_assumes_the_fairness_that_the_clauses_name(chapter: str, assumed: set[str]) -> None:
    assert by_module(chapter) == by_clause(chapter)
    assert {identifier for identifier, _, _ in by_clause(chapter)} == assumed


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_only_clauses_that_speak_of_the_end_assume_fairness(chapter: str) -> None:
    assert all(
        "again and again" in clause(each).rule or "in the end" in clause(each).rule
        for each, _, _ in by_clause(chapter)
    )
