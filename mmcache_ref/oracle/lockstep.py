"""Model and target, one operation at a time: compare what was seen, then what became of the state."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mmcache_ref.model.component import Aspect, Op, Outcome, Raised, Rule, tag
from mmcache_ref.oracle.adapters.base import Adapter, Unexpected, agrees, raised, same, warm_up
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.component import HANG_CLAUSE, Component
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.guard import OPERATION_CPU_SECONDS, Guard, TargetHung
from mmcache_ref.oracle.journal import Journal
from mmcache_ref.oracle.run import Mismatch, Profile, Run, Step, plain

DISABLED = "disabled"
"""The kind of an operation that does nothing in the model's state, and is not performed."""
INITIAL = "initial"
"""The kind of a mismatch before the first operation: the target was made wrong."""
BEST_LEVEL = 2
"""The highest level that an in-memory component can be observed at."""


MOST_REMEMBERED: Final = 1 << 18
"""States and transitions that a tally tells apart; beyond, its figures are lower bounds."""


@dataclass
class Tally:
    """What was compared: operations, comparisons for each clause, and cases (operation, kind) met.

    `states` and `transitions` are hashes of the model's states, and of the pairs of state and operation, that
    the operations began in; `aspects` are the parts of the state that were compared; `mismatched` are clauses
    for which a comparison failed.
    """

    operations: int = 0
    clauses: Counter[str] = field(default_factory=Counter)
    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    level: int = 0
    states: set[int] = field(default_factory=set)
    transitions: set[int] = field(default_factory=set)
    aspects: set[str] = field(default_factory=set)
    mismatched: set[str] = field(default_factory=set)

    @property
    def is_full(self) -> bool:
        """Were there more transitions than are remembered?"""
        return len(self.transitions) >= MOST_REMEMBERED

    def pass_through(self, view: Any, operation: Op) -> None:
        """The operation begins in this state."""
        if not self.is_full:
            here = hash(view)
            self.states.add(here)
            self.transitions.add(hash((here, operation)))

    def cut(self) -> Tally:
        """What was counted so far, for itself; states and transitions are counted anew from here."""
        before = dataclasses.replace(self, clauses=self.clauses.copy(), cases=self.cases.copy())
        self.states, self.transitions = set(), set()
        return before

    def since(self, before: Tally) -> Tally:
        """What was counted since a cut."""
        return dataclasses.replace(
            self,
            operations=self.operations - before.operations,
            clauses=self.clauses - before.clauses,
            cases=self.cases - before.cases,
        )


@dataclass(frozen=True)
class Trial:
    """A target under a profile, seen up to a level; everything a lockstep needs besides a configuration."""

    component: Component
    namespace: Any
    profile: Profile = "safe"
    level: int = BEST_LEVEL
    guard: Guard = field(default_factory=lambda: Guard(enabled=False))
    journal: Journal | None = None
    tally: Tally = field(default_factory=Tally)

    def __post_init__(self) -> None:
        warm_up()

    def start(self, config: Any) -> Lockstep:
        """A fresh target beside the initial state of the model."""
        return Lockstep(self, config)

    def replay(self, config: Any, operations: Sequence[Op]) -> Lockstep:
        """A fresh target after operations that are known to agree: nothing is compared."""
        lockstep = Lockstep(self, config)
        for operation in operations:
            lockstep.skip(operation)
        return lockstep

    def run(self, config: Any, operations: Sequence[Op]) -> Run:
        """Perform the operations on a fresh target until one mismatches; the run, with every result."""
        lockstep = Lockstep(self, config)
        steps: list[Step] = []
        mismatch = None
        for operation in operations:
            mismatch = lockstep.perform(operation)
            if lockstep.outcome.kind == DISABLED:
                continue
            steps.append(self._step(config, operation, lockstep.outcome, lockstep.state, lockstep.result))
            if mismatch is not None or lockstep.is_silent:
                break
        return self._run(config, steps, mismatch)

    def recorded(self, config: Any, operations: Sequence[Op], mismatch: Mismatch) -> Run:
        """The run of operations that mismatched once, without performing them again."""
        model = self.component.model
        state = model.initial(config)
        steps: list[Step] = []
        for operation in operations:
            state, outcome = model.step(config, state, operation)
            steps.append(self._step(config, operation, outcome, state, None))
        return self._run(config, steps, mismatch, is_repeatable=False)

    def _step(self, config: Any, operation: Op, outcome: Outcome, state: Any, result: Any) -> Step:
        observed = plain(self.component.model.observe(config, state))
        return Step(operation, plain(outcome.result), plain(result), observed)

    def _run(
        self, config: Any, steps: Sequence[Step], mismatch: Mismatch | None, *, is_repeatable: bool = True
    ) -> Run:
        bare = self.component.model.bare(config)
        return Run(self.component.name, bare, self.profile, tuple(steps), mismatch, is_repeatable)


