"""Threads of which exactly one runs at a time, and which say at every yield point who goes on.

A decision is made in the thread that arrives, so a thread that goes on costs no change of thread. Between
two decisions one thread runs alone: that is a *step*.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from mmcache_ref.oracle.collector import no_collection
from mmcache_ref.oracle.interleaving.places import CALL, Place

PATIENCE_SECONDS: Final = 60.0
"""A step takes microseconds; one that takes so long has left the scheduler's sight."""
MOST_ROUNDS: Final = 200
"""Times that a thread comes to one place while the memory stays as it is: then it waits for others."""
MOST_STEPS: Final = 20_000
"""Steps of one run: more means that a thread waits in a loop."""


class Abandoned(BaseException):
    """Ends a thread whose run is over. Not an `Exception`: targets must not swallow it."""


class Step(NamedTuple):
    """One decision and what was run then.

    `arrived` came to the decision and stood `at` a place; it is -1 at the beginning. `thread` was chosen
    among `enabled`, and goes on from `place`. The step `writes` if it changed the memory, and `locks` if it
    took or released the lock.
    """

    arrived: int
    at: Place | None
    enabled: tuple[int, ...]
    thread: int
    place: Place
    writes: bool = True
    locks: bool = False
    begins: bool = False
    ends: bool = False

    def commutes_with(self, other: Step) -> bool:
        """Does it make no difference which of two steps of different threads comes first?

        One that writes meets what the other reads; a lock is taken by one first; and that a call ended before
        another began is known.
        """
        return not (
            self.writes
            or other.writes
            or (self.locks and other.locks)
            or (self.begins and other.ends)
            or (self.ends and other.begins)
        )

    @property
    def is_switch(self) -> bool:
        """Does another thread go on than the one that arrived?"""
        return self.thread != self.arrived

    @property
    def is_preemption(self) -> bool:
        """Does another one go on though the one that arrived could?"""
        return self.is_switch and self.arrived in self.enabled


Choose = Callable[["Execution", int, tuple[int, ...]], int]
"""Who goes on: given the execution, the thread that arrived, and those that can go on."""


