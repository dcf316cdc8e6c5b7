"""Ids that begin late or wrap early, and capacities of gigabytes, as no run brings about."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from mmcache_ref.oracle.errors import NotOffered

LIMIT: Final = "ID_MAX"
BOUNDS: Final = ("monotonic_id_start", "monotonic_id_end")
"""The attributes of upstream's ring."""


def wrap_at(ring: Any, id_max: int) -> None:
    """Let the ids of a ring wrap there.   [RB-10]"""
    _set(ring, (LIMIT,), id_max)


def begin_at(ring: Any, first_id: int) -> None:
    """Let the ids of an empty ring begin there.   [RB-10]"""
    if first_id:
        _set(ring, BOUNDS, first_id)


@contextlib.contextmanager
def told_capacity(ring: Any, capacity: int) -> Iterator[None]:
    """For a moment an empty ring is told to have so many bytes, of which it has few.   [RB-09]"""
    real = ring.data_buffer_size
    try:
        ring.data_buffer_size = capacity
    except (AttributeError, TypeError) as error:
        raise NotOffered(f"the capacity of the target's ring cannot be set: {error}") from None
    try:
        yield
    finally:
        ring.data_buffer_size = real


def _set(ring: Any, names: tuple[str, ...], number: int) -> None:
    """Give attributes of a ring another number; raises `NotOffered` where it has none."""
    for name in names:
        if not hasattr(ring, name):
            raise NotOffered(f"the target's ring has no {name}, so its ids cannot be seen to wrap")
        try:
            setattr(ring, name, number)
        except (AttributeError, TypeError) as error:
            raise NotOffered(f"{name} of the target's ring cannot be set: {error}") from None
