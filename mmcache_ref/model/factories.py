"""Which cache a configuration gets: a decision table.   [spec/09-factories.md]

Shared-memory caches are made on segments of at most `SEGMENT_BYTES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Literal, NamedTuple

import msgspec

from .component import Aspect, Op, Outcome, Raised, Rule, rule

NAME = "factories"
GIB = 2**30
MIB = 2**20
SEGMENT_BYTES = MIB
"""The largest segment that is made."""
Function = Literal["processor", "processor_only", "engine", "worker"]


class Configuration(msgspec.Struct, frozen=True):
    """What the factories read: `mm_processor_cache_gb` and `mm_shm_cache_max_object_size_mb` in bytes."""

    budget_bytes: int = 4 * GIB
    cache_type: str = "lru"
    is_multimodal: bool = True
    api_processes: int = 1
    data_parallel_size: int = 1
    is_externally_balanced: bool = False
    workers: int = 1
    object_bytes: int = 128 * MIB


class Make(Op, frozen=True, tag="make"):
    """`{processor_cache, processor_only_cache, engine_receiver_cache, worker_receiver_cache}_from_config`"""

    function: Function
    configuration: Configuration
    has_lock: bool = True


class MakeTaken(Op, frozen=True, tag="make-taken"):
    """`processor_cache_from_config` under the name of a segment that exists, with something in it"""

    configuration: Configuration


Operation = Make | MakeTaken


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """The values of each attribute that an exhaustive run combines."""

    budgets: tuple[int, ...] = (0, 1000, 4 * GIB)
    cache_types: tuple[str, ...] = ("lru", "shm", "fifo")
    counts: tuple[int, ...] = (1, 2)


TAKEN = MakeTaken(Configuration(1000, "shm", object_bytes=1000))
PRESETS = {"tiny": Config(), "small": Config(budgets=(-GIB, 0, 1, 1000, 4 * GIB), counts=(0, 1, 2, 3))}


class State(NamedTuple):
    """What the cache made last was given; None where none was made or it has no such thing."""

    budget: int | None = None
    ring: int | None = None
    object_limit: int | None = None
    readers: int | None = None

    @property
    def is_shared(self) -> bool:
        """Was it a shared-memory cache?"""
        return self.ring is not None


RULES: Mapping[tuple[str, str], Rule] = {
    **{("make", f"{function}: none"): rule("FA-01") for function in ("processor", "processor_only")},
    ("make", "processor: processor-only"): rule("FA-02"),
    ("make", "processor: lru"): rule("FA-05"),
    ("make", "processor: shm"): rule("FA-05", "FA-03"),
    **{("make", f"{function}: unknown"): rule("FA-04") for function in ("processor", "engine", "worker")},
    ("make", "processor_only: processor-only"): rule("FA-06"),
    ("make", "engine: none"): rule("FA-07"),
    ("make", "engine: lru"): rule("FA-07", "FA-03"),
    ("make", "worker: none"): rule("FA-08"),
    ("make", "worker: no lock"): rule("FA-08"),
    ("make", "worker: shm"): rule("FA-08", "FA-03"),
    ("make-taken", "refused"): rule("FA-15"),
}
ASPECTS = {
    "budget": Aspect(2, "FA-11"),
    "named": Aspect(2, "FA-12"),
    "ring": Aspect(2, "FA-13"),
    "object limit": Aspect(2, "FA-13"),
    "readers": Aspect(2, "FA-14"),
}
RECEIVER = "LruKeyReplicatedReceiverCache"
SENDER = "LruKeyReplicatedSenderCache"
PROCESSOR_ONLY = "MultiModalProcessorOnlyCache"
SHM_SENDER = "ShmObjectStoreSenderCache"
SHM_RECEIVER = "ShmObjectStoreReceiverCache"


def cache_type(configuration: Configuration) -> str | None:
    """None, `processor_only`, or the configured type.   [FA-01, FA-02, FA-03]"""
    if not configuration.is_multimodal or configuration.budget_bytes <= 0:
        return None
    is_replicable = configuration.api_processes == 1 and (
        configuration.data_parallel_size == 1 or configuration.is_externally_balanced
    )
    return configuration.cache_type if is_replicable else "processor_only"


def initial(config: Config) -> State:
    """Nothing made yet."""
    return State()


def operations(config: Config, state: State) -> Iterator[Operation]:
    """Every combination, but for those that would make a large segment."""
    yield TAKEN
    flags = (True, False)
    combined = product(config.budgets, config.cache_types, flags, config.counts, config.counts, flags)
    functions: tuple[Function, ...] = ("processor", "processor_only", "engine", "worker")
    for values in combined:
        configuration = Configuration(*values, workers=values[3] + 1, object_bytes=values[4] * MIB // 4)
        for function, has_lock in product(functions, flags):
            operation = Make(function, configuration, has_lock)
            if not needs_large_segment(operation) and (has_lock or function == "worker"):
                yield operation


def makes_shared_memory(operation: Operation) -> bool:
    """Does it make a cache that lives in shared memory, or attach to one?"""
    if cache_type(operation.configuration) != "shm":
        return False
    if isinstance(operation, MakeTaken):
        return True
    return operation.function == "processor" or (operation.function == "worker" and operation.has_lock)


def needs_large_segment(operation: Operation) -> bool:
    """Would it need a segment that is too large to be made for a check, or would a wrong factory make one?"""
    configuration = operation.configuration
    return configuration.cache_type == "shm" and configuration.budget_bytes > SEGMENT_BYTES


def bare(config: Config) -> Config:
    """Nothing: an operation says it all."""
    return Config()


def view(state: State) -> tuple[object, ...]:
    """One state: what was made before does not matter."""
    return ()


def observe(config: Config, state: State) -> dict[str, object]:
    """The budget of an LRU; name, sizes and readers of a shared-memory cache."""
    return {
        "budget": state.budget,
        "named": True if state.is_shared else None,
        "ring": state.ring,
        "object limit": state.object_limit,
        "readers": state.readers,
    }


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One decision; what needs a large segment is not asked.   [FA-04, FA-05, FA-06, FA-07, FA-08, FA-11]"""
    configuration = operation.configuration
    chosen = cache_type(configuration)
    if needs_large_segment(operation):
        return state, Outcome("disabled")
    if isinstance(operation, MakeTaken):
        return _taken(chosen)
    made = State(configuration.budget_bytes)
    function = operation.function
    if function in ("processor", "processor_only"):
        if chosen is None:
            return State(), Outcome(f"{function}: none", "None")
        if function == "processor_only" or chosen == "processor_only":
            return made, Outcome(f"{function}: processor-only", PROCESSOR_ONLY)
        if chosen == "lru":
            return made, Outcome("processor: lru", SENDER)
    if chosen not in (None, "processor_only", "lru", "shm"):
        return State(), Outcome(f"{function}: unknown", Raised("ValueError"))
    if function == "engine":
        if chosen == "lru":
            return made, Outcome("engine: lru", RECEIVER)
        return State(), Outcome("engine: none", "None")
    if chosen == "shm" and function == "processor":
        return shared(configuration), Outcome("processor: shm", SHM_SENDER)
    if chosen == "shm" and operation.has_lock:
        return shared(configuration), Outcome("worker: shm", SHM_RECEIVER)
    if chosen == "shm":
        return State(), Outcome("worker: no lock", Raised("ValueError"))
    return State(), Outcome("worker: none", "None")


def _taken(chosen: str | None) -> tuple[State, Outcome]:
    """Under a name in use there is nothing to be had.   [FA-15]"""
    return State(), Outcome("refused", Raised("FileExistsError")) if chosen == "shm" else Outcome("disabled")


def shared(configuration: Configuration) -> State:
    """What a shared-memory cache is given.   [FA-12, FA-13, FA-14]"""
    return State(
        ring=configuration.budget_bytes,
        object_limit=configuration.object_bytes,
        readers=configuration.workers,
    )
