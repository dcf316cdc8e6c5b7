"""The columns of the shared-memory caches: the ring, the channel, what runs, and what waits."""

from __future__ import annotations

from collections.abc import Iterable

from mmcache_ref.model.component import Op, Outcome, tag
from mmcache_ref.model.shm_requests import Feature, Item, Message, State
from mmcache_ref.model.shm_store import place_of
from mmcache_ref.report.columns.common import Columns, outcome_in_words

LEGEND = (
    "Oldest chunk first; a is 1 unit, b:2 two; a 1/4: of 4 acknowledgements 1 was made. In a message a is "
    "carried as a handle, a! as one whose chunk is gone, a+ with its data, a- stripped; then come the reads "
    "that each worker has left."
)


def operation_words(operation: Op) -> str:
    """An operation as its name and what it is about."""
    words = [tag(operation)]
    for name in operation.__struct_fields__:
        value = getattr(operation, name)
        if name == "request":
            words += [item_words(item) + ("" if item.supplied else " (no data)") for item in value]
        elif name == "children":
            words += [f"({value} children)"] if value > 1 else []
        elif name == "worker":
            words.append(f"by worker {value}" if words[0] == "read" else str(value))
        elif name == "is_outdated":
            words += ["outdated"] if value else []
        elif name == "at":
            words.append(f"at {value}")
        elif name != "position" or value:
            words.append(str(value))
    return " ".join(words)


def outcome_words(operation: Op, outcome: Outcome) -> str:
    """What happened to the request; and for a miss, to which items."""
    return outcome_in_words(operation, outcome)


def item_words(item: Item) -> str:
    """`a` for one unit, `b:2` for two."""
    return item.key if item.content.nbytes == 1 else f"{item.key}:{item.content.nbytes}"


def _ring_words(state: State) -> str:
    if state.is_dead:
        return "a worker died"
    workers = state.store.workers
    return ", ".join(
        f"{item_words(Item(entry.key, entry.content))} {entry.acknowledged}/{entry.references * workers}"
        for entry in state.store.entries
    )


def _feature_words(state: State, feature: Feature) -> str:
    words = item_words(feature.item)
    if feature.is_stripped:
        return words + "-"
    if feature.handle is None:
        return words + "+"
    place = place_of(state.store, feature.item.key)
    is_there = place is not None and state.store.ring.chunks[place].id == feature.handle.id
    return words if is_there else words + "!"


def _message_words(state: State, message: Message) -> str:
    items = " ".join([_feature_words(state, feature) for feature in message.features])
    left = " ".join(map(str, message.left))
    return f"[{items} · {left}{' release' if message.is_release else ''}]"


def _requests_words(requests: Iterable[Iterable[Item]]) -> str:
    return ", ".join(" ".join(map(item_words, request)) for request in requests)


COLUMNS = Columns(
    {
        "ring": _ring_words,
        "channel": lambda state: " ".join([_message_words(state, message) for message in state.channel]),
        "running": lambda state: " ".join(
            [f"[{' '.join([_feature_words(state, each) for each in run.features])}]" for run in state.running]
        ),
        "to retry": lambda state: _requests_words([retry.request for retry in state.retries]),
    },
    operation_words,
    outcome_words,
    frozenset({"ring", "channel"}),
    LEGEND,
)
