"""Is there a behaviour of the model that explains an event log, without a clock that all processes share?

The events of a process happened in its own order, and a message was made before it was taken. Beyond that
every order may be the right one, until one is found in which each process saw what the model lets it see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

import msgspec

from mmcache_ref.model.events import AnyEvent, is_done_by
from mmcache_ref.oracle import trace_search
from mmcache_ref.oracle.event_log import Entry, Log
from mmcache_ref.oracle.trace_lanes import Lanes
from mmcache_ref.oracle.trace_order_lru import LruOrder
from mmcache_ref.oracle.trace_order_shm import ShmOrder
from mmcache_ref.oracle.trace_search import Explained, Order
from mmcache_ref.oracle.trace_step import Steps

ORDERS: Final[Mapping[str, Callable[[Lanes, Steps], Order]]] = {"lru": LruOrder, "shm": ShmOrder}
"""By cache what has to be tried in more than one order."""


NOTHING_JUDGED: Final = "There is no event in it: nothing was judged."


class Unexplained(msgspec.Struct, frozen=True):
    """The first event that no behaviour explains: its line, what is wrong, and by which clause."""

    line: int
    clause: str
    says: str
    event: AnyEvent | None = None


class Checked(msgspec.Struct, frozen=True):
    """What came of a check; `explained` are as many events as some behaviour explains together.

    When it is undetermined, `unexplained` is the event that none of the behaviours that were tried explains.
    """

    status: Literal["conforms", "violates", "undetermined"]
    events: int
    explained: int
    unexplained: Unexplained | None = None
    reason: str = ""


def check(log: Log) -> tuple[Checked, list[Explained]]:
    """Judge a log; and the longest behaviour that was found, event by event.   [EV-06]

    A line that is wrong by itself is named without a search.
    """
    wrong = out_of_place(log)
    if not log.entries and wrong is None:
        return Checked("undetermined", 0, 0, reason=NOTHING_JUDGED), []
    entries = [entry for entry in log.entries if wrong is None or entry.line < wrong.line]
    steps = Steps(log.header)
    found = trace_search.search(ORDERS[log.header.cache](Lanes(log.header, entries), steps))
    if wrong is not None:
        return Checked("violates", len(log.entries), len(found.order), wrong), found.order
    unexplained, reason = None, ""
    if found.failed is not None:
        entry, failure = found.failed
        unexplained = Unexplained(entry.line, failure.clause, failure.says, entry.event)
    if found.status == "undetermined":
        reason = (
            f"{trace_search.MOST:,} partial behaviours were tried, and not all: "
            "another one may explain this event"
        )
    return Checked(found.status, len(log.entries), len(found.order), unexplained, reason), found.order


def out_of_place(log: Log) -> Unexplained | None:
    """The first line that is wrong by itself.   [EV-01, EV-02, EV-03, EV-04, EV-07]"""
    counts: dict[str, int] = {}
    named: set[int] = set()
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
        if event.made is not None:
            if event.made in named:
                return Unexplained(line, "EV-04", f"another message has the name {event.made}", event)
            named.add(event.made)
    if log.bad is not None:
        return Unexplained(log.bad[0], "EV-01", f"this line is no event: {log.bad[1]}")
    return _unlocked(log.entries)


def _unlocked(entries: tuple[Entry, ...]) -> Unexplained | None:
    """The first event with numbers of the lock that cannot be: another had them, or the order is wrong.

    [EV-07]
    """
    taken: set[int] = set()
    last: dict[str, int] = {}
    for line, event in entries:
        if event.lock is None:
            continue
        acquired, released = event.lock
        before = last.get(event.process, -1)
        if acquired > released or acquired <= before:
            says = f"{event.process} had the lock from {acquired} to {released}, and before it up to {before}"
            return Unexplained(line, "EV-07", says, event)
        if taken & {acquired, released}:
            return Unexplained(
                line, "EV-07", f"another had the lock at {min(taken & set(event.lock))}", event
            )
        taken |= {acquired, released}
        last[event.process] = released
    return None
