"""What the columns of every model share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mmcache_ref.model.component import Content, Missed, Op, Outcome, Raised


class Columns(NamedTuple):
    """The dress of a model's runs.

    `cells`: what each column says of a state; `operation` and `outcome` in words; `always`: the columns that
    are shown even when they are empty throughout a run; `legend`: what the marks mean.
    """

    cells: Mapping[str, Callable[[Any], str]]
    operation: Callable[[Op], str]
    outcome: Callable[[Op, Outcome], str]
    always: frozenset[str] = frozenset()
    legend: str = ""


def content_words(key: str, content: Content) -> str:
    """`a` for one byte of value 0, `a:2` for two, `a:2:7` for two of value 7."""
    if content.fill:
        return f"{key}:{content.nbytes}:{content.fill}"
    return key if content.nbytes == 1 else f"{key}:{content.nbytes}"


def outcome_in_words(operation: Op, outcome: Outcome) -> str:
    """What happened, and the hashes that are missing or the error that was raised."""
    result = outcome.result
    if isinstance(result, Missed):
        return f"{outcome.kind}: {' '.join(result.hashes)}"
    if isinstance(result, Raised):
        return f"{outcome.kind}: {result.error}({result.says})"
    return outcome.kind