class Lockstep:
    """One target and the model's state beside it."""

    def __init__(self, trial: Trial, config: Any) -> None:
        self.trial = trial
        self.config = config
        self.model = trial.component.model
        self.state = self.model.initial(config)
        self.adapter: Adapter | None = None
        self.set_up_error: Any = None
        try:
            with trial.guard:
                self.adapter = trial.component.adapter(trial.namespace, config)
        except NotOffered:
            raise
        except TargetHung:
            trial.guard.shorten()
            self.set_up_error = Unexpected(HUNG)
        except (Exception, SystemExit) as error:
            self.set_up_error = raised(error)
        self.outcome = Outcome(INITIAL)
        self.result: Any = None
        self.performed: list[Op] = []
        self.is_silent = False

    def skip(self, operation: Op) -> None:
        """Perform an operation on both sides without comparing."""
        self.state, self.outcome = self.model.step(self.config, self.state, operation)
        if self.outcome.kind != DISABLED:
            self.performed.append(operation)
            self.result = self._perform_on_target(operation)

    def leave_out_last(self) -> None:
        """Of a component without a state: go on as if the last operation had not been asked."""
        self.performed.pop()
        self.is_silent = False

    def perform(self, operation: Op) -> Mismatch | None:
        """Perform an operation on both sides; where they part, if they do.

        What the model has disabled in this state is left out on both sides. In profile `upstream` a case that
        a stronger clause decides makes the lockstep *silent*: it is not performed, and nothing more can be
        said about this run.
        """
        state, self.outcome = self.model.step(self.config, self.state, operation)
        if self.outcome.kind == DISABLED:
            return None
        if not self.performed and (mismatch := self._compare_initial(operation)) is not None:
            return mismatch
        self.performed.append(operation)
        case = (tag(operation), self.outcome.kind)
        rule: Rule = self.model.RULES[case]
        if self.trial.profile == "upstream" and is_stronger(deciding(self.model, operation, self.outcome)):
            self.is_silent = True
            return None
        try:
            self.result = self._perform_on_target(operation)
        except NotOffered:
            # What the operation needs the target does not have: nothing was done.
            self.performed.pop()
            self.outcome = Outcome(DISABLED)
            return None
        tally = self.trial.tally
        tally.pass_through(self.model.view(self.state), operation)
        self.state = state
        tally.operations += 1
        tally.cases.update([case, *((case[0], kind) for kind in self.outcome.also)])
        tally.clauses[HANG_CLAUSE] += 1
        if isinstance(self.result, Unexpected) and self.result.what == HUNG:
            return self._mismatch(HANG_CLAUSE, "outcome", self.outcome.result, self.result)
        tally.clauses[rule.outcome] += 1
        tally.clauses.update(getattr(self.adapter, "also_decided_by", lambda _: ())(operation))
        if not agrees(self.outcome.result, self.result):
            blamed = self._blamed("outcome", self.outcome.result, self.result)
            clause_id = blamed or rule.outcome
            return self._mismatch(clause_id, "outcome", self.outcome.result, self.result, rule.outcome)
        return self._compare_state(rule)

    def _compare_initial(self, operation: Op) -> Mismatch | None:
        """Before the first operation: can the target be made, and is it what the model begins with?

        A mismatch stands at the operation that was going to be the first, which is not performed.
        """
        after, construction = self.outcome, self.trial.component.construction
        self.outcome, self.performed = Outcome(INITIAL), [operation]
        if self.adapter is None:
            if construction is not None and self.set_up_error != Unexpected(HUNG):
                return self._mismatch(construction, "outcome", None, self.set_up_error)
        else:
            if construction is not None:
                self.trial.tally.clauses[construction] += 1
            if (mismatch := self._compare_state(None)) is not None:
                return mismatch
        self.outcome, self.performed = after, []
        return None

    def _blamed(self, aspect: str, expected: Any, actual: Any) -> str | None:
        """The clause that the adapter can tell from what it knows of the target, if it can."""
        told: str | None = getattr(self.adapter, "blamed", lambda *_: None)(
            self.performed[-1], aspect, expected, actual
        )
        return told

    def _perform_on_target(self, operation: Op) -> Any:
        if self.adapter is None:
            return self.set_up_error
        if self.trial.journal is not None:
            self.trial.journal.note(self.config, self.performed)
        try:
            with self.trial.guard:
                return self.adapter.perform(operation)
        except NotOffered:
            raise
        except TargetHung:
            self.trial.guard.shorten()
            return Unexpected(HUNG)
        except (Exception, SystemExit) as error:
            return raised(error)

    def _compare_state(self, rule: Rule | None) -> Mismatch | None:
        """The aspects after an operation that `rule` decides, or of a target that was just made."""
        tally = self.trial.tally
        if self.trial.level == 0:
            return None
        expected = self.model.observe(self.config, self.state)
        try:
            with self.trial.guard:
                actual = self.adapter.observe() if self.adapter is not None else {}
        except TargetHung:
            self.trial.guard.shorten()
            return self._mismatch(HANG_CLAUSE, "observation", "a readable state", Unexpected(HUNG))
        except (Exception, SystemExit) as error:
            clause_id = rule.state if rule is not None else self._first_rule().state
            return self._mismatch(clause_id, "observation", "a readable state", raised(error))
        if rule is not None:
            tally.clauses[rule.state] += 1
        for name, aspect in self.model.ASPECTS.items():
            if name not in actual or aspect.level > self.trial.level:
                continue
            tally.level = max(tally.level, aspect.level)
            tally.aspects.add(name)
            for clause_id in (*aspect.clauses, *self._special(rule, name)):
                tally.clauses[clause_id] += 1
            if not same(expected[name], actual[name]):
                culprit = self._culprit(rule, name, aspect, expected[name], actual[name])
                return self._mismatch(culprit, name, expected[name], actual[name])
        return None

    def _culprit(self, rule: Rule | None, name: str, aspect: Aspect, expected: Any, actual: Any) -> str:
        """The clause that is broken when an aspect differs."""
        if (blamed := self._blamed(name, expected, actual)) is not None:
            return blamed
        is_unreadable = isinstance(actual, Raised | Unexpected)
        fresh: Rule | None = self.model.RULES.get(("fresh", "empty"))
        if rule is None and fresh is not None and expected == ():
            # It was just made, and is not empty.
            return fresh.outcome
        if aspect.reading and (rule is None or is_unreadable):
            return aspect.reading
        for special in self._special(rule, name):
            return special
        if aspect.clause and aspect.is_culprit:
            return aspect.clause
        return (rule or self._first_rule()).state

    def _special(self, rule: Rule | None, name: str) -> tuple[str, ...]:
        """The clause that the model has for this aspect after such an operation, if it has one."""
        if rule is None:
            return ()
        case = (tag(self.performed[-1]), self.outcome.kind, name)
        found: str | None = getattr(self.model, "CULPRITS", {}).get(case)
        return () if found is None else (found,)

    def _first_rule(self) -> Rule:
        """The rule of the operation that was going to be the first."""
        operation = self.performed[-1]
        _, outcome = self.model.step(self.config, self.state, operation)
        found: Rule = self.model.RULES[tag(operation), outcome.kind]
        return found

    def _mismatch(
        self, clause_id: str, aspect: str, expected: Any, actual: Any, usual: str | None = None
    ) -> Mismatch:
        """Here they part; `usual` is the operation's own clause, a suspect where another one is blamed."""
        seen = self.model.ASPECTS[aspect].level if aspect in self.model.ASPECTS else 0
        others = deciding(self.model, self.performed[-1], self.outcome, parts_only=True)
        if aspect in self.model.ASPECTS and isinstance(actual, Raised | Unexpected):
            # It may be the operation that made it unreadable.
            others |= set(self.model.RULES.get((tag(self.performed[-1]), self.outcome.kind), ()))
        if self.outcome.also:
            # It may be any part of the operation, whatever the aspect.
            others |= set(self.model.RULES.get((tag(self.performed[-1]), self.outcome.kind), ()))
        suspects = tuple(sorted({clause_id, usual or clause_id, *others}))
        kind = self.outcome.kind
        self.trial.tally.mismatched.add(clause_id)
        return Mismatch(clause_id, aspect, kind, seen, plain(expected), plain(actual), suspects)


def deciding(model: Any, operation: Op, outcome: Outcome, *, parts_only: bool = False) -> set[str]:
    """The clauses that decide an operation and its parts; with `parts_only` those of the other parts."""
    kinds = outcome.also if parts_only else (outcome.kind, *outcome.also)
    rules = [model.RULES.get((tag(operation), kind), ()) for kind in kinds]
    return {each for rule in rules for each in rule}


def is_stronger(clauses: set[str]) -> bool:
    """Is any of them a clause that 0.32 does not keep?"""
    return any(clause(each).is_stronger for each in clauses)


HUNG = f"no answer within {OPERATION_CPU_SECONDS} s of CPU time"
