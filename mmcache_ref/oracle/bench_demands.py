"""What is demanded of the reference's speed, and whether a benchmark shows it.

Whoever puts an object and gets it copies its bytes twice, and nobody makes that faster: two plain copies of
1 MiB take two thirds of what vLLM 0.32.0 needs for all, so half of its time cannot be asked for there. Asked
for is half of it where the copies are nothing beside the rest; where they count, less of what comes on top of
them; where they are nearly all, hardly more than they; and nowhere more time than vLLM needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from mmcache_ref.oracle.bench import COPIES, KIB, MIB, Bench, Measure

SMALL_TO: Final = 4 * KIB
SMALL_RATIO: Final = 0.5
COPIES_RULE_FROM: Final = MIB
ON_TOP_RATIO: Final = 0.65
"""Of what the other needs on top of the two copies, between the small and those where copies rule."""
COPIES_RATIO: Final = 1.3
NEVER_SLOWER: Final = 1.0


class Demand(msgspec.Struct, frozen=True):
    """At most `limit` times the time of `other` in one case; `on_top`: without the time of plain copies."""

    case: str
    size: int | None
    other: str
    limit: float
    found: float
    on_top: bool = False

    @property
    def is_kept(self) -> bool:
        return self.found <= self.limit


def demands(bench: Bench) -> tuple[Demand, ...]:
    """Those that this benchmark can show: of the first target, against the second and the plain copies."""
    return tuple(demand for each in bench.measures for demand in _of(each, bench))


def _of(measure: Measure, bench: Bench) -> Iterator[Demand]:
    case, size = measure.case, measure.size
    if size is not None and case != "put+get":
        return
    is_small = size is not None and size <= SMALL_TO
    is_large = size is not None and size >= COPIES_RULE_FROM
    first, *others = bench.targets
    for other in others[:1]:
        if (ratio := measure.ratio(first, other)) is not None:
            yield Demand(case, size, other, SMALL_RATIO if is_small else NEVER_SLOWER, ratio)
        is_between = size is not None and not is_small and not is_large
        if is_between and (ratio := measure.ratio(first, other, on_top_of=COPIES)) is not None:
            yield Demand(case, size, other, ON_TOP_RATIO, ratio, on_top=True)
    if is_large and (ratio := measure.ratio(first, COPIES)) is not None:
        yield Demand(case, size, COPIES, COPIES_RATIO, ratio)
