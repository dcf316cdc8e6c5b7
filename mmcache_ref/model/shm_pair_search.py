"""What a search of the shared-memory caches tries, and the sizes in which it does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from . import shm_store as moves
from .component import Content
from .shm_pair_alphabet import (
    CALLS,
    FORMS,
    UNUSUAL,
    Attach,
    Clear,
    ClearReceiver,
    CloseAnother,
    Feature,
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
)
from .shm_pair_state import KEPT, Config, State, handle_of, live_place


def operations(config: Config, state: State) -> Iterator[Operation]:
    """What is worth trying: puts are bounded, and while there may be another the store is held and touched.

    What changes nothing is tried early in a run, and lists of updates begin it.
    """
    store = state.store
    stored = {entry.key: entry for entry in store.entries}
    may_put = store.ring.next_id < config.puts
    is_early = store.ring.next_id <= 1
    for key in config.keys:
        if key not in stored and is_early:
            yield Update(key)
    yield Stats()
    yield Stats(delta=True)
    yield Stats(delta=True)
    yield IsCached(config.keys)
    yield Release()
    for key in config.keys:
        if is_early if key not in stored else may_put and not state.touched:
            yield Touch(key)
    for key, content in config.contents:
        entry = stored.get(key)
        if may_put and (entry is None or (is_early and entry.references < config.references)):
            yield Update(key, content)
    yield from _of_readers(config, state)
    if is_early:
        yield from _without_effect(config, state)
    if not store.ring.next_id:
        yield from _of_several(config)
        yield Attach("segment")
        yield Attach("lock")
        yield CloseAnother()
        yield Fresh(config.keys)
        yield TooLarge(2)
    if may_put:
        yield Clear()


def _of_several(config: Config) -> Iterator[Operation]:
    """Lists of updates."""
    (first, one), (second, other), *rest = config.contents
    yield UpdateAll((one, None, None), (first, first, second))
    yield UpdateAll((one, other, one), (first, second, first))
    yield UpdateAll((one, other), (first,))
    yield UpdateAll((one,), (first, second))
    for key, content in rest[1:]:
        yield UpdateAll((content, other), (key, second))


def _of_readers(config: Config, state: State) -> Iterator[Operation]:
    """What becomes of the handles that were issued."""
    for key in dict.fromkeys(issued.key for issued in state.issued):
        for back in range(KEPT):
            handle = handle_of(state, key, back)
            if handle is None:
                continue
            yield Verify(Feature(key, back=back))
            yield Validate(key, back)
            place = live_place(state, handle)
            if place is None or not moves.is_free(state.store.entries[place], config.workers):
                for worker in range(config.workers):
                    yield Receive(Feature(key, back=back), worker)
    for request in config.requests:
        if _is_awaited(config, state, request):
            yield Features(request, config.workers - 1)
    if config.requests and _is_awaited(config, state, config.requests[0]):
        yield ReceiveAll(config.requests[0])
        yield ReceiveAll(config.requests[0], is_unequal=True)


def _is_awaited(config: Config, state: State, request: tuple[Feature, ...]) -> bool:
    """Whether every handle of a request is of a chunk that is not free, so that counts are bounded."""
    free = {entry.key for entry in state.store.entries if moves.is_free(entry, config.workers)}
    return not any(feature.source == "handle" and feature.key in free for feature in request)


def _without_effect(config: Config, state: State) -> Iterator[Operation]:
    """What changes nothing: among it handles in every form that a client could give them."""
    yield ClearReceiver()
    for key in config.keys[:1]:
        yield Invalidate(key)
        yield Validate(key, is_plain=True)
        for call in (Receive, Verify):
            yield call(Feature(key, "item"))
            yield call(Feature(key, "nothing"))
            yield call(Feature(key, "forged"))
    newest = [entry for entry in state.store.entries if entry.references == 1 and not state.touched]
    for entry in newest[-1:]:
        for unusual in UNUSUAL:
            yield Odd(entry.key, unusual)
        for form in FORMS:
            for call_of_handle in CALLS:
                yield Forge(entry.key, form, call_of_handle)


A, B = Content(1, 1), Content(1, 2)
PRESETS: Final[dict[str, Config]] = {
    "tiny": Config(
        capacity=2,
        limit=3,
        contents=(
            ("a", A),
            ("b", B),
            ("c", Content(1, 3)),
            ("a", Content(2, 4)),
            ("d", Content(3, 5)),
            ("d", Content(4, 6)),
        ),
        requests=(
            (Feature("a"), Feature("b")),
            (Feature("b"), Feature("a")),
            (Feature("a"), Feature("c", "item"), Feature("a")),
            (Feature("a"), Feature("a", "nothing")),
            (Feature("a"), Feature("b", has_mm_hash=False)),
            (Feature("a"), Feature("a", "forged")),
            (Feature("a", back=1), Feature("a")),
            (),
        ),
        puts=3,
    ),
}
PRESETS["small"] = Config(
    capacity=3,
    limit=2,
    workers=2,
    contents=PRESETS["tiny"].contents,
    requests=PRESETS["tiny"].requests,
    puts=4,
)
