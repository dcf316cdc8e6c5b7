"""The shared-memory protocol over processes that all work at once: what is served, and what a death costs."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from parts_in_processes import kill_one, kill_while_made

from mmcache_ref.model.component import Content
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.process_parts import shared_recipe
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol import Request, RequestItem, UnsuppliedError
from mmcache_ref.protocol.processes import (
    Cleared,
    Died,
    Hosts,
    Read,
    Refused,
    Served,
    SharedCourse,
    SharedProcesses,
)

CAPACITY, LIMIT, WORKERS = 12, 4, 2
KEYS = "abcdef"


@pytest.fixture
def processes(hosts: Hosts) -> Iterator[SharedProcesses]:
    recipe = shared_recipe(resolve("reference"), CAPACITY, LIMIT, WORKERS)
    made = SharedProcesses(hosts, recipe, WORKERS)
    yield made
    made.close()
    assert not segments.exists(made.segment)


def item(key: str, *, is_supplied: bool = True) -> RequestItem:
    """A key with its own content: one to three units."""
    return RequestItem(key, Content(1 + ord(key) % 3, ord(key)), is_supplied=is_supplied)


def some(random: Random) -> Request:
    return tuple([item(key) for key in random.sample(KEYS, random.randint(1, 3))])


def run(course: SharedCourse, requests: int, random: Random, accidents: Any = lambda: None) -> list[Any]:
    """Requests, four under way at once, until all are served; what happened."""
    happened: list[Any] = []
    asked = 0
    while asked < requests or course.under_way:
        while asked < requests and course.under_way < 4:
            asked += 1
            course.submit(some(random), random.choice((1, 1, 2)))
        accidents()
        happened += course.step(60)
    return happened


def check(happened: list[Any]) -> None:
    """Whatever a worker read is what was asked for."""
    for read in (each for each in happened if isinstance(each, Read) and each.reading.items):
        asked = [item.data.fill for item in read.message.request]
        assert [set(got["data"].data.tolist()) for got in read.reading.items] == [{fill} for fill in asked]


@pytest.mark.clause("SC-25", "SC-29", "SC-31", "SC-35", "SC-38", "SC-39", "SC-41")
def test_all_processes_work_at_once_and_serve_what_was_asked_for(processes: SharedProcesses) -> None:
    random = Random(1)
    deployment = processes.deployment()
    course = SharedCourse(deployment)

    def accidents() -> None:
        if random.random() < 0.1:
            course.reject(some(random))
        if random.random() < 0.05:
            course.clear()
        if (free := course.free_messages()) and random.random() < 0.1:
            course.abort(random.choice(free))

    happened = run(course, 150, random, accidents)
    check(happened)
    assert any(isinstance(each, Cleared) for each in happened)
    served = sum(isinstance(each, Served) for each in happened)
    work = deployment.work
    assert served + work.releases == work.messages > 150
    assert (work.misses, work.stranded, work.retries) == (0, 0, 0)
    assert work.acknowledgements == WORKERS * work.references > 0
    seen = deployment.front_end.sender.observed()["chunks"]
    assert seen["counts"] == tuple([WORKERS * each for each in seen["references"]])


@pytest.mark.clause("SC-26")
def test_p0_refuses_from_afar(processes: SharedProcesses) -> None:
    course = SharedCourse(processes.deployment())
    course.submit((item("a", is_supplied=False),))
    (refused,) = [each for each in run(course, 0, Random(0)) if isinstance(each, Refused)]
    assert isinstance(refused.error, UnsuppliedError)
    assert refused.error.mm_hashes == ["a"]


@pytest.mark.clause("SC-44", "SC-45", "SC-46")
def test_what_dies_is_replaced_and_every_request_is_served(processes: SharedProcesses) -> None:
    random = Random(2)
    course = SharedCourse(processes.deployment())
    victims = [f"w{WORKERS - 1}", "p0"]

    before = processes.segment
    happened = run(course, 60, random, lambda: kill_one(course, victims, random))
    check(happened)
    assert sorted(each.part for each in happened if isinstance(each, Died)) == ["p0", f"w{WORKERS - 1}"]
    assert sum(isinstance(each, Served) for each in happened) == 60
    assert processes.segment != before
    assert not segments.exists(before)


@pytest.mark.clause("SC-49", "SC-51")
def test_a_worker_that_dies_while_all_are_attached_anew_leaves_none_behind(
    processes: SharedProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = SharedCourse(processes.deployment())
    random = Random(4)
    happened = run(course, 3, random)
    kill_while_made(monkeypatch, "w0")
    course.front_end.host.process.kill()
    happened += run(course, 10, random)
    assert {each.segment for each in (course.front_end, *course.workers)} == {processes.segment}
    assert sum(isinstance(each, Served) for each in happened) == 13
    check(happened)
