"""Counterexamples travel: an error trace of TLC as a `Run`, and a `Run` as a TLA+ behaviour."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from mmcache_ref.model.component import Op
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.run import Run, Step, plain
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.bindings.base import Binding
from mmcache_ref.tlc.manifest import Bound
from mmcache_ref.tlc.output import TraceStep
from mmcache_ref.tlc.values import Mapped, canonical, text

ANSWERS: Final = frozenset({"kind", "gives", "served", "missing"})
"""Fields of `call` that say what a call was answered: a broken model answers otherwise."""


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
        operation = _operation(binding, config, state, told.state["call"])
        if operation is None:
            raise NoRun(f"step {number}, {text(told.state['call'])}, is no step of {bound.model} there")
        state, outcome = model.step(config, state, operation)
        observed = plain(model.observe(config, state))
        steps.append(Step(operation, plain(outcome.result), None, observed))
    return Run(component.name, model.bare(config), "safe", tuple(steps))


def behaviour_of_run(bound: Bound, operations: Iterable[Op], name: str = "Behaviour") -> str:
    """The run as a TLA+ definition: a sequence of records with `call` and `view`."""
    binding = BINDINGS[bound.model]
    model = binding.model
    config = binding.config(bound.preset, **bound.options)
    state = model.initial(config)
    lines = [_line({"op": "initial"}, binding.state(config, state))]
    for operation in operations:
        state, outcome = model.step(config, state, operation)
        lines.append(_line(binding.call(operation, outcome), binding.state(config, state)))
    return f"{name} == <<\n" + ",\n".join(lines) + "\n>>\n"


def _line(call: Any, view: Any) -> str:
    return f"    [call |-> {text(canonical(call))}, view |-> {text(canonical(view))}]"


def _operation(binding: Binding, config: Any, state: Any, call: Mapped) -> Op | None:
    """What can be done in a state and is this call, whatever it is answered."""
    offered = binding.operations(config, state)
    if call in offered:
        return offered[call]
    asked = _asked(call)
    return next((operation for each, operation in offered.items() if _asked(each) == asked), None)


def _asked(call: Mapped) -> frozenset[tuple[Any, Any]]:
    """A call without what it was answered."""
    return frozenset(pair for pair in call.pairs if pair[0] not in ANSWERS)
