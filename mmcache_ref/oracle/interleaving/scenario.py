"""A scenario: what was done before, and what each thread does then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from mmcache_ref.model import object_store, ring_buffer, shm_accidents
from mmcache_ref.model.component import Op
from mmcache_ref.model.object_store import Config, Operation
from mmcache_ref.oracle.errors import BadRun

HANDED = (object_store.Get, object_store.ReaderTouch, object_store.Verify)
"""Operations on a handle."""


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call of a thread.

    Where the operation takes a handle, it is the one with the number `issue` among those issued for its key,
    counted from the first; `after` names calls of other threads, as thread and number, that end before this
    one begins. With `is_early` the reader has the handle before its chunk is complete.
    """

    operation: Operation
    issue: int = 0
    after: tuple[tuple[str, int], ...] = ()
    is_early: bool = False


class ProtocolCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """One step of the protocol around the caches; `after` as of `Call`."""

    operation: shm_accidents.Operation
    after: tuple[tuple[str, int], ...] = ()


class Scenario(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="of", tag="object-store"):
    """One writer and its readers: `setup` is done first, one after the other, then the threads run.

    `writer_has_lock`: the writer shares the readers' lock. `left_to_protocol`: clauses that no store keeps in
    this scenario, since it is the protocol's business that it does not happen.
    """

    name: str
    title: str
    config: Config
    setup: tuple[Operation, ...]
    threads: dict[str, tuple[Call, ...]]
    writer_has_lock: bool = True
    left_to_protocol: tuple[str, ...] = ()


class ProtocolScenario(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="of", tag="shm-caches"):
    """P0 and its workers with the default protections: `setup` is done first, then the threads run.

    `capacity` of the ring and `limit` of an item are in units; `without` names protections that are off.
    """

    name: str
    title: str
    capacity: int
    limit: int
    workers: int
    setup: tuple[shm_accidents.Operation, ...]
    threads: dict[str, tuple[ProtocolCall, ...]]
    left_to_protocol: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


class TakeBack(Op, frozen=True, tag="take-back"):
    """`r.free_buf(is_free)`, where a chunk is free whose payload begins with this byte or a greater one."""

    least: int


class Peek(Op, frozen=True, tag="peek"):
    """`r.access_buf(address)` by a reader, whatever lies there now."""

    address: int


RingOperation = (
    ring_buffer.Allocate | ring_buffer.Access | ring_buffer.Fill | ring_buffer.Clear | TakeBack | Peek
)


class RingCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call of a ring; `after` as of `Call`."""

    operation: RingOperation
    after: tuple[tuple[str, int], ...] = ()


class RingScenario(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="of", tag="ring-buffer"):
    """The writer of a ring and its reader, without a store and without a lock: `setup` is done first."""

    name: str
    title: str
    config: ring_buffer.Config
    setup: tuple[RingOperation, ...]
    threads: dict[str, tuple[RingCall, ...]]
    left_to_protocol: tuple[str, ...] = ()


AnyCall = Call | ProtocolCall | RingCall
AnyScenario = Scenario | ProtocolScenario | RingScenario


def calls_of(scenario: AnyScenario) -> dict[tuple[str, int], AnyCall]:
    """Every call by its thread and its number there."""
    threads: Mapping[str, Sequence[AnyCall]] = scenario.threads
    return {(thread, number): call for thread, calls in threads.items() for number, call in enumerate(calls)}


def check_scenario(scenario: AnyScenario) -> None:
    """`BadRun` if a call can never be made: what it waits for is not there, or who makes it is not."""
    for name in (name for name, calls in scenario.threads.items() if not calls):
        raise BadRun(f"thread {name!r} of the scenario makes no call")
    known = calls_of(scenario)
    if not known:
        raise BadRun("the scenario has no threads")
    for (thread, number), call in known.items():
        where = f"call {number} of {thread}"
        for each in call.after:
            if each not in known:
                raise BadRun(f"{where} waits for call {each[1]} of {each[0]}, and there is none")
        if isinstance(scenario, Scenario) and isinstance(call.operation, HANDED):
            _check_handed(scenario, call.operation, where)
        worker = getattr(call.operation, "worker", 0)
        if isinstance(scenario, ProtocolScenario) and worker >= scenario.workers:
            raise BadRun(f"{where} is made by a worker that is none of the {scenario.workers}")


def _check_handed(scenario: Scenario, operation: Operation, where: str) -> None:
    """Is there a handle of this key, and such a reader?"""
    readers, key = scenario.config.readers, getattr(operation, "key", "")
    if getattr(operation, "reader", 0) >= readers:
        raise BadRun(f"{where} is made by a reader that is none of the {readers}")
    made = [*scenario.setup, *(call.operation for call in calls_of(scenario).values())]
    if not any(isinstance(each, object_store.Put) and each.key == key for each in made):
        raise BadRun(f"{where} takes a handle of {key!r}, which nobody puts")
