"""A part of the state that is not the model's, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mmcache_ref.oracle.outcome_words import did
from mmcache_ref.oracle.pair_words import records_in_words
from mmcache_ref.oracle.run import Mismatch, Run
from mmcache_ref.oracle.shm_words import shm_aspect_in_words
from mmcache_ref.oracle.store_words import store_aspect_in_words
from mmcache_ref.oracle.wording import result_in_words, results_in_words, value_in_words

SHARED_CACHES: Final = ("shm-caches", "shm-pair")
"""The components whose sizes are in units."""


def aspect_in_words(run: Run, mismatch: Mismatch) -> str:
    """An observed part of the state that is not the model's."""
    side, _, name = mismatch.aspect.rpartition(".")
    whose = f"in {side.upper()} " if side else ""
    expected, actual = mismatch.expected, mismatch.actual
    if isinstance(actual, Mapping) and actual.get("result") in ("raised", "missed", "unexpected"):
        what = "the state" if name == "observation" else name
        return f"{whose}{what} cannot be read: it {did(actual)}"
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
            before = state_before(run).get(mismatch.aspect, ())
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
            return f"pinned are {listed(actual)}, must be {listed(expected)}"
        case "data":
            return f"the keys that have a value are {listed(actual)}, must be {listed(expected)}"
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
    return f"the keys in eviction order are {listed(actual)}, must be {listed(expected)}{reason}"


def listed(keys: Any) -> str:
    """Keys beside each other; what is no list of keys, as the result that it is."""
    if isinstance(keys, list | tuple):
        return " ".join(map(value_in_words, keys)) or "none"
    return results_in_words(keys)


def state_before(run: Run) -> Mapping[str, Any]:
    """What the model observes before the last operation; nothing before the first."""
    return run.steps[-2].state if len(run.steps) > 1 else {}


def _state_after(run: Run) -> Mapping[str, Any]:
    """What the model observes after the last operation."""
    return run.steps[-1].state
