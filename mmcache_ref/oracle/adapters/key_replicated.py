"""A sender and a receiver of a target with a channel between them, driven by `model/key_replicated.py`.

The channel, the misses on their way back and the retries are the adapter's own; everything that decides
anything is a call of the target.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from mmcache_ref.model import accidents, processor_cache
from mmcache_ref.model import key_replicated as model
from mmcache_ref.model.component import Missed
from mmcache_ref.model.environment import Config
from mmcache_ref.model.pair import Request
from mmcache_ref.oracle.adapters.base import Payloads, Unexpected, need, observe_inner, raised
from mmcache_ref.oracle.adapters.processor_cache import check, finish_merge

SENDER = "LruKeyReplicatedSenderCache"
RECEIVER = "LruKeyReplicatedReceiverCache"


class Message(NamedTuple):
    """A request on its way: the very objects that P0's merge step returned, in prompt order."""

    request: Request
    items: tuple[Any, ...]


class Report(NamedTuple):
    """A request that P1 could not serve, and what it missed."""

    request: Request
    missing: tuple[str, ...]


class KeyReplicatedAdapter:
    """P0's cache, P1's cache, and what lies between."""

    def __init__(self, namespace: Any, config: Config) -> None:
        need(namespace, SENDER, RECEIVER, "merge_mm_kwargs")
        self.namespace = namespace
        self.payloads = Payloads(namespace)
        self.model_config = namespace.make_model_config(config.budget)
        self.sender = getattr(namespace, SENDER)(self.model_config)
        self.receiver = getattr(namespace, RECEIVER)(self.model_config)
        self.channel: list[Message] = []
        self.reports: list[Report] = []
        self.retries: list[Request] = []
        self.checked: tuple[Request, dict[str, list[bool]]] | None = None

    def perform(self, operation: model.Operation) -> Any:
        """One step of P0, of P1, or of the environment."""
        match operation:
            case model.Submit(request):
                return self._submit(request)
            case model.Deliver(position):
                return self._deliver(position)
            case model.HandleReport(position):
                return self._handle_report(position)
            case model.SubmitAgain(position):
                request = self.retries.pop(position)
                return self._submit(tuple(item._replace(supplied=True) for item in request))
            case accidents.Reject(request) | accidents.DryRun(request):
                return self._sent(self._merge(request)) if self._is_servable(request) else None
            case accidents.Check(request):
                return self._check(request)
            case accidents.Update():
                return self._update()
            case _:
                return self._environment(operation)

    def observe(self) -> Mapping[str, Any]:
        """Order, number and bytes of both sides, where these are LRUs like upstream's."""
        seen: dict[str, Any] = {}
        for side, cache in (("p0", self.sender), ("p1", self.receiver)):
            inner = observe_inner(cache)
            seen |= {f"{side}.{name}": value for name, value in inner.items()}
            if "order" in inner:
                seen[f"{side}.length"] = len(inner["order"])
        return seen

    def _is_servable(self, request: Request) -> bool:
        cached = self.sender.is_cached([item.key for item in request])
        return all(item.supplied or hit for item, hit in zip(request, cached, strict=True))

    def _submit(self, request: Request) -> Any:
        if not self._is_servable(request):
            return None
        items = self._merge(request)
        self.channel.append(Message(request, items))
        return self._sent(items)

    def _merge(self, request: Request, is_cached: dict[str, list[bool]] | None = None) -> tuple[Any, ...]:
        """The items to send, in prompt order. P0 works through the modalities in alphabetical order."""
        places = sorted(range(len(request)), key=lambda place: request[place].modality)
        ordered = [
            processor_cache.Item(item.key, item.content, item.modality)
            for item in (request[place] for place in places)
        ]
        cached = check(self.sender, ordered) if is_cached is None else is_cached
        merged = finish_merge(self.namespace, self.payloads, self.sender, ordered, cached)
        items = {place: part.item for place, part in zip(places, merged, strict=True)}
        return tuple(items[place] for place in range(len(request)))

    def _sent(self, items: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(self.payloads.content(item) for item in items)

    def _check(self, request: Request) -> Any:
        if not self._is_servable(request):
            return None
        ordered = sorted(request, key=lambda item: item.modality)
        items = [processor_cache.Item(item.key, item.content, item.modality) for item in ordered]
        self.checked = request, check(self.sender, items)
        return tuple(self.sender.is_cached([item.key for item in request]))

    def _update(self) -> Any:
        assert self.checked is not None
        request, is_cached = self.checked
        self.checked = None
        items = self._merge(request, is_cached)
        self.channel.append(Message(request, items))
        return self._sent(items)

    def _deliver(self, position: int) -> Any:
        request, items = self.channel.pop(position)
        features = [
            self.namespace.make_feature(data, item.modality, item.key, index)
            for index, (item, data) in enumerate(zip(request, items, strict=True))
        ]
        try:
            served = self.receiver.get_and_update_features(features)
        except RuntimeError as error:
            result = raised(error)
            if isinstance(result, Missed):
                self.reports.append(Report(request, result.hashes))
            return result
        if served is not features:
            return Unexpected("another list than the one that was given")
        return tuple(self.payloads.content(feature.data) for feature in features)

    def _handle_report(self, position: int) -> None:
        report = self.reports.pop(position)
        for key in report.missing:
            self.sender.invalidate(key)
        self.retries.append(report.request)

    def _environment(self, operation: model.Operation) -> None:
        match operation:
            case accidents.Bypass(request):
                items = tuple(self.payloads.item(item.content) for item in request)
                self.channel.append(Message(request, items))
            case accidents.Abort(position):
                del self.channel[position]
            case accidents.LoseReport(position):
                self.retries.append(self.reports.pop(position).request)
            case accidents.ClearP0() | accidents.ClearBoth():
                self.sender.clear_cache()
            case accidents.ClearP1() | accidents.FinishClear():
                self.receiver.clear_cache()
            case accidents.RestartP1():
                self.receiver = getattr(self.namespace, RECEIVER)(self.model_config)
                self.channel.clear()
