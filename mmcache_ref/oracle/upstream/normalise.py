"""From the modules of a release to its `UpstreamNamespace`: renamed, moved and re-signed names."""

from __future__ import annotations

import inspect
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any, Final

from mmcache_ref.oracle.namespace import RING_NAME, call_with
from mmcache_ref.oracle.upstream.namespace import UpstreamNamespace

Import = Callable[[str], ModuleType | None]
"""Imports `vllm.<name>` of a release; None where it has no such module."""

_CACHE: Final = ("multimodal.cache", "multimodal.cache.base")
_INPUTS: Final = ("multimodal.inputs",)
_PROCESSING: Final = ("multimodal.processing.processor", "multimodal.processing")
_REGISTRY: Final = ("multimodal.registry",)
_STORAGE: Final = ("distributed.device_communicators.shm_object_storage",)
_UTILITIES: Final = ("utils.cache", "utils")

CLASSES: Final[Mapping[str, tuple[str, ...]]] = {
    "LRUCache": _UTILITIES,
    "CacheInfo": _UTILITIES,
    "MultiModalCache": _CACHE,
    "MultiModalCacheMissError": _CACHE,
    "MultiModalProcessorCacheItem": _CACHE,
    "MultiModalProcessorCacheItemMetadata": _CACHE,
    "BaseMultiModalCache": _CACHE,
    "BaseMultiModalProcessorCache": _CACHE,
    "BaseMultiModalReceiverCache": _CACHE,
    "MultiModalProcessorOnlyCache": _CACHE,
    "LruKeyReplicatedSenderCache": _CACHE,
    "LruKeyReplicatedReceiverCache": _CACHE,
    "ShmObjectStoreSenderCache": _CACHE,
    "ShmObjectStoreReceiverCache": _CACHE,
    "SingleWriterShmRingBuffer": _STORAGE,
    "SingleWriterShmObjectStorage": _STORAGE,
    "ShmObjectStorageHandle": _STORAGE,
    "ObjectSerde": _STORAGE,
    "MsgpackSerde": _STORAGE,
    "MultiModalKwargsItem": _INPUTS,
    "MultiModalKwargsItems": _INPUTS,
    "MultiModalFieldElem": _INPUTS,
    "MultiModalBatchedField": _INPUTS,
    "MultiModalFlatField": _INPUTS,
    "MultiModalSharedField": _INPUTS,
    "MultiModalFeatureSpec": _INPUTS,
    "PlaceholderRange": _INPUTS,
    "ResolvedPromptUpdate": _PROCESSING,
    "PromptUpdateDetails": _PROCESSING,
    "UpdateMode": _PROCESSING,
}
"""Name in 0.32 -> the modules that may hold it, first match wins."""

FORMER_NAMES: Final[Mapping[str, str]] = {
    "LruKeyReplicatedSenderCache": "MultiModalProcessorSenderCache",
    "LruKeyReplicatedReceiverCache": "MultiModalReceiverCache",
    "engine_receiver_cache_from_config": "receiver_cache_from_config",
}
"""Name in 0.32 -> its name in releases before it was renamed."""


def _takes(*names: str) -> inspect.Signature:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Signature([inspect.Parameter(name, kind) for name in names])


FACTORIES: Final[Mapping[str, inspect.Signature]] = {
    "processor_cache_from_config": _takes("vllm_config"),
    "processor_only_cache_from_config": _takes("vllm_config"),
    "engine_receiver_cache_from_config": _takes("vllm_config"),
    "worker_receiver_cache_from_config": _takes("vllm_config", "shared_worker_lock"),
}
"""Factory -> what it takes in 0.32."""

MERGE: Final = "merge_mm_kwargs"
_MERGE_TAKES: Final = _takes(
    "cache", "mm_hashes", "mm_is_cached", "mm_missing_kwargs", "mm_missing_prompt_updates"
)


def build_namespace(version: str, import_module: Import) -> UpstreamNamespace:
    """Collect and normalise the names of a release; what it lacks goes to `missing`."""
    found: dict[str, Any] = {}
    for name, modules in CLASSES.items():
        found[name] = _find(import_module, modules, name)
    for name in FACTORIES:
        found[name] = _find_factory(import_module, name)
    found[MERGE] = _find_merge(import_module)
    missing = tuple(sorted(name for name, value in found.items() if value is None))
    names = {name: value for name, value in found.items() if value is not None}
    return UpstreamNamespace(version, missing, names, _ring_name_modules(import_module))


def _find(import_module: Import, modules: Sequence[str], name: str) -> Any:
    for module_name in modules:
        module = import_module(module_name)
        for candidate in (name, FORMER_NAMES.get(name, name)):
            if module is not None and candidate in vars(module):
                return vars(module)[candidate]
    return None


def _find_factory(import_module: Import, name: str) -> Callable[..., Any] | None:
    """The factory with the signature of 0.32.

    Before 0.31 factories are functions that take a registry, or methods of one. The registry only
    tells whether the model takes multi-modal input; the configuration object tells that itself.
    """
    function: Callable[..., Any] | None = _find(import_module, _CACHE, name)
    registry_class: type = object
    if function is None:
        registry_class = _find(import_module, _REGISTRY, "MultiModalRegistry") or object
        function = getattr(registry_class, name, None)
        if function is None:
            return None
    registry = _bare(registry_class, supports_multimodal_inputs=_supports_multimodal_inputs)
    taken = FACTORIES[name]
    if list(inspect.signature(function).parameters) == list(taken.parameters):
        return function

    def factory(*args: Any, **kwargs: Any) -> Any:
        given = taken.bind(*args, **kwargs).arguments
        model_config = given["vllm_config"].model_config
        implied = {"self": registry, "mm_registry": registry, "model_config": model_config}
        return call_with(function, implied | given)

    factory.__name__ = name
    return factory


def _supports_multimodal_inputs(_: object, model_config: Any) -> bool:
    return bool(model_config.supports_multimodal_inputs)


def _find_merge(import_module: Import) -> Callable[..., Any] | None:
    """The release's processor merge step, called without a processor of a model behind it."""
    processor_class = _find(import_module, _PROCESSING, "BaseMultiModalProcessor")
    function = getattr(processor_class, "_merge_mm_kwargs", None)
    if function is None:
        return None
    processor = _bare(processor_class)

    def merge_mm_kwargs(*args: Any, **kwargs: Any) -> Any:
        given = _MERGE_TAKES.bind(*args, **kwargs).arguments
        return call_with(function, {"self": processor} | given)

    return merge_mm_kwargs


def _ring_name_modules(import_module: Import) -> tuple[ModuleType, ...]:
    """The modules that hold the ring's name: `envs`, and the one that copied it at import (0.11)."""
    copies = [import_module("multimodal.cache")]
    holders = [import_module("envs"), *(m for m in copies if m is not None and RING_NAME in vars(m))]
    return tuple(module for module in holders if module is not None)


def _bare(base: type, **methods: Any) -> Any:
    """An instance of `base` that was not initialised, with some methods replaced."""
    derived = type(f"Bare{base.__name__}", (base,), dict(methods))
    if issubclass(derived, ABC):
        derived.__abstractmethods__ = frozenset()
    return object.__new__(derived)
