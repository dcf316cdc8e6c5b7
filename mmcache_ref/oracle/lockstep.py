"""Model and target, one operation at a time: compare what was seen, then what became of the state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mmcache_ref.model.component import Aspect, Op, Outcome, Raised, Rule, tag
from mmcache_ref.oracle.adapters.base import Adapter, Unexpected, agrees, raised, same, warm_up
from mmcache_ref.oracle.component import NOT_EMPTY_CLAUSE, Component
from mmcache_ref.oracle.deciding import deciding, is_stronger
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.guard import OPERATION_CPU_SECONDS, Guard, TargetHung
from mmcache_ref.oracle.journal import Journal
from mmcache_ref.oracle.outlived import of_what_had_ended
from mmcache_ref.oracle.run import Mismatch, Profile, Run, Step, plain
from mmcache_ref.oracle.tally import Tally
from mmcache_ref.oracle.whole import without_innocent

DISABLED = "disabled"
"""The kind of an operation that does nothing in the model's state, and is not performed."""
INITIAL = "initial"
"""The kind of a mismatch before the first operation: the target was made wrong."""
BEST_LEVEL = 3
"""The highest level: of what lies in shared memory also its layout."""


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
        self._hanging = trial.component.hanging
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
        self.passed_over: set[int] = set()
        self.is_silent = False
        self._is_begun = False
        self._is_certain = False

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

    def pass_over_last(self) -> bool:
        """After an outcome that is known to be wrong: go on, if all that can be seen of the state is right.

        What else the target keeps may differ all the same, so a run is only reported if it shows its
        violation without the operations that were passed over.
        """
        if self.trial.level == 0 or self.adapter is None:
            return False
        expected = self.model.observe(self.config, self.state)
        try:
            with self.trial.guard:
                actual = self.adapter.observe()
        except (Exception, SystemExit, TargetHung):
            return False
        seen = [name for name in self.model.ASPECTS if name in actual]
        if not seen or not all(same(expected[name], actual[name]) for name in seen):
            return False
        self.passed_over.add(len(self.performed) - 1)
        return True

    @property
    def reported(self) -> list[Op]:
        """What was performed, without what was passed over."""
        return [each for place, each in enumerate(self.performed) if place not in self.passed_over]

    def perform(self, operation: Op) -> Mismatch | None:
        """Perform an operation on both sides; where they part, if they do.

        What the model has disabled in this state is left out on both sides. In profile `upstream` a case that
        a stronger clause decides makes the lockstep *silent*: it is not performed, and nothing more can be
        said about this run.
        """
        mismatch = self._compared(operation)
        if mismatch is not None:
            if not (self._is_certain or mismatch.kind == INITIAL or mismatch.clause == self._hanging):
                mismatch = without_innocent(self.trial, self.config, self.performed, mismatch)
                mismatch = of_what_had_ended(self.trial, self.config, self.performed, mismatch)
            self.trial.tally.mismatched.add(mismatch.clause)
        return mismatch

    def agrees(self, operations: Sequence[Op]) -> bool:
        """Perform operations on both sides: does the target do all of it as the model does?"""
        return all(self._compared(each) is None and not self.is_silent for each in operations)

    def _compared(self, operation: Op) -> Mismatch | None:
        """Perform an operation on both sides, and compare."""
        self._is_certain = False
        state, self.outcome = self.model.step(self.config, self.state, operation)
        if self.outcome.kind == DISABLED:
            return None
        if not self._is_begun and not self.performed:
            if (mismatch := self._compare_initial(operation)) is not None:
                return mismatch
            self._is_begun = True
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
        tally.clauses[self._hanging] += 1
        if isinstance(self.result, Unexpected) and self.result.what == HUNG:
            return self._mismatch(self._hanging, "outcome", self.outcome.result, self.result)
        tally.clauses[rule.outcome] += 1
        tally.clauses.update(getattr(self.adapter, "also_decided_by", lambda _: ())(operation))
        if not agrees(self.outcome.result, self.result):
            if self._is_legal_too(operation):
                self.is_silent = True
                return None
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
        told: str | None = None
        self._is_certain = False
        operation = self.performed[-1]
        try:
            # The adapter may ask the target, and a broken one may do anything.
            with self.trial.guard:
                certain: str | None = getattr(self.adapter, "must_be", lambda *_: None)(self.state, operation)
                if certain is not None:
                    self._is_certain = True
                    return certain
                told = getattr(self.adapter, "blamed", lambda *_: None)(operation, aspect, expected, actual)
        except TargetHung:
            self.trial.guard.shorten()
        except (Exception, SystemExit):
            return None
        self._is_certain = told in getattr(self.adapter, "CERTAIN", ())
        return told

    def _is_legal_too(self, operation: Op) -> bool:
        """Whether the clauses allow what the target did beside what the model does: then nothing more can be
        said about this run."""
        hook = getattr(self.adapter, "is_legal_too", lambda *_: False)
        return bool(hook(operation, self.outcome.result, self.result))

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
            return self._mismatch(self._hanging, "observation", "a readable state", Unexpected(HUNG))
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
        if rule is None and expected == () and ("fresh", "empty") in self.model.RULES:
            return NOT_EMPTY_CLAUSE
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
        if self._is_certain:
            suspects = (clause_id,)
        kind = self.outcome.kind
        return Mismatch(clause_id, aspect, kind, seen, plain(expected), plain(actual), suspects)


HUNG = f"no answer within {OPERATION_CPU_SECONDS} s of CPU time"
