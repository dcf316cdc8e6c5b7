"""What holds of every ring buffer.   [spec/06-ring-buffer.md]"""

from __future__ import annotations

from collections.abc import Mapping

from . import ring_moves as moves
from .explore import Property
from .ring_buffer_alphabet import Free
from .ring_buffer_state import Config, State
from .ring_moves import HEADER, Ring

PROPERTIES: Mapping[str, Property] = {
    "apart": Property(
        "RB-22", "state", lambda config, state: moves.are_apart(config.capacity, state.ring.chunks)
    ),
    "all-accounted": Property(
        "RB-23", "state", lambda config, state: moves.is_accounted(config.capacity, state.ring)
    ),
    "begin-in-first-lap": Property(
        "RB-20", "state", lambda config, state: moves.is_in_first_lap(config.capacity, state.ring)
    ),
    "ids-differ": Property(
        "RB-11",
        "state",
        lambda config, state: len({chunk.id for chunk in state.ring.chunks}) == len(state.ring.chunks),
    ),
    "ids-in-order": Property(
        "RB-10",
        "step",
        lambda config, before, operation, outcome, after: (
            after.ring.next_id == (before.ring.next_id + isinstance(outcome.result, tuple)) % config.id_max
        ),
        frozenset({"allocate"}),
    ),
    "oldest-first": Property(
        "RB-24",
        "step",
        lambda config, before, operation, outcome, after: _is_prefix_freed(before, after),
        frozenset({"allocate", "free", "clear"}),
    ),
    "refused-rightly": Property(
        "RB-06",
        "step",
        lambda config, before, operation, outcome, after: (
            None if outcome.kind != "no-room" else not _has_room(config, before.ring, operation.nbytes)
        ),
        frozenset({"allocate"}),
    ),
    "all-reclaimed": Property(
        "RB-25",
        "step",
        lambda config, before, operation, outcome, after: (
            None
            if operation != Free() or before.is_closed
            else moves.place(config.capacity, after.ring, config.capacity) is not None
        ),
        frozenset({"free"}),
    ),
}


def _is_prefix_freed(before: State, after: State) -> bool:
    """Are the live chunks those allocated last?   [RB-24]"""
    old, new = before.ring.chunks, after.ring.chunks
    kept = [chunk for chunk in new if chunk in old]
    return list(old[len(old) - len(kept) :]) == kept


def _has_room(config: Config, ring: Ring, nbytes: int) -> bool:
    """Is a chunk no larger than what is free before the physical end, or than what is after it?   [RB-06]"""
    left = config.capacity - sum(moves.held(config.capacity, ring.chunks))
    tail = config.capacity - moves.place_in(config.capacity, ring.end)
    return nbytes + HEADER <= max(min(tail, left), left - tail)
