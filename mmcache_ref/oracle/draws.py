"""Where the fuzz stage takes its choices from: one draw of Hypothesis pays for a burst of operations."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

from mmcache_ref.model.component import Op

T = TypeVar("T")

SEED_BITS: Final = 64
SEEDS: Final = st.binary(min_size=SEED_BITS // 8, max_size=SEED_BITS // 8)
"""Bytes and not integers: Hypothesis draws those evenly."""
REMEMBERED: Final = 8
"""Operations back that count as recent."""


class Draw:
    """The choices of one burst, all from `random`, which one draw of Hypothesis seeds.

    `salt` makes bursts differ for which Hypothesis draws the same, as it does for all of the first example.
    `performed` are the operations of the run so far; a choice may come back to their keys.
    """

    def __init__(self, data: Any, performed: Sequence[Op], salt: int = 0) -> None:
        self.performed = performed
        self.random = Random(int.from_bytes(data.draw(SEEDS), "big") + (salt << SEED_BITS))

    def of(self, choices: Sequence[T]) -> T:
        """One of them, evenly."""
        return choices[int(self.random.random() * len(choices))]

    def is_one_in(self, number: int) -> bool:
        """True once in `number` times."""
        return self.random.random() * number < 1

    def up_to(self, most: int) -> int:
        """0 to `most`, evenly."""
        return int(self.random.random() * (most + 1))

    def recent_keys(self) -> list[str]:
        """The keys that the last operations named, the latest operation first; a key may be there twice."""
        found = []
        for operation in reversed(self.performed[-REMEMBERED:]):
            members = getattr(operation, "request", None) or getattr(operation, "features", None)
            for each in members or (operation,):
                key = getattr(each, "key", None)
                if isinstance(key, str):
                    found.append(key)
        return found
