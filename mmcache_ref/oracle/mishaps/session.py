"""Clients of the caches in shared memory: requests through a deployment of processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any, Final

from mmcache_ref.oracle.mishaps.clients import (
    LARGEST,
    Clients,
    Meanwhile,
    Request,
    content_in_words,
    in_words,
)
from mmcache_ref.protocol.processes import Read, Refused, Sent, SharedCourse, SharedProcesses
from mmcache_ref.protocol.shared_deployment import SharedDeployment
from mmcache_ref.protocol.shared_messages import Reading, Retry, SharedMessage, is_handle
from mmcache_ref.protocol.shared_protections import SHARED_DEFAULT

RUNNING: Final = 3
"""Requests that run before the oldest one is finished."""


class Session(Clients):
    """One deployment in shared memory, and what its clients saw of it.

    A request is served when every worker has read its items. Nothing is missed while `is_undisturbed`:
    then the protocol has all its protections, too.
    """

    accidents = (*["submit"] * 16, "fan-out", "reject", "abort", "clear")
    """See `SharedDeployment`."""
    tidy = "SC-52"

    def __init__(
        self,
        processes: SharedProcesses,
        random: Random,
        prefix: str = "",
        protections: Iterable[str] = SHARED_DEFAULT,
        kind: Callable[..., SharedDeployment] = SharedDeployment,
    ) -> None:
        super().__init__(random, prefix)
        self.processes = processes
        protections = frozenset(protections)
        self.is_undisturbed = protections >= SHARED_DEFAULT
        self.deployment = kind(protections=protections, **processes.parts())
        self.course = SharedCourse(self.deployment, finishes=False)
        self._stored: list[bool] = []

    @property
    def segment(self) -> str:
        """See `Clients`."""
        return str(self.processes.segment)

    def handles(self) -> list[int]:
        """The addresses that messages under way name, of those first that somebody has yet to read."""
        return [
            int(item["address"].data)
            for message in (*self.deployment.channel, *self.deployment.running)
            for item in message.items
            if is_handle(item)
        ]

    def look_after(self, units: int, *, needs_clear: bool) -> None:
        """Whether new items are stored when nothing is under way.   [SC-35]"""
        if needs_clear:
            self.deployment.clear()
        if not self.can_store(2 * units):
            self.find(self.blamed, "nothing is stored any more, although nothing is under way")

    def can_store(self, units: int) -> bool:
        """Whether of items that nobody has asked for, of so many units in all, any was stored.   [SC-35]"""
        self._fresh += 1
        names = [f"fresh{self._fresh}.{number}" for number in range(units // LARGEST + 1)]
        self._serve([("submit", (self._item(name, LARGEST),)) for name in names])
        return any(self._stored)

    def _ask(self, kind: str, request: Request) -> None:
        if kind == "reject":
            self.course.reject(request)
            return
        if kind == "clear":
            self.course.clear()
        if kind == "abort":
            self._abort()
        self._owed += 1
        self.course.submit(request, 2 if kind == "fan-out" else 1)

    def _abort(self) -> None:
        """The oldest request that can be aborted is: its client waits for nothing."""
        free = [message for message in self.course.free_messages() if not message.is_release]
        if free:
            self._owed -= 1
            self.course.abort(free[0])

    def _serve(self, requests: list[tuple[str, Request]], meanwhile: Meanwhile = lambda: None) -> None:
        self._stored.clear()
        super()._serve(requests, meanwhile)

    def _finish(self, *, is_last: bool) -> None:
        while len(self.deployment.running) > RUNNING or (self.deployment.running and is_last):
            self.course.finish()
            self.served += 1
            self._owed -= 1

    # What happened

    def _note(self, event: Any) -> None:
        match event:
            case Sent(_, message):
                self._stored += [is_handle(item) for item in message.items]
            case Refused(_, request, error):
                self.find(self.blamed, f"P0 raised {in_words(error)}")
                self.deployment.retries.append(Retry(request))
            case Read(_, worker, Reading(None, missing)):
                if self.is_undisturbed:
                    keys = ", ".join(missing)
                    self.find("SC-32", f"w{worker} missed {keys} before anything was done to anybody")
            case Read(message, worker, reading):
                if not message.is_release and reading.items is not None:
                    self._check(message, worker, reading.items)
            case _:
                super()._note(event)

    def _replace(self, part: str) -> None:
        super()._replace(part)
        self.deployment.is_dead = False

    def _check(self, message: SharedMessage, worker: int, items: tuple[Any, ...]) -> None:
        """What was read is what was asked for.   [SC-31]"""
        for item, found in zip(message.request, items, strict=True):
            if found != item.data:
                asked, read = content_in_words(item.data), content_in_words(found)
                self.find(
                    self.blamed if self.blamed == "SC-50" else "SC-31",
                    f"w{worker} read {read} for {item.mm_hash!r}, which is {asked}",
                )
