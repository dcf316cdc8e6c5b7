"""Where Python and TLC part, in words: the run to it, and each field of the state that differs.

A state is told by its fields, as the TLA+ variables are called; of two states only what differs is told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.wording import operation_in_words
from mmcache_ref.tlc.bindings.base import Binding
from mmcache_ref.tlc.counterexamples import operation_of
from mmcache_ref.tlc.graph import ANSWERS, Difference, Edge, asked
from mmcache_ref.tlc.output import TraceStep
from mmcache_ref.tlc.values import Mapped, canonical, function, text

CALL: Final = "call"
"""The variable that tells the step that was taken."""
STATE: Final = "state"
"""What a whole state is called that has no fields."""


class Change(NamedTuple):
    """A part that two values have differently; None on the side that lacks it."""

    where: str
    one: Any
    other: Any


@dataclass(frozen=True)
class Told:
    """A step: the call in words, and a line for each field that differs."""

    words: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Parting:
    """The run to the state in which both sides part, and what each makes of the step from there."""

    what: str
    way: tuple[Told, ...]
    last: Told


def parting(binding: Binding, config: Any, where: Difference) -> Parting:
    """A difference in words."""
    tell = _Telling(binding, config)
    way = tuple([tell.taken(edge) for edge in where.way])
    return Parting(in_words(where), way, tell.parted(where))


def in_words(where: Difference) -> str:
    """Which kind of difference it is, and at which step."""
    number = len(where.way) + 1
    if where.what == "first state":
        return "Python and TLC begin in different states"
    if where.what == "outcome":
        return f"Python and TLC make different things of step {number}"
    if where.what == "times":
        return f"Python and TLC make step {number} unequally often"
    to = ", to a state that the other never has" if where.what == "state" else ""
    return f"{where.side} alone makes step {number}{to}"


def changes(one: Any, other: Any, where: str = "") -> Iterator[Change]:
    """The smallest parts in which two canonical values differ."""
    if one == other:
        return
    if isinstance(one, Mapped) and isinstance(other, Mapped):
        mine, theirs = dict(one.pairs), dict(other.pairs)
        if mine.keys() == theirs.keys():
            for argument in sorted(mine, key=text):
                yield from changes(mine[argument], theirs[argument], _inside(where, argument))
            return
    if isinstance(one, tuple) and isinstance(other, tuple):
        yield from _of_sequences(one, other, where)
    elif isinstance(one, frozenset) and isinstance(other, frozenset):
        yield from [Change(where, each, None) for each in sorted(one - other, key=text)]
        yield from [Change(where, None, each) for each in sorted(other - one, key=text)]
    else:
        yield Change(where, one, other)


def _of_sequences(one: tuple[Any, ...], other: tuple[Any, ...], where: str) -> Iterator[Change]:
    """Member by member; or what was put in or taken out at one place; or the whole, where they only moved."""
    if len(one) == len(other) and Counter(one) != Counter(other):
        for place, (mine, theirs) in enumerate(zip(one, other, strict=True), 1):
            yield from changes(mine, theirs, f"{where}[{place}]")
        return
    short, long = sorted((one, other), key=len)
    start = next((at for at, each in enumerate(short) if each != long[at]), len(short))
    more = len(long) - len(short)
    if not more or long[start + more :] != short[start:]:
        yield Change(where, one, other)
        return
    for at in range(start, start + more):
        here, there = (None, long[at]) if long is other else (long[at], None)
        yield Change(f"{where}[{at + 1}]", here, there)


def _inside(where: str, argument: Any) -> str:
    if isinstance(argument, str) and argument.isidentifier():
        return f"{where}.{argument}" if where else argument
    return f"{where}[{text(argument)}]"


def named(binding: Binding, value: Any) -> Any:
    """A state as a record of its fields; what has no such fields, as it is."""
    if not isinstance(value, tuple) or len(value) != len(binding.names):
        return value
    fields = zip(binding.names, value, strict=True)
    return function({name: _named(binding, name, each) for name, each in fields})


def _named(binding: Binding, field: str, value: Any) -> Any:
    """Also the tuples within that are records in all but name."""
    match value:
        case Mapped():
            return function(
                {
                    argument: _named(binding, argument if isinstance(argument, str) else field, each)
                    for argument, each in value.pairs
                }
            )
        case tuple():
            names = binding.members.get(field, ())
            return tuple(
                [
                    function(
                        {name: _named(binding, name, each) for name, each in zip(names, member, strict=True)}
                    )
                    if names and isinstance(member, tuple) and len(member) == len(names)
                    else _named(binding, field, member)
                    for member in value
                ]
            )
    return value


def call_in_words(call: Mapped, *, is_answered: bool = True) -> str:
    """A record `call` in words, where no operation of Python stands for it."""
    told = dict(call.pairs)
    given = [f"{name} {text(told[name])}" for name in sorted(told) if name not in ANSWERS | {"op"}]
    words = " ".join([told["op"], *given])
    return f"{words}: {told['kind']}" if is_answered and "kind" in told else words


def trace_in_words(trace: Sequence[TraceStep], binding: Binding | None) -> list[Told]:
    """An error trace of TLC: each step with what it changes; of the first state all of it."""
    told: list[Told] = []
    before: Any = None
    for step in trace:
        words, state = step.action, dict(step.state)
        call = state.pop(CALL, None)
        after = canonical(state)
        if binding is not None:
            after = _named(binding, "", after)
        if before is None:
            fields = [f"{name} = {text(value)}" for name, value in sorted(after.pairs)]
        else:
            fields = [*map(_before_and_after, changes(before, after))]
            words = f"{words}: {call_in_words(call)}" if isinstance(call, Mapped) else words
        told.append(Told(words, tuple(fields)))
        before = after
    return told


def _answers(call: Mapped) -> Mapped:
    """What a call was answered."""
    return Mapped(frozenset(pair for pair in call.pairs if pair[0] in ANSWERS))


def _before_and_after(change: Change) -> str:
    """What a step does to a field."""
    where, one, other = change.where or STATE, change.one, change.other
    if one is None or other is None:
        return f"{where}, new: {text(other)}" if one is None else f"{where}, gone: {text(one)}"
    return f"{where}: {text(one)} -> {text(other)}"


def _side_by_side(change: Change, before: Any = None) -> str:
    """What either side has in a field, and, where it is known, what both had before."""
    where, one, other = change.where or STATE, change.one, change.other
    if one is None or other is None:
        return (
            f"{where}: {text(other)} with TLC alone"
            if one is None
            else f"{where}: {text(one)} in Python alone"
        )
    had = "" if before is None else f"{text(before)} before, "
    return f"{where}: {had}{text(one)} in Python, {text(other)} with TLC"


class _Telling:
    """Goes a run in the Python model, to have its operations; `met`: those that could be made on the way, by
    what they ask."""

    def __init__(self, binding: Binding, config: Any) -> None:
        self.binding, self.config = binding, config
        self.state = binding.model.initial(config)
        self.met: dict[Any, Op] = {}
        self._meet()

    def taken(self, edge: Edge) -> Told:
        """A step that both sides make: what it was answered, and what it changes."""
        words = self._call(edge.call)
        operation = operation_of(self.binding, self.config, self.state, edge.call)
        self.state, _ = self.binding.model.step(self.config, self.state, operation)
        self._meet()
        return Told(words, self._changed(edge))

    def parted(self, where: Difference) -> Told:
        """The step that the two make differently: what differs between both sides, or before and after."""
        one, other = where.python, where.tlc
        if where.what == "first state" and one is not None and other is not None:
            return Told(STATE, self._sides(one.after, other.after))
        edge = one or other
        assert edge is not None
        if where.what != "outcome" or one is None or other is None:
            return Told(self._call(edge.call), self._changed(edge) or ("nothing changes",))
        ours, theirs = self._changes(one), self._changes(other)
        alike = [_before_and_after(change) for change in ours if change in theirs]
        before = {change.where: change.one for change in (*theirs, *ours)}
        differing = [*map(_side_by_side, changes(_answers(one.call), _answers(other.call)))]
        differing += self._sides(one.after, other.after, before)
        return Told(self._call(edge.call, is_answered=False), (*alike, *differing))

    def _meet(self) -> None:
        offered = self.binding.operations(self.config, self.state)
        self.met |= {asked(call): operation for call, operation in offered.items()}

    def _changes(self, edge: Edge) -> list[Change]:
        return list(changes(named(self.binding, edge.before), named(self.binding, edge.after)))

    def _changed(self, edge: Edge) -> tuple[str, ...]:
        return tuple(map(_before_and_after, self._changes(edge)))

    def _sides(
        self, python: Any, tlc: Any, before: Mapping[str, Any] = MappingProxyType({})
    ) -> tuple[str, ...]:
        differing = changes(named(self.binding, python), named(self.binding, tlc))
        return tuple([_side_by_side(change, before.get(change.where)) for change in differing])

    def _call(self, call: Any, *, is_answered: bool = True) -> str:
        """A call in the words of the reports; one that Python could never make, by its record."""
        operation = self.met.get(asked(call))
        if operation is None:
            return call_in_words(call, is_answered=is_answered)
        words = operation_in_words(operation)
        return f"{words}: {call['kind']}" if is_answered else words
