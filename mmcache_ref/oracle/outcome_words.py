"""Results of a target as what it did, and of the model as what must be done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mmcache_ref.oracle.wording import result_in_words, results_in_words, value_in_words

WAITING: Final = {
    "held-back": "wait for what was sent before",
    "deferred": "wait until the request that was checked is updated",
}
"""What must be done in the cases in which the protocol puts a step off."""


def did(actual: Any, expected: Any = None) -> str:
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
    return f"returned {differing(actual, expected)}"


def must(expected: Any, actual: Any = None, kind: str = "") -> str:
    """A result of the model, as what must be done."""
    if expected is False and kind in WAITING:
        return WAITING[kind]
    if isinstance(expected, Mapping):
        match expected.get("result"):
            case "one_of":
                return " or ".join(must(each, actual, kind) for each in expected["results"])
            case "raised":
                kind = "an exception" if expected["error"] == "Exception" else expected["error"]
                return f"raise {kind}" + (f" that says {expected['says']!r}" if expected["says"] else "")
            case "missed":
                return f"raise MultiModalCacheMissError for {', '.join(expected['hashes'])}"
    return f"return {differing(expected, actual)}"


def differing(part: Any, other: Any) -> str:
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
