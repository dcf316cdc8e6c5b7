"""A target in its protocol for a while, every part in a process of its own, all at work at the same time.

Every answer is compared with what was asked for, and each process writes its own events; in the end the log
of them all is judged against the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from mmcache_ref import protocol
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.draws import Draw
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.event_log import header_of, read_log
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.namespace import call_with
from mmcache_ref.oracle.numbered_lock import Locks, NumberedLock
from mmcache_ref.oracle.process_log import gathered
from mmcache_ref.oracle.process_traffic_lru import PairTraffic
from mmcache_ref.oracle.process_traffic_shm import SharedTraffic
from mmcache_ref.oracle.quiet import quiet_logs
from mmcache_ref.oracle.recorded_parts import (
    HELD,
    LOOKUPS,
    PEAK,
    WAITING,
    recorded_pair_recipe,
    recorded_shared_recipe,
)
from mmcache_ref.oracle.scratch import scratch
from mmcache_ref.oracle.simulation import Broken, Plan, Seeded, Simulated
from mmcache_ref.oracle.trace_check import Checked, check
from mmcache_ref.oracle.verdict import Status
from mmcache_ref.protocol import RobustLock
from mmcache_ref.protocol.processes import (
    Hosts,
    PairCourse,
    PairProcesses,
    ProcessLost,
    SharedCourse,
    SharedProcesses,
)

STEP_SECONDS: Final = 1.0
"""How long to wait for an answer before one looks round."""
SERVED: Final = {"lru": "DR-10", "shm": "SC-31"}
"""That what is served is what was asked for."""
SURVIVED: Final = {"lru": "DR-04", "shm": "SC-42"}
"""That nothing ends the engine."""
NOTHING_LEFT: Final = "SC-35"
PAID_ONCE: Final = "SC-34"


def simulate_in_processes(
    target: str,
    namespace: Any,
    plan: Plan,
    *,
    progress: Callable[[int], None] = lambda requests: None,
    trace: Path | None = None,
) -> Simulated:
    """Simulate until so many requests were made and nothing is under way, or something goes wrong.

    No process and no segment is left, whatever happens. The log goes to `trace`, if that is given.
    """
    segments.sweep()
    with ExitStack() as cleanup, quiet_logs():
        cleanup.callback(segments.close_all)
        folder = cleanup.enter_context(scratch("simulation"))
        hosts = cleanup.enter_context(Hosts(Locks(RobustLock(), NumberedLock())))
        try:
            make = _Shared if plan.cache == "shm" else _Pair
            simulation = make(target, namespace, plan, str(folder), hosts)
            cleanup.callback(simulation.close)
            return simulation.simulated(progress, trace or folder / "log")
        except (NotOffered, ProcessLost) as error:
            return Simulated(target, plan, "undetermined", reason=str(error))


class _Simulation:
    """One simulation while it goes on."""

    course: Any
    traffic: Any

    def __init__(self, target: str, plan: Plan, folder: str) -> None:
        self._target, self._plan, self._folder = target, plan, folder
        self._family = FAMILIES[plan.cache]
        self.config = plan.config
        self._draw = Draw(Seeded(plan.seed), [])
        self._is_paid_twice = False

    def simulated(self, progress: Callable[[int], None], trace: Path) -> Simulated:
        """What came of it."""
        self._run(progress)
        hits, lookups, peak, left = self._seen()
        trace.write_bytes(gathered(header_of(self._plan.cache, self.config), Path(self._folder)))
        killed = self.traffic.killed
        broken = self._broken(0 if killed else left)
        work = self.course.deployment.work.report()
        judged: Checked | None = None
        status: Status = "undetermined"
        reason = f"somebody else killed {_counted(killed)}: what they did last, no event tells of"
        if broken or not killed:
            judged, _ = check(read_log(trace))
            status, reason = "violates" if broken else judged.status, self.traffic.error
        return Simulated(
            self._target,
            self._plan,
            status,
            dict(sorted(self.traffic.operations.items())),
            self.traffic.requests,
            self.traffic.refused,
            hits,
            lookups,
            work,
            sum(work.get(name, 0) for name in self._family.moved),
            peak,
            left,
            broken,
            reason=reason,
            judged=judged,
        )

    def _run(self, progress: Callable[[int], None]) -> None:
        traffic, course = self.traffic, self.course
        is_over = False
        while not is_over:
            if traffic.requests < self._plan.requests:
                if course.under_way < self.config_depth:
                    traffic.ask()
                    progress(traffic.requests)
                traffic.meddle()
            happened = course.step(STEP_SECONDS)
            for each in happened:
                traffic.hear(each)
            if not happened and course.is_idle:
                traffic.finish_one()
            is_over = bool(traffic.error) or (
                traffic.requests >= self._plan.requests and not course.under_way
            )
        course.settle()

    @property
    def config_depth(self) -> int:
        """Requests under way at once."""
        return int(self.config.depth)

    def _broken(self, left: int) -> tuple[Broken, ...]:
        """The promises to users that were seen to be broken."""
        found = []
        step = sum(self.traffic.operations.values())
        cache = self._plan.cache
        if self.traffic.wrong and "new-content" not in self.config.accidents:
            found.append((SERVED[cache], self.traffic.wrong))
        if self.traffic.error:
            found.append((SURVIVED[cache], self.traffic.error))
        if self._is_paid_twice:
            found.append((PAID_ONCE, "a chunk was acknowledged more often than there are references to it"))
        if left and cache == "shm" and not self.traffic.error:
            found.append((NOTHING_LEFT, f"{left:,} B wait for acknowledgements with nothing under way"))
        return tuple([Broken(each, clause(each).rule, step, says) for each, says in found])

    def _seen(self) -> tuple[int, int, int, int]:
        """Hits and lookups of P0's cache, the most bytes that were held, and those that nobody gives back."""
        raise NotImplementedError

    def close(self) -> None:
        """Give everything back."""
        raise NotImplementedError


