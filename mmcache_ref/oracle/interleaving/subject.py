"""What a scenario is about: how it is set up on a target, and what the model says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from mmcache_ref.model.component import Aspect, Outcome
from mmcache_ref.oracle.interleaving.lock import CooperativeLock
from mmcache_ref.oracle.interleaving.scenario import AnyCall, AnyScenario
from mmcache_ref.oracle.interleaving.scheduler import Execution


class SetUpWrong(Exception):  # noqa: N818 - reads as what it is
    """The target leaves the model before there is any other thread."""


class Done(NamedTuple):
    """A call that has ended: when it began and when it ended, and what it gave."""

    thread: str
    number: int
    call: AnyCall
    begin: int
    end: int
    result: Any

    def overlaps(self, other: Done) -> bool:
        """Were both under way at some moment?"""
        return self.begin < other.end and other.begin < self.end


class Played(NamedTuple):
    """One run of a scenario: its steps, the calls in the order of their ends, and what is left then.

    `is_lock_kept`: every call has ended, and the lock is still taken.
    """

    execution: Execution
    history: tuple[Done, ...]
    observation: Mapping[str, Any]
    is_lock_kept: bool = False

    def has(self, kind: type) -> bool:
        """Was there a call of this kind?"""
        return any(isinstance(done.call.operation, kind) for done in self.history)


Order = tuple[tuple[Done, Outcome], ...]
"""Calls in some order, with what the model says of each."""


class World(Protocol):
    """The target of one run, on a segment of its own."""

    lock: CooperativeLock

    @property
    def paths(self) -> set[str]:
        """The files that are traced."""

    @property
    def memory(self) -> Callable[[], bytes] | None:
        """The bytes of the segment; None where they cannot be seen."""

    def is_ready(self, call: AnyCall) -> bool:
        """Is there what the call takes?"""

    def call(self, call: AnyCall) -> Any:
        """Do what the call says; what the caller saw."""

    def observe(self) -> Mapping[str, Any]:
        """What is left, by aspects."""

    def tidy_up(self) -> object:
        """Remove everything."""


class Subject(Protocol):
    """A scenario with its model."""

    @property
    def aspects(self) -> Mapping[str, Aspect]:
        """The aspects of what is left."""

    @property
    def scenario(self) -> AnyScenario:
        """What is done."""

    def make(self, namespace: Any) -> World:
        """A target as it is after the set-up; `SetUpWrong` if it leaves the model there."""

    def initial(self) -> Any:
        """The state of the model after the set-up."""

    def step(self, state: Any, call: AnyCall) -> tuple[Any, Outcome]:
        """The model's step for a call."""

    def observe(self, state: Any) -> Mapping[str, Any]:
        """The aspects of a state."""

    def clause_of_result(self, played: Played, done: Done, outcome: Outcome) -> str:
        """The clause that a wrong result breaks."""

    def clause_of_rest(self, played: Played, order: Order, aspect: str, expected: Any, actual: Any) -> str:
        """The clause that is broken when an aspect of what was left is wrong."""
