"""What both families of parts share: a part lives in its own process, and its stand-in in who started it."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple

from .carried import unpack
from .errors import Cause, raised_by
from .host import Host, Hosts

_numbers: Final = itertools.count()


def nothing_to_see(cache: Any) -> Mapping[str, Any]:
    """What others see of a cache that does not let them look inside."""
    return {}


@dataclass(frozen=True)
class Recipe:
    """How a process makes the caches that it needs. It travels to the process: all of it can be pickled.

    Attributes:
        make: `make(lock, segment, *arguments)` returns `SharedParts` or `PairParts`; it is found by its
            name. `lock` is what the workers share, `segment` the name of the shared memory, which only the
            caches in shared memory need.
        arguments: the rest of its arguments.
        fresh_name: makes names of segments that nobody has.
        remove: removes the segment of a P0 that was killed; nothing, where that is somebody else's matter.
    """

    make: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    fresh_name: Callable[[], str] = lambda: f"mmcache-{os.getpid()}-{next(_numbers)}"
    remove: Callable[[str], object] = lambda segment: None

    def made_in(self, lock: Any, segment: str) -> Any:
        """The parts, in the process that asks."""
        return self.make(lock, segment, *self.arguments)

    def __reduce__(self) -> Any:
        return Recipe, (self.make, self.arguments)


class Occasion(NamedTuple):
    """What a call is part of, for who writes it down: its name in an event log, the message that it is about,
    and details."""

    did: str
    about: int = 0
    details: Mapping[str, Any] = {}


Recorder = Callable[[Any, Occasion, tuple[Any, ...], Any], None]
"""Hears of each call with an occasion: the part, the occasion, the arguments, what was returned or raised."""


class Part:
    """What lives in a process: one side of a protocol, and what it has cost.

    Attributes:
        work: counts since the part was made.
        recorder: writes down what this side does, if somebody does.
        begins: hears of each call that will be written down, before it is made.
    """

    work: Any
    recorder: Recorder | None = None
    begins: Callable[[], object] = staticmethod(lambda: None)
    _occasion: Occasion | None = None
    observe: Callable[[Any], Mapping[str, Any]]
    """What others may see of a cache."""

    def cache(self) -> Any:
        """The cache of this side."""
        raise NotImplementedError

    def state(self) -> Any:
        """What the stand-in shows of this side without asking."""
        return None

    def offered(self) -> tuple[str, ...]:
        """The public methods of the cache."""
        cache = self.cache()
        names = [name for name in dir(cache) if not name.startswith("_")]
        return tuple([name for name in names if callable(getattr(cache, name, None))])

    def told(self) -> tuple[dict[str, int], Any]:
        """The counts, and the state."""
        return self.work.report(), self.state()

    def note_occasion(self, occasion: Occasion) -> None:
        """The next call is part of this."""
        self._occasion = occasion

    def perform(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """A call of a method of this part, written down if it has an occasion."""
        occasion, self._occasion = self._occasion, None
        if occasion is None or self.recorder is None:
            return getattr(self, method)(*arguments)
        self.begins()
        try:
            outcome = getattr(self, method)(*arguments)
        except Exception as error:
            self.recorder(self, occasion, arguments, error)
            raise
        self.recorder(self, occasion, arguments, outcome)
        return outcome

    def hear(self, request: Any, outcome: Any) -> Any:
        """Something that this side began was ended by others: it is only written down."""
        if isinstance(outcome, Cause):
            return raised_by(outcome)
        return outcome

    def of_cache(self, method: str, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """A call of the cache itself."""
        return getattr(self.cache(), method)(*[unpack(each) for each in arguments], **named)

    def observed(self) -> Mapping[str, Any]:
        """What others may see of the cache, now."""
        return self.observe(self.cache())


class RemoteCache:
    """A cache in another process: its public methods are calls there."""

    def __init__(self, host: Host, offered: tuple[str, ...]) -> None:
        self._host = host
        self._offered = frozenset(offered)

    def __getattr__(self, name: str) -> Any:
        if name not in self._offered:
            raise AttributeError(f"the cache in {self._host.part} has no {name!r}")

        def call(*arguments: Any, **named: Any) -> Any:
            return self._host.call("of_cache", name, arguments, named)

        return call

    def observed(self) -> Mapping[str, Any]:
        """What its process lets one see of it."""
        seen: Mapping[str, Any] = self._host.call("observed")
        return seen


class Accounts:
    """Adds what parts in other processes count to the work of the whole deployment."""

    def __init__(self, work: Any) -> None:
        self._work = work
        self._known: dict[str, int] = {}

    def take(self, counts: Mapping[str, int]) -> None:
        """The counts of a part since it was made."""
        for each in fields(self._work):
            change = counts[each.name] - self._known.get(each.name, 0)
            if change:
                setattr(self._work, each.name, getattr(self._work, each.name) + change)
        self._known = dict(counts)


class Processes:
    """Makes the parts of a deployment in processes. Who inherits says which parts there are.

    Args:
        hosts: where processes come from; the caller closes them.
        recipe: makes the caches in each process.
        kills: a part that is replaced is killed with its process, and not only dropped.
    """

    def __init__(self, hosts: Hosts, recipe: Recipe, *, kills: bool = True) -> None:
        self._hosts, self._recipe, self._kills = hosts, recipe, kills
        self._taken: dict[str, Host] = {}

    def _host(self, part: str, *, is_kept: bool = False) -> Host:
        """A process for a part; the one before ends, unless it is kept."""
        before = self._taken.pop(part, None)
        if before is not None:
            if self._kills and not is_kept:
                before.kill()
            self._hosts.give_back(before)
        self._taken[part] = self._hosts.take(part)
        return self._taken[part]

    def close(self) -> None:
        """Give the processes back; their parts are dropped, P0 last."""
        for part in sorted(self._taken, reverse=True):
            self._hosts.give_back(self._taken.pop(part))


def elsewhere(*_: Any) -> Any:
    """In place of what makes caches, where nobody may make any."""
    raise AssertionError("the caches are in processes of their own")
