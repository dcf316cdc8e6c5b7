"""What every model module offers, and the values they share.

A component is a module with

    NAME        its name in spec/, tests/ and on the command line
    Config      a frozen record of constants; PRESETS maps "tiny" (exhaustive) and "small" to one
    State       a named tuple of hashable values
    Operation   a union of frozen structs; the tag `op` is the name in JSON
    initial     (config) -> State
    operations  (config, state) -> the operations worth trying from this state
    step        (config, state, operation) -> (State, Outcome), total over the alphabet
    bare        (config) -> the configuration without what only a search needs
    view        (state) -> what identifies the state in a search (counters left out)
    observe     (config, state) -> aspect -> value, to compare with an implementation
    RULES       (operation tag, outcome kind) -> the clauses that decide it
    ASPECTS     aspect -> the level from which it is seen, and its own clauses

and, where the defaults do not do,

    CULPRITS    (operation tag, outcome kind, aspect) -> the broken clause when the aspect differs then
    plainer     (operation) -> operations that do the same with less: what a shrunk run prefers
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Annotated, Any, NamedTuple

import msgspec

LARGEST_CONTENT = 1 << 24
"""Bytes of the largest item that a stored run may describe."""


class Content(msgspec.Struct, frozen=True, order=True):
    """What is in an item: `nbytes` bytes, each of value `fill` (0..255)."""

    nbytes: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_CONTENT)]
    fill: Annotated[int, msgspec.Meta(ge=0, le=255)] = 0


class Op(msgspec.Struct, frozen=True, tag_field="op"):
    """Base of all operations; a subclass sets its tag."""


def tag(operation: Op) -> str:
    """The name of an operation in JSON and in `RULES`."""
    return str(operation.__struct_config__.tag)


class Raised(msgspec.Struct, frozen=True, tag_field="result", tag="raised"):
    """An exception as an observable result: its documented type (or a base), and what its message says."""

    error: str
    says: str = ""


class OneOf(msgspec.Struct, frozen=True, tag_field="result", tag="one_of"):
    """Any of several results: which of them is not laid down."""

    results: tuple[Any, ...]


class Missed(msgspec.Struct, frozen=True, tag_field="result", tag="missed"):
    """`MultiModalCacheMissError` with its hashes, in order."""

    hashes: tuple[str, ...]


class Refused(msgspec.Struct, frozen=True, tag_field="result", tag="refused"):
    """A request that was refused: its items that are neither cached nor supplied, in order."""

    hashes: tuple[str, ...]


class Updated(msgspec.Struct, frozen=True, tag_field="result", tag="updated"):
    """What an update in P0 returned: the item's content (None: not sent), and the content whose prompt
    updates came with it.

    `is_input` says that the caller got its own objects back; `index` is the place that the prompt updates
    name, where the operation renumbers them.
    """

    item: Content | None
    updates: Content
    is_input: bool = False
    index: int | None = None


class Outcome(NamedTuple):
    """What an operation did (`kind`, which names the rule) and what the caller saw (`result`).

    An operation of several parts may meet several rules; `also` has the kinds besides the first.
    """

    kind: str
    result: Any = None
    also: tuple[str, ...] = ()


def several(order: Iterable[str], kinds: Collection[str], result: Any) -> Outcome:
    """The outcome of an operation of several parts: the first of its kinds in `order`, and the others."""
    kind, *also = [each for each in order if each in kinds]
    return Outcome(kind, result, tuple(also))


def composed(rare: Iterable[str], kinds: Collection[str], usual: str, result: Any) -> Outcome:
    """The outcome of several updates: the rare kinds among them; or the `usual` one, and each item's."""
    met = [each for each in rare if each in kinds]
    parts = [] if met else sorted(f"item {each}" for each in kinds)
    return several((*met, usual, *parts), {*met, usual, *parts}, result)


class Rule(NamedTuple):
    """The clauses that decide an outcome: what the caller sees, and what becomes of the state."""

    outcome: str
    state: str


def rule(outcome: str, state: str | None = None) -> Rule:
    """A rule; one clause decides both unless a second is given."""
    return Rule(outcome, state or outcome)


class Aspect(NamedTuple):
    """One observable part of a state: the level from which it is seen (L1, L2); where an aspect has a clause
    of its own, that clause; and whether that clause is the broken one when the aspect differs, instead of
    the operation's. `reading` is the broken one when the aspect cannot be read, or differs in a cache that
    was just made."""

    level: int
    clause: str | None = None
    is_culprit: bool = True
    reading: str | None = None

    @property
    def clauses(self) -> set[str]:
        """Its own clauses."""
        return {each for each in (self.clause, self.reading) if each}
