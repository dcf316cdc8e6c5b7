"""A component as the oracle sees it: its pure model, and how to drive a target through it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy

from mmcache_ref.model.component import Op, Rule
from mmcache_ref.oracle.adapters.base import Adapter
from mmcache_ref.oracle.draws import Draw

ENDING_CLAUSE = "IF-20"
"""Every call comes to an end."""
NOT_EMPTY_CLAUSE = "IF-19"
"""A cache that was just made is empty: caches share no state."""
OF_BOTH_CACHES = "DR-11"
"""What each side of a pair keeps by itself, although the chapter of the protocol says it."""
SHARED_PROTOCOL = frozenset(f"SC-{number}" for number in (*range(25, 31), *range(38, 46)))
"""What the protocol around the shared-memory caches keeps by itself."""


def is_of_protocol(clause: str) -> bool:
    """Whether a clause is kept by the protocol around the caches."""
    return clause in SHARED_PROTOCOL or (clause.startswith("DR-") and clause != OF_BOTH_CACHES)


@dataclass(frozen=True)
class Component:
    """`adapter` builds the target's side for a configuration; `configs` and `choose` are what fuzzing
    draws from: configurations, and an operation that makes sense in a state of the model.

    `label` is its name, where several components share a model;
    `blames`: what the adapter may name besides what the model's rules do;
    `protocol`: what a target may offer of the protocol itself; where it offers any of these names, its own
    protocol is judged, and not only its caches.
    `tiny` is the configuration whose graph is executed, where it is not the model's own preset, and `beside`
    are smaller ones for what it cannot show; `walked` are more, through whose graphs the walks go, too;
    `unreachable` are kinds of outcome, or cases as `operation: kind`, that no configuration of the oracle
    has;
    `hanging` is the clause that is broken when an operation does not come back;
    `construction` is the one when the target cannot be made for a configuration; `caches`
    are the components whose caches it is made of, where it is not one itself.
    """

    model: Any
    adapter: Callable[[Any, Any], Adapter]
    configs: SearchStrategy[Any]
    choose: Callable[[Any, Any, Draw], Op]
    label: str | None = None
    tiny: Any = None
    beside: tuple[Any, ...] = ()
    walked: tuple[Any, ...] = ()
    unreachable: frozenset[str] = frozenset()
    hanging: str = ENDING_CLAUSE
    construction: str | None = None
    caches: tuple[str, ...] = ()
    protocol: frozenset[str] = frozenset()
    blames: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The component's name in every view."""
        name: str = self.label or self.model.NAME
        return name

    @property
    def executed_config(self) -> Any:
        """The configuration whose graph the exhaustive stage executes."""
        return self.tiny or self.model.PRESETS["tiny"]

    @property
    def executed_configs(self) -> tuple[Any, ...]:
        """Every configuration whose graph the exhaustive stage executes."""
        return (self.executed_config, *self.beside)

    @property
    def walked_configs(self) -> tuple[Any, ...]:
        """Every configuration through whose graph the walks go."""
        return (*self.executed_configs, *self.walked)

    @property
    def rules(self) -> Mapping[tuple[str, str], Rule]:
        """The cases that the oracle can meet, with their rules."""
        return {
            (operation, kind): rule
            for (operation, kind), rule in self.model.RULES.items()
            if not self.unreachable & {kind, f"{operation}: {kind}"}
        }

    @property
    def clauses(self) -> tuple[str, ...]:
        """Every clause that this component can judge, in order.

        On the rules of the protocol a cache has no say.
        """
        named = {clause for rule in self.rules.values() for clause in rule} | self.blames
        for aspect in self.model.ASPECTS.values():
            named |= aspect.clauses
        named |= set(getattr(self.model, "CULPRITS", {}).values())
        if not self.protocol:
            named = {clause for clause in named if not is_of_protocol(clause)}
        named.add(self.hanging)
        if self.construction:
            named.add(self.construction)
        return tuple(sorted(named))
