"""Counterexamples travel: an error trace of TLC as a `Run`; `behaviours` goes the other way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.run import Run, Step, plain
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.bindings.base import Binding
from mmcache_ref.tlc.graph import asked
from mmcache_ref.tlc.manifest import Bound
from mmcache_ref.tlc.output import TraceStep
from mmcache_ref.tlc.values import Mapped, text


class NoRun(ValueError):  # noqa: N818 - reads as what it is
    """A trace with a step that the Python model cannot take; the message says which."""


def run_of_trace(bound: Bound, trace: Sequence[TraceStep]) -> Run:
    """The run with the operations of an error trace, and what the Python model says of each.

    The model that TLC checked may be broken: where it answers otherwise than the Python model, the run goes
    on with the same operations.
    """
    binding = BINDINGS[bound.model]
    component = COMPONENTS[bound.component or bound.model]
    model = component.model
    config = binding.config(bound.preset, **bound.options)
    state = model.initial(config)
    steps = []
    for number, told in enumerate(trace[1:], 2):
        operation = operation_of(binding, config, state, told.state["call"])
        if operation is None:
            raise NoRun(f"step {number}, {text(told.state['call'])}, is no step of {bound.model} there")
        state, outcome = model.step(config, state, operation)
        observed = plain(model.observe(config, state))
        steps.append(Step(operation, plain(outcome.result), None, observed))
    return Run(component.name, model.bare(config), "safe", tuple(steps))


def operation_of(binding: Binding, config: Any, state: Any, call: Mapped) -> Op | None:
    """What can be done in a state and is this call, whatever it is answered."""
    offered = binding.operations(config, state)
    if call in offered:
        return offered[call]
    return next((operation for each, operation in offered.items() if asked(each) == asked(call)), None)
