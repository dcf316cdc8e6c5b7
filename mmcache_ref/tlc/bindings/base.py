"""How a Python model and a TLA+ module name the same states and calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mmcache_ref.model.component import Content, Op, Outcome, tag
from mmcache_ref.model.explore import Exploration, Progress, explore
from mmcache_ref.tlc.graph import Edge, Graph
from mmcache_ref.tlc.values import ModelValue, canonical

DISABLED = "disabled"
"""The kind of an operation that does nothing in the model's state: no action."""
NONE: Final = ModelValue("None")


@dataclass(frozen=True)
class Binding:
    """A Python model and the TLA+ module of the same component.

    `state`: a state as the value of `view`; `call`: an operation and its outcome as the value of `call`;
    `is_action`: whether an operation is an action of the module, and not a second spelling of one or a call
    that the module leaves out; each is unless given. `tried`: what is worth trying from a state, where the
    module tries something else than the model's own search; `presets`: configurations that suit that.
    `is_executed`: its operations are calls, which a target can make; single loads and stores are none.
    `told_apart`: what identifies a state where edges are compared, or the module's view is the exact one, if
    the model's `view` takes states for one in which other operations can be done, such as two orders of the
    same messages.
    `names`: of the values in `state`, as TLA+ names them; `members`: for a field the names of the values that
    each member of its sequence is made of, where TLA+ has them as tuples.
    """

    model: Any
    state: Callable[[Any, Any], Any]
    call: Callable[[Any, Outcome], Any]
    is_action: Callable[[Any], bool] = lambda operation: True
    tried: Callable[[Any, Any], Iterable[Any]] | None = None
    presets: Mapping[str, Any] = field(default_factory=dict)
    is_executed: bool = True
    told_apart: Callable[[Any], Any] | None = None
    names: tuple[str, ...] = ()
    members: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def config(self, preset: str, **options: Any) -> Any:
        """The configuration that the TLA+ constants stand for."""
        if hasattr(self.model, "configure"):
            return self.model.configure(preset, **options)
        return self.presets.get(preset) or self.model.PRESETS[preset]

    def explore(
        self,
        config: Any,
        *,
        exact: bool = False,
        max_states: int | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Exploration:
        """Search what the module models; `exact`: with the states told apart by their operations."""
        view = self.identity if exact else self.model.view
        return explore(_Actions(self, view), config, properties={}, max_states=max_states, progress=progress)

    def identity(self, state: Any) -> Any:
        """What identifies a state together with all that can be done in it."""
        return (self.told_apart or self.model.view)(state)

    def operations(self, config: Any, state: Any) -> dict[Any, Op]:
        """What can be done in a state, by the value of `call`."""
        return {
            canonical(self.call(operation, outcome)): operation
            for operation, outcome in _Actions(self, self.identity).enabled(config, state)
        }

    def graph(self, found: Exploration) -> Graph:
        """The graph of a search, in the module's terms."""
        config, by_view = found.config, {}
        for state in found.states:
            by_view[found.model.view(state)] = canonical(self.state(config, state))
        edges = (
            Edge(by_view[before], canonical(self.call(operation, outcome)), by_view[after])
            for before, operation, outcome, after in found.edges()
        )
        return Graph.of(by_view[found.model.view(found.states[0])], edges)


class _Actions:
    """A Python model with the module's actions alone."""

    def __init__(self, binding: Binding, view: Callable[[Any], Any]) -> None:
        self.binding, self.view = binding, view
        self.model = binding.model
        self.NAME = binding.model.NAME
        self.initial, self.step = binding.model.initial, binding.model.step
        self.observe = binding.model.observe

    def operations(self, config: Any, state: Any) -> Iterator[Op]:
        """The operations that are actions and can happen."""
        return (operation for operation, _ in self.enabled(config, state))

    def enabled(self, config: Any, state: Any) -> Iterator[tuple[Op, Outcome]]:
        """The same, each with its outcome."""
        for operation in (self.binding.tried or self.model.operations)(config, state):
            if self.binding.is_action(operation):
                _, outcome = self.model.step(config, state, operation)
                if outcome.kind != DISABLED:
                    yield operation, outcome


def described(operation: Op, outcome: Outcome, **arguments: Any) -> Mapping[str, Any]:
    """An operation and its outcome as the record `call`."""
    return {"op": tag(operation), **arguments, "kind": outcome.kind}


def tla_value(value: Any) -> Any:
    """Records as mappings, contents too; None as the model value of that name."""
    match value:
        case None:
            return NONE
        case Content(nbytes, fill):
            return {"nbytes": nbytes, "fill": fill}
        case tuple() if hasattr(value, "_asdict"):
            return {name: tla_value(each) for name, each in value._asdict().items()}
        case tuple():
            return tuple([tla_value(each) for each in value])
    return value
