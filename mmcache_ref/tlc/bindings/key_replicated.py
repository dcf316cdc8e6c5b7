"""`model/key_replicated.py` and `KeyReplicated.tla`."""

from __future__ import annotations

from typing import Any, Final

from mmcache_ref.model import key_replicated
from mmcache_ref.model.component import Missed, Outcome
from mmcache_ref.tlc.bindings.base import Binding, described, tla_value


def state(config: key_replicated.Config, state: key_replicated.State) -> Any:
    """`view`: the state's fields in order, each under its own name in TLA+."""
    return tuple([tla_value(field) for field in state])


def call(operation: key_replicated.Operation, outcome: Outcome) -> Any:
    """The record `call`: of a message that P1 took also what was served, or what is missing."""
    arguments = {name: tla_value(getattr(operation, name)) for name in operation.__struct_fields__}
    if isinstance(operation, key_replicated.Deliver):
        missing = outcome.result.hashes if isinstance(outcome.result, Missed) else ()
        served = outcome.result if isinstance(outcome.result, tuple) else ()
        arguments |= {"served": tla_value(served), "missing": missing}
    return described(operation, outcome, **arguments)


ENTRY: Final = ("key", "content")

KEY_REPLICATED: Final = Binding(
    key_replicated,
    state,
    call,
    names=key_replicated.State._fields,
    members=dict.fromkeys(("sender", "receiver", "second_sender", "second_receiver"), ENTRY),
)
