"""One plain sentence about a violation: what the cache did, what it must do and why, and where to look.

It is composed of the run alone, so the terminal, JSON, JUnit, Markdown and pytest say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mmcache_ref.oracle.advice import advice
from mmcache_ref.oracle.aspect_words import SHARED_CACHES, aspect_in_words, listed, state_before
from mmcache_ref.oracle.outcome_words import did, differing, must
from mmcache_ref.oracle.pair_words import is_of_receiver
from mmcache_ref.oracle.parts import first_difference, keys_of, label_of, parts_of
from mmcache_ref.oracle.ring_words import ring_outcome_in_words
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.shm_words import in_units, units
from mmcache_ref.oracle.store_words import store_outcome_in_words
from mmcache_ref.oracle.wording import (
    claimed_keys,
    operation_in_words,
    results_in_words,
    state_in_words,
    value_in_words,
)

CLASSES: Final = {
    "items": "BaseMultiModalCache",
    "lru": "LRUCache",
    "processor-only": "MultiModalProcessorOnlyCache",
    "sender": "LruKeyReplicatedSenderCache",
    "receiver": "LruKeyReplicatedReceiverCache",
    "ring-buffer": "SingleWriterShmRingBuffer",
    "object-store": "SingleWriterShmObjectStorage",
}
"""The public class that a component judges."""
INITIAL: Final = "initial"
"""The kind of a mismatch that is there before the first operation, which the run names but does not reach."""
SHARED: Final = "state is shared between instances"
"""Why a cache that was just made is not empty."""
ENDED: Final = ("the process of the target ended", "the target did not come back")
"""How the result of an operation begins that took the target's process with it."""
P0_CLAUSES: Final = ("IF-06", "IF-07", "IF-08", "IF-09", "IF-10", "IF-11", "IF-12")
"""Clauses that, on a pair, the sender keeps; the other ones the receiver."""


def sentence(run: Run) -> str:
    """What an engineer reads first; empty for a run that ends without a mismatch."""
    mismatch = run.mismatch
    if mismatch is None or not run.steps:
        return ""
    told = advice(mismatch.clause)
    key = _key(run, mismatch)
    names = {"{key}": repr(key) if key else "the key", "{cache}": _class_name(run, mismatch)}
    parts = [f"{_what(run, mismatch)}; {_filled(told.why, names)} ({mismatch.clause})."]
    if before := _before(run):
        parts.append(before)
    look = told.look_in_p1 if run.component == "receiver" and told.look_in_p1 else told.look
    if look:
        parts.append(f"Look at: {_filled(look, names)}.")
    words = " ".join(parts)
    return in_units(words) if run.component in SHARED_CACHES else words


def _filled(text: str, names: Mapping[str, str]) -> str:
    for name, value in names.items():
        text = text.replace(name, value)
    return text.replace("`", "")


def _class_name(run: Run, mismatch: Mismatch) -> str:
    named = getattr(run.steps[-1].operation, "cache", run.component)
    if named in CLASSES:
        return CLASSES[named]
    if named == "shm-pair":
        side = "Receiver" if is_of_receiver(run.steps[-1].operation) else "Sender"
        return f"ShmObjectStore{side}Cache"
    is_p0 = mismatch.clause in P0_CLAUSES or mismatch.aspect.startswith("p0.")
    return CLASSES["sender" if is_p0 else "receiver"]


def _what(run: Run, mismatch: Mismatch) -> str:
    """What the cache did at the last operation, and what it must do."""
    number = len(run.steps)
    operation = operation_in_words(run.steps[-1].operation, claimed_keys(run.steps, number - 1))
    if (
        mismatch.kind == INITIAL
        and mismatch.expected in ((), [])
        and isinstance(mismatch.actual, list | tuple)
    ):
        return f"A new cache is not empty, it has {listed(mismatch.actual)}: {SHARED}"
    if mismatch.aspect == "outcome" and (what := _not_empty(run)):
        return what
    if mismatch.kind == INITIAL:
        return f"Before the first operation, {aspect_in_words(run, mismatch)}"
    if mismatch.aspect == "outcome":
        return f"Operation {number}, {operation}, {_outcome(run, mismatch)}"
    return f"After operation {number}, {operation}, {aspect_in_words(run, mismatch)}"


