"""Scenarios of the ring alone: a reader at a chunk while the writer lays others, and takes chunks back.

A chunk has 8 bytes besides its payload. A payload that begins with `READ` or more belongs to a chunk that
nobody needs any more: the reader says so by filling it.
"""

from __future__ import annotations

from typing import Final

from mmcache_ref.model.ring_buffer import Access, Allocate, Clear, Config, Fill
from mmcache_ref.oracle.interleaving.scenario import Peek, RingCall, RingOperation, RingScenario, TakeBack

READ: Final = 100
A: Final = Allocate(16, 1)
B: Final = Allocate(16, 2)
C: Final = Allocate(16, 3)
USED: Final = Allocate(16, READ)
"""A chunk that was read already."""
CHUNK: Final = 24
"""Bytes of each of them."""
FIRST: Final = Access(0, by_reader=True)
SECOND: Final = Access(CHUNK, by_reader=True)
OF_NO_LIVE_CHUNK: Final = ("RB-29",)
"""What no ring keeps where the address is not that of a chunk that was handed out and is live."""


def calls(*operations: RingOperation) -> tuple[RingCall, ...]:
    """These operations one after the other."""
    return tuple([RingCall(each) for each in operations])


RING_SCENARIOS: Final = (
    RingScenario(
        "ring-allocate",
        "a reader is at a chunk while the writer lays another one, and finds no room for a third",
        Config(2 * CHUNK),
        (A,),
        {"writer": calls(B, C), "reader-0": calls(FIRST)},
    ),
    RingScenario(
        "ring-reuse",
        "a reader is at a chunk while the one before it is taken back, and its place used, behind a gap",
        Config(2 * CHUNK + 16),
        (USED, B),
        {"writer": calls(TakeBack(READ), C), "reader-0": calls(SECOND)},
    ),
    RingScenario(
        "ring-take-back",
        "a reader is done with a chunk while the writer asks, and needs its place",
        Config(CHUNK),
        (A,),
        {"writer": calls(TakeBack(READ), B), "reader-0": calls(FIRST, Fill(0, READ, by_reader=True))},
    ),
    RingScenario(
        "ring-wrap-ids",
        "the same where ids have gone round",
        Config(2 * CHUNK, id_max=3),
        (USED, USED, TakeBack(READ), USED, A),
        {"writer": calls(TakeBack(READ), B), "reader-0": calls(SECOND, Fill(CHUNK, READ, by_reader=True))},
    ),
    RingScenario(
        "ring-stale",
        "a reader looks where a chunk was, while what is no header comes to lie there",
        Config(2 * CHUNK + 16),
        (USED, USED),
        {"writer": calls(TakeBack(READ), Allocate(48, 0x7F)), "reader-0": calls(Peek(CHUNK))},
    ),
    RingScenario(
        "ring-handed-out",
        "a reader gets an address when the chunk is complete, and the writer goes on",
        Config(2 * CHUNK),
        (),
        {"writer": calls(A, B), "reader-0": (RingCall(FIRST, after=(("writer", 0),)),)},
    ),
    RingScenario(
        "ring-polled",
        "a reader has the address before the chunk is complete",
        Config(2 * CHUNK),
        (),
        {"writer": calls(A), "reader-0": calls(FIRST)},
        left_to_protocol=OF_NO_LIVE_CHUNK,
    ),
    RingScenario(
        "ring-drained-clear",
        "the writer clears when no reader is at a chunk, and lays another at the same place",
        Config(2 * CHUNK),
        (A,),
        {"writer": (RingCall(Clear(), after=(("reader-0", 0),)), RingCall(B)), "reader-0": calls(FIRST)},
    ),
    RingScenario(
        "ring-clear",
        "the writer clears with a reader at a chunk, and lays another at the same place",
        Config(2 * CHUNK),
        (A,),
        {"writer": calls(Clear(), B), "reader-0": calls(FIRST)},
        left_to_protocol=OF_NO_LIVE_CHUNK,
    ),
)
