"""A cache of P0, driven by the operations of `model/processor_cache.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from mmcache_ref.model import processor_cache as model
from mmcache_ref.model.component import Content, Updated
from mmcache_ref.oracle.adapters.base import Payloads, Unexpected, need, observe_inner


class ProcessorCacheAdapter:
    """`cache_name` is the class under upstream's name; the merge step is the target's own."""

    def __init__(self, namespace: Any, config: model.Config, cache_name: str) -> None:
        need(namespace, cache_name, "merge_mm_kwargs")
        self.payloads = Payloads(namespace)
        self.namespace = namespace
        self.cache = getattr(namespace, cache_name)(namespace.make_model_config(config.budget))

    def perform(self, operation: model.Operation) -> Any:
        """One call of the cache, or one merge step."""
        match operation:
            case model.IsCached(hashes):
                return self._is_cached(hashes)
            case model.Touch(key):
                return self.cache.touch_sender_cache_item(key)
            case model.Release():
                # Releases before the shared-memory caches had touches have nothing to end.
                return getattr(self.cache, "release_sender_touches", lambda: None)()
            case model.Update(key, content):
                given = self._input(content)
                return self._updated(given, self.cache.get_and_update_item(given, key))
            case model.UpdateAll(contents, hashes):
                inputs = [self._input(content) for content in contents]
                outputs = self.cache.get_and_update(inputs, list(hashes))
                return tuple(self._updated(given, out) for given, out in zip(inputs, outputs, strict=True))
            case model.Invalidate(key):
                return self.cache.invalidate(key)
            case model.Merge(request):
                return merge(self.namespace, self.payloads, self.cache, request)
            case model.Clear():
                return self.cache.clear_cache()
            case model.Stats(delta):
                return tuple(self.cache.make_stats(delta=True) if delta else self.cache.make_stats())

    def observe(self) -> Mapping[str, Any]:
        """The counters; order and bytes where the cache is an LRU like upstream's."""
        seen = observe_inner(self.cache)
        if hasattr(self.cache, "make_stats"):
            info = self.cache.make_stats()
            seen |= {"hits": info.hits, "total": info.total}
        return seen

    def _is_cached(self, hashes: tuple[str, ...]) -> Any:
        together = tuple(self.cache.is_cached(list(hashes)))
        alone = tuple(self.cache.is_cached_item(key) for key in hashes)
        return together if together == alone else Unexpected(f"is_cached {together}, is_cached_item {alone}")

    def _input(self, content: Content | None) -> Any:
        if content is None:
            return None
        return self.payloads.item(content), self.payloads.prompt_updates(content)

    def _updated(self, given: Any, out: Any) -> Any:
        return updated(self.payloads, given, out)


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


def merge(namespace: Any, payloads: Payloads, cache: Any, request: tuple[model.Item, ...]) -> Any:
    """P0's part of a request: check every hash, then the target's merge step.   [IF-10, IF-11, IF-12]

    Returns one `Updated` for each item, grouped by modality.
    """
    merged = finish_merge(namespace, payloads, cache, request, check(cache, request))
    return tuple(part.result(payloads) for part in merged)


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
        return msgspec.structs.replace(result, is_input=is_input, index=self.updates[0].item_idx)


def finish_merge(
    namespace: Any,
    payloads: Payloads,
    cache: Any,
    request: Sequence[model.Item],
    is_cached: dict[str, list[bool]],
) -> list[Merged]:
    """The target's merge step, given the result of the check; grouped by modality."""
    hashes: dict[str, list[str]] = {modality: [] for modality in is_cached}
    given: dict[str, list[Any]] = {modality: [] for modality in is_cached}
    missing_updates: dict[str, list[Any]] = {modality: [] for modality in is_cached}
    for item in request:
        modality = item.modality
        hit = is_cached[modality][len(hashes[modality])]
        hashes[modality].append(item.key)
        given[modality].append(None if hit else payloads.item(item.content))
        if not hit:
            # The processor saw the missing items only, and numbered their updates by that.
            index = len(missing_updates[modality])
            missing_updates[modality].append(payloads.prompt_updates(item.content, modality, index))
    missing = {modality: [item for item in items if item is not None] for modality, items in given.items()}
    merged, updates = namespace.merge_mm_kwargs(
        cache, hashes, is_cached, namespace.MultiModalKwargsItems(missing), missing_updates
    )
    return [
        Merged(own, item, its_updates)
        for modality in is_cached
        for own, item, its_updates in zip(given[modality], merged[modality], updates[modality], strict=True)
    ]
