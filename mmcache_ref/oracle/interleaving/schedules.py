"""A schedule: which thread runs until where. It is what one repeats, prints and shrinks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.interleaving.scheduler import Execution


class Block(msgspec.Struct, frozen=True, omit_defaults=True):
    """`thread` runs until it comes to `until` for the time `visit`, counted over the whole run.

    `until` is `file:line`, `file:line+offset` within a line, `file:line (lock)` before it takes or releases
    the lock, or `call:N` before its call number N. Without it the thread runs as far as it can: to its end,
    or until it has to wait.
    """

    thread: str
    until: str | None = None
    visit: int = 1


Schedule = tuple[Block, ...]


def schedule_of(execution: Execution) -> Schedule:
    """The schedule that an execution followed."""
    names, steps = execution.names, execution.steps
    visits: Counter[tuple[int, str]] = Counter()
    blocks: list[Block] = []
    for step in steps:
        if step.arrived < 0:
            continue
        at = str(step.at)
        visits[step.arrived, at] += 1
        if step.is_preemption:
            blocks.append(Block(names[step.arrived], at, visits[step.arrived, at]))
        elif step.is_switch:
            blocks.append(Block(names[step.arrived]))
    if steps:
        blocks.append(Block(names[steps[-1].thread]))
    return tuple(blocks)


LINE: Final = re.compile(r"(?P<name>.+):(?P<line>\d+)(?P<within>\+\d+)?")


def lines_of(schedule: Schedule, paths: Sequence[str], *, within: bool = False) -> set[tuple[str, int]]:
    """The lines of these files before which the schedule stops; or those `within` which it does."""
    found = set()
    for block in schedule:
        named = LINE.fullmatch(block.until or "")
        if named and (named["within"] is not None) == within:
            found |= {(path, int(named["line"])) for path in paths if Path(path).name == named["name"]}
    return found


PLACE: Final = re.compile(r"call:\d+|[^:]+:\d+(\+\d+| \(lock\))?")


def check_schedule(schedule: Schedule) -> None:
    """`BadRun` if a block does not say where it ends."""
    for number, block in enumerate(schedule, 1):
        if block.until is not None and not PLACE.fullmatch(block.until):
            raise BadRun(
                f"block {number} of the schedule: {block.until!r} is no place. Write `file.py:LINE`, "
                "`file.py:LINE+OFFSET`, `file.py:LINE (lock)`, or `call:NUMBER`"
            )
        if block.visit < 1:
            raise BadRun(f"block {number} of the schedule: visits are counted from 1, and not {block.visit}")


class Follow:
    """Chooses as a schedule says; behind its end, and where it cannot be followed, whoever arrived goes on.

    `lost` says of the first block that was not followed where the thread was not; empty if all were.
    """

    def __init__(self, names: Sequence[str], schedule: Schedule) -> None:
        unknown = sorted({block.thread for block in schedule} - set(names))
        if unknown:
            raise BadRun(f"no thread {unknown[0]!r} in this scenario: it has {', '.join(names)}")
        check_schedule(schedule)
        self._names = names
        self._blocks = list(schedule)
        self._length = len(schedule)
        self._visits: Counter[tuple[int, str]] = Counter()
        self.lost = ""

    def __call__(self, execution: Execution, arrived: int, enabled: tuple[int, ...]) -> int:
        if arrived >= 0:
            at = str(execution.places[arrived])
            self._visits[arrived, at] += 1
            if self._blocks and self._names[arrived] == self._blocks[0].thread:
                self._leave(arrived, at, enabled)
        if self._blocks:
            wanted = list(self._names).index(self._blocks[0].thread)
            if wanted in enabled:
                return wanted
            self._lose("cannot go on there: it has ended, or has to wait")
        return arrived if arrived in enabled else enabled[0]

    def _leave(self, arrived: int, at: str, enabled: tuple[int, ...]) -> None:
        """Is the block of the thread that arrived over?"""
        block = self._blocks[0]
        can_go_on = arrived in enabled
        is_there = block.until == at and block.visit == self._visits[arrived, at]
        if is_there or not can_go_on:
            if block.until is not None and not is_there:
                self._lose_place(block)
            self._blocks.pop(0)

    def end(self) -> None:
        """The run is over: what is left of the schedule was not followed, but for a thread that ended."""
        if self._blocks and self._blocks[0].until is not None:
            self._lose_place(self._blocks[0])
        elif len(self._blocks) > 1:
            self._blocks.pop(0)
            self._lose("has nothing left to do")

    def _lose_place(self, block: Block) -> None:
        often = "" if block.visit == 1 else f" {block.visit} times"
        self._lose(f"does not come to {block.until}{often}")

    def _lose(self, why: str) -> None:
        number = self._length - len(self._blocks) + 1
        self.lost = self.lost or f"block {number} of the schedule: {self._blocks[0].thread} {why}"
