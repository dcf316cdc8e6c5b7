"""One plain sentence about a violation: what the cache did, what it must do and why, and where to look.

It is composed of the run alone, so the terminal, JSON, JUnit, Markdown and pytest say the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mmcache_ref.oracle.advice import advice
from mmcache_ref.oracle.pair_words import is_of_receiver, records_in_words
from mmcache_ref.oracle.parts import first_difference, keys_of, label_of, parts_of
from mmcache_ref.oracle.ring_words import ring_outcome_in_words
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.shm_words import in_units, shm_aspect_in_words, units
from mmcache_ref.oracle.store_words import store_aspect_in_words, store_outcome_in_words
from mmcache_ref.oracle.wording import (
    claimed_keys,
    operation_in_words,
    result_in_words,
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
SHARED_CACHES: Final = ("shm-caches", "shm-pair")
"""The components whose sizes are in units."""
INITIAL: Final = "initial"
"""The kind of a mismatch that is there before the first operation, which the run names but does not reach."""
SHARED: Final = "state is shared between instances"
"""Why a cache that was just made is not empty."""
ENDED: Final = ("the process of the target ended", "the target did not come back")
"""How the result of an operation begins that took the target's process with it."""
WAITING: Final = {
    "held-back": "wait for what was sent before",
    "deferred": "wait until the request that was checked is updated",
}
"""What must be done in the cases in which the protocol puts a step off."""
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
        return f"A new cache is not empty, it has {_listed(mismatch.actual)}: {SHARED}"
    if mismatch.aspect == "outcome" and (what := _not_empty(run)):
        return what
    if mismatch.kind == INITIAL:
        return f"Before the first operation, {_aspect(run, mismatch)}"
    if mismatch.aspect == "outcome":
        return f"Operation {number}, {operation}, {_outcome(run, mismatch)}"
    return f"After operation {number}, {operation}, {_aspect(run, mismatch)}"


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
        return f"gave {_differing(theirs, mine)} for {label}, must give {_differing(mine, theirs)}"
    if isinstance(actual, str) and actual.startswith(ENDED):
        return f"did not return ({actual}), must {_must(expected)}"
    key, parts, keys = _key(run, mismatch), parts_of(expected), keys_of(operation)
    if parts and key and keys.count(key) == 1 and len(parts) == len(keys):
        place = keys.index(key)
        label = label_of(operation, place)
        is_claim = parts[place] is None and operation.__struct_config__.tag != "deliver"
        words = "no data" if is_claim else results_in_words(parts[place])
        return f"{_did(actual)}, must go on and give {words} for {label}"
    if run.component == "items":
        return _size(operation, expected, actual)
    if expected is None and operation.__struct_config__.tag in ("get", "pop"):
        return f"{_did(actual)}, must return the default that was given"
    return f"{_did(actual, expected)}, must {_must(expected, actual, mismatch.kind)}"


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
        return f"{_did(actual, expected)}, must {_must(expected, actual)}"
    verb, unit = {
        "size": ("weighs", " B"),
        "cached_size": ("weighs", " B"),
        "kept": ("keeps alive", " B of memory"),
        "complexity": ("counts", " leaves"),
    }.get(kind, ("gave", ""))
    infinitive = {"weighs": "weigh", "keeps alive": "keep alive", "counts": "count", "gave": "give"}[verb]
    return f"{verb} {actual}{unit}, must {infinitive} {value_in_words(expected)}{unit}"


def _did(actual: Any, expected: Any = None) -> str:
    """A result of the target, as what it did."""
    if isinstance(actual, Mapping):
        match actual.get("result"):
            case "raised":
                says = f"({actual['says']!r})" if actual["says"] else ""
                return f"raised {actual['error']}{says}"
            case "missed":
                return f"raised MultiModalCacheMissError for {', '.join(actual['hashes']) or 'no hash'}"
            case "unexpected":
                what = str(actual["what"])
                return f"did not come back ({what})" if what.startswith("no answer") else f"gave {what}"
    return f"returned {_differing(actual, expected)}"


def _must(expected: Any, actual: Any = None, kind: str = "") -> str:
    """A result of the model, as what must be done."""
    if expected is False and kind in WAITING:
        return WAITING[kind]
    if isinstance(expected, Mapping):
        match expected.get("result"):
            case "one_of":
                return " or ".join(_must(each, actual, kind) for each in expected["results"])
            case "raised":
                kind = "an exception" if expected["error"] == "Exception" else expected["error"]
                return f"raise {kind}" + (f" that says {expected['says']!r}" if expected["says"] else "")
            case "missed":
                return f"raise MultiModalCacheMissError for {', '.join(expected['hashes'])}"
    return f"return {_differing(expected, actual)}"


def _differing(part: Any, other: Any) -> str:
    """A result, with what distinguishes it from the other one said aloud."""
    if not isinstance(part, Mapping) or not isinstance(other, Mapping):
        return results_in_words(part)
    words = result_in_words(part)
    if part.get("is_input") is False and other.get("is_input") and part.get("item") == other.get("item"):
        return f"{words} as an object of its own"
    if part.get("index") != other.get("index"):
        return f"{words}, updates numbered {part.get('index')}"
    if (updates := part.get("updates")) != other.get("updates") and updates == part.get("item"):
        return f"{words} with the updates of {value_in_words(updates)}"
    return words


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


