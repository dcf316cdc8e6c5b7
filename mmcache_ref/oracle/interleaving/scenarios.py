"""The scenarios: small enough that every interleaving can be run.

Chunks have 31 bytes besides the content. In most scenarios the ring has room for two of 40 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mmcache_ref.model.component import Content
from mmcache_ref.model.object_store import (
    ID_MAX,
    OVERHEAD,
    Clear,
    Config,
    FreeUnused,
    Get,
    GetCached,
    IsCached,
    Operation,
    Put,
    PutFailing,
    ReaderTouch,
)
from mmcache_ref.oracle.interleaving.protocol_scenarios import PROTOCOL_SCENARIOS
from mmcache_ref.oracle.interleaving.ring_scenarios import RING_SCENARIOS
from mmcache_ref.oracle.interleaving.scenario import AnyScenario, Call, Scenario

CHUNK: Final = 40
"""Bytes of the usual chunk."""
LATE_COUNT: Final = ("OS-23", "OS-32")
"""What no store keeps alone when its writer has no lock."""


def content(fill: int, chunk: int = CHUNK) -> Content:
    """What fills a chunk of so many bytes."""
    return Content(chunk - OVERHEAD, fill)


def put(key: str, fill: int, chunk: int = CHUNK) -> Put:
    """A put of an object whose chunk has so many bytes."""
    return Put(key, content(fill, chunk))


def calls(*operations: Operation) -> tuple[Call, ...]:
    """These operations one after the other."""
    return tuple([Call(each) for each in operations])


def config(readers: int = 1, chunks: int = 2, id_max: int = ID_MAX) -> Config:
    """A ring with room for so many of the usual chunks; an object may have two of them."""
    return Config(chunks * CHUNK, 2 * CHUNK, readers, id_max)


A: Final = put("a", 1)
READ: Final = Get("a")
SECOND_READ: Final = Get("a", reader=1)

WRAPPED_SET_UP: Final = (put("x", 9), Get("x"), put("y", 8), Get("y"), put("w", 7), Get("w"), A)
"""The ring has gone round when `a` is put, and in a ring of two ids also the ids."""

STORE_SCENARIOS: Final = (
    Scenario(
        "get-get",
        "two readers read one handle at once",
        config(readers=2),
        (A,),
        {"reader-0": calls(READ), "reader-1": calls(SECOND_READ)},
    ),
    Scenario(
        "get-free",
        "a reader reads while the writer frees",
        config(),
        (A,),
        {"writer": calls(FreeUnused()), "reader-0": calls(READ)},
    ),
    Scenario(
        "get-get-free",
        "two readers read one handle while the writer frees",
        config(readers=2, chunks=1),
        (A,),
        {"writer": calls(FreeUnused()), "reader-0": calls(READ), "reader-1": calls(SECOND_READ)},
    ),
    Scenario(
        "get-again",
        "the writer hands out a second reference, and frees, while the first is read",
        config(),
        (A,),
        {"writer": calls(GetCached("a"), FreeUnused()), "reader-0": calls(READ)},
    ),
    Scenario(
        "get-put",
        "a put needs the place of an object that is just being read",
        config(chunks=1),
        (A,),
        {"writer": calls(put("b", 2)), "reader-0": calls(READ)},
    ),
    Scenario(
        "get-failing-put",
        "a put that fails while copying takes the place of an object that is just being read",
        config(chunks=1),
        (A,),
        {"writer": calls(PutFailing("b", content(2), True), FreeUnused()), "reader-0": calls(READ)},
    ),
    Scenario(
        "get-clear",
        "a clear meets a reader half-way",
        config(),
        (A,),
        {"writer": calls(Clear()), "reader-0": calls(READ)},
    ),
    Scenario(
        "get-clear-put",
        "a clear and a put at the same address meet a reader half-way",
        config(),
        (A,),
        {"writer": calls(Clear(), put("b", 2)), "reader-0": calls(READ)},
    ),
    Scenario(
        "get-clear-put-larger",
        "the same, and what comes is longer than what was there",
        config(),
        (put("x", 9, 36), A),
        {"writer": calls(Clear(), put("b", 2, 60)), "reader-0": calls(READ)},
    ),
    Scenario(
        "stale-get-put",
        "a handle that has no reference left is read once more while a put takes the place",
        config(chunks=1),
        (A, READ),
        {"writer": calls(put("b", 2)), "reader-0": calls(READ)},
    ),
    Scenario(
        "wrapped-stale-get-put",
        "the same when addresses and ids have gone round",
        config(id_max=3),
        (*WRAPPED_SET_UP, READ),
        {"writer": calls(put("b", 2), put("c", 3)), "reader-0": calls(READ)},
    ),
    Scenario(
        "stale-get-free-put",
        "the same, and the writer frees some time before it puts: a client has to ask for it",
        config(chunks=1),
        (A, READ),
        {
            "writer": (Call(FreeUnused()), Call(put("b", 2), after=(("client", 0),))),
            "reader-0": calls(READ),
            "client": (Call(IsCached("c"), after=(("writer", 0),)),),
        },
    ),
    Scenario(
        "touch-put",
        "a reader checks a handle while a put takes the place",
        config(chunks=1),
        (A, READ),
        {"writer": calls(put("b", 2)), "reader-0": calls(ReaderTouch("a"), READ)},
    ),
    Scenario(
        "put-get",
        "objects are put and read one behind the other, and their places are used again",
        config(),
        (A,),
        {"writer": calls(put("b", 2), put("c", 3)), "reader-0": calls(READ, Get("b"))},
    ),
    Scenario(
        "early-get",
        "a reader has the handle before the object is complete",
        config(),
        (),
        {"writer": calls(put("a", 1)), "reader-0": (Call(READ, is_early=True),)},
    ),
    Scenario(
        "drained-clear",
        "a writer without a lock clears when no handle is under way, and puts at the same address",
        config(readers=2),
        (A,),
        {
            "writer": (Call(Clear(), after=(("reader-0", 0), ("reader-1", 0))), Call(put("b", 2))),
            "reader-0": calls(READ),
            "reader-1": calls(SECOND_READ),
        },
        writer_has_lock=False,
    ),
    Scenario(
        "validated-handle",
        "a writer without a lock puts; what is under way has a reference",
        config(chunks=1),
        (A, READ, GetCached("a")),
        {"writer": calls(put("b", 2)), "reader-0": calls(READ)},
        writer_has_lock=False,
    ),
    Scenario(
        "unprotected-clear",
        "a writer without a lock clears, and puts at the same address, with a reader half-way",
        config(),
        (A,),
        {"writer": calls(Clear(), put("b", 2)), "reader-0": calls(READ)},
        writer_has_lock=False,
        left_to_protocol=LATE_COUNT,
    ),
    Scenario(
        "unvalidated-handle",
        "a writer without a lock puts where a handle without a reference is read",
        config(chunks=1),
        (A, READ),
        {"writer": calls(put("b", 2)), "reader-0": calls(READ)},
        writer_has_lock=False,
        left_to_protocol=LATE_COUNT,
    ),
)

SCENARIOS: Final[Mapping[str, AnyScenario]] = {
    each.name: each for each in (*RING_SCENARIOS, *STORE_SCENARIOS, *PROTOCOL_SCENARIOS)
}
"""By name, in the order in which they are run."""
