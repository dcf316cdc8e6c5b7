"""The columns of the key-replicated pair: P0, channel, P1, what waits, and the numbers of clears."""

from __future__ import annotations

from collections.abc import Iterable

from mmcache_ref.model.component import Content, Op, Outcome, tag
from mmcache_ref.model.entries import Entries
from mmcache_ref.model.pair import Item, Message, State
from mmcache_ref.report.columns.common import Columns, content_words, outcome_in_words

LEGEND = (
    "Keys least recent first. a is 1 byte, a:2 two, a:2:7 two of value 7; a* is an entry that the other side "
    "does not hold; a+ travels with its data, a without."
)


def operation_words(operation: Op) -> str:
    """An operation as its name and what it is about."""
    words = [tag(operation)]
    for name in operation.__struct_fields__:
        value = getattr(operation, name)
        if name == "request":
            words += [_item_words(item) for item in value]
        elif name != "position" or value:
            words.append(str(value))
    return " ".join(words)


def outcome_words(operation: Op, outcome: Outcome) -> str:
    """What happened, and the hashes that are missing or the bytes that P1 served."""
    if tag(operation) == "deliver" and isinstance(outcome.result, tuple):
        return f"{outcome.kind}: served {', '.join(map(_served_words, outcome.result))}"
    return outcome_in_words(operation, outcome)


def _served_words(content: Content) -> str:
    return f"{content.nbytes} B" + (f" of value {content.fill}" if content.fill else "")


def _item_words(item: Item) -> str:
    words = content_words(item.key, item.content)
    if item.modality != "image":
        words += f" ({item.modality})"
    return words if item.supplied else f"{words} (no data)"


def _entries_words(entries: Entries, others: Entries) -> str:
    held = {key for key, _ in others}
    return " ".join(content_words(key, content) + ("" if key in held else "*") for key, content in entries)


def _message_words(message: Message) -> str:
    features = " ".join(
        content_words(item.key, item.content) + ("+" if sent else "") for item, sent, _ in message.features
    )
    number = f" #{message.number}" if message.number else ""
    return f"[{features}{number}{'' if message.recorded else ' past P0'}]"


def _requests_words(requests: Iterable[Iterable[Item]]) -> str:
    return ", ".join(
        " ".join(content_words(item.key, item.content) for item in request) for request in requests
    )


def _waiting_words(state: State) -> str:
    parts = []
    if state.checked is not None:
        parts.append(f"checked {_requests_words([state.checked.request])}")
    parts += [f"missed {' '.join(report.missing)}" for report in state.reports]
    parts += [f"to retry {_requests_words([retry.request])}" for retry in state.retries]
    if state.clearing:
        parts.append("P1 to be cleared")
    return "; ".join(parts)


def _numbers_words(state: State) -> str:
    if not (state.p0_number or state.p1_number):
        return ""
    return f"{state.p0_number} {state.p1_number}"


COLUMNS = Columns(
    {
        "P0": lambda state: _entries_words(state.sender, state.receiver),
        "channel": lambda state: " ".join(_message_words(message) for message in state.channel),
        "P1": lambda state: _entries_words(state.receiver, state.sender),
        "waiting": _waiting_words,
        "clears P0 P1": _numbers_words,
    },
    operation_words,
    outcome_words,
    frozenset({"P0", "channel", "P1"}),
    LEGEND,
)
