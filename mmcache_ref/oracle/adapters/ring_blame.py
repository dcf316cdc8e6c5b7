"""Which clause of the ring a mismatch breaks, where more is known than which operation it was."""

from __future__ import annotations

from typing import Any, Final

from mmcache_ref.model import ring_buffer
from mmcache_ref.model.component import Raised
from mmcache_ref.oracle.adapters.base import Unexpected

LEFT_ITS_NAME: Final = Unexpected("a closed ring whose segment is still there")


def may_be_blamed(operation: ring_buffer.Operation) -> list[str]:
    """What `blamed` may name besides what decides the operation."""
    match operation:
        case ring_buffer.Allocate():
            return ["RB-06", "RB-10", "RB-14"]
        case ring_buffer.Another():
            return ["RB-13"]
        case ring_buffer.CloseAgain():
            return ["RB-30"]
        case ring_buffer.Free():
            return ["RB-16", "RB-17", "RB-18"]
    return []


def blamed(
    operation: ring_buffer.Operation, aspect: str, expected: Any, actual: Any, *, had_all_ids: bool
) -> str | None:
    """Of address and id the one that is wrong; of what is freed, its order, or where it ends. `had_all_ids`:
    before the last call that frees, every id was live."""
    if actual == LEFT_ITS_NAME:
        return "RB-30"
    if aspect != "outcome" or not isinstance(expected, tuple):
        return None
    match operation, actual:
        case ring_buffer.Allocate(), Unexpected():
            return "RB-14"
        case ring_buffer.Allocate(), Raised(error="MemoryError"):
            return "RB-06"
        case ring_buffer.Allocate(), (address, _):
            return "RB-05" if address != expected[0] else "RB-10"
        case ring_buffer.Another(), (*places, _) if places == list(expected[:-1]):
            return "RB-13"
        case ring_buffer.Free(), (freed, _) if freed != expected[0] and sorted(freed) == sorted(expected[0]):
            return "RB-18"
        case ring_buffer.Free(), (freed, asked) if freed or asked:
            return _wrong_end(operation, [each[0] for each in asked], had_all_ids)
    return None


def _wrong_end(operation: ring_buffer.Free, asked: list[Any], had_all_ids: bool) -> str | None:
    """Of a call that did something, and ended elsewhere: did it go on behind a chunk that is not free, or
    count bytes otherwise? That all ids were live is no reason."""
    if any(each in operation.refuses for each in asked[:-1]):
        return "RB-16"
    if not had_all_ids:
        return None
    return "RB-16" if operation.nbytes is None or operation.refuses else "RB-17"
