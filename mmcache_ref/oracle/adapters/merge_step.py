"""The merge step of a target: what it is given after the check, and what comes back in canonical form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from msgspec.structs import replace

from mmcache_ref.model import processor_cache as model
from mmcache_ref.model.component import Updated
from mmcache_ref.oracle.adapters.base import Payloads, Unexpected


def updated(payloads: Payloads, given: Any, out: Any) -> Any:
    """What an update returned, in canonical form."""
    try:
        item, updates = out
    except (TypeError, ValueError):
        return Unexpected(f"not a pair of item and prompt updates: {out!r:.80}")
    content = payloads.content(item)
    named = payloads.updates_content(updates)
    if isinstance(content, Unexpected) or isinstance(named, Unexpected):
        return content if isinstance(content, Unexpected) else named
    is_input = given is not None and item is given[0] and updates is given[1]
    return Updated(content, named, is_input=is_input)


def merge(namespace: Any, payloads: Payloads, cache: Any, operation: model.Merge) -> Any:
    """P0's part of a request: check every hash, then the target's merge step.   [IF-10, IF-11, IF-12]

    The merge step is told of the `stale` keys that they are cached. Returns one `Updated` for each item,
    grouped by modality.
    """
    request = operation.request
    is_cached = check(cache, request)
    places = dict.fromkeys(is_cached, 0)
    for item in request if operation.stale else ():
        place = places[item.modality]
        is_cached[item.modality][place] = is_cached[item.modality][place] or item.key in operation.stale
        places[item.modality] += 1
    supply = Supply(namespace, payloads, request, is_cached)
    is_short = supply.withhold(operation.withheld)
    merged = supply.merge(cache)
    if is_short:
        return Unexpected("a result, of a merge step that lacks something")
    sent, updates = merged
    return tuple(part.result(payloads) for part in supply.paired(sent, updates))


def check(cache: Any, request: Sequence[model.Item]) -> dict[str, list[bool]]:
    """Which items of each modality are cached."""
    hashes: dict[str, list[str]] = {}
    for item in request:
        hashes.setdefault(item.modality, []).append(item.key)
    return {modality: list(cache.is_cached(keys)) for modality, keys in hashes.items()}


class Merged(NamedTuple):
    """What the merge step made of one item: the input it was given, and what is sent."""

    given: Any
    item: Any
    updates: Any

    def result(self, payloads: Payloads) -> Any:
        """In canonical form; `is_input` if this item's own input came back."""
        result = updated(payloads, None, (self.item, self.updates))
        if not isinstance(result, Updated):
            return result
        is_input = self.given is not None and self.item is self.given
        places = {each.item_idx for each in self.updates}
        if len(places) > 1:
            return Unexpected(f"prompt updates of one item with the places {sorted(places)}")
        return replace(result, is_input=is_input, index=places.pop())


class Supply:
    """What a merge step is given after the check, grouped by modality."""

    def __init__(
        self,
        namespace: Any,
        payloads: Payloads,
        request: Sequence[model.Item],
        is_cached: dict[str, list[bool]],
    ) -> None:
        self._namespace = namespace
        self._is_cached = is_cached
        self._hashes: dict[str, list[str]] = {modality: [] for modality in is_cached}
        self._updates: dict[str, list[Any]] = {modality: [] for modality in is_cached}
        self._given: dict[str, list[Any]] = {modality: [] for modality in is_cached}
        for item in request:
            modality = item.modality
            hit = is_cached[modality][len(self._hashes[modality])]
            self._hashes[modality].append(item.key)
            self._given[modality].append(None if hit else payloads.item(item.content))
            if not hit:
                # The processor saw the missing items only, and numbered their updates by that.
                index = len(self._updates[modality])
                self._updates[modality].append(payloads.prompt_updates(item.content, modality, index))
        self._items = {
            modality: [item for item in items if item is not None] for modality, items in self._given.items()
        }

    def withhold(self, part: Literal["", "item", "updates"]) -> bool:
        """Leave out this part of the last missing item, if one is named; was there one?"""
        if not part:
            return False
        parts = self._items if part == "item" else self._updates
        supplied = [each for each in parts.values() if each]
        for each in supplied[-1:]:
            each.pop()
        return bool(supplied)

    def merge(self, cache: Any) -> Any:
        """The target's merge step: what is sent, and the prompt updates, each by modality."""
        items = self._namespace.MultiModalKwargsItems(self._items)
        return self._namespace.merge_mm_kwargs(cache, self._hashes, self._is_cached, items, self._updates)

    def paired(self, merged: Any, updates: Any) -> list[Merged]:
        """What the merge step made of each item, grouped by modality."""
        return [
            Merged(own, item, its_updates)
            for modality, given in self._given.items()
            for own, item, its_updates in zip(given, merged[modality], updates[modality], strict=True)
        ]
