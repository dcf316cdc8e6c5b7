"""The accesses of the writer that uses a place again, and of a reader's `get`.   [OS-08, OS-20, OS-26]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from .publication_accesses import BARRIER, Access, Program, program

Piece = Literal["header", "count", "payload", "seal", "handle"]
PIECES: tuple[Piece, ...] = ("header", "count", "payload", "seal", "handle")
"""What a put writes, and that it gives the handle out, in the order in which it does.   [OS-08]"""
Line = list[Access | None]


class Rules(Protocol):
    """What of a configuration decides the programs."""

    @property
    def accidents(self) -> frozenset[str]: ...
    @property
    def protections(self) -> frozenset[str]: ...
    @property
    def order(self) -> tuple[Piece, ...]: ...
    @property
    def clears(self) -> bool: ...


def writing(rules: Rules, layout: str) -> Program:
    """The writer: wait, wipe, put.   [OS-08, OS-25, OS-26]"""
    lines: Line = [] if rules.clears else [Access("await", "reader_count")]
    lines += _wipe(rules.protections)
    if layout == "look-alike":
        lines += _look_alike()
    else:
        order = _order(rules)
        pieces = _put(rules.protections, order.index("seal") > order.index("payload"))
        for piece in order:
            lines += pieces[piece]
    return _on_machine(rules, lines)


def _wipe(protections: frozenset[str]) -> Line:
    """The old seal goes before the place is used again.   [OS-26]"""
    if not {"seals", "wipe"} <= protections:
        return []
    lines: Line = [Access("store", "seal", "")]
    if "barrier-after-wipe" in protections:
        lines.append(BARRIER)
    if "writer-takes-lock" in protections:
        return [Access("acquire"), *lines, Access("release")]
    return lines


def _put(protections: frozenset[str], seal_comes_later: bool) -> Mapping[str, Line]:
    """What each piece of a put writes; zeros in place of a seal that is still to come.   [OS-08]"""
    has_seals = "seals" in protections
    no_seal: Line = [Access("store", "seal", "")] if has_seals and seal_comes_later else []
    seal: Line = [Access("store", "seal", "b")] if has_seals else []
    if has_seals and "barrier-before-seal" in protections:
        seal.insert(0, BARRIER)
    return {
        "header": [Access("store", "id", "b"), Access("store", "size", "b")],
        "count": [Access("store", "reader_count", "b")],
        "payload": [*no_seal, Access("store", "first", "b", copy=1), Access("store", "last", "b", copy=1)],
        "seal": seal,
        "handle": [Access("send")],
    }


def _order(rules: Rules) -> Sequence[Piece]:
    """The order of the pieces; without `seal-last` or `handle-last` these come right after the header."""
    order = list(rules.order)
    moved: list[Piece] = []
    if "seal-last" not in rules.protections:
        moved.append("seal")
    if "handle-last" not in rules.protections:
        moved.append("handle")
    for piece in moved:
        order.remove(piece)
    place = order.index("header") + 1
    return [*order[:place], *moved, *order[place:]]


def _look_alike() -> Line:
    """A payload whose bytes are the old header, some count, and no seal that anybody could know.   [OS-42]"""
    chosen = {"id": "a", "size": "a", "reader_count": "b", "seal": "?", "first": "b", "last": "b"}
    return [Access("store", word, value, copy=1) for word, value in chosen.items()]


def reading(rules: Rules) -> Program:
    """A reader: compare, copy, compare again and count under the lock.   [OS-20, OS-22, OS-23]"""
    protections = rules.protections
    compare: Line = [Access("load", "id"), Access("load", "size")]
    if "seals" in protections:
        compare.append(Access("load", "seal"))
    copy: Line = [Access("load", "first", copy=1), Access("load", "last", copy=1)]
    again: Line = compare if "second-check" in protections else []
    count: Line = [Access("load", "reader_count"), Access("store", "reader_count")]
    if "count-under-lock" in protections:
        under_lock = again if "check-under-lock" in protections else []
        before = [] if under_lock else again
        count = [*before, Access("acquire"), *under_lock, *count, Access("release")]
    else:
        count = [*again, *count]
    if "barrier-before-copy" in protections:
        copy = [BARRIER, *copy]
    if "barrier-after-copy" in protections:
        copy = [*copy, BARRIER]
    if "count-last" in protections:
        return _on_machine(rules, [*compare, *copy, *count])
    return _on_machine(rules, [*compare, *count, *copy])


def _on_machine(rules: Rules, lines: Line) -> Program:
    """The program on the machine that the accidents make."""
    accidents = rules.accidents
    return program(lines, "store-reordering" in accidents, "load-reordering" in accidents)
