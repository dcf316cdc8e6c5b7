"""Breadth-first search through every state of a model.

`explore` visits each state once, by shortest runs first, checks the properties it is given and keeps the
shortest run to each violation. States are counted as TLC counts them.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Literal, NamedTuple, Protocol

from .component import Op, Outcome

PROGRESS_INTERVAL = 0.5  # seconds
CLOCK_INTERVAL = 1024  # states between two looks at the clock


class Model(Protocol):
    """What a search needs of a model: a module of this package, or any object with these names."""

    NAME: str

    def initial(self, config: Any) -> Any:
        """The first state."""

    def operations(self, config: Any, state: Any) -> Iterable[Any]:
        """What is worth trying from a state."""

    def step(self, config: Any, state: Any, operation: Any) -> tuple[Any, Outcome]:
        """The state after an operation, and its outcome."""

    def view(self, state: Any) -> Any:
        """What identifies a state."""

    def observe(self, config: Any, state: Any) -> Mapping[str, Any]:
        """What of a state is shown in a report."""


Kind = Literal["state", "step", "recovery"]


class Property(NamedTuple):
    """A clause as a function, by kind.

    state:     (config, state) -> bool, or None where it has nothing to say
    step:      (config, before, operation, outcome, after) -> bool, or None; asked for operations with one
               of `tags`
    recovery:  (model, config, state) -> the operations after which the promise is broken, or None; `tried`
               says whether a state has anything to recover from
    """

    clause: str
    kind: Kind
    holds: Callable[..., Any]
    tags: frozenset[str] = frozenset()
    tried: Callable[[Any], bool] = bool


class Step(NamedTuple):
    """One step of a run: the operation (None for the initial state), its outcome, the state after it."""

    operation: Any
    outcome: Outcome | None
    state: Any


Run = tuple[Step, ...]
VerdictName = Literal["holds", "violated", "undetermined"]


class Verdict(NamedTuple):
    """What the search says of one property.

    `checked`: how often it had something to say; `run`: the shortest run to a violation, `found_after` how
    many distinct states. `undetermined`: no violation, but the search was cut short.
    """

    name: str
    property: Property
    verdict: VerdictName
    checked: int
    run: Run | None = None
    found_after: int | None = None


class Progress(NamedTuple):
    """How far a search is: states found, successors made, states not yet expanded, level, seconds."""

    distinct: int
    generated: int
    queued: int
    depth: int
    seconds: float


@dataclass
class Exploration:
    """The result of a search, and the graph it found.

    `generated` counts the initial state and every successor, `depth` the levels (the initial state is 1), as
    TLC does. `taken` counts (operation tag, outcome kind). `complete`: every reachable state was expanded.
    """

    model: Model
    config: Any
    distinct: int
    generated: int
    depth: int
    complete: bool
    seconds: float
    verdicts: dict[str, Verdict]
    taken: Counter[tuple[str, str]]
    states: list[Any] = field(repr=False)
    parents: array[int] = field(repr=False)
    arrivals: list[Any] = field(repr=False)
    expanded: int = field(repr=False)
    index: dict[Any, int] = field(repr=False)

    @property
    def violated(self) -> tuple[str, ...]:
        """The names of the properties that do not hold."""
        return tuple([name for name, verdict in self.verdicts.items() if verdict.verdict == "violated"])

    def path(self, state: Any) -> Run:
        """A shortest run to a state that was found (or to one with the same view); else a `KeyError`."""
        return self._run(self.index[self.model.view(state)])

    def edges(self) -> Iterator[tuple[Any, Any, Outcome, Any]]:
        """Every step as (view, operation, outcome, view), made again: none is kept in memory."""
        model, config = self.model, self.config
        for state in self.states[: self.expanded]:
            here = model.view(state)
            for operation in model.operations(config, state):
                after, outcome = model.step(config, state, operation)
                yield here, operation, outcome, model.view(after)

    def tree(self) -> Iterator[tuple[int, Any, int]]:
        """The breadth-first tree as (place of a state in `states`, operation, place of its successor)."""
        for number in range(1, len(self.states)):
            yield self.parents[number], self.arrivals[number], number

    def _run(self, number: int) -> Run:
        return run_to(self.model, self.config, self.states, self.parents, self.arrivals, number)


def explore(
    model: Model,
    config: Any,
    *,
    properties: Mapping[str, Property],
    max_states: int | None = None,
    seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Exploration:
    """Search every state that can be reached, or as many as `max_states` and `seconds` allow.

    A property is no longer asked after its first violation; the search goes on for the others. `progress` is
    called about twice a second.
    """
    started = monotonic()
    search = _Search(model, config, properties)
    reported = started
    complete = True
    while search.expanded < len(search.states):
        if search.expanded % CLOCK_INTERVAL == 0:
            now = monotonic()
            if seconds is not None and now - started >= seconds:
                complete = False
                break
            if progress is not None and now - reported >= PROGRESS_INTERVAL:
                progress(search.progress(now - started))
                reported = now
        if max_states is not None and len(search.states) >= max_states:
            complete = False
            break
        search.expand()
    return search.result(complete, monotonic() - started)


def run_to(
    model: Model, config: Any, states: list[Any], parents: array[int], arrivals: list[Any], number: int
) -> Run:
    """The run along the breadth-first tree to the state with this index."""
    operations = []
    while number:
        operations.append(arrivals[number])
        number = parents[number]
    return replay(model, config, states[0], reversed(operations))


def replay(model: Model, config: Any, state: Any, operations: Iterable[Any]) -> Run:
    """The run that these operations make from a state."""
    steps = [Step(None, None, state)]
    for operation in operations:
        state, outcome = model.step(config, state, operation)
        steps.append(Step(operation, outcome, state))
    return tuple(steps)


class _Search:
    """The moving parts of a search."""

    def __init__(self, model: Model, config: Any, properties: Mapping[str, Property]) -> None:
        self.model, self.config, self.properties = model, config, properties
        first = model.initial(config)
        self.states: list[Any] = [first]
        self.index: dict[Any, int] = {model.view(first): 0}
        self.parents = array("q", [0])
        self.arrivals: list[Any] = [None]
        self.levels = array("l", [1])
        self.expanded = 0
        self.generated = 1
        self.taken: dict[type[Op], Counter[str]] = {}
        self.checked: Counter[str] = Counter()
        self.found: dict[str, tuple[Run, int]] = {}
        self.tags: dict[type[Op], str] = {}
        self._open_properties()
        self._visit(0)

    def _open_properties(self) -> None:
        """The properties still to be asked: of states, of steps by type of operation, of recoveries."""
        left = [(name, asked) for name, asked in self.properties.items() if name not in self.found]
        self.of_states = [(name, asked.holds) for name, asked in left if asked.kind == "state"]
        self.of_recoveries = [
            (name, asked.tried, asked.holds) for name, asked in left if asked.kind == "recovery"
        ]
        self.of_steps = {
            operation: [
                (name, asked.holds) for name, asked in left if asked.kind == "step" and label in asked.tags
            ]
            for operation, label in self.tags.items()
        }

    def _meet(self, operation: type[Op]) -> None:
        """A type of operation that is seen for the first time."""
        self.tags[operation] = str(operation.__struct_config__.tag)
        self.taken[operation] = Counter()
        self._open_properties()

    def expand(self) -> None:
        """Every step from the first state that was not expanded yet."""
        number = self.expanded
        state = self.states[number]
        model, config, index, checked = self.model, self.config, self.index, self.checked
        step, view = model.step, model.view
        for operation in model.operations(config, state):
            after, outcome = step(config, state, operation)
            self.generated += 1
            kind = type(operation)
            if kind not in self.tags:
                self._meet(kind)
            self.taken[kind][outcome.kind] += 1
            for name, holds in self.of_steps[kind]:
                answer = holds(config, state, operation, outcome, after)
                if answer is None:
                    continue
                checked[name] += 1
                if not answer:
                    self._violated(name, number, [operation])
            seen = view(after)
            if seen not in index:
                index[seen] = found = len(self.states)
                self.states.append(after)
                self.parents.append(number)
                self.arrivals.append(operation)
                self.levels.append(self.levels[number] + 1)
                self._visit(found)
        self.expanded += 1

    def _visit(self, number: int) -> None:
        """Ask what is asked of states."""
        state = self.states[number]
        for name, holds in self.of_states:
            answer = holds(self.config, state)
            if answer is None:
                continue
            self.checked[name] += 1
            if not answer:
                self._violated(name, number, [])
        for name, tried, broken_by in self.of_recoveries:
            if not tried(state):
                continue
            self.checked[name] += 1
            continuation = broken_by(self.model, self.config, state)
            if continuation is not None:
                self._violated(name, number, continuation)

    def _violated(self, name: str, number: int, continuation: Iterable[Any]) -> None:
        """Keep the run to the violation, and ask no more."""
        run = run_to(self.model, self.config, self.states, self.parents, self.arrivals, number)
        rest = replay(self.model, self.config, run[-1].state, continuation)
        self.found[name] = (run + rest[1:], len(self.states))
        self._open_properties()

    def progress(self, seconds: float) -> Progress:
        """How far it is."""
        distinct = len(self.states)
        return Progress(distinct, self.generated, distinct - self.expanded, self.levels[-1], seconds)

    def result(self, complete: bool, seconds: float) -> Exploration:
        """The exploration so far."""
        verdicts = {}
        for name, asked in self.properties.items():
            run, after = self.found.get(name, (None, None))
            verdict: VerdictName = "violated" if run else "holds" if complete else "undetermined"
            verdicts[name] = Verdict(name, asked, verdict, self.checked[name], run, after)
        taken: Counter[tuple[str, str]] = Counter()
        for operation, kinds in self.taken.items():
            for kind, times in kinds.items():
                taken[self.tags[operation], kind] = times
        return Exploration(
            self.model,
            self.config,
            len(self.states),
            self.generated,
            self.levels[-1],
            complete,
            seconds,
            verdicts,
            taken,
            self.states,
            self.parents,
            self.arrivals,
            self.expanded,
            self.index,
        )
