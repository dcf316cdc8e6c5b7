"""Operations and states of the ring buffer in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mmcache_ref.model import ring_buffer
from mmcache_ref.model.component import Op, tag

_ATTACHED: Final = {
    "nothing": "no segment",
    "too-short": "a segment that is too short",
    "longer": "a segment that is longer",
}


def ring_operation_in_words(operation: Op) -> str | None:
    """An operation on the ring; None for any other, and where its name and what it is given say enough."""
    match operation:
        case ring_buffer.Allocate(nbytes, fill):
            return f"allocate {nbytes} B" + (f" of {fill}" if nbytes > 0 else "")
        case ring_buffer.Access(address, by_reader):
            return f"access {address}{_whose(by_reader)}"
        case ring_buffer.Fill(address, fill, by_reader):
            return f"fill {address} with {fill}{_whose(by_reader)}"
        case ring_buffer.Free(nbytes, refuses, raises):
            words = ["free"]
            words += [] if nbytes is None else [f"at least {nbytes} B"]
            words += [f"but not {' '.join(map(str, refuses))}"] if refuses else []
            words += [] if raises is None else [f"failing at {raises}"]
            return " ".join(words)
        case ring_buffer.ByReader(call):
            return f"{call} by a reader"
        case ring_buffer.Attach(to):
            return f"attach to {_ATTACHED[to]}"
        case ring_buffer.Create():
            return "create under a name in use"
        case (
            ring_buffer.Another()
            | ring_buffer.Claimed()
            | ring_buffer.CloseAgain()
            | ring_buffer.Largest()
            | ring_buffer.Owned()
            | ring_buffer.ReaderLeaves()
            | ring_buffer.Unnamed()
        ):
            return NAMES[tag(operation)]
    return None


NAMES = {
    "another": "make another ring",
    "claimed": "make a ring of 64 KiB",
    "close-again": "close again",
    "largest": "allocate the largest chunk, and one byte more",
    "owned": "make another ring, and read whose it is",
    "reader-leaves": "close a reader",
    "unnamed": "make rings without a name",
}


def ring_outcome_in_words(operation: Op, result: Any) -> str | None:
    """What a call of the ring gave, with a name for each number; None for anything else."""
    match operation, result:
        case ring_buffer.Allocate(), [address, identifier]:
            return f"address {address}, id {identifier}"
        case ring_buffer.Access(), [identifier, size, nbytes, fill]:
            return f"id {identifier}, size {size}, {nbytes} B of {fill}"
        case ring_buffer.Free(), [freed, asked]:
            shown = " ".join(str(chunk[0]) for chunk in asked) if asked else "none"
            return f"freed {' '.join(map(str, freed)) or 'none'}, asked about {shown}"
        case ring_buffer.Claimed(), bool():
            return "all its memory is taken" if result else "not all of its memory is taken"
        case ring_buffer.Owned(), bool():
            return "it is said to be this process's" if result else "it is said to be another's"
        case ring_buffer.Largest(), [end, refused, is_unchanged]:
            how = "nothing changed" if is_unchanged else "the ring changed"
            return f"a chunk to {end}; one byte more: {refused}, {how}"
    return None


def _whose(by_reader: bool) -> str:
    return " by a reader" if by_reader else ""


def ring_in_words(state: Mapping[str, Any]) -> str:
    """Each live chunk as `id@address`, oldest first, then begin and end; nothing for another state."""
    if not state.keys() >= {"addresses", "begin", "end"}:
        return ""
    chunks = " ".join(f"{identifier}@{address}" for identifier, address in state["addresses"])
    return f"{chunks or 'empty'}, {state['begin']} to {state['end']}, next id {state['next_id']}"
