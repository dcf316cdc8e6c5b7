"""Which cache a configuration gets: a decision table.   [spec/09-factories.md]

The shared-memory caches themselves are not made here: only what is decided without making one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Literal, NamedTuple

import msgspec

from .component import Aspect, Op, Outcome, Raised, Rule, rule

NAME = "factories"
GIB = 2**30
Function = Literal["processor", "processor_only", "engine", "worker"]


class Configuration(msgspec.Struct, frozen=True):
    """What the factories read; `budget_bytes` is `mm_processor_cache_gb` in bytes."""

    budget_bytes: int = 4 * GIB
    cache_type: str = "lru"
    is_multimodal: bool = True
    api_processes: int = 1
    data_parallel_size: int = 1
    is_externally_balanced: bool = False


class Make(Op, frozen=True, tag="make"):
    """`{processor_cache, processor_only_cache, engine_receiver_cache, worker_receiver_cache}_from_config`"""

    function: Function
    configuration: Configuration
    has_lock: bool = True


Operation = Make


class Config(msgspec.Struct, frozen=True, omit_defaults=True):
    """The values of each attribute that an exhaustive run combines."""

    budgets: tuple[int, ...] = (0, 1000, 4 * GIB)
    cache_types: tuple[str, ...] = ("lru", "shm", "fifo")
    counts: tuple[int, ...] = (1, 2)


PRESETS = {"tiny": Config(), "small": Config(budgets=(-GIB, 0, 1, 1000, 4 * GIB), counts=(0, 1, 2, 3))}


class State(NamedTuple):
    """The budget of the cache made last; None where none was made or it has none."""

    budget: int | None = None


RULES: Mapping[tuple[str, str], Rule] = {
    **{("make", f"{function}: none"): rule("FA-01") for function in ("processor", "processor_only")},
    ("make", "processor: processor-only"): rule("FA-02"),
    ("make", "processor: lru"): rule("FA-05"),
    **{("make", f"{function}: unknown"): rule("FA-04") for function in ("processor", "engine", "worker")},
    ("make", "processor_only: processor-only"): rule("FA-06"),
    ("make", "engine: none"): rule("FA-07"),
    ("make", "engine: lru"): rule("FA-07", "FA-03"),
    ("make", "worker: none"): rule("FA-08"),
    ("make", "worker: no lock"): rule("FA-08"),
}
ASPECTS = {"budget": Aspect(2, "FA-11")}
RECEIVER = "LruKeyReplicatedReceiverCache"
SENDER = "LruKeyReplicatedSenderCache"
PROCESSOR_ONLY = "MultiModalProcessorOnlyCache"


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
    """Every combination, but for those that would make a shared-memory cache."""
    flags = (True, False)
    combined = product(config.budgets, config.cache_types, flags, config.counts, config.counts, flags)
    functions: tuple[Function, ...] = ("processor", "processor_only", "engine", "worker")
    for values in combined:
        configuration = Configuration(*values)
        for function, has_lock in product(functions, flags):
            operation = Make(function, configuration, has_lock)
            if not makes_shared_memory(operation) and (has_lock or function == "worker"):
                yield operation


def makes_shared_memory(operation: Operation) -> bool:
    """Would it make a cache that lives in shared memory, or attach to one?"""
    is_served = operation.function == "processor" or (operation.function == "worker" and operation.has_lock)
    return cache_type(operation.configuration) == "shm" and is_served


def bare(config: Config) -> Config:
    """Nothing: an operation says it all."""
    return Config()


def view(state: State) -> tuple[object, ...]:
    """One state: what was made before does not matter."""
    return ()


def observe(config: Config, state: State) -> dict[str, object]:
    """The budget."""
    return {"budget": state.budget}


def step(config: Config, state: State, operation: Operation) -> tuple[State, Outcome]:
    """One decision.   [FA-04, FA-05, FA-06, FA-07, FA-08, FA-11]

    Raises `ValueError` for what would make shared memory.
    """
    if makes_shared_memory(operation):
        raise ValueError("the shared-memory caches are not made here")
    chosen = cache_type(operation.configuration)
    made = State(operation.configuration.budget_bytes)
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
    if chosen == "shm":
        return State(), Outcome("worker: no lock", Raised("ValueError"))
    return State(), Outcome("worker: none", "None")
