"""Toys for the scheduler: threads that share a Python object, or do nothing at all."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from mmcache_ref.oracle.interleaving.lock import CooperativeLock
from mmcache_ref.oracle.interleaving.places import Place
from mmcache_ref.oracle.interleaving.scheduler import Choose, Execution
from mmcache_ref.oracle.interleaving.tracing import Tracer


def words(counts: Sequence[int], log: list[int]) -> Callable[[Choose], Execution]:
    """Threads that do so many steps each; `log` has who did them in the latest run, in order."""

    def run(choose: Choose) -> Execution:
        execution = Execution([f"t{number}" for number in range(len(counts))], choose)
        log.clear()

        def body(number: int) -> Callable[[], None]:
            def work() -> None:
                for step in range(counts[number]):
                    if step:
                        execution.arrive(Place("toy", step))
                    log.append(number)

            return work

        execution.run([body(number) for number in range(len(counts))])
        return execution

    return run


def all_words(counts: Sequence[int], preemptions: int) -> set[tuple[int, ...]]:
    """The orders of so many steps of each thread in which one is left that often though it had more to do."""
    steps = [number for number, count in enumerate(counts) for _ in range(count)]
    found = set()
    for word in set(itertools.permutations(steps)):
        left, cost = list(counts), 0
        for mine, following in itertools.pairwise(word):
            left[mine] -= 1
            cost += mine != following and left[mine] > 0
        if cost <= preemptions:
            found.add(word)
    return found


class Account:
    """What threads share: a number and two locks."""

    def __init__(self) -> None:
        self.value = 0
        self.seen: list[int] = []
        self.lock = CooperativeLock()
        self.other = CooperativeLock()

    def add(self) -> None:
        seen = self.value
        self.value = seen + 1

    def add_locked(self) -> None:
        with self.lock:
            seen = self.value
            self.value = seen + 1

    def add_trying(self) -> None:
        while not self.lock.acquire(block=False):
            pass
        seen = self.value
        self.value = seen + 1
        self.lock.release()

    def raise_and_lower(self) -> None:
        self.value = 1
        self.value = 0

    def look_twice(self) -> None:
        first = self.value
        second = self.value
        self.seen = [first, second]

    def one_way(self) -> None:
        with self.lock, self.other:
            self.value += 1

    def other_way(self) -> None:
        with self.other, self.lock:
            self.value += 1


def sharing(methods: Sequence[str], latest: list[Account], **options: Any) -> Callable[[Choose], Execution]:
    """Threads that each call one method of an account; `latest` has that of the latest run."""
    tracer = Tracer({__file__}, shares_objects=True, **options)

    def run(choose: Choose) -> Execution:
        execution = Execution([f"t{number}" for number in range(len(methods))], choose)
        account = Account()
        latest[:] = [account]
        account.lock.execution = account.other.execution = execution
        execution.run([tracer.body(execution, getattr(account, method)) for method in methods])
        return execution

    return run
