"""The protocol of a key-replicated pair over processes that work at once, and what a death costs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from parts_in_processes import kill_one, kill_while_made

from mmcache_ref.model.component import Content
from mmcache_ref.oracle.process_parts import pair_recipe
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol import DEFAULT, Request, RequestItem
from mmcache_ref.protocol.processes import Answered, Cleared, Died, Hosts, Lost, PairCourse, PairProcesses

BUDGET = 12
KEYS = "abcde"


@pytest.fixture
def course(hosts: Hosts) -> Iterator[PairCourse]:
    made = PairProcesses(hosts, pair_recipe(resolve("reference"), BUDGET))
    yield PairCourse(made.deployment(DEFAULT))
    made.close()


def some(random: Random) -> Request:
    """Keys with their own content: one to five bytes."""
    keys = random.sample(KEYS, random.randint(1, 3))
    return tuple([RequestItem(key, Content(1 + ord(key) % 5, ord(key))) for key in keys])


def run(course: PairCourse, requests: int, random: Random, accidents: Callable[[], None]) -> list[Any]:
    """Requests, three under way at once, until all were answered; what happened. The lost are sent again."""
    happened: list[Any] = []
    asked = 0
    while asked < requests or course.under_way:
        while asked < requests and course.under_way < 3:
            asked += 1
            course.submit(some(random))
        accidents()
        for each in course.step(60):
            happened.append(each)
            if isinstance(each, Lost):
                course.submit(each.request)
    return happened


def served(happened: list[Any]) -> int:
    """How many requests were served, each with what it asked for."""
    answered = [each for each in happened if isinstance(each, Answered) and each.answer.items is not None]
    for each in answered:
        fills = [set(item["data"].data.tolist()) for item in each.answer.items]
        assert fills == [{asked.data.fill} for asked in each.message.request]
    return len(answered)


@pytest.mark.clause("DR-01", "DR-04", "DR-05", "DR-09", "DR-14", "DR-15", "DR-26")
def test_p0_and_p1_work_at_once_and_serve_what_was_asked_for(course: PairCourse) -> None:
    random = Random(1)
    dropped: list[int] = []

    def accidents() -> None:
        chance = random.random()
        if chance < 0.05:
            course.clear_p1()
        elif chance < 0.08:
            course.clear_both()
        elif chance < 0.1:
            course.clear_p0()
        elif chance < 0.12:
            course.reject(some(random))
        elif chance < 0.14 and course.deployment.channel.messages:
            course.drop(len(course.deployment.channel.messages) - 1)
            dropped.append(1)

    happened = run(course, 200, random, accidents)
    work = course.deployment.work
    assert served(happened) == 200
    assert (
        work.retries
        == work.misses
        == sum(isinstance(each, Answered) and each.answer.items is None for each in happened)
    )
    assert work.claims > 50
    assert dropped
    assert not any(isinstance(each, Lost | Died) for each in happened)


@pytest.mark.clause("DR-15")
def test_p0_clears_both_again_only_when_p1_has_cleared(course: PairCourse) -> None:
    run(course, 5, Random(4), lambda: None)
    os.kill(course.engine.host.pid, signal.SIGSTOP)
    try:
        for _ in range(3):
            course.clear_both()
        happened = course.step(60)
        for _ in range(3):
            happened += course.step(0.2)
        assert happened == [Cleared("clear-both")]
    finally:
        os.kill(course.engine.host.pid, signal.SIGCONT)
    while course.under_way:
        happened += course.step(60)
    assert happened == [Cleared("clear-both"), Cleared("finish-clear")] * 3


@pytest.mark.clause("DR-15")
def test_each_side_may_die_and_every_request_is_served(course: PairCourse) -> None:
    random = Random(2)
    victims = ["p0", "p1"]

    happened = run(course, 60, random, lambda: kill_one(course, victims, random))
    assert sorted(each.part for each in happened if isinstance(each, Died)) == ["p0", "p1"]
    assert served(happened) == 60
    assert course.deployment.engine.number > 0


@pytest.mark.clause("DR-32", "DR-33")
@pytest.mark.parametrize("part", ["p0", "p1"])
def test_a_side_that_dies_again_while_it_starts_is_replaced_once_more(
    course: PairCourse, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(3)
    happened = run(course, 5, random, lambda: None)
    kill_while_made(monkeypatch, part, 2)
    next(host for host in course.hosts() if host.part == part).process.kill()
    happened += run(course, 10, random, lambda: None)
    assert [each.part for each in happened if isinstance(each, Died)] == [part]
    assert served(happened) == 15
