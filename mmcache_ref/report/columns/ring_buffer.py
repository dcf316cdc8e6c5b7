"""A run of the ring buffer: its chunks, and where begin and end are."""

from __future__ import annotations

from mmcache_ref.model.component import Op, Outcome
from mmcache_ref.model.ring_buffer import State
from mmcache_ref.model.ring_moves import HEADER
from mmcache_ref.oracle.wording import operation_in_words, outcome_in_words
from mmcache_ref.report.columns.common import Columns
from mmcache_ref.report.columns.common import outcome_in_words as plain_outcome_in_words

LEGEND = "0@12+8 is the chunk of id 0 at the address 12, with 8 bytes of payload; oldest first."


def chunks_words(state: State) -> str:
    """Each live chunk, oldest first, or that the ring is closed."""
    if state.is_closed:
        return "closed"
    return " ".join(
        [f"{identifier}@{address}+{size - HEADER}" for identifier, address, size in state.ring.chunks]
    )


def outcome_words(operation: Op, outcome: Outcome) -> str:
    """What the call gave, or what happened."""
    if isinstance(outcome.result, tuple):
        return outcome_in_words(operation, list(outcome.result))
    return plain_outcome_in_words(operation, outcome)


COLUMNS = Columns(
    {
        "chunks": chunks_words,
        "begin": lambda state: str(state.ring.begin),
        "end": lambda state: str(state.ring.end),
        "next id": lambda state: str(state.ring.next_id),
    },
    operation_in_words,
    outcome_words,
    frozenset({"chunks"}),
    LEGEND,
)
