"""A touch never returns, and burns the processor."""

from __future__ import annotations

from rogue import names


def misbehave() -> None:
    while True:
        pass


globals().update(names(misbehave))
