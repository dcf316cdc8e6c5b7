"""Is there a behaviour of the model that explains an event log, without a clock that all processes share?

The events of a process happened in its own order, and a message was made before it was taken. Beyond that
every order is tried, the order of the lines first, until one is found in which each process saw what the
model lets it see.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, get_args

import msgspec

from mmcache_ref.model.component import Content, Op, Outcome, tag
from mmcache_ref.model.events import AnyEvent, Asked, Brought, Header, Took, is_done_by
from mmcache_ref.model.pair import Item as PairItem
from mmcache_ref.model.shm_requests import Item as SharedItem
from mmcache_ref.oracle.event_log import HOLDS, Entry, Log, as_json
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.lockstep import DISABLED
from mmcache_ref.oracle.under_way import Names, follow, keys_at, makes
from mmcache_ref.oracle.wording import results_in_words

MOST: Final = 50_000
"""Partial behaviours that are tried at most."""
UNBOUNDED: Final = 1 << 30
RUNNING: Final = ("finish", "resume")
"""What happens to requests that every worker has read."""


class Unexplained(msgspec.Struct, frozen=True):
    """The first event that no behaviour explains: its line, what is wrong, and by which clause."""

    line: int
    clause: str
    says: str
    event: AnyEvent | None = None


class Explained(NamedTuple):
    """An event in the order that was found, and the model's state after it."""

    entry: Entry
    state: Any


class Checked(msgspec.Struct, frozen=True):
    """What came of a check; `explained` are as many events as some behaviour explains together.

    When it is undetermined, `unexplained` is the event that none of the behaviours that were tried explains.
    """

    status: Literal["conforms", "violates", "undetermined"]
    events: int
    explained: int
    unexplained: Unexplained | None = None
    reason: str = ""


def config_of(header: Header) -> Any:
    """The model's configuration of a log: everything may happen; a `ValueError` names what is unknown."""
    model = FAMILIES[header.cache].model
    base = model.configure(accidents=["all"], protections=header.protections)
    if header.cache == "lru":
        return dataclasses.replace(
            base, budget=header.capacity, requests=(), depth=UNBOUNDED, clears=UNBOUNDED
        )
    return dataclasses.replace(
        base,
        capacity=header.capacity,
        limit=header.limit,
        workers=header.workers,
        requests=(),
        depth=UNBOUNDED,
    )


def check(log: Log) -> tuple[Checked, list[Explained]]:
    """Judge a log; and the longest behaviour that was found, event by event.   [EV-06]"""
    found = _out_of_place(log)
    before = [entry for entry in log.entries if found is None or entry.line < found.line]
    search = _Search(log.header, before)
    status, order, failure = search.run()
    if status == "conforms" and found is not None:
        status, failure = "violates", found
    reason = ""
    if status == "undetermined":
        reason = f"{MOST:,} partial behaviours were tried, and not all: another one may explain this event"
    return Checked(status, len(log.entries), len(order), failure, reason), order


def _out_of_place(log: Log) -> Unexplained | None:
    """The first line that is wrong by itself.   [EV-01, EV-02, EV-03]"""
    counts: dict[str, int] = {}
    for line, event in log.entries:
        due = counts.get(event.process, 0)
        if event.number != due:
            says = f"{event.process} numbers this event {event.number}, its next one is {due}"
            return Unexplained(line, "EV-02", says, event)
        counts[event.process] = due + 1
        is_worker = event.process[:1] == "w"
        if not is_done_by(event.did, event.process) or (
            is_worker and int(event.process[1:]) >= log.header.workers
        ):
            return Unexplained(line, "EV-03", f"{event.process} does no {event.did}", event)
    if log.bad is not None:
        return Unexplained(log.bad[0], "EV-01", f"this line is no event: {log.bad[1]}")
    return None


class _Partial(NamedTuple):
    """How far each process is, and the state there."""

    places: tuple[int, ...]
    state: Any
    names: Names
    made: frozenset[int]


def _is_indifferent(event: AnyEvent, before: Any, after: Any) -> bool:
    """Whether an event of a running request stands in nobody's way, nor anybody in its.

    It need not be tried later: the request ends, or is read again and nothing of it is acknowledged.
    """
    return event.did in RUNNING and bool(before.store == after.store)


