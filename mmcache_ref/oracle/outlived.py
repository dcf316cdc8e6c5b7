"""Is an answer wrong because something goes on that the clauses had ended before?

Pins may be hidden: then a pin that stays when its key leaves shows only in what is evicted much later, by an
operation that is right by itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec

from mmcache_ref.model.component import Op, Raised, tag
from mmcache_ref.oracle.run import Mismatch
from mmcache_ref.oracle.tally import Tally

if TYPE_CHECKING:
    from mmcache_ref.oracle.lockstep import Trial


def of_what_had_ended(trial: Trial, config: Any, operations: Sequence[Op], mismatch: Mismatch) -> Mismatch:
    """The mismatch of the last operation, blamed on the clause that ends what a pin before it did.

    So it is if all is right without the pins of which nothing is left; or, of pins that decided what was
    evicted while they lasted, with another key in the place of each that has left since.
    """
    model = trial.component.model
    pinning: tuple[str, str, tuple[str, ...]] | None = getattr(model, "PINNING", None)
    if pinning is None:
        return mismatch
    pin, ends, counting = pinning
    is_counting = mismatch.aspect in counting or tag(operations[-1]) in counting
    if is_counting or pin not in map(tag, operations):
        return mismatch
    rest = _without_ended(model, config, operations, pin)
    renamed = _with_other_keys(model, config, rest)
    is_over = (len(rest) < len(operations) and _is_right(trial, config, rest)) or (
        renamed != rest and _is_right(trial, config, renamed)
    )
    return msgspec.structs.replace(mismatch, clause=ends, suspects=(ends,)) if is_over else mismatch


def _without_ended(model: Any, config: Any, operations: Sequence[Op], pin: str) -> list[Op]:
    """Without the pins that were given and make no difference to the model before the last operation."""
    rest, last = list(operations[:-1]), operations[-1]
    state = _states(model, config, rest)[-1]
    for place in reversed(range(len(rest))):
        if tag(rest[place]) == pin:
            fewer = rest[:place] + rest[place + 1 :]
            states = _states(model, config, rest)
            _, outcome = model.step(config, states[place], rest[place])
            if not isinstance(outcome.result, Raised) and _states(model, config, fewer)[-1] == state:
                rest = fewer
    return [*rest, last]


def _with_other_keys(model: Any, config: Any, operations: Sequence[Op]) -> list[Op]:
    """From where a pinned key has left, a new key in its place."""
    others: dict[str, str] = {}
    named = []
    for operation, (before, after) in zip(
        operations, pairwise(_states(model, config, operations)), strict=True
    ):
        named.append(_renamed(operation, others))
        others |= {key: f"{others.get(key, key)}'" for key in set(before.pins) - set(after.pins)}
    return named


def _renamed(operation: Op, others: dict[str, str]) -> Op:
    """The operation, on other keys."""
    if hasattr(operation, "key"):
        return msgspec.structs.replace(operation, key=others.get(operation.key, operation.key))
    if hasattr(operation, "pairs"):
        pairs = tuple((others.get(key, key), content) for key, content in operation.pairs)
        return msgspec.structs.replace(operation, pairs=pairs)
    return operation


def _states(model: Any, config: Any, operations: Sequence[Op]) -> list[Any]:
    """The model's states before each operation, and after the last."""
    states = [model.initial(config)]
    for operation in operations:
        states.append(model.step(config, states[-1], operation)[0])
    return states


def _is_right(trial: Trial, config: Any, operations: Sequence[Op]) -> bool:
    return dataclasses.replace(trial, tally=Tally()).start(config).agrees(operations)
