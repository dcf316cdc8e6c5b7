"""The shared-memory caches, call by call: a sender, and receivers on its segment.

`shm_caches.py` has them inside the protocol.   [spec/08-shm-caches.md]
"""

from __future__ import annotations

from collections.abc import Mapping

from . import ring_moves
from . import shm_store as moves
from .component import Content, Op, Outcome, Raised, composed
from .explore import Property
from .receiver import Received
from .ring_moves import Ring
from .shm_pair_alphabet import (
    Attach,
    Clear,
    ClearReceiver,
    CloseAnother,
    Features,
    Forge,
    Fresh,
    Invalidate,
    IsCached,
    Odd,
    Operation,
    Receive,
    ReceiveAll,
    Release,
    Stats,
    TooLarge,
    Touch,
    Update,
    UpdateAll,
    Validate,
    Verify,
    plainer,
)
from .shm_pair_receiving import EMPTY, SIGNATURE, Stepped, disabled, is_empty, receive, receive_all, verify
from .shm_pair_results import ANOTHER, Handed, Served
from .shm_pair_rules import ASPECTS, CULPRITS, RULES
from .shm_pair_search import PRESETS, operations
from .shm_pair_state import Config, State, handle_of, live_place, with_issued, with_record
from .shm_store import Store

__all__ = [
    "ASPECTS",
    "CULPRITS",
    "PRESETS",
    "PROPERTIES",
    "RULES",
    "Config",
    "Operation",
    "State",
    "bare",
    "initial",
    "observe",
    "operations",
    "plainer",
    "step",
    "view",
]

NAME = "shm-pair"
RARE = ("asserted", "over_limit", "too_large", "no_room")
"""Kinds of an update that name an operation of several."""


def initial(config: Config) -> State:
    """An empty store.   [IF-19, SC-01]"""
    return State(Store(config.workers, Ring(next_id=config.first_id)))


def bare(config: Config) -> Config:
    """The sizes alone."""
    return Config(config.capacity, config.limit, config.workers, first_id=config.first_id)


def view(state: State) -> tuple[object, ...]:
    """What identifies a state in a search.

    Of references and counts only what is left to acknowledge matters, of a handle that was issued whether its
    chunk is there, or its place taken. Counters change nothing but themselves.
    """
    store = state.store
    chunks = [
        (chunk.begin, entry.key, entry.content, entry.references * store.workers - entry.acknowledged)
        for chunk, entry in zip(store.ring.chunks, store.entries, strict=True)
    ]
    handles = [(each.key, live_place(state, each) is not None, each.is_overwritten) for each in state.issued]
    records = tuple([key for key, _ in state.records])
    return store.ring.next_id, store.ring.end, tuple(chunks), state.touched, records, tuple(handles)


def observe(config: Config, state: State) -> dict[str, object]:
    """The observable parts of the state."""
    store = state.store
    stored = [entry.key for entry in store.entries]
    ring, entries = store.ring, store.entries
    return {
        "hits": store.hits,
        "total": store.total,
        "length": len(entries),
        "keys": tuple(stored),
        "records": tuple([key for key, _ in state.records]),
        "updates": tuple([content for key, content in state.records if key in stored]),
        "references": tuple([entry.references for entry in entries]),
        "counts": tuple([entry.acknowledged for entry in entries]),
        "touched": state.touched,
        "layout": tuple(
            [(ring_moves.place_in(config.capacity, chunk.begin), chunk.size) for chunk in ring.chunks]
        ),
        "ring": (ring.begin, ring.end),
    }


def step(config: Config, state: State, operation: Operation) -> Stepped:
    """One call of the API."""
    store = state.store
    match operation:
        case IsCached(hashes):
            return state, Outcome(
                "checked", tuple([moves.place_of(store, key) is not None for key in hashes])
            )
        case Touch(key):
            if moves.place_of(store, key) is None:
                return state, Outcome("miss")
            return state._replace(touched=tuple(sorted({*state.touched, key}))), Outcome("hit")
        case Release():
            return state._replace(touched=()), Outcome("released")
        case Invalidate(_):
            return state, Outcome("ignored")
        case Update(key, content):
            return disabled(state) if is_empty(content) else update(config, state, key, content)
        case UpdateAll(contents, hashes):
            return _update_all(config, state, contents, hashes)
        case Stats(delta):
            return _stats(state, delta)
        case Clear():
            return State(moves.clear(store), issued=state.issued), Outcome("cleared")
        case Validate(key, back, is_plain):
            return _validate(state, key, back, is_plain)
        case Odd(key, _):
            handle = handle_of(state, key)
            is_current = handle is not None and live_place(state, handle) is not None
            return (state, Outcome("accepted")) if is_current else disabled(state)
        case Forge(key, _, call):
            if handle_of(state, key) is None:
                return disabled(state)
            return state, Outcome("refused" if call == "validate" else "refused_by_worker", SIGNATURE)
        case Receive(feature, worker):
            return receive(config, state, feature) if worker < config.workers else disabled(state)
        case Verify(feature, worker):
            return verify(state, feature) if worker < config.workers else disabled(state)
        case ReceiveAll() | Features():
            return receive_all(config, state, operation)
        case ClearReceiver(worker):
            return (state, Outcome("cleared")) if worker < config.workers else disabled(state)
        case Attach(lacking):
            error = "FileNotFoundError" if lacking == "segment" else "ValueError"
            return state, Outcome(lacking, Raised(error))
        case CloseAnother():
            return state, Outcome("closed", (True, Received(ANOTHER)))
        case Fresh(hashes):
            return state, Outcome("empty", (0, 0, *[False for _ in hashes]))
        case TooLarge():
            return state, Outcome("warned", 0, also=("item too_large",))


