"""A run of single accesses: the words of the place, and who has the lock."""

from __future__ import annotations

from mmcache_ref.model.component import Op, Outcome
from mmcache_ref.model.ring_publication import WRITER, Begin, Do, Lay, State
from mmcache_ref.report.columns.common import Columns

LEGEND = (
    "w is the writer, r0 and r1 are readers; a is the old object, b the new one, ? what a client chose, - a "
    "seal that was wiped. Header: whose id, whose size; count: in whose chunk, how many; payload: whose "
    "first part, whose last."
)
DEEDS = {
    "acquire": "takes the lock",
    "release": "leaves the lock",
    "await": "finds all counted",
    "send": "hands out b",
}


def process_words(process: int) -> str:
    """A process in two letters."""
    return "w" if process == WRITER else f"r{process}"


def operation_words(operation: Op) -> str:
    """Who does what to which word."""
    if isinstance(operation, Lay):
        return f"b begins in {'the same place' if operation.layout == 'same' else 'another place'}"
    if isinstance(operation, Begin):
        return f"{process_words(operation.reader)} gets {operation.handle}"
    assert isinstance(operation, Do)
    words = f"{operation.kind}s {operation.word.removeprefix('reader_')}"
    who = process_words(operation.process)
    return f"{who} {DEEDS.get(operation.kind) or words}"


def outcome_words(operation: Op, outcome: Outcome) -> str:
    """Whose bytes a `get` returned, or that it raised; nothing for what happens on the way."""
    if outcome.kind == "returned":
        return f"returned {' and '.join(outcome.result)}"
    return outcome.kind if outcome.kind in ("stale", "disabled") else ""


def lock_words(state: State) -> str:
    """Who has the lock."""
    return "" if state.lock is None else process_words(state.lock)


COLUMNS = Columns(
    {
        "header": lambda state: f"{state.memory.id} {state.memory.size}",
        "count": lambda state: f"{state.memory.reader_count.owner} {state.memory.reader_count.number}",
        "seal": lambda state: state.memory.seal or "-",
        "payload": lambda state: f"{state.memory.first} {state.memory.last}",
        "lock": lock_words,
    },
    operation_words,
    outcome_words,
    frozenset({"header", "count", "seal", "payload"}),
    LEGEND,
)
