"""What a judgement has compared so far."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from mmcache_ref.model.component import Op

MOST_REMEMBERED: Final = 1 << 18
"""States and transitions that a tally tells apart; beyond, its figures are lower bounds."""


@dataclass
class Tally:
    """What was compared: operations, comparisons for each clause, and cases (operation, kind) met.

    `states` and `transitions` are hashes of the model's states, and of the pairs of state and operation, that
    the operations began in; `aspects` are the parts of the state that were compared; `mismatched` are clauses
    for which a comparison failed.
    """

    operations: int = 0
    clauses: Counter[str] = field(default_factory=Counter)
    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    level: int = 0
    states: set[int] = field(default_factory=set)
    transitions: set[int] = field(default_factory=set)
    aspects: set[str] = field(default_factory=set)
    mismatched: set[str] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        """Were there more transitions than are remembered?"""
        return len(self.transitions) >= MOST_REMEMBERED

    def pass_through(self, view: Any, operation: Op) -> None:
        """The operation begins in this state."""
        if not self.is_full:
            here = hash(view)
            self.states.add(here)
            self.transitions.add(hash((here, operation)))

    def cut(self) -> Tally:
        """What was counted so far, for itself; states and transitions are counted anew from here."""
        before = dataclasses.replace(self, clauses=self.clauses.copy(), cases=self.cases.copy())
        self.states, self.transitions = set(), set()
        return before

    def since(self, before: Tally) -> Tally:
        """What was counted since a cut."""
        return dataclasses.replace(
            self,
            operations=self.operations - before.operations,
            clauses=self.clauses - before.clauses,
            cases=self.cases - before.cases,
        )
