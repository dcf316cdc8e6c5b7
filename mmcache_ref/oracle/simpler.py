"""Values that are simpler than a value: what shrinking tries, and how it compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from mmcache_ref.model.component import Content
from mmcache_ref.model.values import Value

LETTERS: Final = ("a", "b", "c", "d", "e")
"""The keys of the oracle's own, the simplest first."""
ZERO_WEIGHT: Final = 3
HEAVIEST: Final = 1000
"""What a large number weighs at most."""


def is_record(value: Any) -> bool:
    """Is it a struct or a named tuple: does it have fields?"""
    return isinstance(value, msgspec.Struct) or hasattr(value, "_fields")


def fields(value: Any) -> tuple[str, ...]:
    """The names of a record's fields."""
    names: tuple[str, ...] = (
        value.__struct_fields__ if isinstance(value, msgspec.Struct) else tuple(value._fields)
    )
    return names


def defaults(value: Any) -> Mapping[str, Any]:
    """The defaults of a record's fields that have one."""
    if isinstance(value, msgspec.Struct):
        names, given = value.__struct_fields__, value.__struct_defaults__
        return {
            name: default
            for name, default in zip(names[len(names) - len(given) :], given, strict=True)
            if default is not msgspec.NODEFAULT
        }
    known: Mapping[str, Any] = getattr(value, "_field_defaults", {})
    return known


def replaced(value: Any, /, **changes: Any) -> Any:
    """A record with other values in some fields."""
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **changes)
    return value._replace(**changes)


def weight(value: Any) -> int:
    """How much there is in a value: nothing in a field that has its default."""
    if is_record(value):
        usual = defaults(value)
        return 1 + sum(
            1 + (ZERO_WEIGHT if inner == 0 and _is_odd_as_zero(value, name) else weight(inner))
            for name in fields(value)
            for inner in (getattr(value, name),)
            if name not in usual or inner != usual[name] or _is_odd_as_zero(value, name)
        )
    if isinstance(value, tuple | frozenset):
        return 1 + sum(map(weight, value))
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return min(HEAVIEST, abs(int(value)))
    if isinstance(value, str):
        return LETTERS.index(value) if value in LETTERS else len(value)
    return 0


def without_members(value: Any) -> Iterator[Any]:
    """The record with one member of one of its tuples left out, at any depth; of tuples of one length the
    members at the same place together, too."""
    if not is_record(value):
        return
    lists = [name for name in fields(value) if _is_list(getattr(value, name))]
    if len(lists) > 1:
        for index in range(min(len(getattr(value, name)) for name in lists)):
            yield replaced(value, **{name: _without(getattr(value, name), index) for name in lists})
    for name in lists:
        members = getattr(value, name)
        for index in range(len(members)):
            yield replaced(value, **{name: _without(members, index)})
    for name in fields(value):
        yield from _inside(value, name, without_members)


def canonical(value: Any) -> Any:
    """The value with contents as items have them: one without bytes has nothing to fill."""
    if isinstance(value, Content):
        return value if value.nbytes else Content(0)
    if is_record(value):
        return replaced(value, **{name: canonical(getattr(value, name)) for name in fields(value)})
    return tuple([canonical(member) for member in value]) if isinstance(value, tuple) else value


def simpler(value: Any) -> Iterator[Any]:
    """Values like this one with one part of them smaller: a default, a smaller number, an earlier letter."""
    if isinstance(value, Content):
        sizes = (0, 1, value.nbytes // 2, value.nbytes - 1) if value.nbytes else (1,)
        for nbytes in sorted({each for each in sizes if each >= 0} - {value.nbytes}):
            yield canonical(Content(nbytes, value.fill))
        for fill in {1, value.fill - 1} - {value.fill} if value.nbytes else ():
            yield Content(value.nbytes, max(0, fill))
    elif is_record(value):
        usual = defaults(value)
        for name in fields(value):
            is_changed = name in usual and getattr(value, name) != usual[name]
            if is_changed and not _is_odd_as_zero(value, name):
                yield replaced(value, **{name: usual[name]})
        for name in fields(value):
            for member in _described_inside(getattr(value, name)):
                yield replaced(value, **{name: member})
        for name in fields(value):
            if _is_odd_as_zero(value, name) and getattr(value, name) == 0:
                yield replaced(value, **{name: 1})
            yield from _inside(value, name, simpler)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        yield from sorted({each for each in (0, 1, value // 2, value - 1) if 0 <= each < value})
    elif isinstance(value, str) and value in LETTERS:
        yield from LETTERS[: LETTERS.index(value)]


def _described_inside(value: Any) -> Iterator[Any]:
    """The values that a description of a nested value holds, which may stand in its place."""
    if isinstance(value, Value):
        for member in getattr(value, "members", ()):
            inner = member[1] if isinstance(member, tuple) else member
            if isinstance(inner, Value):
                yield inner


def _is_odd_as_zero(value: Any, name: str) -> bool:
    """Does 1 read simpler than 0 in this field: an empty item, a budget that nothing fits?"""
    return name == "budget" or isinstance(value, Content)


def _inside(value: Any, name: str, changes: Any) -> Iterator[Any]:
    """The record with a change in one field, or in one member of it."""
    inner = getattr(value, name)
    if isinstance(inner, tuple) and not is_record(inner):
        for changed in _in_tuple(inner, changes):
            yield replaced(value, **{name: changed})
    else:
        for changed in changes(inner):
            yield replaced(value, **{name: changed})


def _in_tuple(members: tuple[Any, ...], changes: Any) -> Iterator[tuple[Any, ...]]:
    """The tuple with a change in one member."""
    for index, member in enumerate(members):
        if isinstance(member, tuple) and not is_record(member):
            inner = _in_tuple(member, changes)
        else:
            inner = changes(member)
        for changed in inner:
            yield (*members[:index], changed, *members[index + 1 :])


def _is_list(value: Any) -> bool:
    """Is it a tuple of members of one kind, and not a pair of a name and something?"""
    if not isinstance(value, tuple) or is_record(value):
        return False
    is_pair = len(value) == 2 and isinstance(value[0], str) and not isinstance(value[1], str)
    return not is_pair


def _without(members: tuple[Any, ...], index: int) -> tuple[Any, ...]:
    return (*members[:index], *members[index + 1 :])


def renamed(operations: Sequence[Any]) -> tuple[Any, ...]:
    """The operations with the first letters for their keys, in order of appearance."""
    names: dict[str, str] = {}

    def rename(value: Any) -> Any:
        if isinstance(value, str):
            if value in LETTERS and value not in names:
                names[value] = LETTERS[len(names)]
            return names.get(value, value)
        if is_record(value):
            return replaced(value, **{name: rename(getattr(value, name)) for name in fields(value)})
        if isinstance(value, tuple):
            return tuple([rename(member) for member in value])
        return value

    return tuple([rename(operation) for operation in operations])
