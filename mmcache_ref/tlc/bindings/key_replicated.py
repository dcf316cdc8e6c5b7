"""`model/key_replicated.py` and `KeyReplicated.tla`."""

from __future__ import annotations

from typing import Any, Final

from mmcache_ref.model import key_replicated
from mmcache_ref.model.component import Content, Missed, Outcome
from mmcache_ref.tlc.bindings.base import Binding, described
from mmcache_ref.tlc.values import ModelValue

NONE: Final = ModelValue("None")


def state(config: key_replicated.Config, state: key_replicated.State) -> Any:
    """`view`: the state's fields in order, each under its own name in TLA+."""
    return tuple([_plain(field) for field in state])


def call(operation: key_replicated.Operation, outcome: Outcome) -> Any:
    """The record `call`: of a message that P1 took also what was served, or what is missing."""
    arguments = {name: _plain(getattr(operation, name)) for name in operation.__struct_fields__}
    if isinstance(operation, key_replicated.Deliver):
        missing = outcome.result.hashes if isinstance(outcome.result, Missed) else ()
        served = outcome.result if isinstance(outcome.result, tuple) else ()
        arguments |= {"served": _plain(served), "missing": missing}
    return described(operation, outcome, **arguments)


def _plain(value: Any) -> Any:
    """Records as mappings, contents too; None as the model value of that name."""
    match value:
        case None:
            return NONE
        case Content(nbytes, fill):
            return {"nbytes": nbytes, "fill": fill}
        case tuple() if hasattr(value, "_asdict"):
            return {name: _plain(each) for name, each in value._asdict().items()}
        case tuple():
            return tuple([_plain(each) for each in value])
    return value


KEY_REPLICATED: Final = Binding(key_replicated, state, call)
