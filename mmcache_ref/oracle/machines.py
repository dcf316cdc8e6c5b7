"""A Hypothesis state machine that drives a target in lockstep with the model of one component.

To fuzz your own cache with settings of your own, name the component and the target:

    class MyLru(LockstepMachine):
        component_name = "lru"
        target = "py:my_package.my_module:namespace"

    TestMyLru = MyLru.TestCase
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from mmcache_ref.model.component import Op, tag
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.draws import Draw
from mmcache_ref.oracle.lockstep import Lockstep, Trial
from mmcache_ref.oracle.quiet import quiet_logs
from mmcache_ref.oracle.run import Mismatch, Profile, Run
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.oracle.shrink import shrink
from mmcache_ref.oracle.stored import encode_run
from mmcache_ref.oracle.targets import resolve

BURST: Final = 8
"""Operations in one step of the machine, which one draw pays for. Shrinking leaves out what is not needed."""
DRAWS: Final = 3
"""Operations that are drawn at most in place of one whose clause is known to be broken."""
BURST_BITS: Final = 16
"""Room for the number of a burst beside the seed."""


PHASES: Final = (Phase.explicit, Phase.reuse, Phase.generate)


class Violation(AssertionError):  # noqa: N818 - reads as what it is
    """A target left the model; `run` shows how, `run.mismatch` names the clause."""

    def __init__(self, run: Run, target: str = "TARGET") -> None:
        self.run = run
        assert run.mismatch is not None
        super().__init__(
            f"{run.component} breaks {run.mismatch.clause} after {len(run.steps)} operations\n"
            f"{sentence(run)}\n"
            f"{clause(run.mismatch.clause).rule}\n"
            f"repeat: mmcache-ref replay {target} '{encode_run(run)}'"
        )


class LockstepMachine(RuleBasedStateMachine):
    """One component of one target. Subclasses set `component_name` and `target`.

    `known` holds clauses whose violation is passed over, or ends an example quietly, so that others are
    found; `led_to_known` are a clause and an operation, as its tag, that show only those; `hangs` is how
    many operations did not come back.
    """

    component_name: ClassVar[str]
    target: ClassVar[str] = "reference"
    profile: ClassVar[Profile] = "safe"
    hangs: ClassVar[int] = 0
    known: ClassVar[frozenset[str]] = frozenset()
    led_to_known: ClassVar[frozenset[tuple[str, str]]] = frozenset()
    trial: ClassVar[Trial | None] = None
    seed: ClassVar[int] = 0
    shortest: ClassVar[dict[str, Run]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.shortest = {}
        # Runs are shrunk by `shrink`. A project that sets its own settings has them.
        cls.TestCase.settings = settings(cls.TestCase.settings, phases=PHASES)

    def __init__(self) -> None:
        super().__init__()
        if type(self).trial is None:
            type(self).trial = Trial(COMPONENTS[self.component_name], resolve(self.target), self.profile)
        self._trial: Trial = type(self).trial  # type: ignore[assignment]
        self._lockstep: Lockstep | None = None
        self._bursts = 0

    @initialize(data=st.data())
    def start(self, data: Any) -> None:
        """Draw a configuration and make a fresh target."""
        config = data.draw(self._trial.component.configs, label="config")
        self._lockstep = self._trial.start(config)

    @rule(data=st.data())
    def operate(self, data: Any) -> None:
        """Choose a few operations that make sense in the model's state, and perform each on both sides."""
        lockstep = self._lockstep
        if lockstep is None or lockstep.is_silent:
            return
        draw = Draw(data, lockstep.performed, salt=(self.seed << BURST_BITS) + self._bursts)
        self._bursts += 1
        with quiet_logs():
            for _ in range(BURST):
                draw.performed = lockstep.performed
                mismatch = lockstep.perform(self._chosen(lockstep, draw))
                if mismatch is not None:
                    hung = mismatch.clause == self._trial.component.hanging
                    type(self).hangs += hung
                    is_known = self._is_explained(lockstep, mismatch)
                    if not is_known:
                        self._lockstep = None
                        self.violated(lockstep, mismatch)
                    if not lockstep.model.view(lockstep.state):
                        # Without a state the next may be asked.
                        lockstep.leave_out_last()
                    elif hung or not (
                        is_known and mismatch.aspect == "outcome" and lockstep.pass_over_last()
                    ):
                        # What a wrong state leads to, or a call that was broken off, says nothing.
                        self._lockstep = None
                        return
                if lockstep.is_silent:
                    if lockstep.model.view(lockstep.state):
                        return
                    lockstep.leave_out_last()

    def _chosen(self, lockstep: Lockstep, draw: Draw) -> Op:
        """An operation; where its clause is known to be broken, rather another one."""
        component = self._trial.component
        for _ in range(DRAWS):
            operation = component.choose(lockstep.config, lockstep.state, draw)
            if not self.known:
                break
            _, outcome = component.model.step(lockstep.config, lockstep.state, operation)
            decided = component.model.RULES.get((tag(operation), outcome.kind))
            if decided is None:
                break
            if (
                decided.outcome not in self.known
                and (decided.outcome, tag(operation)) not in self.led_to_known
            ):
                break
        return operation

    def _is_explained(self, lockstep: Lockstep, mismatch: Mismatch) -> bool:
        """May a known clause be the reason?"""
        led_to = (mismatch.clause, tag(lockstep.performed[-1]))
        return led_to in self.led_to_known or mismatch.is_explained_by(self.known)

    def violated(self, lockstep: Lockstep, mismatch: Mismatch) -> None:
        """Raise the run that broke a clause not known before, shrunk once for each clause."""
        shortest = type(self).shortest
        if mismatch.clause not in shortest:
            run = self.run_of(lockstep, mismatch)
            if run is None:
                return
            run = shrink(self._trial, run) if run.is_repeatable else run
            if run.mismatch is not None and run.mismatch.clause in self.known:
                return
            shortest[mismatch.clause] = run
        raise Violation(shortest[mismatch.clause], self.target)

    def run_of(self, lockstep: Lockstep, mismatch: Mismatch) -> Run | None:
        """The run of a lockstep that mismatched, as it is when it is repeated.

        None if it does not show the same without what was passed over: that may be the reason.
        """
        run = self._trial.run(lockstep.config, lockstep.reported)
        if run.mismatch is not None and run.mismatch.clause == mismatch.clause:
            return run
        if lockstep.passed_over:
            return None
        return self._trial.recorded(lockstep.config, lockstep.performed, mismatch)
