"""The factories of a target, called with the configurations of `model/factories.py`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from mmcache_ref.model import factories as model
from mmcache_ref.model.component import Raised
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters.base import Unexpected, need
from mmcache_ref.oracle.errors import NotOffered

FUNCTIONS: Mapping[model.Function, str] = {
    "processor": "processor_cache_from_config",
    "processor_only": "processor_only_cache_from_config",
    "engine": "engine_receiver_cache_from_config",
    "worker": "worker_receiver_cache_from_config",
}
CLASSES = (model.SENDER, model.RECEIVER, model.PROCESSOR_ONLY)
SHM_CLASSES = (model.SHM_SENDER, model.SHM_RECEIVER)
TAKEN = b"somebody's own"
"""What is in a segment whose name is in use."""
UNSEEN = object()
"""What a target keeps elsewhere than vLLM does."""


class FactoriesAdapter:
    """Makes a cache for each operation, looks at it, and closes it."""

    def __init__(self, namespace: Any, config: model.Config) -> None:
        need(namespace, *FUNCTIONS.values(), *CLASSES)
        self.namespace = namespace
        self.seen: dict[str, Any] = {}
        self._names: list[str] = []
        self._closings: list[Callable[[], object]] = []
        self._close = segments.close_with(self, self._names, self._closings)

    def perform(self, operation: model.Operation) -> Any:
        """One call; the name of the class that came back, or "None"."""
        self.seen = dict.fromkeys(model.ASPECTS)
        is_shared = model.cache_type(operation.configuration) == "shm"
        if model.makes_shared_memory(operation):
            need(self.namespace, *SHM_CLASSES)
        name = segments.fresh_name()
        self._names.append(name)
        try:
            if isinstance(operation, model.MakeTaken):
                return self._make_taken(operation, name)
            with self.namespace.ring_named(name):
                if is_shared and operation.function == "worker":
                    self._make_segment(operation)
                return self._made(operation)
        finally:
            self._clean()

    def _make_taken(self, operation: model.MakeTaken, name: str) -> Any:
        """A sender under the name of somebody's segment, which must stay as it is."""
        segments.make(name, TAKEN)
        try:
            with self.namespace.ring_named(name):
                made = self.namespace.processor_cache_from_config(self._config(operation.configuration))
                self._close_later(made)
                return self._name(made)
        except FileExistsError:
            if not segments.exists(name):
                return Unexpected("a segment that somebody else made is gone")
            if segments.content(name)[: len(TAKEN)] != TAKEN:
                return Unexpected("a segment that somebody else made is written over")
            raise

    def _made(self, operation: model.Make) -> Any:
        """Make one cache and look at it."""
        config = self._config(operation.configuration)
        function = getattr(self.namespace, FUNCTIONS[operation.function])
        if operation.function == "worker":
            made = self._of_worker(function, config, operation.has_lock)
        else:
            made = function(config)
        self._close_later(made)
        self.seen |= self._look(made)
        return self._name(made)

    def _make_segment(self, operation: model.Make) -> None:
        """The sender that a worker's cache attaches to."""
        try:
            sender = self.namespace.processor_cache_from_config(self._config(operation.configuration))
        except Exception as error:
            raise NotOffered("the target makes no segment for its workers") from error
        self._close_later(sender)

    def _close_later(self, made: Any) -> None:
        """Before 0.15 caches have no `close`: what they hold goes with them."""
        store = getattr(made, "_shm_cache", None)
        close = getattr(made, "close", None) or getattr(store, "close", None)
        if close is not None:
            self._closings.append(close)

    def _clean(self) -> None:
        self._close()
        self._close = segments.close_with(self, self._names, self._closings)

    def _look(self, made: Any) -> dict[str, Any]:
        """What the cache was given, as far as it can be seen."""
        if made is None:
            return {}
        store = getattr(made, "_shm_cache", None)
        if store is None:
            return {"budget": getattr(getattr(made, "_cache", None), "maxsize", UNSEEN)}
        return {
            "named": segments.exists(self._names[-1]) if self._names else UNSEEN,
            "ring": getattr(getattr(store, "ring_buffer", None), "data_buffer_size", UNSEEN),
            "object limit": getattr(store, "max_object_size", UNSEEN),
            "readers": getattr(store, "n_readers", UNSEEN),
        }

    def _config(self, wanted: model.Configuration) -> Any:
        """The target's own form of a configuration."""
        return self.namespace.make_vllm_config(
            supports_multimodal_inputs=wanted.is_multimodal,
            mm_processor_cache_gb=wanted.budget_bytes / model.GIB,
            mm_processor_cache_type=wanted.cache_type,
            _api_process_count=wanted.api_processes,
            data_parallel_size=wanted.data_parallel_size,
            data_parallel_external_lb=wanted.is_externally_balanced,
            world_size=wanted.workers,
            mm_shm_cache_max_object_size_mb=wanted.object_bytes / model.MIB,
        )

    def _name(self, made: Any) -> Any:
        """The name of a class of this target, or "None"."""
        if made is None:
            return "None"
        for name in (*CLASSES, *SHM_CLASSES):
            if isinstance(made, getattr(self.namespace, name, ())):
                return name
        return Unexpected(f"a {type(made).__name__} that is none of this target's own classes")

    @staticmethod
    def _of_worker(function: Any, config: Any, has_lock: bool) -> Any:
        try:
            return function(config, threading.Lock() if has_lock else None)
        except FileNotFoundError as error:
            raise NotOffered("the target looks for its shared memory before it looks for a lock") from error

    def blamed(self, operation: model.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """What a result tells besides the operation's own rule.

        An attribute that no configuration has; no cache where there must be none; keys replicated where they
        cannot be, or the other way round. In what the processor decides right no other function is wrong but
        for itself.
        """
        if isinstance(actual, Raised) and actual.error == "AttributeError":
            return "FA-09"
        if aspect != "outcome" or isinstance(operation, model.MakeTaken):
            return None
        if operation.function == "processor_only":
            return None
        chosen = model.cache_type(operation.configuration)
        if operation.function != "processor" and self._is_right_in_p0(operation.configuration):
            return None
        if chosen is None:
            return "FA-01"
        if chosen == "processor_only":
            return "FA-02"
        wanted = operation.configuration
        is_plain = wanted.api_processes == 1 and wanted.data_parallel_size == 1
        is_lost = expected in (model.SENDER, model.RECEIVER) and actual == "None"
        if actual == model.PROCESSOR_ONLY and expected != "None":
            return "FA-02"
        return "FA-02" if is_lost and not is_plain else None

    def _is_right_in_p0(self, configuration: model.Configuration) -> bool:
        """Does the processor get what it must, with `lru` for the type?"""
        asked = replace(configuration, cache_type="lru")
        must = {None: "None", "lru": model.SENDER}.get(model.cache_type(asked), model.PROCESSOR_ONLY)
        function = getattr(self.namespace, FUNCTIONS["processor"])
        try:
            return bool(self._name(function(self._config(asked))) == must)
        except Exception:
            return False

    def observe(self) -> Mapping[str, Any]:
        """Budget, name, sizes and readers of the cache that was made, where there is one to be seen."""
        return {name: value for name, value in self.seen.items() if value is not UNSEEN}
