"""How the cost of each public operation grows with the number of keys that a cache holds.

Seconds are the median of single calls. Lines of Python are counted too: they are the same in every run and on
every machine, so that a test can compare them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import perf_counter
from types import FrameType
from typing import Any, Final

import msgspec

from mmcache_ref.oracle.collector import no_collection
from mmcache_ref.oracle.growth_subjects import SUBJECTS, Operation
from mmcache_ref.oracle.supervisor import rehearse
from mmcache_ref.oracle.targets import resolve

NUMBERS: Final = (100, 10_000, 1_000_000)


class Cost(msgspec.Struct, frozen=True):
    """One operation of a cache with so many keys: the seconds of a call, and its lines of Python."""

    cache: str
    operation: str
    target: str
    keys: int
    seconds: float
    lines: int


class Growth(msgspec.Struct, frozen=True):
    """All that was measured."""

    targets: tuple[str, ...]
    keys: tuple[int, ...]
    costs: tuple[Cost, ...]

    def operations(self) -> list[tuple[str, str]]:
        """Cache and name of all that was measured."""
        return list(dict.fromkeys((each.cache, each.operation) for each in self.costs))

    def of(self, cache: str, operation: str, target: str) -> dict[int, Cost]:
        """The costs of one operation, by the number of keys."""
        wanted = cache, operation, target
        return {each.keys: each for each in self.costs if (each.cache, each.operation, each.target) == wanted}

    def is_growing(self, cache: str, operation: str, target: str) -> bool:
        """Whether a call executes more lines where there are more keys."""
        return len({each.lines for each in self.of(cache, operation, target).values()}) > 1


def measure_growth(
    targets: Sequence[str], keys: Sequence[int], observe: Callable[[str], None] = lambda _: None
) -> Growth:
    """Measure every operation of every cache of each target, with each number of keys."""
    costs = []
    for target in targets:
        rehearse(target)
        for number in keys:
            for cache in SUBJECTS:
                observe(f"{target}: {cache} with {number} keys")
                costs += measure_cache(target, cache, number)
    return Growth(tuple(targets), tuple(keys), tuple(costs))


def measure_cache(target: str, cache: str, keys: int) -> list[Cost]:
    """Measure the operations of one cache that holds so many keys."""
    subject = SUBJECTS[cache](resolve(target), keys)
    try:
        return [
            Cost(cache, each.name, target, keys, *cost_of(each))
            for each in subject.operations
            if each.is_offered
        ]
    finally:
        subject.close()


def cost_of(operation: Operation) -> tuple[float, int]:
    """The medians of the seconds of a call and of its lines."""
    operation.before()
    seconds = []
    with no_collection():
        for number in range(operation.calls):
            began = perf_counter()
            operation.run(number)
            seconds.append(perf_counter() - began)
    operation.before()
    lines = [lines_of(operation.run, operation.calls + each) for each in range(operation.calls)]
    return median(seconds), int(median(lines))


def lines_of(run: Callable[[int], object], number: int) -> int:
    """How many lines of Python one call executes, in whatever module."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    with no_collection():  # what a collection ends would be counted too
        sys.settrace(trace)
        try:
            run(number)
        finally:
            sys.settrace(before)
    return count
