"""The cache names of one release under the names of vLLM 0.32, whatever they are called in it."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from mmcache_ref.oracle.upstream import configs

Import = Callable[[str], ModuleType | None]
"""Imports `vllm.<name>` of a release; None where it has no such module."""

RING_NAME: Final = "VLLM_OBJECT_STORAGE_SHM_BUFFER_NAME"

_CACHE: Final = ("multimodal.cache", "multimodal.cache.base")
_INPUTS: Final = ("multimodal.inputs",)
_PROCESSING: Final = ("multimodal.processing.processor", "multimodal.processing")
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

FACTORIES: Final[Mapping[str, tuple[str, ...]]] = {
    "processor_cache_from_config": ("vllm_config",),
    "processor_only_cache_from_config": ("vllm_config",),
    "engine_receiver_cache_from_config": ("vllm_config",),
    "worker_receiver_cache_from_config": ("vllm_config", "shared_worker_lock"),
}
"""Factory -> its arguments in 0.32."""

MERGE: Final = "merge_mm_kwargs"
_MERGE_ARGUMENTS: Final = (
    *("cache", "mm_hashes", "mm_is_cached"),
    *("mm_missing_kwargs", "mm_missing_prompt_updates"),
)


@dataclass(frozen=True)
class UpstreamNamespace:
    """What the oracle drives of one release: `namespace.LRUCache` and so on, by the names of 0.32.

    A name that the release lacks is no attribute, and is listed in `missing`. Besides the classes
    there are the four `…_from_config` factories and `merge_mm_kwargs(cache, mm_hashes, mm_is_cached,
    mm_missing_kwargs, mm_missing_prompt_updates)`, the release's own merge step, all with the
    signatures of 0.32; and constructors that hide what differs between releases.
    """

    version: str
    missing: tuple[str, ...]
    names: Mapping[str, Any] = field(repr=False)
    ring_name_modules: tuple[ModuleType, ...] = field(repr=False)

    def __getattr__(self, name: str) -> Any:
        # `names` itself is absent while a copy is being made.
        if not name.startswith("_") and name != "names" and name in self.names:
            return self.names[name]
        raise AttributeError(f"vllm {self.__dict__.get('version')} has no {name!r}")

    def make_field(self, field_name: str) -> Any:
        """The field of a single item's element: `batched`, `flat` (whole, along dim 0) or `shared` (batch of 1)."""
        if field_name == "batched":
            return self.MultiModalBatchedField()
        if field_name == "flat":
            return self.MultiModalFlatField(slices=[slice(None)])
        if field_name == "shared":
            return self.MultiModalSharedField(batch_size=1)
        raise ValueError(f"no field {field_name!r}: take batched, flat or shared")

    def make_element(
        self, key: str, data: Any, field_name: str = "batched", *, modality: str = "image"
    ) -> Any:
        """One keyword argument of one item; releases before 0.16 record key and modality in it."""
        values = {"modality": modality, "key": key, "data": data, "field": self.make_field(field_name)}
        return _call_with(self.MultiModalFieldElem, values)

    def make_item(self, data: Mapping[str, Any], *, modality: str = "image") -> Any:
        """An item with one batched element for each key."""
        return self.MultiModalKwargsItem(
            {key: self.make_element(key, value, modality=modality) for key, value in data.items()}
        )

    def make_feature(self, item: Any, modality: str, mm_hash: str, index: int) -> Any:
        """The feature of one item of a request: one token at offset `index`; `item` None means P1 has it."""
        values = {
            "data": item,
            "modality": modality,
            "identifier": mm_hash,
            "mm_position": self.PlaceholderRange(offset=index, length=1),
            "mm_hash": mm_hash,
        }
        return _call_with(self.MultiModalFeatureSpec, values)

    def make_prompt_update(self, modality: str, index: int, token_ids: Sequence[int]) -> Any:
        """A resolved prompt update that inserts `token_ids` for the item `index` of its modality."""
        return self.ResolvedPromptUpdate(
            modality=modality,
            item_idx=index,
            mode=self.UpdateMode.INSERT,
            target=[],
            content=self.PromptUpdateDetails.from_seq(list(token_ids)),
        )

    def make_model_config(self, capacity_bytes: int) -> Any:
        """A model configuration whose caches hold `capacity_bytes` bytes, exactly."""
        return configs.make_model_config(capacity_bytes)

    def make_vllm_config(self, **attributes: Any) -> Any:
        """A whole configuration; for the attributes see `configs.make_vllm_config`."""
        return configs.make_vllm_config(**attributes)

    @contextlib.contextmanager
    def ring_named(self, name: str) -> Iterator[None]:
        """Shared-memory caches of this release that are made inside use the ring `name`.

        Other releases and the environment are not touched. Not for use by several threads at once.
        """
        absent = object()
        before = [vars(module).get(RING_NAME, absent) for module in self.ring_name_modules]
        for module in self.ring_name_modules:
            setattr(module, RING_NAME, name)
        try:
            yield
        finally:
            for module, value in zip(self.ring_name_modules, before, strict=True):
                if value is absent:
                    delattr(module, RING_NAME)
                else:
                    setattr(module, RING_NAME, value)


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
    function = _find(import_module, _CACHE, name)
    registry_class = None
    if function is None:
        registry_class = _find(import_module, ("multimodal.registry",), "MultiModalRegistry")
        function = getattr(registry_class, name, None)
        if function is None:
            return None
    registry = _bare(registry_class or object, supports_multimodal_inputs=_supports_multimodal_inputs)
    arguments = FACTORIES[name]
    if tuple(inspect.signature(function).parameters) == arguments:
        return _as_callable(function)

    def factory(*args: Any, **kwargs: Any) -> Any:
        bound = dict(zip(arguments, args, strict=False)) | kwargs
        values = {"self": registry, "mm_registry": registry, "model_config": bound["vllm_config"].model_config}
        return _call_with(function, values | bound)

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
        return _call_with(
            function, {"self": processor} | dict(zip(_MERGE_ARGUMENTS, args, strict=False)) | kwargs
        )

    return merge_mm_kwargs


def _ring_name_modules(import_module: Import) -> tuple[ModuleType, ...]:
    """The modules in which a release looks the ring's name up: `envs`, and where it was copied to at import."""
    modules = [import_module("envs"), import_module("multimodal.cache")]
    return tuple(m for i, m in enumerate(modules) if m is not None and (i == 0 or RING_NAME in vars(m)))


def _bare(base: type, **methods: Any) -> Any:
    """An instance of `base` that was not initialised, with some methods replaced."""
    derived = type(f"Bare{base.__name__}", (base,), dict(methods))
    vars(derived).get("__abstractmethods__") and setattr(derived, "__abstractmethods__", frozenset())
    return object.__new__(derived)


def _as_callable(function: Any) -> Callable[..., Any]:
    assert callable(function)
    return function


def _call_with(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call `function` with those of the named values that it has a parameter for."""
    parameters = inspect.signature(function).parameters
    positional = [values[name] for name in parameters if name in values]
    return function(*positional)
