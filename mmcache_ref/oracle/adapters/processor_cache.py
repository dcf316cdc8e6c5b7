"""A cache of P0, driven by the operations of `model/processor_cache.py`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from mmcache_ref.model import processor_cache as model
from mmcache_ref.model.component import Content, Raised, Updated
from mmcache_ref.oracle.adapters.base import (
    Payloads,
    Unexpected,
    counted,
    need,
    observe_inner,
    observe_values,
)
from mmcache_ref.oracle.adapters.common_calls import (
    CHANGED_LIST,
    counters,
    get_and_update,
    has_two_answers,
    is_cached,
)
from mmcache_ref.oracle.adapters.merge_step import merge, updated
from mmcache_ref.oracle.quiet import heard_warnings


class ProcessorCacheAdapter:
    """`cache_name` is the class under upstream's name; the merge step is the target's own."""

    def __init__(self, namespace: Any, config: model.Config, cache_name: str) -> None:
        need(namespace, cache_name, "merge_mm_kwargs")
        self.payloads = Payloads(namespace)
        self.namespace = namespace
        self.budget = config.budget
        self.is_processor_only = cache_name == "MultiModalProcessorOnlyCache"
        self._make = partial(getattr(namespace, cache_name), namespace.make_model_config(config.budget))
        self.cache = self._make()

    def perform(self, operation: model.Operation) -> Any:
        """One call of the cache, or one merge step; of what a call returns only what a clause speaks of."""
        match operation:
            case model.IsCached(hashes):
                return is_cached(self.cache, hashes)
            case model.Touch(key):
                self.cache.touch_sender_cache_item(key)
                return None
            case model.Release():
                # Releases before the shared-memory caches had touches have nothing to end.
                getattr(self.cache, "release_sender_touches", lambda: None)()
                return None
            case model.Update(key, content):
                given = self._input(content)
                return self._updated(given, self.cache.get_and_update_item(given, key))
            case model.UpdateAll(contents, hashes):
                return self._update_all(contents, list(hashes))
            case model.Invalidate(key):
                self.cache.invalidate(key)
                return None
            case model.Validate(key, content):
                # A cache that has no such method does nothing either; so for closing.
                validate = getattr(self.cache, "validate_input_item", lambda item, mm_hash: None)
                validate(self.payloads.item(content), key)
                return None
            case model.Close():
                getattr(self.cache, "close", lambda: None)()
                return None
            case model.Defaults():
                return self._called_by_defaults()
            case model.Fresh(hashes):
                return self._fresh(hashes)
            case model.TooLarge(items):
                return self._warnings(items)
            case model.Merge(request):
                try:
                    answer = is_cached(self.cache, [item.key for item in request])
                except Exception:
                    return NO_ANSWER
                if isinstance(answer, Unexpected):
                    return answer
                return merge(self.namespace, self.payloads, self.cache, operation)
            case model.Clear():
                self.cache.clear_cache()
                return None
            case model.Stats(delta):
                return counted(self.cache.make_stats(delta=True) if delta else self.cache.make_stats())

    def observe(self) -> Mapping[str, Any]:
        """The counters; order and bytes, and contents, where the cache is an LRU like upstream's."""
        seen = observe_inner(self.cache)
        if self.is_processor_only:
            seen |= observe_values(self.cache, self._content)
        if hasattr(self.cache, "make_stats"):
            seen |= counters(self.cache.make_stats)
        return seen

    def _content(self, entry: Any) -> Any:
        """The content of an entry's item, and of its prompt updates if they are another's."""
        content = self.payloads.content(entry.item)
        named = self.payloads.updates_content(entry.prompt_updates)
        if not isinstance(content, Content) or not isinstance(named, Content):
            return None
        return content if content == named else Unexpected(f"{content} with the updates of {named}")

    def blamed(self, operation: model.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """What a result tells besides the operation's own rule."""
        if isinstance(actual, Raised) and "too large" in actual.says:
            return "PO-04" if self.is_processor_only else "KR-05"
        is_check = isinstance(operation, model.Merge) and actual in (NO_ANSWER, CHANGED_LIST)
        if is_check or has_two_answers(actual):
            return "IF-06"
        is_refused = isinstance(expected, Raised) and bool(expected.says)
        if is_refused and isinstance(actual, Updated | tuple):
            # Nothing is cached, no data came, and it is served all the same: it was promised once.
            return "PO-08" if self.is_processor_only else "KR-15"
        if getattr(operation, "withheld", ""):
            return None
        if isinstance(operation, model.Merge) and is_refused and isinstance(actual, Raised):
            # The update refuses as it must: then the merge step raised something else.
            return "IF-11" if self._refuses(operation.request[0].key) else None
        is_several = isinstance(operation, model.Merge | model.UpdateAll) and isinstance(actual, tuple)
        if aspect == "outcome" and is_several and isinstance(expected, tuple):
            return self._blamed_of_several(operation, expected, actual)
        if aspect == "values" and is_several:
            return self._blamed_for_content(operation, expected, actual)
        if aspect == "order" and is_several and sorted(expected) == sorted(actual):
            return "IF-11" if isinstance(operation, model.Merge) else "IF-01"
        return None

    def _blamed_of_several(
        self, operation: model.Operation, expected: tuple[Any, ...], actual: tuple[Any, ...]
    ) -> str | None:
        """By the first item that differs: its place, what a hit returned, or who was updated."""
        hit, new, large = "KR-02", "KR-03", "KR-05"
        if self.is_processor_only:
            hit, new, large = "PO-01", "PO-02", "PO-04"
        is_merge = isinstance(operation, model.Merge)
        if len(actual) != len(expected):
            return "IF-12" if is_merge else "IF-01"
        for mine, theirs in zip(expected, actual, strict=True):
            if mine == theirs:
                continue
            if not isinstance(theirs, Updated) or mine == replace(theirs, index=mine.index):
                return "IF-12" if is_merge else None
            if not mine.is_input:
                return hit
            if mine.item.nbytes > self.budget:
                return large
            return "IF-11" if is_merge else new
        return None

    def _blamed_for_content(self, operation: Any, expected: Any, actual: Any) -> str | None:
        """The first entry whose content differs: it is that of the data given, or what was cached before."""
        given = (
            [(item.key, item.content) for item in operation.request]
            if isinstance(operation, model.Merge)
            else zip(operation.hashes, operation.contents, strict=False)
        )
        known = set(given)
        for mine, theirs in zip(expected, actual, strict=False):
            if mine != theirs:
                return "PO-02" if mine in known and theirs not in known else "PO-01"
        return None

    def _refuses(self, key: str) -> bool:
        """Does a new cache refuse an update without data as it must?"""
        try:
            self._make().get_and_update_item(None, key)
        except AssertionError as error:
            return key in str(error)
        except Exception:
            return False
        return False

    def _update_all(self, contents: Sequence[Content | None], hashes: list[str]) -> Any:
        """`get_and_update`; the lists that it is given stay as they are."""
        inputs = [self._input(content) for content in contents]
        outputs = get_and_update(self.cache, inputs, hashes)
        if outputs is CHANGED_LIST:
            return outputs
        return tuple([self._updated(each, out) for each, out in zip(inputs, outputs, strict=True)])

    def _fresh(self, hashes: Sequence[str]) -> Any:
        """Counters of another cache, and whether it is cached there, or served without data.

        Caches made before it have had these keys, and have promised them.
        """
        self._use(self._make(), hashes)
        another = self._make()
        self._use(self._make(), hashes, is_promising=True)
        counters = tuple(another.make_stats()) if hasattr(another, "make_stats") else (0, 0)
        known = []
        for key in hashes:
            try:
                is_served = another.get_and_update_item(None, key) is not None
            except Exception:
                is_served = False
            known.append(is_served or bool(another.is_cached_item(key)))
        return (*counters, *known)

    def _use(self, cache: Any, hashes: Sequence[str], *, is_promising: bool = False) -> None:
        """Cache what fits; with `is_promising` touch it, and push it out. What goes wrong others judge."""
        touch = getattr(cache, "touch_sender_cache_item", lambda key: None)
        with contextlib.suppress(Exception):
            for key in hashes:
                cache.get_and_update_item(self._input(Content(1, 1) if self.budget else Content(0)), key)
            if is_promising:
                for key in hashes:
                    touch(key)
                cache.get_and_update_item(self._input(Content(self.budget, 2)), "another")

    def _called_by_defaults(self) -> tuple[str, ...]:
        """The methods that the base class's defaults call of a subclass that has only what it has to have."""
        need(self.namespace, "BaseMultiModalProcessorCache")
        base = self.namespace.BaseMultiModalProcessorCache
        abstract: frozenset[str] = getattr(base, "__abstractmethods__", frozenset())
        called: list[str] = []

        def noting(name: str) -> Any:
            return lambda self, *args, **more: called.append(name)

        bare = type("Bare", (base,), {name: noting(name) for name in abstract})()
        item = self.payloads.item(Content(1, 1))
        asked = {
            "release_sender_touches": (),
            "invalidate": ("a",),
            "validate_input_item": (item, "a"),
            "close": (),
        }
        for name, args in asked.items():
            if name not in abstract and hasattr(base, name):
                getattr(bare, name)(*args)
        return tuple(called)

    def _warnings(self, items: int) -> int:
        """How many warnings another cache gives after its first."""
        another = self._make()
        with heard_warnings() as heard:
            for index in range(items):
                another.get_and_update_item(self._input(Content(self.budget + 1, index)), f"large {index}")
        return max(0, len(heard) - 1)

    def _input(self, content: Content | None) -> Any:
        if content is None:
            return None
        return self.payloads.processed(content)

    def _updated(self, given: Any, out: Any) -> Any:
        return updated(self.payloads, given, out)


NO_ANSWER = Unexpected("an exception from the check that comes before the merge step")
"""Of the check that comes before a merge step."""
