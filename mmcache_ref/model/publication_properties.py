"""What readers and writer rely on, judged from what every process would see.   [spec/07-object-store.md]"""

from __future__ import annotations

from collections.abc import Mapping

from .component import Outcome
from .explore import Property
from .publication_environment import Config
from .ring_publication import Do, Get, State

DO = frozenset({"do"})


def _get(state: State, operation: Do) -> Get | None:
    """The `get` that the access belongs to; none for the writer."""
    return state.gets[operation.process] if operation.process >= 0 else None


def _is_complete(state: State, owner: str) -> bool:
    memory = state.memory
    words = (memory.id, memory.size, memory.reader_count.owner, memory.first, memory.last)
    return all(word == owner for word in words)


def seal_says_complete(config: Config, state: State) -> bool | None:
    """Whoever finds the seal of a new chunk finds everything before it.   [OS-08]"""
    return _is_complete(state, "b") if state.memory.seal == "b" else None


def wiped_first(config: Config, state: State) -> bool | None:
    """The seal of a chunk that went is gone before its place is used again.   [OS-26]"""
    return _is_complete(state, "a") if state.memory.seal == "a" else None


def never_torn(config: Config, before: State, operation: Do, outcome: Outcome, after: State) -> bool | None:
    """What a `get` returns is one object, not made of two.   [OS-41]"""
    return len(outcome.result) == 1 if outcome.kind == "returned" else None


def its_own(config: Config, before: State, operation: Do, outcome: Outcome, after: State) -> bool | None:
    """What a `get` returns is not another object.   [OS-22]"""
    get = _get(before, operation)
    if get is None or outcome.kind != "returned" or before.layout == "look-alike":
        return None
    return get.handle in outcome.result


def not_planted(config: Config, before: State, operation: Do, outcome: Outcome, after: State) -> bool | None:
    """What a client made look like a chunk is not what an old handle resolves to.   [OS-42]"""
    get = _get(before, operation)
    if get is None or outcome.kind != "returned" or before.layout != "look-alike":
        return None
    return get.handle in outcome.result


def count_lands(config: Config, before: State, operation: Do, outcome: Outcome, after: State) -> bool | None:
    """A reader adds to the count of the chunk that its handle names.   [OS-23]"""
    get = _get(before, operation)
    if get is None or operation.kind != "store":
        return None
    return before.memory.reader_count.owner == get.handle


def exact_count(config: Config, state: State) -> bool | None:
    """While nobody is counting, the count is the number of acknowledged reads of its chunk.   [OS-32]"""
    if any(get is not None and get.loaded_count is not None for get in state.gets):
        return None
    owner, number = state.memory.reader_count
    return number == state.acknowledged[owner == "b"]


def referenced_reads(
    config: Config, before: State, operation: Do, outcome: Outcome, after: State
) -> bool | None:
    """A `get` that has a reference returns its object, unless the store was cleared.   [OS-31]"""
    return _keeps_promise("a", before, operation, outcome)


def as_handed_out(
    config: Config, before: State, operation: Do, outcome: Outcome, after: State
) -> bool | None:
    """Who got the handle over the channel finds the object as it was handed out.   [RB-29]"""
    return _keeps_promise("b", before, operation, outcome)


def _keeps_promise(handle: str, before: State, operation: Do, outcome: Outcome) -> bool | None:
    get = _get(before, operation)
    if get is None or outcome.kind not in ("returned", "stale") or not get.is_promised:
        return None
    return outcome.result == handle if get.handle == handle else None


PROPERTIES: Mapping[str, Property] = {
    "as-handed-out": Property("RB-29", "step", as_handed_out, DO),
    "seal-says-complete": Property("OS-08", "state", seal_says_complete),
    "its-own": Property("OS-22", "step", its_own, DO),
    "never-torn": Property("OS-41", "step", never_torn, DO),
    "not-planted": Property("OS-42", "step", not_planted, DO),
    "count-lands": Property("OS-23", "step", count_lands, DO),
    "wiped-first": Property("OS-26", "state", wiped_first),
    "referenced-reads": Property("OS-31", "step", referenced_reads, DO),
    "exact-count": Property("OS-32", "state", exact_count),
}
