"""Numbers of rounds, requests, processes and units, each with its noun."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from mmcache_ref.model.component import Content
from mmcache_ref.oracle.mishaps.clients import content_in_words
from mmcache_ref.oracle.mishaps.judge import Judged, Survived
from mmcache_ref.oracle.mishaps.rounds import Options
from mmcache_ref.report.mishaps import mishaps_text


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "1 round, 1 request served, 1 retried, 1 process lost"),
        (2, "2 rounds, 2 requests served, 2 retried, 2 processes lost"),
    ],
)
def test_the_last_line_has_the_right_numbers(number: int, words: str) -> None:
    survived = Survived("kill-p1", "DR-20", rounds=number)
    judged = Judged("reference", Options(cache="lru"), "conforms", (survived,), number, number, number)
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(mishaps_text([judged]))
    assert f": {words} (profile" in console.export_text()


def test_a_content_is_told_in_units() -> None:
    assert content_in_words(Content(1, 52)) == "1 unit of 52"
    assert content_in_words(Content(2, 52)) == "2 units of 52"