def update(config: Config, state: State, key: str, content: Content | None) -> Stepped:
    """`get_and_update_item` of the sender.   [SC-02, SC-03, SC-04, SC-05, SC-10, SC-11, SC-36, SC-37]"""
    store = state.store
    place = moves.place_of(store, key)
    if place is not None:
        touched = tuple([each for each in state.touched if each != key])
        after = state._replace(store=moves.look_up(store, place), touched=touched)
        return after, Outcome("hit", Handed(dict(state.records)[key]))
    if content is None:
        return state, Outcome("asserted", Raised("AssertionError", says=key))
    store, kind = moves.put(config.capacity, config.limit, store, state.touched, key, content)
    state = state._replace(store=store)
    if kind != "put":
        is_over_limit = content.nbytes > config.limit
        refused = "over_limit" if is_over_limit else kind.replace("-", "_")
        return state, Outcome(refused, Served(content, content))
    state = with_issued(config.capacity, with_record(state, key, content), key, content)
    return state, Outcome("put", Handed(content))


def _update_all(
    config: Config, state: State, contents: tuple[Content | None, ...], hashes: tuple[str, ...]
) -> Stepped:
    """`get_and_update` of the sender: an assertion ends it, and what was recorded stays.   [IF-01, IF-02]

    Where something was put before the assertion nobody is told of its handle: such a call is left out, since
    handles are named by the order in which they were told.
    """
    if any(map(is_empty, contents)):
        return disabled(state)
    before = state
    if len(contents) != len(hashes):
        return state, Outcome("unequal", EMPTY)
    kinds: set[str] = set()
    results: list[object] = []
    for key, content in zip(hashes, contents, strict=True):
        state, outcome = update(config, state, key, content)
        kinds.add(outcome.kind)
        if isinstance(outcome.result, Raised):
            if "put" in kinds:
                return disabled(before)
            return state, composed(RARE, kinds, "updated", outcome.result)
        results.append(outcome.result)
    return state, composed(RARE, kinds, "updated", tuple(results))


def _stats(state: State, delta: bool) -> Stepped:
    """`make_stats`.   [SC-13]"""
    hits, total = state.store.hits, state.store.total
    if not delta:
        return state, Outcome("total", (hits, total))
    fresh = (hits - state.reported_hits, total - state.reported_total)
    return state._replace(reported_hits=hits, reported_total=total), Outcome("delta", fresh)


def _validate(state: State, key: str, back: int, is_plain: bool) -> Stepped:
    """`validate_input_item`.   [SC-14, SC-15]"""
    if is_plain:
        return state, Outcome("plain")
    handle = handle_of(state, key, back)
    if handle is None:
        return disabled(state)
    if live_place(state, handle) is None:
        return state, Outcome("outdated", SIGNATURE)
    return state, Outcome("current")


def _is_exact(config: Config, state: State) -> bool:
    """Live chunks neither overlap nor straddle, and each has its own record of prompt updates.   [SC-10]"""
    recorded = dict(state.records)
    return ring_moves.is_sound(config.capacity, state.store.ring) and all(
        recorded.get(entry.key) == entry.content for entry in state.store.entries
    )


def _has_few_records(config: Config, before: State, operation: Op, outcome: Outcome, after: State) -> bool:
    """Just after a record there are at most twice as many records as stored keys.   [SC-11]"""
    return outcome.kind != "put" or len(after.records) <= 2 * len(after.store.entries)


def _refuses_before_it_reads(
    config: Config, before: State, operation: Op, outcome: Outcome, after: State
) -> bool:
    """A request with a handle that is refused acknowledges none.   [SC-21]"""
    return outcome.kind not in ("refused", "gone") or before.store == after.store


PROPERTIES: Mapping[str, Property] = {
    "own-updates": Property("SC-10", "state", _is_exact),
    "few-records": Property("SC-11", "step", _has_few_records, frozenset({"update"})),
    "all-or-none": Property("SC-21", "step", _refuses_before_it_reads, frozenset({"features"})),
}