@dataclass
class Execution:
    """One run of several threads.

    `choose` decides who goes on, and `memory` gives the bytes that the threads share, if there are any: what
    changes them is an effect. Without `memory` every step counts as one.
    """

    names: Sequence[str]
    choose: Choose
    memory: Callable[[], bytes] | None = None
    waits: Sequence[Callable[[], bool] | None] = ()
    """What each thread waits for before it begins."""
    patience: float = PATIENCE_SECONDS
    steps: list[Step] = field(default_factory=list)
    running: int = -1
    problem: str = ""
    """Why nothing can be said about this run: a thread did not come back, or went round and round."""
    error: BaseException | None = None
    """What a body raised: that is a mistake of the oracle, or what the target does not offer."""
    is_deadlocked: bool = False

    def __post_init__(self) -> None:
        count = len(self.names)
        self._at_lock: set[int] = set()
        self._rounds: Counter[tuple[int, Place]] = Counter()
        self._giving_way: set[int] = set()
        self.places = [Place(CALL, 0)] * count
        """Where each thread stands, or what it does now."""
        self._wakes = [threading.Semaphore(0) for _ in range(count)]
        self._done = threading.Event()
        self._finished = [False] * count
        self._waits: list[Callable[[], bool] | None] = [*self.waits] or [None] * count
        self._before = b""
        self._is_over = False
        self._clock = 0

    def begin_call(self) -> int:
        """A call begins now: a moment that is later than every one before."""
        self.steps[-1] = self.steps[-1]._replace(begins=True)
        return self._tick()

    def end_call(self) -> int:
        """A call ends now."""
        self.steps[-1] = self.steps[-1]._replace(ends=True)
        return self._tick()

    def use_lock(self) -> None:
        """The running thread takes or releases the lock."""
        self.steps[-1] = self.steps[-1]._replace(locks=True)

    def _tick(self) -> int:
        self._clock += 1
        return self._clock

    def run(self, bodies: Sequence[Callable[[], None]]) -> None:
        """Run the bodies to their ends, each in a thread of its own."""
        crew = [
            threading.Thread(target=self._work, args=(number, body), daemon=True)
            for number, body in enumerate(bodies)
        ]
        with no_collection():  # a finaliser that runs when it likes would make steps that do not repeat
            for thread in crew:
                thread.start()
            self._before = self._bytes()
            self._go_on(-1)
            self._wait(crew)

    def _wait(self, crew: Sequence[threading.Thread]) -> None:
        """Until the run is over, or no thread has come back for a long time."""
        seen = -1
        while not self._done.wait(self.patience):
            if len(self.steps) == seen:
                self.problem = (
                    f"{self.names[self.running]} did not come back within {self.patience:.0f} s "
                    f"from {self.places[self.running]}"
                )
                self._end()
                return
            seen = len(self.steps)
        for thread in crew:
            thread.join(self.patience)

    def _work(self, number: int, body: Callable[[], None]) -> None:
        self._wakes[number].acquire()
        self._waits[number] = None
        try:
            if not self._is_over:
                body()
        except Abandoned:
            return
        except BaseException as error:
            self.problem = f"{self.names[number]}: {type(error).__name__}: {error}"
            self.error = error
            self._end()
            return
        if not self._is_over:
            self._finished[number] = True
            self._go_on(number)

    def arrive(self, place: Place) -> None:
        """The running thread comes to a yield point."""
        me = self.running
        self.places[me] = place
        self._go_on(me)
        self._rounds[me, place] += 1
        if self._rounds[me, place] > MOST_ROUNDS and len(self.enabled) > 1:
            self._giving_way.add(me)
            self.wait_until(lambda: me not in self._giving_way, place)

    def wait_until(self, is_true: Callable[[], bool], place: Place) -> None:
        """The running thread goes on when this is true, and somebody lets it.

        If that never comes the run ends without it.
        """
        me = self.running
        self.places[me] = place
        while not is_true():
            self._waits[me] = is_true
            self._go_on(me)
        self._waits[me] = None

    def wait_for_lock(self, is_free: Callable[[], bool]) -> None:
        """The running thread goes on when the lock is free; if it never is, that is a deadlock."""
        me = self.running
        self._at_lock.add(me)
        self.wait_until(is_free, self.places[me])
        self._at_lock.discard(me)

    @property
    def enabled(self) -> tuple[int, ...]:
        """The threads that can go on."""
        return tuple(
            [
                number
                for number, is_finished in enumerate(self._finished)
                if not is_finished and ((until := self._waits[number]) is None or until())
            ]
        )

    def _go_on(self, me: int) -> None:
        """Decide who goes on, wake that thread, and wait for one's turn."""
        if self._is_over:
            raise Abandoned
        self._close_step()
        enabled = self.enabled
        if not enabled and self._giving_way:
            self._giving_way.clear()
            enabled = self.enabled
        if not enabled:
            self.is_deadlocked = bool(self._at_lock)
            self._end(me)
            return
        if len(self.steps) >= MOST_STEPS:
            self.problem = f"a run of more than {MOST_STEPS:,} steps: a thread waits in a loop"
            self._end(me)
            return
        try:
            chosen = self.choose(self, me, enabled)
        except Exception as error:
            self.problem, self.error = str(error), error
            self._end(me)
            return
        at = self.places[me] if me >= 0 else None
        self.steps.append(Step(me, at, enabled, chosen, self.places[chosen]))
        self.running = chosen
        if chosen == me:
            return
        self._wakes[chosen].release()
        self._sleep(me)

    def _sleep(self, me: int) -> None:
        if me < 0 or self._finished[me]:
            return
        self._wakes[me].acquire()
        if self._is_over:
            raise Abandoned

    def _close_step(self) -> None:
        """Note whether the step that ends here had an effect."""
        if self.memory is None:
            return
        now = self._bytes()
        if self.steps and now == self._before:
            self.steps[-1] = self.steps[-1]._replace(writes=False)
        elif self.steps:
            self._rounds.clear()
            self._giving_way.clear()
        self._before = now

    def _bytes(self) -> bytes:
        try:
            return self.memory() if self.memory is not None else b""
        except (ValueError, AssertionError):  # it was closed
            return b""

    def _end(self, me: int = -1) -> None:
        """The run is over; whoever still waits is woken to leave."""
        self._is_over = True
        for wake in self._wakes:
            wake.release()
        self._done.set()
        if me >= 0 and not self._finished[me]:
            raise Abandoned
