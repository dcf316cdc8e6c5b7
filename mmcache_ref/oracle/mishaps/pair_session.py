"""Clients of a key-replicated pair: requests through P0 and P1 as processes, each answered once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

from mmcache_ref.oracle.mishaps.clients import Clients, Meanwhile, Request, content_in_words, in_words
from mmcache_ref.protocol.deployment import Deployment
from mmcache_ref.protocol.messages import Answer, Message
from mmcache_ref.protocol.processes import Answered, Lost, PairCourse, PairProcesses, Refused, Sent
from mmcache_ref.protocol.protections import DEFAULT

AFTERWARDS = 40
"""Requests none of which may be missed, once both sides are in step."""


class PairSession(Clients):
    """One pair, and what its clients saw of it.

    A request is served when P1 has answered it with its items. What is lost with a process its client sends
    again. No two requests that are under way are the same, so each answer is known to be of one of them.
    """

    accidents = (
        *["submit"] * 24,
        *("abort", "bypass", "check", "clear-both", "clear-p0", "clear-p1", "drop", "dry-run", "reject"),
        "unsupplied",
    )
    """See `Deployment`; `unsupplied` asks for what is not cached, and brings no data."""
    tidy = "DR-33"

    def __init__(
        self,
        processes: PairProcesses,
        random: Random,
        prefix: str = "",
        protections: Iterable[str] = DEFAULT,
        kind: Callable[..., Deployment] = Deployment,
    ) -> None:
        super().__init__(random, prefix)
        self.processes = processes
        self.deployment = kind(protections=protections, **processes.parts())
        self.course = PairCourse(self.deployment)
        self._waiting: Counter[Request] = Counter()
        self._aborted: Counter[Request] = Counter()
        self._missed: Counter[Request] = Counter()
        self._misses = 0

    def look_after(self, units: int, *, needs_clear: bool) -> None:
        """Whether both sides come into step, after the same parts died once more with nothing under way.

        Who asks twice for an item that nobody has asked for has P0 claim it, and if the sides have different
        numbers, P1 miss it. From then on nothing is missed.   [DR-15, DR-25]
        """
        restarts = {"p0": self.course.restart_p0, "p1": self.course.restart_p1}
        for part in sorted(self.expected):
            restarts[part]()
        self._fresh += 1
        fresh = (self._item(f"fresh{self._fresh}", 1),)
        for _ in range(2):
            self._serve([("submit", fresh)])
        before = self._misses
        self.serve(AFTERWARDS)
        if self._misses > before:
            missed = f"{self._misses - before} of {AFTERWARDS} requests were missed"
            self.find("DR-25", f"{missed}, although nothing happened after both sides were in step")

    def _serve(self, requests: list[tuple[str, Request]], meanwhile: Meanwhile = lambda: None) -> None:
        super()._serve(requests, meanwhile)
        for each in (self._waiting, self._aborted, self._missed):
            each.clear()

    def _ask(self, kind: str, request: Request) -> None:
        ways: dict[str, Callable[[Request], None]] = {
            "bypass": self.course.bypass,
            "check": self.course.check,
            "dry-run": self.course.dry_run,
            "reject": self.course.reject,
        }
        clears = {
            "clear-both": self.course.clear_both,
            "clear-p0": self.course.clear_p0,
            "clear-p1": self.course.clear_p1,
        }
        if kind in ("unsupplied", "dry-run", "reject"):
            self._fresh += 1
            fresh = self._item(f"none{self._fresh}", 1)._replace(is_supplied=kind != "unsupplied")
            ways.get(kind, self.course.submit)((*request, fresh))
            return
        while self._waiting[request] or self._aborted[request]:
            request = self._request()
        if kind in clears:
            clears[kind]()
        elif kind in ("abort", "drop"):
            self._meddle(kind)
        self._owed += 1
        self._waiting[request] += 1
        ways.get(kind, self.course.submit)(request)

    def _meddle(self, kind: str) -> None:
        """A message under way is aborted, so that its client waits for nothing, or it is lost."""
        messages = self.deployment.channel.messages
        if not messages:
            return
        place = self._random.randrange(len(messages))
        request = messages[place].request
        if kind == "drop":
            self.course.drop(place)
        elif self._waiting[request]:
            self.course.abort(place)
            self._waiting[request] -= 1
            self._aborted[request] += 1
            self._owed -= 1

    # What happened

    def _note(self, event: Any) -> None:
        match event:
            case Sent(did, message):
                if isinstance(message, Message) and not all(item.is_supplied for item in message.request):
                    self.find("DR-02", f"{did} was sent, although an item has neither data nor is cached")
            case Refused(did, request, error):
                self._hear_refusal(did, request, error)
            case Answered(message, answer):
                self._hear(message.request, answer)
            case Lost(request):
                self._missed.pop(request, None)
                if self._waiting[request]:
                    self.course.submit(request)
            case _:
                super()._note(event)

    def _hear_refusal(self, did: str, request: Request, error: Exception) -> None:
        """Only what is neither cached nor supplied is refused.   [DR-02]"""
        unsupplied = [item.mm_hash for item in request if not item.is_supplied]
        if not unsupplied or getattr(error, "mm_hashes", None) != unsupplied:
            self.find(self.blamed, f"P0 raised {in_words(error)} at {did}")

    def _hear(self, request: Request, answer: Answer) -> None:
        """An answer to a request that somebody waits for, or that was aborted.   [DR-30, DR-32]"""
        if answer.items is None:
            self._misses += 1
            self._missed[request] += 1
            if self._missed[request] > 1:
                self.find("DR-26", "a retry that brought all its data was missed")
            return
        self._missed.pop(request, None)
        self._check(request, answer.items)
        if self._waiting[request]:
            self._waiting[request] -= 1
            self._owed -= 1
            self.served += 1
        elif self._aborted[request]:
            self._aborted[request] -= 1
        else:
            self.find(self.blamed, "a request was answered again that was answered before")

    def _check(self, request: Request, items: tuple[Any, ...]) -> None:
        """What is served is what was asked for.   [DR-10]"""
        for item, found in zip(request, items, strict=True):
            if found != item.data:
                asked, served = content_in_words(item.data), content_in_words(found)
                self.find("DR-10", f"P1 served {served} for {item.mm_hash!r}, which is {asked}")