def _counted(parts: list[str]) -> str:
    """`p0, w1 (3 ×)`."""
    counts = sorted(Counter(parts).items())
    return ", ".join([f"{part} ({count} ×)" if count > 1 else part for part, count in counts])


def deployed(namespace: Any, usual: type[Any], config: Any, processes: Any) -> Any:
    """A deployment of these processes, by the target's own class where it offers one."""
    kind = getattr(namespace, usual.__name__, usual)
    return call_with(kind, {"protections": config.protections, **processes.parts()})


class _Shared(_Simulation):
    def __init__(self, target: str, namespace: Any, plan: Plan, folder: str, hosts: Hosts) -> None:
        super().__init__(target, plan, folder)
        config = self.config
        recipe = recorded_shared_recipe(
            namespace, config.capacity, config.limit, config.workers, folder, sends_rejected=config.releases
        )
        self._processes = SharedProcesses(hosts, recipe, config.workers)
        self.course = SharedCourse(
            deployed(namespace, protocol.SharedDeployment, config, self._processes),
            choose=lambda messages: self._draw.up_to(len(messages) - 1),
            finishes=False,
        )
        self.traffic = SharedTraffic(namespace, config, self._draw, folder, self.course)

    def _seen(self) -> tuple[int, int, int, int]:
        seen = self.course.front_end.sender.observed()
        waiting = seen[WAITING]
        self._is_paid_twice = any(due < 0 for _, due in waiting)
        return (*seen[LOOKUPS], seen[PEAK], sum(nbytes for nbytes, due in waiting if due > 0))

    def close(self) -> None:
        self.traffic.close()
        self._processes.close()


class _Pair(_Simulation):
    def __init__(self, target: str, namespace: Any, plan: Plan, folder: str, hosts: Hosts) -> None:
        super().__init__(target, plan, folder)
        config = self.config
        self._processes = PairProcesses(hosts, recorded_pair_recipe(namespace, config.budget, folder))
        is_reordering = "reorder" in config.accidents
        self.course = PairCourse(
            deployed(namespace, protocol.Deployment, config, self._processes),
            choose=lambda messages: self._draw.up_to(len(messages) - 1) if is_reordering else 0,
        )
        self.traffic = PairTraffic(config, self._draw, folder, self.course)

    def _seen(self) -> tuple[int, int, int, int]:
        sender = self.course.front_end.sender.observed()
        receiver = self.course.engine.receiver.observed()
        unknown = sum(size for key, size in receiver[HELD].items() if key not in sender[HELD])
        return (*sender[LOOKUPS], max(self.traffic.peak, receiver[PEAK]), unknown)

    def close(self) -> None:
        self.traffic.close()
        self._processes.close()
