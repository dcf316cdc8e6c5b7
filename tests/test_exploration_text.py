"""A search as a table in a terminal of 80 columns."""

from __future__ import annotations

import io

from rich.console import Console

from mmcache_ref.model import drift, key_replicated
from mmcache_ref.model.explore import explore
from mmcache_ref.report.exploration import exploration_text


def lines_of(accidents: str) -> list[str]:
    config = key_replicated.configure("tiny", accidents=[accidents], protections=[])
    file = io.StringIO()
    found = explore(key_replicated, config, properties=drift.PROPERTIES)
    Console(file=file, width=80, highlight=False).print(exploration_text(found))
    return file.getvalue().splitlines()


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
