"""The parts of an operation on a request, and of its result: one for each item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from mmcache_ref.model import processor_cache, receiver, shm_pair_alphabet


def first_difference(expected: Any, actual: Any) -> tuple[int | None, Any, Any]:
    """The place of the first part of a result of several parts that differs, and both parts."""
    mine, theirs = parts_of(expected), parts_of(actual)
    if mine is None or theirs is None or len(mine) != len(theirs):
        return None, expected, actual
    differing = [place for place, pair in enumerate(zip(mine, theirs, strict=True)) if pair[0] != pair[1]]
    if not differing:
        return None, expected, actual
    return differing[0], mine[differing[0]], theirs[differing[0]]


def parts_of(result: Any) -> Sequence[Any] | None:
    """The results for each item of a request; None for a result that is one thing."""
    if isinstance(result, Mapping) and result.get("result") == "ingested":
        return list(result["items"])
    if isinstance(result, list | tuple) and any(isinstance(part, Mapping) for part in result):
        return result
    return None


def label_of(operation: Any, place: int) -> str:
    """Which part of an operation: its place and, where it has one, its key."""
    keys = keys_of(operation)
    return f"{keys[place]!r} (item {place + 1})" if place < len(keys) else f"item {place + 1}"


def keys_of(operation: Any) -> list[str]:
    """The keys that an operation names, in order; of a request by modality, as its results stand."""
    built = msgspec.to_builtins(operation)
    for name in ("request", "features"):
        if name in built:
            members = getattr(operation, name)
            if operation.__struct_config__.tag == "merge":
                order = list(dict.fromkeys(member.modality for member in members))
                members = sorted(members, key=lambda member: order.index(member.modality))
            return [member.key for member in members]
    if "hashes" in built:
        return list(built["hashes"])
    return [built["key"]] if "key" in built else []


def elementary(operation: Any) -> tuple[Any, ...]:
    """The calls of one key each that a request in P1 or a list of updates consists of; none for what has no
    such parts.   [IF-01, IF-13, IF-14]"""
    match operation:
        case receiver.Features(features):
            touches = [receiver.Touch(each.key, each.content) for each in features]
            return (*touches, *[receiver.Update(each.key, each.content) for each in features])
        case receiver.UpdateAll(contents, hashes):
            return tuple(map(receiver.Update, hashes, contents))
        case processor_cache.UpdateAll(contents, hashes):
            return tuple(map(processor_cache.Update, hashes, contents))
        case shm_pair_alphabet.UpdateAll(contents, hashes):
            return tuple(map(shm_pair_alphabet.Update, hashes, contents))
    return ()