def _outcome(run: Run, mismatch: Mismatch) -> str:
    expected, actual = mismatch.expected, mismatch.actual
    where, mine, theirs = first_difference(expected, actual)
    operation = run.steps[-1].operation
    right, wrong = (
        ring_outcome_in_words(operation, each) or store_outcome_in_words(operation, each)
        for each in (expected, actual)
    )
    if right and wrong and right != wrong:
        return f"gave: {wrong}; it must give: {right}"
    if where is not None:
        label = label_of(operation, where)
        return f"gave {differing(theirs, mine)} for {label}, must give {differing(mine, theirs)}"
    if isinstance(actual, str) and actual.startswith(ENDED):
        return f"did not return ({actual}), must {must(expected)}"
    key, parts, keys = _key(run, mismatch), parts_of(expected), keys_of(operation)
    if parts and key and keys.count(key) == 1 and len(parts) == len(keys):
        place = keys.index(key)
        label = label_of(operation, place)
        is_claim = parts[place] is None and operation.__struct_config__.tag != "deliver"
        words = "no data" if is_claim else results_in_words(parts[place])
        return f"{did(actual)}, must go on and give {words} for {label}"
    if run.component == "items":
        return _size(operation, expected, actual)
    if expected is None and operation.__struct_config__.tag in ("get", "pop"):
        return f"{did(actual)}, must return the default that was given"
    return f"{did(actual, expected)}, must {must(expected, actual, mismatch.kind)}"


def _not_empty(run: Run) -> str:
    """What a new cache has of what others were given; nothing for another question."""
    operation, mismatch = run.steps[-1].operation, run.mismatch
    if operation.__struct_config__.tag != "fresh" or mismatch is None:
        return ""
    expected, actual = mismatch.expected, mismatch.actual
    if not isinstance(actual, list | tuple) or len(actual) != len(expected):
        return ""
    keys = keys_of(operation)
    counts, known = actual[: len(actual) - len(keys)], actual[len(actual) - len(keys) :]
    has = [repr(key) for key, is_known in zip(keys, known, strict=True) if is_known is not False]
    names = ("hits", "lookups") if keys else ("entries", "hits", "lookups")
    has += [f"{count} {name}" for count, name in zip(counts, names, strict=False) if count != 0]
    return f"A new cache is not empty, it has {', '.join(has)}: {SHARED}"


def _size(operation: Any, expected: Any, actual: Any) -> str:
    """A size or a number of leaves."""
    kind = operation.__struct_config__.tag
    if not isinstance(actual, int | float) or kind == "cache_if_fits":
        return f"{did(actual, expected)}, must {must(expected, actual)}"
    verb, unit = {
        "size": ("weighs", " B"),
        "cached_size": ("weighs", " B"),
        "kept": ("keeps alive", " B of memory"),
        "complexity": ("counts", " leaves"),
    }.get(kind, ("gave", ""))
    infinitive = {"weighs": "weigh", "keeps alive": "keep alive", "counts": "count", "gave": "give"}[verb]
    return f"{verb} {actual}{unit}, must {infinitive} {value_in_words(expected)}{unit}"


def _key(run: Run, mismatch: Mismatch) -> str | None:
    """The one key that a mismatch is about, if it is about one."""
    keys = keys_of(run.steps[-1].operation)
    if mismatch.aspect == "outcome":
        where, _, _ = first_difference(mismatch.expected, mismatch.actual)
        if where is not None and where < len(keys):
            return keys[where]
        named = _named_in(mismatch.actual, keys)
        if len(named) == 1:
            return named[0]
    return keys[0] if len(set(keys)) == 1 else None


def _named_in(result: Any, keys: Sequence[str]) -> list[str]:
    """The keys that an error names."""
    if not isinstance(result, Mapping):
        return []
    if result.get("result") == "missed":
        return [key for key in dict.fromkeys(result["hashes"]) if key in keys or not keys]
    return [key for key in dict.fromkeys(keys) if repr(key) in str(result.get("says", ""))]


def _before(run: Run) -> str:
    """What was cached before the last operation, and the budget; nothing where there is no cache."""
    if run.component in SHARED_CACHES:
        held = state_in_words(state_before(run)) or "empty"
        return f"The ring before: {held}; it has {units(run.config.capacity)}."
    budget = getattr(run.config, "budget", None)
    if budget is None:
        return ""
    held = state_in_words(state_before(run)) or "nothing"
    return f"Cached before: {'nothing' if held.startswith('empty') else held}; the budget is {budget} B."
