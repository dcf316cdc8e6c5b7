"""The factories of a target, called with the configurations of `model/factories.py`."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from mmcache_ref.model import factories as model
from mmcache_ref.model.component import Raised
from mmcache_ref.oracle.adapters.base import Unexpected, need
from mmcache_ref.oracle.errors import NotOffered

FUNCTIONS: Mapping[model.Function, str] = {
    "processor": "processor_cache_from_config",
    "processor_only": "processor_only_cache_from_config",
    "engine": "engine_receiver_cache_from_config",
    "worker": "worker_receiver_cache_from_config",
}
CLASSES = (model.SENDER, model.RECEIVER, model.PROCESSOR_ONLY)


class FactoriesAdapter:
    """Makes a cache for each operation and keeps the last."""

    def __init__(self, namespace: Any, config: model.Config) -> None:
        need(namespace, *FUNCTIONS.values(), *CLASSES)
        self.namespace = namespace
        self.made: Any = None

    def perform(self, operation: model.Operation) -> Any:
        """One call; the name of the class that came back, or "None"."""
        self.made = None
        config = self._config(operation.configuration)
        function = getattr(self.namespace, FUNCTIONS[operation.function])
        if operation.function == "worker":
            self.made = self._of_worker(function, config, operation.has_lock)
        else:
            self.made = function(config)
        return self._name(self.made)

    def _config(self, wanted: model.Configuration) -> Any:
        """The target's own form of a configuration."""
        return self.namespace.make_vllm_config(
            supports_multimodal_inputs=wanted.is_multimodal,
            mm_processor_cache_gb=wanted.budget_bytes / model.GIB,
            mm_processor_cache_type=wanted.cache_type,
            _api_process_count=wanted.api_processes,
            data_parallel_size=wanted.data_parallel_size,
            data_parallel_external_lb=wanted.is_externally_balanced,
        )

    def _name(self, made: Any) -> Any:
        """The name of a class of this target, or "None"."""
        if made is None:
            return "None"
        for name in CLASSES:
            if isinstance(made, getattr(self.namespace, name)):
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
        if aspect != "outcome" or operation.function == "processor_only":
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
        """The budget of the LRU inside, where there is one to be seen."""
        if self.made is None:
            return {"budget": None}
        budget = getattr(getattr(self.made, "_cache", None), "maxsize", None)
        return {} if budget is None else {"budget": budget}
