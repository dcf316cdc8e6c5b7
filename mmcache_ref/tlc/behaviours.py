"""A run as a TLA+ behaviour, and TLC's word on it: is it a behaviour of the module?"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.scratch import scratch
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.bindings.base import tla_value
from mmcache_ref.tlc.manifest import models_directory
from mmcache_ref.tlc.runner import Job, run
from mmcache_ref.tlc.values import canonical, parse, text

NAME: Final = "Behaviour"
"""The module that is written, and the definition in it."""


class NoBehaviour(ValueError):  # noqa: N818 - reads as what it is
    """A run of a component that no TLA+ module models; the message says which are modelled."""


class Followed(NamedTuple):
    """How many steps of a run TLC could take, of how many; `error`: TLC could not read or run the module."""

    steps: int
    taken: int
    error: str = ""

    @property
    def is_behaviour(self) -> bool:
        """Whether TLC took every step."""
        return not self.error and self.taken == self.steps


@dataclass(frozen=True)
class _Module:
    """The module of a model, its `view`, and its constants for the configuration and operations of a run;
    `Asked` is what it calls the requests of a run, and `asked` says of what kind they are."""

    name: str
    constants: Callable[[Any, Sequence[Any]], Mapping[str, Any]]
    view: str = "view"
    asked: Callable[[list[Any]], Any] | None = None


def _keys(operations: Sequence[Any]) -> frozenset[str]:
    return frozenset([operation.key for operation in operations if hasattr(operation, "key")])


def _sizes(operations: Sequence[Any]) -> frozenset[int]:
    """The positive sizes of contents and of payloads."""
    sizes = [each.content.nbytes for each in operations if hasattr(each, "content")]
    sizes += [each.nbytes for each in operations if isinstance(getattr(each, "nbytes", None), int)]
    return frozenset([size for size in sizes if size > 0])


MODULES: Final[Mapping[str, _Module]] = {
    "lru": _Module(
        "Lru",
        lambda config, operations: {
            "Budget": config.budget,
            "Keys": _keys(operations),
            "Sizes": _sizes(operations) | {0},
        },
    ),
    "ring-buffer": _Module(
        "RingBuffer",
        lambda config, operations: {
            "Capacity": config.capacity,
            "IdMax": config.id_max,
            "Sizes": _sizes(operations),
        },
    ),
    "object-store": _Module(
        "ObjectStore",
        lambda config, operations: {
            "Capacity": config.capacity,
            "MaxObjectSize": config.max_object_size,
            "Readers": config.readers,
            "Keys": _keys(operations),
            "Sizes": _sizes(operations),
            "MostPuts": len(operations) + 1,
            "MostReferences": len(operations) + 1,
            "MostClears": len(operations) + 1,
        },
    ),
    "key-replicated": _Module(
        "KeyReplicated",
        lambda config, operations: {
            "Budget": config.budget,
            "Depth": config.depth,
            "Clears": config.clears,
            "Accidents": config.accidents,
            "Protections": config.protections,
        },
        asked=tuple,
    ),
    "shm-caches": _Module(
        "ShmCaches",
        lambda config, operations: {
            "Capacity": config.capacity,
            "Limit": config.limit,
            "Workers": config.workers,
            "Depth": config.depth,
            "Accidents": config.accidents,
            "Protections": config.protections,
            "ForgedKey": next((each.key for each in operations if hasattr(each, "how")), ""),
        },
        view="exactView",
        asked=frozenset,
    ),
}
"""By the name of the Python model."""


def _module(stored: Run) -> _Module:
    module = MODULES.get(COMPONENTS[stored.component].model.NAME)
    if module is None:
        modelled = sorted(each.name for each in COMPONENTS.values() if each.model.NAME in MODULES)
        raise NoBehaviour(f"no TLA+ module models {stored.component}, but {', '.join(modelled)}")
    return module


def records(stored: Run) -> list[Any]:
    """The run as records of `call` and `view`, the first state first, in canonical form."""
    binding = BINDINGS[COMPONENTS[stored.component].model.NAME]
    model, config = binding.model, stored.config
    if isinstance(config, msgspec.Struct) and "keys" in config.__struct_fields__:
        config = msgspec.structs.replace(config, keys=tuple(sorted(_keys(stored.operations))))
    state = model.initial(config)
    found = [canonical({"call": {"op": "initial"}, "view": binding.state(config, state)})]
    for operation in stored.operations:
        state, outcome = model.step(config, state, operation)
        found.append(
            canonical({"call": binding.call(operation, outcome), "view": binding.state(config, state)})
        )
    return found


def module_of(stored: Run) -> str:
    """The module that takes the steps of a run and no others: each must be a step of the model, and lead to
    the state that the Python model has there."""
    module = _module(stored)
    asked = ""
    if module.asked is not None:
        requests = [
            canonical(tla_value(each.request)) for each in stored.operations if hasattr(each, "request")
        ]
        asked = f"Requested == {text(module.asked(list(dict.fromkeys(requests))))}\n\n"
    return (
        f"---- MODULE {NAME} ----\n"
        f"(* A run of {stored.component}: is it a behaviour of {module.name}? *)\n"
        f"EXTENDS {module.name}, TLC\n\n{asked}"
        f"{NAME} == <<\n" + ",\n".join(f"    {text(each)}" for each in records(stored)) + "\n>>\n\n"
        "VARIABLE reached  \\* the number of the record that was reached\n\n"
        f"Begins == Init /\\ reached = 1 /\\ {module.view} = {NAME}[1].view\n\n"
        "GoesOn ==\n"
        f"    /\\ reached < Len({NAME})\n"
        "    /\\ Next\n"
        "    /\\ reached' = reached + 1\n"
        f"    /\\ call'.op = {NAME}[reached'].call.op /\\ call' = {NAME}[reached'].call\n"
        f"    /\\ {module.view}' = {NAME}[reached'].view\n\n"
        'IsTold == PrintT(<<"reached", reached>>)\n'
        "====\n"
    )


def settings(stored: Run) -> str:
    """The configuration beside that module: the constants are those of the run."""
    module = _module(stored)
    constants = module.constants(stored.config, stored.operations)
    lines = [f"    {name} = {text(canonical(value))}\n" for name, value in constants.items()]
    if module.asked is not None:
        lines += ["    None = None\n", "    Asked <- Requested\n"]
    return f"CONSTANTS\n{''.join(lines)}INIT Begins\nNEXT GoesOn\nINVARIANT IsTold\n"


def follow(stored: Run, *, seconds: float = 600) -> Followed:
    """Let TLC take the steps of a run."""
    reached = 0

    def printed(line: str) -> None:
        nonlocal reached
        if line.startswith('<<"reached"'):
            reached = max(reached, parse(line)[1])

    with scratch("behaviour") as folder:
        for each in models_directory().glob("*.tla"):
            shutil.copy(each, folder)
        module, config = folder / f"{NAME}.tla", folder / f"{NAME}.cfg"
        module.write_text(module_of(stored), encoding="utf-8")
        config.write_text(settings(stored), encoding="utf-8")
        job = Job(module, config, ends_early=True, is_short=True, seconds=seconds)
        found = run(job, printed=printed)
    return Followed(len(stored.operations), max(reached - 1, 0), found.went_wrong())
