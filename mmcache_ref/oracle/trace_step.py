"""One event of a log after a partial behaviour: does the model let its process see what it saw?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, get_args

import msgspec

from mmcache_ref.model.component import Content, Op, Outcome, tag
from mmcache_ref.model.events import AnyEvent, Asked, Brought, Header, Took
from mmcache_ref.model.pair import Item as PairItem
from mmcache_ref.model.shm_requests import Item as SharedItem
from mmcache_ref.oracle.event_log import HOLDS, Entry, as_json
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.lockstep import DISABLED
from mmcache_ref.oracle.trace_lanes import is_end
from mmcache_ref.oracle.under_way import Names, follow, keys_at, makes
from mmcache_ref.oracle.wording import results_in_words

UNBOUNDED: Final = 1 << 30


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


class Partial(NamedTuple):
    """How far each process is, and the state there."""

    places: tuple[int, ...]
    state: Any
    names: Names

    @property
    def length(self) -> int:
        """How many events it explains."""
        return sum(self.places)


class Failure(NamedTuple):
    """Why an event cannot be the next; `is_early`: another event may have to come first."""

    clause: str
    says: str
    is_early: bool = False


class Steps:
    """What follows a partial behaviour."""

    def __init__(self, header: Header) -> None:
        self.header: Final = header
        self.model: Final = FAMILIES[header.cache].model
        self.config: Final = config_of(header)
        self._types: Mapping[str, type[Op]] = {
            str(each.__struct_config__.tag): each for each in get_args(self.model.Operation)
        }

    def first(self, lanes: int) -> Partial:
        """Nothing has happened."""
        return Partial((0,) * lanes, self.model.initial(self.config), Names())

    def step(self, partial: Partial, lane: int, entry: Entry) -> Partial | Failure:
        """What follows when this event is the next one.   [EV-04, EV-05]"""
        event = entry.event
        before = partial.state
        if is_end(event) and before.is_dead:
            before = before._replace(is_dead=False)
        operation = self._operation(event, before, partial.names)
        if isinstance(operation, Failure):
            return operation
        after, outcome = self.model.step(self.config, before, operation)
        if outcome.kind == DISABLED or outcome.result is False:
            return Failure("EV-05", f"{event.process} cannot {event.did} here")
        if failure := self._differs(event, operation, outcome, after):
            return failure
        is_made = makes(operation, before, after)
        if is_made is (event.made is None):
            says = "a message was made, and has no name" if is_made else f"no message {event.made} was made"
            return Failure("EV-04", says)
        names = follow(partial.names, operation, before, after, event.made)
        places = (*partial.places[:lane], partial.places[lane] + 1, *partial.places[lane + 1 :])
        return Partial(places, after, names)

    def _operation(self, event: AnyEvent, state: Any, names: Names) -> Op | Failure:
        """The model's operation of an event."""
        kind = self._types.get(event.did)
        if kind is None:
            return Failure("EV-03", f"with --cache {self.header.cache} nobody does {event.did}")
        given: dict[str, Any] = {}
        if isinstance(event, Took):
            place = names.place(event.did, event.message)
            if place is None:
                says = f"message {event.message} is not there for {event.did}"
                return Failure("EV-04", says, is_early=True)
            if (keys := keys_at(state, event.did, place)) != event.keys:
                says = f"message {event.message} carries {_listed(keys)}, not {_listed(event.keys)}"
                return Failure("EV-04", says)
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
        if self.header.cache == "shm":
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

    def _differs(self, event: AnyEvent, operation: Op, outcome: Outcome, after: Any) -> Failure | None:
        """What the process saw and must not have seen, by the operation's own clause."""
        rule = self.model.RULES[tag(operation), outcome.kind]
        expected = as_json(outcome.result)
        if not matches(expected, event.saw):
            told = f"saw {_in_words(event.saw)}, must see {_in_words(expected)}"
            return Failure(rule.outcome, f"{event.process}, {event.did}: {told}")
        if event.holds is None:
            return None
        aspect = HOLDS.get((self.header.cache, event.process))
        due = self.model.observe(self.config, after).get(aspect) if aspect is not None else None
        if due is None or tuple(due) != event.holds:
            told = f"holds {_listed(event.holds)}, must hold {_listed(due or ())}"
            return Failure(rule.state, f"{event.process}, after {event.did}: {told}")
        return None


def view(partial: Partial) -> Any:
    """What of a partial behaviour decides how it can go on.

    Not in which order requests began to run, and not the counters of lookups, which no log tells.
    """
    state, names = partial.state, partial.names
    waiting: tuple[Any, ...] = tuple(sorted(zip(names.retries, state.retries, strict=True)))
    state = state._replace(retries=())
    running: tuple[Any, ...] = ()
    if hasattr(state, "running"):
        running = tuple(sorted(zip(names.running, state.running, strict=True)))
        state = state._replace(running=(), store=state.store._replace(hits=0, total=0))
    else:
        reports = tuple(sorted(zip(names.reports, state.reports, strict=True)))
        waiting = (*waiting, reports)
        state = state._replace(reports=())
    return partial.places, state, names.channel, waiting, running


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
