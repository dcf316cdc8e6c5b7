"""`model/ring_buffer.py` and `RingBuffer.tla`."""

from __future__ import annotations

from typing import Any, Final

from mmcache_ref.model import ring_buffer
from mmcache_ref.model.component import Outcome
from mmcache_ref.tlc.bindings.base import Binding, described

NONE: Final = -1
"""No limit; no id."""


def is_action(operation: ring_buffer.Operation) -> bool:
    """What the writer does; left out are views, readers, segments, and what follows `close`."""
    return isinstance(operation, ring_buffer.Allocate | ring_buffer.Free | ring_buffer.Clear)


def state(config: ring_buffer.Config, state: ring_buffer.State) -> Any:
    """`<<chunks, begin, end, nextId>>`"""
    ring = state.ring
    return ring.chunks, ring.begin, ring.end, ring.next_id


def call(operation: ring_buffer.Operation, outcome: Outcome) -> Any:
    """The record `call`."""
    match operation:
        case ring_buffer.Allocate(nbytes):
            gives = outcome.result if isinstance(outcome.result, tuple) else ()
            return described(operation, outcome, nbytes=nbytes, gives=gives)
        case ring_buffer.Free(raises=int() as raising):
            return described(operation, outcome, raises=raising, gives=())
        case ring_buffer.Free(nbytes, refuses):
            return described(
                operation,
                outcome,
                nbytes=NONE if nbytes is None else nbytes,
                refuses=refuses[0] if refuses else NONE,
                gives=outcome.result[0],
            )
    return described(operation, outcome, gives=())


RING_BUFFER: Final = Binding(ring_buffer, state, call, is_action, names=("chunks", "begin", "end", "nextId"))
