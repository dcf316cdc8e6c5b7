"""The object store of a target with its threads: one run of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

from mmcache_ref.model import object_store
from mmcache_ref.oracle.adapters.base import agrees, raised
from mmcache_ref.oracle.adapters.forgeries import Shown
from mmcache_ref.oracle.adapters.object_store import Issued, ObjectStoreAdapter
from mmcache_ref.oracle.adapters.seals import Snapshot
from mmcache_ref.oracle.errors import BadRun, NotOffered
from mmcache_ref.oracle.interleaving.explore import Diverged
from mmcache_ref.oracle.interleaving.lock import CooperativeLock
from mmcache_ref.oracle.interleaving.places import CALL, Place
from mmcache_ref.oracle.interleaving.scenario import HANDED, Call, Scenario
from mmcache_ref.oracle.interleaving.scheduler import Choose, Execution
from mmcache_ref.oracle.interleaving.serde import SteppedSerde, stepped_serde_for
from mmcache_ref.oracle.interleaving.tracing import Tracer, paths_of


class Done(NamedTuple):
    """A call that has ended: when it began and when it ended, and what it gave."""

    thread: str
    number: int
    call: Call
    begin: int
    end: int
    result: Any


class Played(NamedTuple):
    """One run of a scenario: its steps, the calls in the order of their ends, and what is left then."""

    execution: Execution
    history: tuple[Done, ...]
    observation: Mapping[str, Any]


class SetUpWrong(Exception):  # noqa: N818 - reads as what it is
    """The target leaves the model before there is any other thread."""


class SharedStore(ObjectStoreAdapter):
    """One writer and all its readers over one lock that obeys the scheduler."""

    SERDE_FOR = staticmethod(stepped_serde_for)

    def __init__(self, namespace: Any, scenario: Scenario) -> None:
        self.lock = CooperativeLock()
        if scenario.writer_has_lock:
            self.WRITER_LOCK = self.lock
        super().__init__(namespace, scenario.config)
        for number in range(scenario.config.readers):
            self._reader(number)

    def _lock_of_readers(self) -> Any:
        return self.lock

    @property
    def paths(self) -> set[str]:
        """The files in which the target's store and ring, and the serde, are written."""
        return paths_of(type(self.store), type(self.ring), SteppedSerde)

    @property
    def memory(self) -> Callable[[], bytes] | None:
        """The bytes of the segment; None where the ring does not show its memory."""
        segment: Any = getattr(self.ring, "shared_memory", None)
        if not isinstance(getattr(segment, "buf", None), memoryview):
            return None
        return lambda: bytes(segment.buf)

    def is_issued(self, call: Call) -> bool:
        """Is there the handle that the call takes?"""
        issued = self._issued.get(getattr(call.operation, "key", ""), [])
        return not isinstance(call.operation, HANDED) or call.issue < len(issued)

    def call(self, call: Call) -> Any:
        """Do what the call says; what the caller saw."""
        operation = call.operation
        if isinstance(operation, HANDED):
            back = len(self._issued.get(operation.key, ())) - 1 - call.issue
            operation = msgspec.structs.replace(operation, back=max(back, 0))
        try:
            return self.perform(operation)
        except NotOffered:
            raise
        except (Exception, SystemExit) as error:
            return raised(error)

    def issue_early(self, key: str, address: int, identifier: int, puts: int) -> None:
        """The handle of an object that is going to be put, after so many other puts."""
        segment = Snapshot(self.ring)
        if not segment.is_sealing:
            raise NotOffered("the target's writer does not seal, so a chunk does not say that it is complete")
        signature = list(segment.signature(key, address, identifier))
        serial = len(self._parcels) + puts
        self._early = {key: Issued(Shown(address, identifier, signature, key), serial)}

    def _handle(self, key: str, back: int = 0) -> Issued:
        early: dict[str, Issued] = getattr(self, "_early", {})
        return early[key] if key in early else super()._handle(key, back)


def initial_state(scenario: Scenario, store: SharedStore | None = None) -> object_store.State:
    """The model's state after the set-up, which the store, if there is one, goes through too."""
    state = object_store.initial(scenario.config)
    for operation in scenario.setup:
        state, outcome = object_store.step(scenario.config, state, operation)
        if store is None:
            continue
        result = store.call(Call(operation, _issue_of(state, operation)))
        if not agrees(outcome.result, result):
            raise SetUpWrong(f"{operation} gave {result}, not {outcome.result}: judge it with conform first")
    return state


def _issue_of(state: object_store.State, operation: object_store.Operation) -> int:
    """The number of the handle that an operation of the set-up takes."""
    if not isinstance(operation, HANDED):
        return 0
    return sum(handle.key == operation.key for handle in state.handles) - 1 - operation.back


def play(
    namespace: Any,
    scenario: Scenario,
    choose: Choose,
    tracer: Callable[[SharedStore], Tracer],
) -> Played:
    """Run the scenario once on a fresh segment, as `choose` says."""
    store = SharedStore(namespace, scenario)
    try:
        state = initial_state(scenario, store)
        _issue_early(scenario, state, store)
        done: dict[tuple[str, int], Done] = {}

        def is_ready(thread: str, number: int) -> Callable[[], bool]:
            call = scenario.threads[thread][number]
            return lambda: (
                all(each in done for each in call.after) and (call.is_early or store.is_issued(call))
            )

        execution = Execution(
            scenario.names, choose, store.memory, [is_ready(thread, 0) for thread in scenario.names]
        )
        store.lock.execution = execution

        def work(thread: str) -> Callable[[], None]:
            def calls() -> None:
                for number, call in enumerate(scenario.threads[thread]):
                    if number:
                        before_call(thread, number)
                    begin = execution.begin_call()
                    result = store.call(call)
                    done[thread, number] = Done(thread, number, call, begin, execution.end_call(), result)

            return calls

        def before_call(thread: str, number: int) -> None:
            place, ready = Place(CALL, number), is_ready(thread, number)
            if ready():
                execution.arrive(place)
            execution.wait_until(ready, place)

        traced = tracer(store)
        execution.run([traced.body(execution, work(thread)) for thread in scenario.names])
        store.lock.execution = None
        if isinstance(execution.error, NotOffered | Diverged | BadRun):
            raise execution.error
        is_whole = not (execution.problem or execution.is_deadlocked)
        seen = store.observe() if is_whole else {}
        return Played(execution, tuple(sorted(done.values(), key=lambda each: each.end)), seen)
    finally:
        store.tidy_up()


def _issue_early(scenario: Scenario, state: object_store.State, store: SharedStore) -> None:
    """Give out the handles that readers have too early."""
    early = {call.operation.key for call in scenario.calls.values() if call.is_early}  # type: ignore[union-attr]
    puts = 0
    for calls in scenario.threads.values() if early else ():
        for call in calls:
            state, outcome = object_store.step(scenario.config, state, call.operation)
            if isinstance(call.operation, object_store.Put):
                if call.operation.key in early:
                    address, identifier = outcome.result
                    store.issue_early(call.operation.key, address, identifier, puts)
                puts += 1
