"""The configuration and the state of the ring buffer.   [spec/06-ring-buffer.md]"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import msgspec

from .ring_moves import Ring

ID_MAX = 1 << 31
"""How many ids there are."""


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """`capacity` in bytes; ids begin with `first_id` and wrap at `id_max`; the search tries `sizes` (bytes of
    payload)."""

    capacity: Annotated[int, msgspec.Meta(ge=1, le=1 << 24)]
    id_max: Annotated[int, msgspec.Meta(ge=1, le=ID_MAX)] = ID_MAX
    sizes: tuple[int, ...] = ()
    first_id: Annotated[int, msgspec.Meta(ge=0, lt=ID_MAX)] = 0


class State(NamedTuple):
    """The ring; the value of the bytes in each live chunk's payload; was it closed?"""

    ring: Ring = Ring()
    fills: tuple[int, ...] = ()
    is_closed: bool = False
