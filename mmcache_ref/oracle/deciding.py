"""Which clauses decide an operation."""

from __future__ import annotations

from typing import Any

from mmcache_ref.model.component import Op, Outcome, tag
from mmcache_ref.oracle.clauses import clause


def deciding(model: Any, operation: Op, outcome: Outcome, *, parts_only: bool = False) -> set[str]:
    """The clauses that decide an operation and its parts; with `parts_only` those of the other parts."""
    kinds = outcome.also if parts_only else (outcome.kind, *outcome.also)
    rules = [model.RULES.get((tag(operation), kind), ()) for kind in kinds]
    return {each for rule in rules for each in rule}


def is_stronger(clauses: set[str]) -> bool:
    """Is any of them a clause that 0.32 does not keep?"""
    return any(clause(each).is_stronger for each in clauses)
