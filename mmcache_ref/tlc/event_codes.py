"""Event logs as numbers, the form in which `EventLogs.tla` reads them.   [EV-01, EV-04, EV-05, EV-07]"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

from mmcache_ref.model.events import AnyEvent, Asked, Brought, Header, Took
from mmcache_ref.model.shm_accident_steps import REFUSED as UNSIGNED_OUTCOME
from mmcache_ref.model.shm_reading import GONE as SAYS_GONE
from mmcache_ref.oracle.event_log import Entry, Log
from mmcache_ref.tlc.values import text

DATA: Final = "JudgedLogs"
"""The module with the logs; the one in `models/` is an example."""
DIDS: Final = (
    "submit", "check", "reject", "dry-run", "bypass", "second-front-end", "second-engine", "update",
    "clear-p0", "clear-both", "handle-report", "lose-report", "retry", "deliver", "clear-p1",
    "finish-clear", "restart-p1", "abort", "drop", "read", "worker-death", "strip", "finish", "resume",
    "clear", "replay", "forge",
)  # fmt: skip
"""`Dids` of the module, in its order."""
HOWS: Final = ("handle", "item", "nothing")
"""`Hows` of the module, in its order."""
UNBOUNDED: Final = 1 << 30
ABSENT: Final = -1
NOTHING, LISTED, MISSED, REFUSED, RAISED, ANSWERED, OTHER, CARRIED, AGAIN, GONE, UNSIGNED = range(11)
"""The forms of what a process saw."""
SAYS_UNSIGNED: Final = UNSIGNED_OUTCOME.result


@dataclass
class Tables:
    """What the numbers of events stand for."""

    keys: dict[str, int] = field(default_factory=dict)
    contents: dict[tuple[int, int], int] = field(default_factory=dict)
    items: dict[tuple[int, int, int, str], int] = field(default_factory=dict)
    forms: dict[tuple[Any, ...], int] = field(default_factory=dict)

    @staticmethod
    def _number(table: dict[Any, int], value: Any) -> int:
        return table.setdefault(value, len(table) + 1)

    def key(self, key: str) -> int:
        """The number of an identity."""
        return self._number(self.keys, key)

    def content(self, nbytes: int, fill: int) -> int:
        """The number of a content."""
        return self._number(self.contents, (nbytes, fill))

    def form(self, event: AnyEvent) -> int:
        """The number of what an event says besides the names of messages."""
        request = event.request if isinstance(event, Asked) else ()
        items = tuple(
            [
                self._number(
                    self.items,
                    (
                        self.key(each.key),
                        self.content(each.nbytes, each.fill),
                        int(each.is_supplied),
                        each.modality,
                    ),
                )
                for each in request
            ]
        )
        keys = tuple(map(self.key, event.keys)) if isinstance(event, Took) else ()
        holds = (ABSENT,) if event.holds is None else tuple(map(self.key, event.holds))
        children = event.children if isinstance(event, Asked) else 1
        brought = (self.key(event.key), int(event.is_outdated)) if isinstance(event, Brought) else ()
        did = DIDS.index(event.did) + 1
        return self._number(self.forms, (did, items, keys, self.saw(event.saw), holds, children, brought))

    def learn(self, event: AnyEvent) -> None:
        """Number the keys of an event: before an exception can name them, they have to be known."""
        named = event.request if isinstance(event, Asked) else ()
        for key in (*[each.key for each in named], *getattr(event, "keys", ()), *(event.holds or ())):
            self.key(key)

    def saw(self, saw: Any) -> tuple[int, tuple[Any, ...]]:
        """What a process saw: its form and its numbers."""
        if saw is None:
            return NOTHING, ()
        if isinstance(saw, list):
            return self._listed(saw)
        if not isinstance(saw, dict):
            return OTHER, ()
        if saw.get("result") == "raised":
            return self._raised(str(saw.get("error")), str(saw.get("says", "")))
        if saw.keys() == {"result", "hashes"} and isinstance(saw["hashes"], list):
            form = {"missed": MISSED, "refused": REFUSED}.get(saw["result"], OTHER)
            return form, tuple([self.key(str(each)) for each in saw["hashes"]])
        return OTHER, ()

    def _listed(self, saw: list[Any]) -> tuple[int, tuple[Any, ...]]:
        """Answers; contents of items, sent or carried; or contents for each worker."""
        if saw and all(each in (0, 1) for each in saw):
            return ANSWERED, tuple(map(int, saw))
        if saw and all(isinstance(each, list) for each in saw):
            return AGAIN, tuple([tuple(map(self._shown, each)) for each in saw])
        if saw and all(isinstance(each, dict) and each.get("result") == "carried" for each in saw):
            if any(each.keys() != {"result", "how", "content"} or each["how"] not in HOWS for each in saw):
                return OTHER, ()
            carried = [(HOWS.index(each["how"]) + 1, self._shown(each["content"])) for each in saw]
            return CARRIED, tuple([number for pair in carried for number in pair])
        return LISTED, tuple(map(self._shown, saw))

    def _raised(self, error: str, says: str) -> tuple[int, tuple[Any, ...]]:
        """An assertion, with the keys that it may name; or a handle that was refused."""
        if error == "AssertionError":
            return RAISED, tuple([number for key, number in self.keys.items() if key in says])
        for form, raised in ((GONE, SAYS_GONE), (UNSIGNED, SAYS_UNSIGNED)):
            if error == raised.error and raised.says in says:
                return form, ()
        return OTHER, ()

    def _shown(self, content: Any) -> int:
        """The number of a content that was seen; 0 for none, and another for what is no content."""
        if content is None:
            return 0
        if isinstance(content, dict) and content.keys() == {"nbytes", "fill"}:
            nbytes, fill = content["nbytes"], content["fill"]
            if type(nbytes) is int and type(fill) is int:
                return self.content(nbytes, fill)
        return ABSENT


def processes(header: Header) -> tuple[str, ...]:
    """The processes of a log, in the order in which the module has them."""
    readers = ("p1",) if header.cache == "lru" else tuple([f"w{worker}" for worker in range(header.workers)])
    return ("p0", *readers, "channel")


def lanes(log: Log) -> list[list[Entry]]:
    """The events of each process."""
    return [
        [entry for entry in log.entries if entry.event.process == process]
        for process in processes(log.header)
    ]


def coded(logs: Sequence[Log]) -> str:
    """The module with these logs."""
    tables = Tables()
    for log in logs:
        for _, event in log.entries:
            tables.learn(event)
    names = [_names_of(log) for log in logs]
    base = max(map(len, names)) + 1
    numbers = [
        tuple([_coded(tables, lane, named, base) for lane in lanes(log)])
        for log, named in zip(logs, names, strict=True)
    ]
    return (
        f"---- MODULE {DATA} ----\nEXTENDS Integers\n"
        "(* Event logs in numbers, as EventLogs reads them. *)\n"
        f"Identities == {text(tuple(tables.keys))}\n"
        f"Items == {text(tuple(tables.items))}\n"
        f"Contents == {text(tuple(tables.contents))}\n"
        "Forms == <<\n" + ",\n".join(map(text, tables.forms)) + "\n>>\n"
        f"Names == {base}\n"
        f"Befores == {text(tuple([_befores(lanes(log)) for log in logs]))}\n"
        "Logs == <<\n" + ",\n".join(map(text, numbers)) + "\n>>\n====\n"
    )


def _names_of(log: Log) -> dict[int, int]:
    """The names of messages in a log, numbered anew in the order in which they occur: whatever logs name
    alike, the same events then have the same numbers."""
    names: dict[int, int] = {}
    for _, event in log.entries:
        for name in (event.made, event.message if isinstance(event, Took) else None):
            if name is not None:
                names.setdefault(name, len(names) + 1)
    return names


def _coded(tables: Tables, lane: Iterable[Entry], names: dict[int, int], base: int) -> tuple[int, ...]:
    """The events of a process, two numbers each."""
    numbers: list[int] = []
    for _, event in lane:
        message = names[event.message] if isinstance(event, Took) else 0
        made = 0 if event.made is None else names[event.made]
        numbers += (tables.form(event), message * base + made)
    return tuple(numbers)


def _befores(lanes: Sequence[Sequence[Entry]]) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """For each event of each process the last one of each other process that gave the lock back before, in
    numbers from 1: the process, the place, and so on. Nothing for a process without numbers.   [EV-07]
    """
    held = [
        sorted([(event.lock[1], place) for place, (_, event) in enumerate(lane, 1) if event.lock is not None])
        for lane in lanes
    ]
    latest = [list(accumulate((place for _, place in given), max)) for given in held]

    def before(mine: int, entry: Entry) -> tuple[int, ...]:
        numbers: list[int] = []
        for other, theirs in enumerate(held):
            if other != mine and entry.event.lock is not None:
                earlier = bisect_left(theirs, (entry.event.lock[0],))
                numbers += (other + 1, latest[other][earlier - 1]) if earlier else ()
        return tuple(numbers)

    return tuple(
        [
            tuple([before(process, entry) for entry in lane]) if held[process] else ()
            for process, lane in enumerate(lanes)
        ]
    )
