"""What is demanded of the reference's speed, and whether a benchmark shows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from mmcache_ref.oracle.bench import COPIES, MIB, Bench, Measure

SMALL_FROM, SMALL_TO = 2**10, MIB
SMALL_RATIO: Final = 0.5
LARGE_FROM: Final = 64 * MIB
LARGE_COPIES: Final = 1.3
NEVER_SLOWER: Final = 1.0


class Demand(msgspec.Struct, frozen=True):
    """At most `limit` times the time of `other` in one case."""

    case: str
    size: int | None
    other: str
    limit: float
    found: float

    @property
    def is_kept(self) -> bool:
        return self.found <= self.limit


def demands(bench: Bench) -> tuple[Demand, ...]:
    """Those that this benchmark can show: of the first target, against the second and the plain copies."""
    return tuple(demand for each in bench.measures for demand in _of(each, bench))


def _of(measure: Measure, bench: Bench) -> Iterator[Demand]:
    if measure.size is not None and measure.case != "put+get":
        return
    first, *others = bench.targets
    for other in others[:1]:
        ratio = measure.ratio(first, other)
        if ratio is not None:
            is_small = measure.size is not None and SMALL_FROM <= measure.size <= SMALL_TO
            limit = SMALL_RATIO if is_small else NEVER_SLOWER
            yield Demand(measure.case, measure.size, other, limit, ratio)
    if measure.size is not None and measure.size >= LARGE_FROM:
        ratio = measure.ratio(first, COPIES)
        if ratio is not None:
            yield Demand(measure.case, measure.size, COPIES, LARGE_COPIES, ratio)
