"""Hypothesis state machines: each drives a target in lockstep with the model of one component.

To fuzz your own cache, subclass one and name the target:

    class MyLru(LruMachine):
        target = "py:my_package.my_module:namespace"

    TestMyLru = MyLru.TestCase
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

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

    `known` holds clauses whose violation ends an example quietly, so that others are found.
    """

    component_name: ClassVar[str]
    target: ClassVar[str] = "reference"
    profile: ClassVar[Profile] = "safe"
    known: ClassVar[frozenset[str]] = frozenset()
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
        choose = self._trial.component.choose
        draw = Draw(data, lockstep.performed, salt=(self.seed << BURST_BITS) + self._bursts)
        self._bursts += 1
        with quiet_logs():
            for _ in range(BURST):
                draw.performed = lockstep.performed
                mismatch = lockstep.perform(choose(lockstep.config, lockstep.state, draw))
                if mismatch is not None:
                    if not mismatch.is_explained_by(self.known):
                        self._lockstep = None
                        self.violated(lockstep, mismatch)
                    if lockstep.model.view(lockstep.state):
                        # What a wrong state leads to says nothing; without a state the next may be asked.
                        self._lockstep = None
                        return
                    lockstep.leave_out_last()
                if lockstep.is_silent:
                    if lockstep.model.view(lockstep.state):
                        return
                    lockstep.leave_out_last()

    def violated(self, lockstep: Lockstep, mismatch: Mismatch) -> None:
        """Raise the run that broke a clause not known before, shrunk once for each clause."""
        shortest = type(self).shortest
        if mismatch.clause not in shortest:
            run = self.run_of(lockstep, mismatch)
            run = shrink(self._trial, run) if run.is_repeatable else run
            if run.mismatch is not None and run.mismatch.clause in self.known:
                return
            shortest[mismatch.clause] = run
        raise Violation(shortest[mismatch.clause], self.target)

    def run_of(self, lockstep: Lockstep, mismatch: Mismatch) -> Run:
        """The run of a lockstep that mismatched, as it is when it is repeated."""
        run = self._trial.run(lockstep.config, lockstep.performed)
        if run.mismatch is None or run.mismatch.clause != mismatch.clause:
            run = self._trial.recorded(lockstep.config, lockstep.performed, mismatch)
        return run


class LruMachine(LockstepMachine):
    """`LRUCache`"""

    component_name = "lru"


class ProcessorOnlyMachine(LockstepMachine):
    """`MultiModalProcessorOnlyCache` and the merge step"""

    component_name = "processor-only"


class SenderMachine(LockstepMachine):
    """`LruKeyReplicatedSenderCache` and the merge step"""

    component_name = "sender"


class ReceiverMachine(LockstepMachine):
    """`LruKeyReplicatedReceiverCache`"""

    component_name = "receiver"


class KeyReplicatedMachine(LockstepMachine):
    """A sender and a receiver with a channel between them, and every accident of the field"""

    component_name = "key-replicated"


class DriftMachine(LockstepMachine):
    """The protocol under its default protections, with every accident of the field"""

    component_name = "drift"
