"""The whole protocol under load, each part in a process of its own: requests per second, targets in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter
from typing import Any, Final

import msgspec

from mmcache_ref.model.component import Content
from mmcache_ref.oracle.bench import KIB, MIB
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.load_parts import pair_load_recipe, shared_load_recipe
from mmcache_ref.protocol import RequestItem
from mmcache_ref.protocol.processes import (
    Answered,
    Died,
    Failed,
    Hosts,
    Lost,
    Missed,
    PairCourse,
    PairProcesses,
    Refused,
    Served,
    SharedCourse,
    SharedProcesses,
)

ENTRIES: Final = 64
"""Items that a cache has room for."""
RECENT: Final = 16
"""A request that hits asks for one of so many that came last: they are still there."""
UNDER_WAY: Final = 4
"""Requests at once."""
BATCH: Final = 40
"""Requests of a round."""
STEP_SECONDS: Final = 60.0
TASKS: Final = "/proc/{}/task"
"""Where Linux says how long each thread of a process has been on a processor, in nanoseconds."""


class Setting(msgspec.Struct, frozen=True):
    """What is put under load; an LRU pair has one process that receives."""

    cache: str
    workers: int
    hit_percent: int
    size: int


SETTINGS: Final = (
    *(Setting("lru", 1, hits, 256 * KIB) for hits in (0, 50, 90)),
    *(Setting("shm", workers, hits, 256 * KIB) for workers in (1, 2, 4) for hits in (0, 50, 90)),
    *(
        Setting(cache, workers, 50, size)
        for cache, workers in (("lru", 1), ("shm", 2))
        for size in (KIB, 4 * MIB)
    ),
)
"""Workers and hit rates with items of one size, and two other sizes."""


class Load(msgspec.Struct, frozen=True):
    """One setting: the seconds of a request in each round, by target, and the hits."""

    setting: Setting
    seconds: dict[str, tuple[float, ...]]
    hit_rates: dict[str, float]

    def requests_per_second(self, target: str) -> float:
        """The median over the rounds."""
        return 1 / median(self.seconds[target])

    def bytes_per_second(self, target: str) -> float:
        """Bytes of items that came to all who receive."""
        return self.requests_per_second(target) * self.setting.size * self.setting.workers

    def ratio(self, target: str, other: str) -> float:
        """The median over the rounds of one's time in units of the other's."""
        pairs = zip(self.seconds[target], self.seconds[other], strict=True)
        return median(ours / theirs for ours, theirs in pairs)


class LoadBench(msgspec.Struct, frozen=True):
    """All that was measured."""

    targets: tuple[str, ...]
    rounds: int
    clock: str
    loads: tuple[Load, ...]


def measure_load(
    targets: Sequence[str],
    rounds: int,
    settings: Sequence[Setting] = SETTINGS,
    observe: Callable[[str], None] = lambda _: None,
    *,
    clock: str = "wall",
) -> LoadBench:
    """Measure every setting; a round has every target, and one more before the others warms up.

    With the clock `processor` the seconds are those that all parts together were on a processor: what else
    runs on the machine does not count, nor do clients and channel.
    """
    if clock == "processor" and not Path(TASKS.format("self")).exists():
        raise TargetUnavailable(
            "only Linux says how long other processes were on a processor: take --clock wall"
        )
    names = tuple(dict.fromkeys(targets))
    loads = []
    with ExitStack() as cleanup:
        hosts = {name: cleanup.enter_context(Hosts()) for name in names}
        for setting in settings:
            observe(setting_in_words(setting))
            loads.append(_measure(setting, hosts, rounds, clock))
    return LoadBench(names, rounds, clock, tuple(loads))


def _measure(setting: Setting, hosts: dict[str, Hosts], rounds: int, clock: str) -> Load:
    seconds: dict[str, list[float]] = {name: [] for name in hosts}
    with ExitStack() as cleanup:
        driven = {name: Driven(setting, name, hosts[name], cleanup, clock) for name in hosts}
        for number in range(1 + rounds):
            for name, each in driven.items():
                took = each.round(BATCH) / BATCH
                if number:
                    seconds[name].append(took)
        rates = {name: each.hit_rate() for name, each in driven.items()}
    return Load(setting, {name: tuple(each) for name, each in seconds.items()}, rates)


class Driven:
    """A deployment of one target, and the requests for it: the same for every target."""

    def __init__(self, setting: Setting, target: str, hosts: Hosts, cleanup: ExitStack, clock: str) -> None:
        self._clock = clock
        self._setting = setting
        self._random = Random(0)
        self._last = 0
        self._course: Any
        processes: Any
        if setting.cache == "shm":
            recipe = shared_load_recipe(target, ENTRIES, setting.size, setting.workers)
            processes = SharedProcesses(hosts, recipe, setting.workers)
            cleanup.callback(processes.close)
            self._course = SharedCourse(processes.deployment())
        else:
            processes = PairProcesses(hosts, pair_load_recipe(target, ENTRIES, setting.size))
            cleanup.callback(processes.close)
            self._course = PairCourse(processes.deployment())

    def round(self, requests: int) -> float:
        """The seconds until so many requests were served, some of them under way at once."""
        wanted = [self._request() for _ in range(requests)]
        course, served = self._course, 0
        began = self._now()
        while served < requests:
            while wanted and course.under_way < UNDER_WAY:
                course.submit(wanted.pop())
            for event in course.step(STEP_SECONDS):
                served += _is_served(event)
        took = self._now() - began
        while course.under_way:
            course.step(STEP_SECONDS)
        return took

    def _now(self) -> float:
        if self._clock == "wall":
            return perf_counter()
        return sum(seconds_on_processor(host.pid) for host in self._course.hosts())

    def _request(self) -> tuple[RequestItem, ...]:
        """One item: one of the last, or one that nobody has asked for."""
        is_hit = self._random.randrange(100) < self._setting.hit_percent
        if is_hit and self._last:
            number = self._random.randint(max(1, self._last - RECENT + 1), self._last)
        else:
            self._last = number = self._last + 1
        return (RequestItem(f"item {number}", Content(self._setting.size, 1)),)

    def hit_rate(self) -> float:
        """The part of the requests since the start whose item did not have to be processed."""
        work = self._course.deployment.work
        return 1 - float(work.processed / work.messages)


def _is_served(event: Any) -> bool:
    """Whether a request was served; whatever went wrong instead is raised."""
    if isinstance(event, Served) or (isinstance(event, Answered) and event.answer.items is not None):
        return True
    if isinstance(event, Died | Failed | Refused | Missed | Lost):
        raise TargetUnavailable(f"a request was not served under load: {event!r:.500}")
    return False


def seconds_on_processor(pid: int) -> float:
    """How long the threads of a process have been on a processor."""
    nanoseconds = [int(each.read_text().split()[0]) for each in Path(TASKS.format(pid)).glob("*/schedstat")]
    return sum(nanoseconds) / 1e9


def setting_in_words(setting: Setting) -> str:
    """For the one who waits."""
    return f"{setting.cache}, {setting.workers} × {setting.size} B, {setting.hit_percent} % hits"
