"""Calls that caches of several kinds have, with what is asked of each beside its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from mmcache_ref.oracle.adapters.base import Unexpected, counted, read

CHANGED_LIST: Final = Unexpected("a list that was given has changed")
OTHER_LIST: Final = Unexpected("another list than the one that was given")
TWO_ANSWERS: Final = "is_cached and is_cached_item, which differ"


def is_cached(cache: Any, hashes: Sequence[str]) -> Any:
    """`is_cached`, which leaves its list as it is and says of each key what `is_cached_item` says."""
    given = list(hashes)
    together = tuple(cache.is_cached(given))
    if given != list(hashes):
        return CHANGED_LIST
    alone = tuple([cache.is_cached_item(key) for key in hashes])
    return together if together == alone else Unexpected(f"{TWO_ANSWERS}: {together} and {alone}")


def has_two_answers(actual: Any) -> bool:
    """Did the two methods answer one question in two ways?   [IF-06]"""
    return isinstance(actual, Unexpected) and actual.what.startswith(TWO_ANSWERS)


def get_and_update(cache: Any, inputs: list[Any], hashes: list[str]) -> Any:
    """What `get_and_update` returns, which leaves its lists as they are."""
    given = list(inputs), list(hashes)
    outputs = cache.get_and_update(inputs, hashes)
    return outputs if (inputs, hashes) == given else CHANGED_LIST


def counters(tell: Callable[[], Any]) -> dict[str, Any]:
    """Hits and total as a cache tells them, or what is wrong with that, as both."""
    told = read(lambda: counted(tell()))
    hits, total = told if type(told) is tuple else (told, told)
    return {"hits": hits, "total": total}
