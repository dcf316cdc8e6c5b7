"""Operations and results of the shared-memory caches, call by call, in words: sizes are in units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mmcache_ref.model import shm_pair_alphabet as operations
from mmcache_ref.model.component import Content, Op
from mmcache_ref.model.shm_pair_alphabet import Feature
from mmcache_ref.oracle.shm_words import units

ITEM_OF_WORKER: Final = (
    operations.Receive,
    operations.ReceiveAll,
    operations.Verify,
    operations.Features,
    operations.ClearReceiver,
    operations.Attach,
)
"""The operations on a receiver; a forged handle may be shown to either side."""


def pair_operation_in_words(operation: Op) -> str | None:
    """An operation on a sender or a receiver; None for any other."""
    match operation:
        case operations.Update(key, content):
            return f"update {key} {_content(content)}"
        case operations.UpdateAll(contents, hashes):
            given = ", ".join(map(_content, contents))
            return f"update_all [{given}] for [{', '.join(hashes)}]"
        case operations.Validate(key, back, is_plain):
            return f"validate {'an item' if is_plain else _handle(back)} for {key}"
        case operations.Odd(key, form):
            return f"validate the newest handle for {key}, with {form}"
        case operations.Forge(key, form, call):
            return f"{call} the newest handle of {key} with another form: {form}"
        case operations.Receive(feature, worker) | operations.Verify(feature, worker):
            name = "receive" if isinstance(operation, operations.Receive) else "verify"
            return f"{name} {_feature(feature)}, by worker {worker}"
        case operations.Features(features, worker):
            return f"features [{', '.join(map(_feature, features))}], by worker {worker}"
        case operations.ReceiveAll(features, worker, is_unequal):
            lack = " with a hash too few" if is_unequal else ""
            return f"receive_all [{', '.join(map(_feature, features))}]{lack}, by worker {worker}"
        case operations.ClearReceiver(worker):
            return f"clear the receiver of worker {worker}"
        case operations.Attach(lacking):
            return f"attach a receiver without a {lacking}"
        case operations.CloseAnother():
            return "close another sender, twice"
    return None


def is_of_pair(operation: Op) -> bool:
    """Are the contents of this operation in units?"""
    return isinstance(operation, operations.Operation)


def is_of_receiver(operation: Op) -> bool:
    """Is it a receiver that is called?"""
    if isinstance(operation, operations.Forge):
        return operation.call != "validate"
    return isinstance(operation, ITEM_OF_WORKER)


def pair_result_in_words(result: Mapping[str, Any]) -> str | None:
    """What an update of the sender returned; None for any other result."""
    if result.get("result") == "handed":
        return f"a handle with the updates of {_described(result['updates'])}"
    if result.get("result") == "served":
        item, updates = _described(result["item"]), _described(result["updates"])
        return f"the input {item}" + (f" with the updates of {updates}" if updates != item else "")
    return None


def records_in_words(expected: Sequence[Any], actual: Sequence[Any]) -> str:
    """The keys whose prompt updates are kept."""
    mine, theirs = (" ".join(map(str, keys)) or "none" for keys in (expected, actual))
    return f"prompt updates are on record for {theirs}, must be for {mine}"


def _described(content: Any) -> str:
    if "nbytes" not in content:
        return str(content.get("what", content))
    return f"{units(content['nbytes'])}/{content['fill']}"


def _content(content: Content | None) -> str:
    return "without data" if content is None else f"{units(content.nbytes)}/{content.fill}"


def _handle(back: int) -> str:
    return "the handle before the newest" if back else "the newest handle"


def _feature(feature: Feature) -> str:
    what = {
        "handle": _handle(feature.back),
        "item": f"the item {_content(feature.content)}",
        "nothing": "nothing",
        "forged": "the newest handle with one bit changed",
    }[feature.source]
    return f"{what} for {feature.key}{'' if feature.has_mm_hash else ' (by identifier)'}"
