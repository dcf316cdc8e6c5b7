"""Scenarios of the caches in shared memory inside their protocol: P0 goes on while a worker reads.

Items have one unit. Where the ring has room for one, P0 needs the place of the item that is just being read.
"""

from __future__ import annotations

from typing import Final

from mmcache_ref.model.shm_accidents import Abort, Clear, Die, Operation, Read, Reject, Replay, Resume, Submit
from mmcache_ref.model.shm_requests import request
from mmcache_ref.oracle.interleaving.scenario import ProtocolCall, ProtocolScenario

A: Final = Submit(request("a"))
B: Final = Submit(request("b"))
DEATH: Final = Die(worker=1)
CLEARED: Final = ("SC-41",)
"""What goes wrong when a clear does not wait: whatever it is, by this clause."""
REPLAYED: Final = ("SC-43",)
"""The same of a client's handle that takes no reference: a count lands in the chunk that came."""
OVERTAKEN_AT_A_DEATH: Final = ("SC-34",)
"""The same when a worker has died, and the clear does not wait for what another is just reading."""


def steps(*operations: Operation) -> tuple[ProtocolCall, ...]:
    """These steps one after the other."""
    return tuple([ProtocolCall(each) for each in operations])


def scenario(
    name: str,
    title: str,
    setup: tuple[Operation, ...],
    p0: tuple[Operation, ...],
    worker: tuple[Operation, ...],
    *,
    units: int = 1,
    workers: int = 1,
    without: tuple[str, ...] = (),
    left_to_protocol: tuple[str, ...] = (),
) -> ProtocolScenario:
    """P0 and its first worker over a ring of so many units."""
    threads = {"p0": steps(*p0), "worker-0": steps(*worker)}
    return ProtocolScenario(name, title, units, units, workers, setup, threads, left_to_protocol, without)


PROTOCOL_SCENARIOS: Final = (
    scenario(
        "protocol-clear",
        "P0 clears and sends another item while a worker reads",
        (A,),
        (Clear(), B),
        (Read(),),
        units=2,
    ),
    scenario("protocol-put", "P0 needs the place of an item that a worker reads", (A,), (B,), (Read(),)),
    scenario(
        "protocol-children",
        "P0 needs the place of an item that a worker reads for each of two children",
        (Submit(request("a"), children=2),),
        (B,),
        (Read(), Read()),
    ),
    scenario(
        "protocol-resume",
        "P0 takes the place of an item that was read while its preempted request is resumed",
        (A, Read()),
        (B,),
        (Resume(),),
    ),
    scenario(
        "protocol-abort",
        "a request is aborted while a worker reads it, and P0 needs the place of its item",
        (A,),
        (Abort(), B),
        (Read(),),
    ),
    scenario(
        "protocol-reject",
        "a request is refused that has the item of another, which a worker reads, and P0 needs its place",
        (A,),
        (Reject(request("a")), B),
        (Read(), Read()),
    ),
    scenario(
        "protocol-replay",
        "a client brings a handle that it saw, P0 accepts it, and needs its place while a worker reads",
        (A, Read()),
        (Replay("a"), B),
        (Read(),),
    ),
    scenario(
        "protocol-unreferenced",
        "the same, and the handle that P0 accepts takes no reference",
        (A, Read()),
        (Replay("a"), B),
        (Read(),),
        without=("validated-handle",),
        left_to_protocol=REPLAYED,
    ),
    scenario(
        "protocol-clear-at-once",
        "P0 clears without waiting, and sends another item while a worker reads",
        (A,),
        (Clear(), B),
        (Read(),),
        units=2,
        without=("drained-clear",),
        left_to_protocol=CLEARED,
    ),
    scenario(
        "protocol-death",
        "a worker has died, and P0 needs the place of an item that the other one reads as a release",
        (A, DEATH),
        (B,),
        (Read(),),
        workers=2,
    ),
    scenario(
        "protocol-death-at-once",
        "a worker dies, and P0 clears without waiting for what the other one is reading",
        (A,),
        (DEATH, B),
        (Read(),),
        workers=2,
        left_to_protocol=OVERTAKEN_AT_A_DEATH,
    ),
)
