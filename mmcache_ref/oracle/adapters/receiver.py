"""The receiver of a target, driven by the operations of `model/receiver.py`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from mmcache_ref.model import receiver as model
from mmcache_ref.model.component import Content, Missed, Raised
from mmcache_ref.oracle.adapters.base import Payloads, Unexpected, need, observe_inner, observe_values, raised
from mmcache_ref.oracle.adapters.common_calls import CHANGED_LIST, OTHER_LIST, get_and_update

CLASS = "LruKeyReplicatedReceiverCache"


class ReceiverAdapter:
    """P1's cache with the inputs of P1: items or None, and features."""

    CERTAIN = frozenset({"IT-10", "IF-17"})
    """What `blamed` names by a key, or a message, that nothing else makes."""

    def __init__(self, namespace: Any, config: model.Config) -> None:
        need(namespace, CLASS)
        self.payloads = Payloads(namespace)
        self.budget = config.budget
        self.namespace = namespace
        self._make = partial(getattr(namespace, CLASS), namespace.make_model_config(config.budget))
        self.cache = self._make()
        self._config = config
        self._before: Any = ()

    def perform(self, operation: model.Operation) -> Any:
        """One call of the cache; of what it returns only what a clause speaks of."""
        match operation:
            case model.Touch(key, content):
                items = () if content is None else (self.payloads.item(content),)
                self.cache.touch_receiver_cache_item(key, *items)
                return None
            case model.Update(key, content):
                given = None if content is None else self.payloads.item(content)
                return received(self.payloads, given, self.cache.get_and_update_item(given, key))
            case model.UpdateAll(contents, hashes):
                return self._update_all(contents, list(hashes))
            case model.Features(features):
                self._before = observe_inner(self.cache).get("order", ())
                return ingest(self.namespace, self.payloads, self.cache, features)
            case model.Clear():
                self.cache.clear_cache()
                return None
            case model.Fresh(hashes):
                return self._fresh(hashes)
            case model.MissError(hashes):
                return miss_error(self.namespace, hashes)

    def observe(self) -> Mapping[str, Any]:
        """Order, bytes, budget and contents where the cache is an LRU like upstream's."""
        return observe_inner(self.cache) | observe_values(self.cache, self._content)

    def _content(self, entry: Any) -> Content | None:
        found = self.payloads.content(entry)
        return None if isinstance(found, Unexpected) else found

    def blamed(self, operation: model.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """What a result tells besides the operation's own rule: which part of a request went wrong."""
        if isinstance(actual, Unexpected) and actual.what.startswith(SILENT_MISS):
            return "IF-17"
        if actual in (OTHER_LIST, OTHER_FEATURES):
            return "IF-14"
        if isinstance(operation, model.Features) and aspect == "order" and isinstance(actual, tuple):
            return self._blamed_for_order(operation.features, expected, actual)
        if aspect == "values":
            return _blamed_for_content(operation, expected, actual)
        if isinstance(actual, Raised) and "too large" in actual.says:
            return "KR-09"
        is_served = isinstance(expected, Missed) and isinstance(actual, model.Received | tuple)
        if is_served and observe_inner(self.cache):
            # Nothing is cached, no data came, and it is served all the same: it was promised once.
            return "KR-15"
        named: Any = actual
        if isinstance(actual, Missed):
            named = actual.hashes
        elif isinstance(actual, model.Ingested):
            named = actual.missed
        # A key that is an identifier, or no key at all: the cache took the wrong one of the two.
        if isinstance(named, tuple) and any(key is None or is_odd(key) for key in named):
            return "IT-10"
        if isinstance(expected, model.Ingested) and isinstance(actual, model.Ingested):
            return self._blamed_of_request(operation, expected, actual)
        return None

    def _blamed_for_order(
        self, features: tuple[model.Feature, ...], expected: tuple[str, ...], actual: tuple[Any, ...]
    ) -> str | None:
        """The keys, the touches, the order of the updates, or what a miss did."""
        if any(map(is_odd, actual)):
            return "IT-10"
        if len(features) < 2:
            return None
        if self._before == ():
            # In an empty cache touches do nothing.
            state, outcome = model.step(self._config, model.State(), model.Features(features[::-1]))
            if model.observe(self._config, state)["order"] == actual:
                return "IF-14"
            if features[-1].content is None and len(outcome.result.missed) == 1 and actual == ():
                # Nothing came after the one that was missed.
                return "KR-11"
        # What was sent is there if it should be: the touches decide what else is, and in which order.
        sent = {feature.key for feature in features if feature.content is not None}
        return None if sent & ({*expected} ^ {*actual}) else "IF-13"

    def _blamed_of_request(
        self, operation: model.Operation, expected: model.Ingested, actual: model.Ingested
    ) -> str | None:
        """The clause of the first feature that was served differently, where one is known for it."""
        features = operation.features if isinstance(operation, model.Features) else ()
        after_miss = False
        for feature, mine, theirs in zip(features, expected.items, actual.items, strict=True):
            if mine is not None and mine.is_input and theirs != mine:
                return "KR-09" if mine.item.nbytes > self.budget else "KR-08"
            if mine is not None and theirs is None and feature.key not in actual.missed:
                return "IF-15" if after_miss else "IF-14"
            if theirs != mine:
                return None
            after_miss = after_miss or mine is None
        return "IF-16"

    def _update_all(self, contents: Sequence[Content | None], hashes: list[str]) -> Any:
        """`get_and_update`; the lists that it is given stay as they are."""
        inputs = [None if content is None else self.payloads.item(content) for content in contents]
        outputs = get_and_update(self.cache, inputs, hashes)
        if outputs is CHANGED_LIST:
            return outputs
        return tuple([received(self.payloads, *both) for both in zip(inputs, outputs, strict=True)])

    def _fresh(self, hashes: Sequence[str]) -> Any:
        """Whether another cache serves these without data; one made before it has had them all."""
        used = self._make()
        with contextlib.suppress(Exception):
            for key in hashes:
                used.get_and_update_item(
                    self.payloads.item(Content(1, 1) if self.budget else Content(0)), key
                )
        another = self._make()
        served = []
        for key in hashes:
            try:
                served.append(another.get_and_update_item(None, key) is not None)
            except Exception:
                served.append(False)
        return tuple(served)


def _blamed_for_content(operation: model.Operation, expected: Any, actual: Any) -> str | None:
    """Data that was sent is what is cached under its key afterwards; what was not sent was promised."""
    differing = {key for (key, mine), (_, theirs) in zip(expected, actual, strict=False) if mine != theirs}
    match operation:
        case model.Features(features):
            sent = {feature.key for feature in features if feature.content is not None}
        case model.UpdateAll(contents, hashes):
            sent = {key for key, content in zip(hashes, contents, strict=False) if content is not None}
        case _:
            return None
    return "KR-08" if differing & sent else None


OTHER_FEATURES = Unexpected("other features than those in the list that was given")
SILENT_MISS = "a miss error whose message"


def miss_error(namespace: Any, hashes: Sequence[str]) -> Any:
    """An error of these hashes, in canonical form.   [IF-17]"""
    need(namespace, "MultiModalCacheMissError")
    error = namespace.MultiModalCacheMissError(list(hashes))
    if not isinstance(error, RuntimeError):
        return Unexpected(f"{type(error).__name__}, which is no RuntimeError")
    return told(error, hashes)


def told(error: RuntimeError, hashes: Sequence[str]) -> Any:
    """A miss error in canonical form; its message names the hashes and asks for a retry.   [IF-17]"""
    message = str(error)
    # The oracle's own keys are letters, which are in any text.
    lacking = [key for key in hashes if len(key) > 1 and key not in message]
    if lacking:
        return Unexpected(f"{SILENT_MISS} does not name {', '.join(lacking)}: {message:.120}")
    if "retr" not in message.lower():
        return Unexpected(f"{SILENT_MISS} does not say to retry with the data: {message:.120}")
    return raised(error)


def received(payloads: Payloads, given: Any, out: Any) -> Any:
    """What an update in P1 returned, in canonical form."""
    content = payloads.content(out)
    if content is None or isinstance(content, Unexpected):
        return content
    return model.Received(content, is_input=given is not None and out is given)


def ingest(namespace: Any, payloads: Payloads, cache: Any, features: Sequence[model.Feature]) -> Any:
    """`get_and_update_features` on fresh features; what each holds afterwards.   [IF-14, IF-15, IF-16]"""
    given = [None if f.content is None else payloads.item(f.content) for f in features]
    built = [
        make_feature(namespace, item, feature, index)
        for index, (item, feature) in enumerate(zip(given, features, strict=True))
    ]
    features_given = list(built)
    missed: tuple[str, ...] = ()
    try:
        returned = cache.get_and_update_features(built)
    except RuntimeError as error:
        result = raised(error)
        if not isinstance(result, Missed):
            raise
        if not result.hashes or isinstance(told(error, result.hashes), Unexpected):
            return told(error, result.hashes)
        missed = result.hashes
    else:
        if returned is not built:
            return OTHER_LIST
        if list(map(id, built)) != list(map(id, features_given)):
            return OTHER_FEATURES
    held = [feature.data for feature in features_given]
    items = [received(payloads, *both) for both in zip(given, held, strict=True)]
    for item in items:
        if isinstance(item, Unexpected):
            return item
    return model.Ingested(tuple(items), missed)


IDENTIFIER = "adapter:"
"""What an identifier begins with that differs from its feature's `mm_hash`."""


def is_odd(key: Any) -> bool:
    """Is it an identifier where an `mm_hash` should be, or the name of no key?"""
    return isinstance(key, str) and (key in ("", "None") or key.startswith(IDENTIFIER))


def make_feature(namespace: Any, item: Any, feature: model.Feature, index: int) -> Any:
    """A feature of the target; with an `mm_hash`, its identifier is another string.   [IT-10]

    Without one it is `None`, or, in every second place of a request, empty.
    """
    if feature.has_mm_hash:
        made = namespace.make_feature(item, "image", feature.key, index)
        made.identifier = f"{IDENTIFIER}{feature.key}"
        return made
    made = namespace.make_feature(item, "image", feature.key, index)
    made.mm_hash = "" if index % 2 else None
    return made
