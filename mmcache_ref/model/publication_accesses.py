"""Single accesses to a segment, and which of them a machine may do before which.   [OS-08, RB-29]

A program is a list of accesses. A machine does them one by one; one that reorders may do an access before an
earlier one unless something keeps them apart: the same word, a barrier, a lock, the channel. That is what a
store buffer does to stores, and early execution to loads.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["load", "store", "acquire", "release", "await", "send"]
WORDS = ("id", "size", "reader_count", "seal", "first", "last")
"""The words of a chunk: its header, the reader count, the seal, and two parts of the rest of the payload."""


class Access(NamedTuple):
    """One access of a program.

    `word` that it loads or stores, and whose `value` it stores (in the count, 0); `copy`: the number of the
    copy that it is a part of, 0 for none. Parts of one copy come in any order on every machine.
    """

    kind: Kind
    word: str = ""
    value: str = ""
    copy: int = 0


BARRIER = None
"""Stands in a list of accesses: everything before it is done before everything behind it."""


class Program(NamedTuple):
    """The accesses of one process, and for each the set of those that it waits for, as bits."""

    accesses: tuple[Access, ...]
    waits_for: tuple[int, ...]

    @property
    def all_done(self) -> int:
        """The bits of every access."""
        return (1 << len(self.accesses)) - 1


def program(listed: list[Access | None], stores_reorder: bool, loads_reorder: bool) -> Program:
    """The program of these accesses and barriers on a machine that keeps them in order, or does not."""
    accesses: list[Access] = []
    waits: list[int] = []
    fenced = 0
    for each in listed:
        if each is BARRIER:
            fenced = (1 << len(accesses)) - 1
            continue
        waits.append(
            fenced
            | sum(
                1 << place
                for place, earlier in enumerate(accesses)
                if is_ordered(earlier, each, stores_reorder, loads_reorder)
            )
        )
        accesses.append(each)
    return Program(tuple(accesses), tuple(waits))


def is_ordered(earlier: Access, later: Access, stores_reorder: bool, loads_reorder: bool) -> bool:
    """Whether the later of two accesses waits for the earlier one.

    What follows `acquire` stays behind it, and what precedes `release` before it; the other way nothing is
    promised. A load and a store of one process stay in order: what is stored depends on what was loaded.
    """
    if "await" in (earlier.kind, later.kind) or "send" in (earlier.kind, later.kind):
        return True
    if earlier.kind == "acquire" or later.kind == "release":
        return True
    if earlier.kind == "release" and later.kind == "acquire":
        return True
    moving = {earlier.kind, later.kind} - {"acquire", "release"}
    if moving == {"load", "store"}:
        return True
    if earlier.word and earlier.word == later.word:
        return True
    if earlier.copy and earlier.copy == later.copy:
        return False
    return not (loads_reorder if moving == {"load"} else stores_reorder)