def _aspect(run: Run, mismatch: Mismatch) -> str:
    """An observed part of the state that is not the model's."""
    side, _, name = mismatch.aspect.rpartition(".")
    whose = f"in {side.upper()} " if side else ""
    expected, actual = mismatch.expected, mismatch.actual
    if isinstance(actual, Mapping) and actual.get("result") in ("raised", "missed", "unexpected"):
        what = "the state" if name == "observation" else name
        return f"{whose}{what} cannot be read: it {_did(actual)}"
    if run.component in SHARED_CACHES:
        keys = _state_after(run).get("keys") or ()
        if (told := shm_aspect_in_words(name, expected, actual, keys)) is not None:
            return told
    if run.component == "object-store":
        if name == "contents" and isinstance(actual, list | tuple):
            return _contents(expected, actual)
        if (told := store_aspect_in_words(name, expected, actual)) is not None:
            return told
    match name:
        case "records" if isinstance(actual, list | tuple):
            return records_in_words(expected, actual)
        case "order" if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
            before = _state_before(run).get(mismatch.aspect, ())
            words = [[value_in_words(key) for key in keys] for keys in (expected, actual, before)]
            return whose + _order(*words)
        case "bytes":
            return f"{whose}{actual} B are in use, must be {expected} B"
        case "hits" | "total":
            return f"{name} is {actual}, must be {expected}"
        case "length":
            return f"{whose}the number of entries is {actual}, must be {expected}"
        case "values" if run.component != "lru" and isinstance(actual, list | tuple):
            return _contents(expected, actual)
        case "pins":
            return f"pinned are {_listed(actual)}, must be {_listed(expected)}"
        case "data":
            return f"the keys that have a value are {_listed(actual)}, must be {_listed(expected)}"
        case "under-way" if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
            return _under_way(expected, actual)
        case "uncounted" if isinstance(actual, list | tuple) and isinstance(expected, list | tuple):
            names = ("hits", "lookups")
            lacking = [f"{lack} {name}" for lack, name in zip(actual, names, strict=False) if lack]
            return f"the statistics of the sender lack {' and '.join(lacking)} of what its updates returned"
        case "work" if isinstance(actual, list | tuple):
            counts = [f"{name} {count}, must be {due}" for name, count, due in actual]
            return f"the work done is {'; '.join(counts)}"
        case "checked":
            held, must = ("" if each else "not " for each in (actual, expected))
            return f"a request is {held}held between its check and its update, must {must}be"
        case "budget":
            return f"the budget of the cache is {actual} B, must be {expected} B"
    return f"{whose}{name} is {results_in_words(actual)}, must be {results_in_words(expected)}"


def _contents(expected: Sequence[Any], actual: Sequence[Any]) -> str:
    """The entries that have another content than they must have."""
    differing = [
        f"the entry of {mine[0]!r} is {result_in_words(theirs[1])}, must be {result_in_words(mine[1])}"
        for mine, theirs in zip(expected, actual, strict=False)
        if mine != theirs
    ]
    return " and ".join(differing)


def _under_way(expected: Sequence[Any], actual: Sequence[Any]) -> str:
    """What lies between P0 and P1, as far as it differs."""
    names = ("messages", "reports of a miss", "retries", "number of the clear on its way")
    differing = [
        f"{name} are {results_in_words(theirs)}, must be {results_in_words(mine)}"
        for name, mine, theirs in zip(names, expected, actual, strict=False)
        if mine != theirs
    ]
    return "of what is under way " + ", ".join(differing)


def _order(expected: list[str], actual: list[str], before: list[str]) -> str:
    """Two orders: what is there and must not be, what is not there, or what stands in the wrong place."""
    twice = sorted({key for key in actual if actual.count(key) > 1})
    extra = [key for key in dict.fromkeys(actual) if key not in expected]
    lost = [key for key in expected if key not in actual]
    said = []
    if twice:
        said.append(f"the order names {' and '.join(map(repr, twice))} more than once")
    for keys, was, was_not in ((extra, "still there", "there"), (lost, "gone", "not there")):
        for key in keys:
            said.append(f"{key!r} is {was if key in before else was_not}")
    reason = f" ({', '.join(said)})" if said else ""
    return f"the keys in eviction order are {_listed(actual)}, must be {_listed(expected)}{reason}"


def _listed(keys: Any) -> str:
    if isinstance(keys, list | tuple):
        return " ".join(map(value_in_words, keys)) or "none"
    return results_in_words(keys)


def _state_before(run: Run) -> Mapping[str, Any]:
    return run.steps[-2].state if len(run.steps) > 1 else {}


def _state_after(run: Run) -> Mapping[str, Any]:
    """What the model observes after the last operation."""
    return run.steps[-1].state


def _before(run: Run) -> str:
    """What was cached before the last operation, and the budget; nothing where there is no cache."""
    if run.component in SHARED_CACHES:
        held = state_in_words(_state_before(run)) or "empty"
        return f"The ring before: {held}; it has {units(run.config.capacity)}."
    budget = getattr(run.config, "budget", None)
    if budget is None:
        return ""
    held = state_in_words(_state_before(run)) or "nothing"
    return f"Cached before: {'nothing' if held.startswith('empty') else held}; the budget is {budget} B."
