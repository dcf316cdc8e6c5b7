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


class Follow:
    """Chooses as a schedule says; behind its end, and where it cannot be followed, whoever arrived goes on.

    `is_followed` is false when the threads were not where the schedule has them.
    """

    def __init__(self, names: Sequence[str], schedule: Schedule) -> None:
        unknown = sorted({block.thread for block in schedule} - set(names))
        if unknown:
            raise BadRun(f"no thread {unknown[0]!r} in this scenario: it has {', '.join(names)}")
        self._names = names
        self._blocks = list(schedule)
        self._visits: Counter[tuple[int, str]] = Counter()
        self.is_followed = True

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
            self.is_followed = False
        return arrived if arrived in enabled else enabled[0]

    def _leave(self, arrived: int, at: str, enabled: tuple[int, ...]) -> None:
        """Is the block of the thread that arrived over?"""
        block = self._blocks[0]
        can_go_on = arrived in enabled
        is_there = block.until == at and block.visit == self._visits[arrived, at]
        if is_there or not can_go_on:
            self.is_followed &= block.until is None or is_there
            self._blocks.pop(0)