def _view(partial: _Partial) -> Any:
    """What of a partial behaviour decides how it can go on: not in which order requests began to run."""
    state, names = partial.state, partial.names
    if not names.running and not names.retries:
        return partial
    waiting = tuple(sorted(names.retries))
    running: tuple[Any, ...] = ()
    if hasattr(state, "running"):
        running = tuple(sorted(zip(names.running, state.running, strict=True)))
        state = state._replace(running=())
    return partial.places, state._replace(retries=()), names.channel, names.reports, waiting, running


class _Failure(NamedTuple):
    """Why an event cannot be the next; `is_early`: another event may have to come first."""

    clause: str
    says: str
    is_early: bool = False


class _Search:
    """Every order of the events of several processes, depth first."""

    def __init__(self, header: Header, entries: list[Entry]) -> None:
        self._header = header
        self._family = FAMILIES[header.cache]
        self._model = self._family.model
        self._config = config_of(header)
        lanes: dict[str, list[Entry]] = {}
        for entry in entries:
            lanes.setdefault(entry.event.process, []).append(entry)
        self._lanes = list(lanes.values())
        self._whole = len(entries)
        self._types: Mapping[str, type[Op]] = {
            str(each.__struct_config__.tag): each for each in get_args(self._model.Operation)
        }

    def run(
        self,
    ) -> tuple[Literal["conforms", "violates", "undetermined"], list[Explained], Unexplained | None]:
        """Whether there is an order, the longest one, and what could not follow it."""
        first = _Partial((0,) * len(self._lanes), self._model.initial(self._config), Names(), frozenset())
        came_from: dict[_Partial, tuple[_Partial, Entry] | None] = {first: None}
        waiting, seen = [first], {_view(first)}
        best, done = first, -1
        failures: list[tuple[Entry, _Failure]] = []
        while waiting:
            partial = waiting.pop()
            length = sum(partial.places)
            if length == self._whole:
                return "conforms", self._order(came_from, partial), None
            failed: list[tuple[Entry, _Failure]] = []
            following: list[_Partial] = []
            for lane, entry in self._next(partial):
                after = self._explained(partial, lane, entry)
                if isinstance(after, _Failure):
                    failed.append((entry, after))
                    continue
                if (view := _view(after)) not in seen:
                    seen.add(view)
                    came_from[after] = (partial, entry)
                    following.append(after)
                if _is_indifferent(entry.event, partial.state, after.state):
                    break
            waiting += following
            if length > done:
                best, done, failures = partial, length, failed
            if len(came_from) > MOST:
                return "undetermined", self._order(came_from, best), self._worst(failures)
        return "violates", self._order(came_from, best), self._worst(failures)

    def _next(self, partial: _Partial) -> list[tuple[int, Entry]]:
        """The next event of each process: what may be indifferent first, then the last line first."""
        found = [
            (lane, entries[place])
            for lane, (place, entries) in enumerate(zip(partial.places, self._lanes, strict=True))
            if place < len(entries)
        ]
        return sorted(found, key=lambda each: (each[1].event.did not in RUNNING, -each[1].line))

    @staticmethod
    def _worst(failures: list[tuple[Entry, _Failure]]) -> Unexplained | None:
        """Of what could not follow, the first that no other event keeps waiting."""
        if not failures:
            return None
        entry, failure = min(failures, key=lambda each: (each[1].is_early, each[0].line))
        return Unexplained(entry.line, failure.clause, failure.says, entry.event)

    @staticmethod
    def _order(
        came_from: Mapping[_Partial, tuple[_Partial, Entry] | None], partial: _Partial
    ) -> list[Explained]:
        order: list[Explained] = []
        while (step := came_from[partial]) is not None:
            order.append(Explained(step[1], partial.state))
            partial = step[0]
        return order[::-1]

    def _explained(self, partial: _Partial, lane: int, entry: Entry) -> _Partial | _Failure:
        """What follows when this event is the next one.   [EV-04, EV-05]"""
        event = entry.event
        before = partial.state
        operation = self._operation(event, before, partial.names)
        if isinstance(operation, _Failure):
            return operation
        after, outcome = self._model.step(self._config, before, operation)
        if outcome.kind == DISABLED:
            return _Failure("EV-05", f"{event.process} cannot {event.did} here")
        if failure := self._differs(event, operation, outcome, after):
            return failure
        is_made = makes(operation, before, after)
        if is_made is (event.made is None):
            says = "a message was made, and has no name" if is_made else f"no message {event.made} was made"
            return _Failure("EV-04", says)
        if event.made is not None and event.made in partial.made:
            return _Failure("EV-04", f"another message has the name {event.made}")
        names = follow(partial.names, operation, before, after, event.made)
        made = partial.made if event.made is None else partial.made | {event.made}
        places = tuple([place + (number == lane) for number, place in enumerate(partial.places)])
        return _Partial(places, after, names, made)

    def _operation(self, event: AnyEvent, state: Any, names: Names) -> Op | _Failure:
        """The model's operation of an event."""
        kind = self._types.get(event.did)
        if kind is None:
            return _Failure("EV-03", f"with --cache {self._header.cache} nobody does {event.did}")
        given: dict[str, Any] = {}
        if isinstance(event, Took):
            place = names.place(event.did, event.message)
            if place is None:
                says = f"message {event.message} is not there for {event.did}"
                return _Failure("EV-04", says, is_early=True)
            if (keys := keys_at(state, event.did, place)) != event.keys:
                says = f"message {event.message} carries {_listed(keys)}, not {_listed(event.keys)}"
                return _Failure("EV-04", says)
            given["position"] = place
        elif isinstance(event, Asked):
            given["request"] = self._request(event)
            if "children" in kind.__struct_fields__:
                given["children"] = event.children
        elif isinstance(event, Brought):
            given["key"] = event.key
            given |= {
                name: getattr(event, name)
                for name in ("is_outdated", "how", "at")
                if name in kind.__struct_fields__
            }
        if "worker" in kind.__struct_fields__:
            given["worker"] = int(event.process[1:])
        return kind(**given)

    def _request(self, event: Asked) -> tuple[Any, ...]:
        if self._header.cache == "shm":
            return tuple(
                [
                    SharedItem(item.key, Content(item.nbytes, item.fill), item.is_supplied)
                    for item in event.request
                ]
            )
        return tuple(
            [
                PairItem(item.key, Content(item.nbytes, item.fill), item.is_supplied, item.modality)
                for item in event.request
            ]
        )

    def _differs(self, event: AnyEvent, operation: Op, outcome: Outcome, after: Any) -> _Failure | None:
        """What the process saw and must not have seen, by the operation's own clause."""
        rule = self._model.RULES[tag(operation), outcome.kind]
        expected = as_json(outcome.result)
        if not matches(expected, event.saw):
            told = f"saw {_in_words(event.saw)}, must see {_in_words(expected)}"
            return _Failure(rule.outcome, f"{event.process}, {event.did}: {told}")
        process = event.process[:1] if event.process[:1] == "w" else event.process
        aspect = HOLDS.get((self._header.cache, process))
        if event.holds is None:
            return None
        due = self._model.observe(self._config, after).get(aspect) if aspect is not None else None
        if due is None or tuple(due) != event.holds:
            told = f"holds {_listed(event.holds)}, must hold {_listed(due or ())}"
            return _Failure(rule.state, f"{event.process}, after {event.did}: {told}")
        return None


def _listed(keys: Iterable[str]) -> str:
    return " ".join(keys) or "nothing"


def _in_words(result: Any) -> str:
    """A result in words; what no clause speaks of as it stands in the log."""
    try:
        return results_in_words(result)
    except (LookupError, TypeError, ValueError, AttributeError):
        return msgspec.json.encode(result).decode()


def matches(expected: Any, seen: Any) -> bool:
    """Is what was seen what the model says? An exception fixes its type, and what its message says."""
    if isinstance(expected, Mapping) and expected.get("result") == "one_of":
        return any(matches(each, seen) for each in expected["results"])
    if isinstance(expected, Mapping) and expected.get("result") == "raised" and isinstance(seen, Mapping):
        return (
            seen.get("result") == "raised"
            and expected["error"] in ("Exception", seen.get("error"))
            and expected.get("says", "") in str(seen.get("says", ""))
        )
    return type(expected) is type(seen) and bool(expected == seen)
