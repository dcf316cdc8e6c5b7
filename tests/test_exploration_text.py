"""A search as a table in a terminal of 80 columns."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from rich.console import Console

from mmcache_ref.model import (
    drift,
    key_replicated,
    publication_properties,
    ring_publication,
    shm_caches,
    shm_properties,
)
from mmcache_ref.model.explore import Property, explore
from mmcache_ref.report.exploration import exploration_text


def lines_of(accidents: str, protections: Sequence[str] = ()) -> list[str]:
    return printed(key_replicated, drift.PROPERTIES, 80, [accidents], protections)


def printed(
    model: Any,
    properties: Mapping[str, Property],
    width: int,
    accidents: Sequence[str],
    protections: Sequence[str] = (),
) -> list[str]:
    """What a search prints, line by line."""
    config = model.configure("tiny", accidents=accidents, protections=protections)
    file = io.StringIO()
    found = explore(model, config, properties=properties)
    Console(file=file, width=width, highlight=False).print(exploration_text(found))
    return file.getvalue().splitlines()


def run_of(lines: Sequence[str], heading: str) -> list[list[str]]:
    """The cells of the run under this heading, without the empty ring that it begins with."""
    start = next(place for place, line in enumerate(lines) if line.startswith(heading))
    rows = [line for line in takewhile(str.strip, lines[start:]) if line.startswith("│")]
    return [[cell.strip() for cell in row.strip("│").split("│")] for row in rows][1:]


def test_80_columns_break_no_header_and_no_row_and_one_step_is_no_plural() -> None:
    lines = lines_of("reject")
    header = next(line for line in lines if "property" in line)
    assert header.replace("┃", "").split() == ["clause", "property", "verdict", "shortest", "states", "asked"]
    row = next(line for line in lines if "DR-13" in line)
    assert row.replace("│", "").split() == ["DR-13", "only-what-was-sent", "violated", "1", "step", "2", "2"]
    assert "DR-13 only-what-was-sent: 1 step" in [line.strip() for line in lines]
    table = lines[lines.index(header) + 2 : lines.index(next(line for line in lines if line.startswith("└")))]
    assert all("DR-" in line for line in table)
    assert not any("1 steps" in line for line in lines)


def test_a_property_that_was_never_asked_is_not_said_to_hold() -> None:
    lines = lines_of("reject")
    row = next(line for line in lines if "clears-are-seen" in line)
    assert any(
        line.startswith("never asked: nothing that the property speaks of can happen") for line in lines
    )
    assert "never asked" in row
    assert "holds" not in row


def test_a_run_of_the_shared_memory_caches_shows_counts_handles_and_reads() -> None:
    lines = printed(shm_caches, shm_properties.PROPERTIES, 120, ["fan-out"])
    assert run_of(lines, "SC-42 no-worker-dies: 5 steps") == [
        ["1", "submit a (2 children)", "a 0/2", "[a · 2 2]", "put"],
        ["2", "read by worker 0", "a 1/2", "[a · 1 2]", "acknowledged"],
        ["3", "read by worker 0", "a 2/2", "[a · 0 2]", "acknowledged"],
        ["4", "submit b:2", "b:2 0/2", "[a! · 0 2] [b:2 · 1 1]", "put"],
        [
            "5",
            "read by worker 1",
            "a worker died",
            "[a! · 0 2] [b:2 · 1 1]",
            "died: ValueError(modified or is invalid)",
        ],
    ]
    assert lines[-2].startswith("Oldest chunk first; a is 1 unit")


def test_a_run_of_the_shared_memory_caches_shows_releases_payloads_and_what_runs() -> None:
    lines = printed(shm_caches, shm_properties.PROPERTIES, 120, ["worker-death"])
    assert run_of(lines, "SC-44 dead-owes-nothing")[-1] == [
        "2",
        "worker-death 0",
        "a 0/2",
        "[a · 0 1 release]",
        "restarted",
    ]
    assert run_of(lines, "SC-35 reclaimable")[-1] == ["4", "submit b:2", "a 1/2", "[b:2+ · 1 1]", "no-room"]
    stripped = printed(shm_caches, shm_properties.PROPERTIES, 120, ["strip"])
    assert run_of(stripped, "SC-35 reclaimable")[1:4] == [
        ["2", "strip", "a 0/2", "[a- · 1 1]", "", "stripped"],
        ["3", "read by worker 0", "a 0/2", "[a- · 0 1]", "", "passed"],
        ["4", "read by worker 1", "a 0/2", "", "[a-]", "passed"],
    ]


def test_a_miss_of_the_shared_memory_caches_names_its_items_and_waits_for_its_retry() -> None:
    lines = printed(shm_caches, shm_properties.PROPERTIES, 120, ["resume"], ["recoverable-miss"])
    assert run_of(lines, "SC-32 nothing-gone")[-1] == [
        "5",
        "resume",
        "b:2 0/2",
        "[b:2 · 1 1]",
        "",
        "a",
        "missed: a",
    ]


def test_an_accident_that_is_part_of_another_operation_is_not_said_to_have_never_happened() -> None:
    everything = sorted(shm_caches.ACCIDENTS)
    for accident in everything:
        lines = printed(shm_caches, shm_properties.PROPERTIES, 120, [accident])
        assert not any(line.startswith("Never happened") for line in lines), accident


def test_a_run_of_single_accesses_shows_whose_each_word_is() -> None:
    """What 0.32 keeps is not enough: a reader returns half of a and half of b, and counts in b."""
    lines = printed(
        ring_publication,
        publication_properties.PROPERTIES,
        120,
        ["clear-meanwhile"],
        ["handle-last", "count-last", "count-under-lock"],
    )
    rows = run_of(lines, "OS-41 never-torn: 13 steps")
    assert rows[0] == ["1", "r1 gets a", "a a", "a 0", "-", "a a", "", ""]
    assert ["7", "w stores first", "b b", "b 0", "-", "b a", "", ""] in rows
    assert rows[-2:] == [
        ["12", "r1 stores count", "b b", "b 1", "-", "b a", "r1", ""],
        ["13", "r1 leaves the lock", "b b", "b 1", "-", "b a", "", "returned a and b"],
    ]
    assert not any(line.startswith("Never happened") for line in lines)


def test_a_run_of_single_accesses_says_what_stands_in_the_old_place_and_that_the_writer_waited() -> None:
    properties = publication_properties.PROPERTIES
    planted = printed(ring_publication, properties, 120, ["look-alike", "clear-meanwhile"])
    (laid,) = [row for row in run_of(planted, "OS-42 not-planted") if row[1].startswith("b begins")]
    assert laid[1] == "b begins in another place"
    early = run_of(printed(ring_publication, properties, 120, ["look-alike"]), "RB-29 as-handed-out")
    deeds = [row[1] for row in early]
    assert "b begins in the same place" in deeds
    assert deeds.index("w finds all counted") < deeds.index("w hands out b") < deeds.index("r0 gets b")
    assert early[-1][-1] == "returned a"
