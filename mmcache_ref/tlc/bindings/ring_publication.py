"""`model/ring_publication.py` and `RingPublication.tla`."""

from __future__ import annotations

from typing import Any, Final

from mmcache_ref.model import ring_publication
from mmcache_ref.model.component import Outcome
from mmcache_ref.model.ring_publication import Config, Get, State
from mmcache_ref.tlc.bindings.base import Binding, described

NOBODY: Final = -1
NOT_LOADED: Final = -1


def state(config: Config, state: State) -> Any:
    """`<<memory, gets, used, layout, written, isSent, lock, acknowledged>>`"""
    return (
        state.memory,
        tuple([_get(get) for get in state.gets]),
        tuple([tuple(handles) for handles in state.used]),
        state.layout,
        _places(state.written),
        state.is_sent,
        NOBODY if state.lock is None else _process(state.lock),
        state.acknowledged,
    )


def call(operation: ring_publication.Operation, outcome: Outcome) -> Any:
    """The record `call`."""
    match operation:
        case ring_publication.Lay(layout):
            return described(operation, outcome, layout=layout)
        case ring_publication.Begin(reader, handle):
            return described(operation, outcome, reader=_process(reader), handle=handle)
    parts = frozenset(outcome.result) if outcome.kind == "returned" else frozenset()
    process = _process(operation.process)
    return described(
        operation, outcome, process=process, does=operation.kind, word=operation.word, parts=parts
    )


def _process(number: int) -> int:
    """The writer is 0, and the readers begin with 1."""
    return number + 1


def _places(bits: int) -> frozenset[int]:
    """The places in a program that are done, the first being 1."""
    return frozenset(place + 1 for place in range(bits.bit_length()) if bits >> place & 1)


def _get(get: Get | None) -> Any:
    """A `get` under way, or `Idle`."""
    get = get or Get("", False)
    return {
        "handle": get.handle,
        "is_promised": get.is_promised,
        "done": _places(get.done),
        "parts": frozenset(get.parts),
        "loaded_count": NOT_LOADED if get.loaded_count is None else get.loaded_count,
    }


RING_PUBLICATION: Final = Binding(
    ring_publication,
    state,
    call,
    is_executed=False,
    names=("memory", "gets", "used", "layout", "written", "isSent", "lock", "acknowledged"),
)
