"""One run of a scenario: its threads on a fresh segment, as somebody chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mmcache_ref.oracle.errors import BadRun, NotOffered
from mmcache_ref.oracle.interleaving.explore import Diverged
from mmcache_ref.oracle.interleaving.places import CALL, Place
from mmcache_ref.oracle.interleaving.scenario import AnyCall
from mmcache_ref.oracle.interleaving.scheduler import Choose, Execution
from mmcache_ref.oracle.interleaving.subject import Done, Played, Subject, World
from mmcache_ref.oracle.interleaving.tracing import Tracer


def play(namespace: Any, subject: Subject, choose: Choose, tracer: Callable[[World], Tracer]) -> Played:
    """Run the scenario once on a fresh segment, as `choose` says."""
    world = subject.make(namespace)
    try:
        return _run(world, subject, choose, tracer(world))
    finally:
        world.tidy_up()


def _run(world: World, subject: Subject, choose: Choose, tracer: Tracer) -> Played:
    threads: Mapping[str, Sequence[AnyCall]] = subject.scenario.threads
    names = list(threads)
    done: dict[tuple[str, int], Done] = {}

    def ready(thread: str, number: int) -> Callable[[], bool]:
        call = threads[thread][number]
        return lambda: all(each in done for each in call.after) and world.is_ready(call)

    def before_call(thread: str, number: int) -> None:
        place, is_ready = Place(CALL, number), ready(thread, number)
        if is_ready():
            execution.arrive(place)
        execution.wait_until(is_ready, place)

    def work(thread: str) -> Callable[[], None]:
        def calls() -> None:
            for number, call in enumerate(threads[thread]):
                if number:
                    before_call(thread, number)
                begin = execution.begin_call()
                result = world.call(call)
                done[thread, number] = Done(thread, number, call, begin, execution.end_call(), result)

        return calls

    execution = Execution(names, choose, world.memory, [ready(thread, 0) for thread in names])
    world.lock.execution = execution
    execution.run([tracer.body(execution, work(thread)) for thread in names])
    world.lock.execution = None
    if isinstance(execution.error, NotOffered | Diverged | BadRun):
        raise execution.error
    is_whole = not (execution.problem or execution.is_deadlocked)
    seen = world.observe() if is_whole else {}
    history = tuple(sorted(done.values(), key=lambda each: each.end))
    return Played(execution, history, seen, is_whole and world.lock.locked())
