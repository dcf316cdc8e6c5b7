"""What the receivers of the shared-memory caches do with handles and items.   [spec/08-shm-caches.md]"""

from __future__ import annotations

from collections.abc import Iterable

from . import shm_store as moves
from .component import Content, OneOf, Outcome, Raised, several
from .receiver import Received
from .shm_pair_alphabet import Feature, Features, ReceiveAll
from .shm_pair_state import Config, Issued, State, handle_of, live_place

SIGNATURE = Raised("ValueError", "SHM handle signature")
MODIFIED = Raised("ValueError", "has been modified or is invalid")
EMPTY = Raised("AssertionError")
Stepped = tuple[State, Outcome]


def disabled(state: State) -> Stepped:
    """The operation has no meaning in this state."""
    return state, Outcome("disabled")


def is_empty(content: Content | None) -> bool:
    """Is it less than a unit, which no chunk is?"""
    return content is not None and content.nbytes < 1


def shown(state: State, feature: Feature) -> Stepped | Issued:
    """What a receiver makes of what needs no look at the segment; else the handle.   [SC-18, SC-20, SC-22]"""
    match feature.source:
        case "item":
            given = Received(feature.content, is_input=True)
            return disabled(state) if is_empty(feature.content) else (state, Outcome("passed", given))
        case "nothing":
            return state, Outcome("nothing", EMPTY)
    handle = handle_of(state, feature.key, feature.back)
    if handle is None:
        return disabled(state)
    return (state, Outcome("refused", SIGNATURE)) if feature.source == "forged" else handle


def receive(config: Config, state: State, feature: Feature) -> Stepped:
    """`get_and_update_item` of a receiver.   [SC-18, SC-19, SC-20, SC-22, SC-23]"""
    handle = shown(state, feature)
    if not isinstance(handle, Issued):
        return handle
    place = live_place(state, handle)
    if place is not None:
        named = moves.handle_at(state.store, place)
        store, _ = moves.acknowledge(state.store, (named,))
        return state._replace(store=store), Outcome("read", Received(handle.content))
    if handle.is_overwritten:
        return state, Outcome("gone", MODIFIED)
    return state, Outcome("gone", OneOf((Received(handle.content), MODIFIED)))


def verify(state: State, feature: Feature) -> Stepped:
    """`touch_receiver_cache_item`, which counts and returns nothing.   [SC-18, SC-21, SC-22, SC-23]"""
    handle = shown(state, feature)
    if not isinstance(handle, Issued):
        after, outcome = handle
        return after, Outcome("passed") if outcome.kind == "passed" else outcome
    if live_place(state, handle) is not None:
        return state, Outcome("in_place")
    return state, Outcome("gone", OneOf((None, MODIFIED)))


def receive_all(config: Config, state: State, operation: Features | ReceiveAll) -> Stepped:
    """Several at once: all of them, or an error before any is counted.   [IF-01, IF-02, IF-14, SC-18, SC-21]

    A handle whose chunk is gone is refused when it is verified or when it is read, so what is counted then is
    only clear where nothing is read before it.   [OS-17]
    """
    is_request = isinstance(operation, Features)
    features = operation.features
    kinds: list[str] = []
    results: list[object] = []
    after = state
    for feature in features:
        if feature.source == "nothing" and is_request:
            kinds.append("passed_over")
            results.append(None)
            continue
        after, outcome = receive(config, after, feature)
        kinds.append(outcome.kind)
        results.append(outcome.result)
        if isinstance(outcome.result, OneOf):
            return disabled(state)
    if operation.worker >= config.workers or "disabled" in kinds:
        return disabled(state)
    if not is_request:
        if isinstance(operation, ReceiveAll) and operation.is_unequal:
            return (state, Outcome("unequal", EMPTY)) if features else disabled(state)
        if not {"read", "passed"}.issuperset(kinds):
            return disabled(state)
        parts = sorted({f"item {kind}" for kind in kinds})
        return after, several(("received", *parts), {"received", *parts}, tuple(results))
    errors = [kind for kind in kinds if kind in ("refused", "gone")]
    if errors:
        if len(set(errors)) > 1 or "read" in kinds[: kinds.index("gone") if "gone" in kinds else 0]:
            return disabled(state)
        return state, Outcome(errors[0], SIGNATURE if errors[0] == "refused" else MODIFIED)
    return after, _received(features, kinds, results)


def _received(features: tuple[Feature, ...], kinds: Iterable[str], results: list[object]) -> Outcome:
    """A request that was served."""
    parts = sorted({f"item {kind}" for kind in kinds if kind != "passed_over"})
    names = {"received", *parts} | {"passed_over"} & {*kinds}
    if not all(feature.has_mm_hash for feature in features):
        names.add("by_identifier")
    return several(("by_identifier", "passed_over", "received", *parts), names, tuple(results))
