"""A target as a namespace: vLLM's public names of 0.32, and constructors that hide what differs."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final

GIB: Final = 2**30
"""Bytes in one of the `_gb` units of vLLM's configuration."""

RING_NAME: Final = "VLLM_OBJECT_STORAGE_SHM_BUFFER_NAME"
"""The environment variable with the name of the shared-memory ring."""


class Namespace:
    """`namespace.LRUCache` and so on, by the names of 0.32; a name that the target lacks is no attribute.

    `source` is any object that has the names as attributes; `label` is how reports call the target, and
    `target` is the name by which it is resolved, where it has one.
    """

    target: str = ""

    def __init__(self, source: Any, label: str) -> None:
        self._source = source
        self.label = label

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            found = getattr(self._source, name)
        except AttributeError:
            raise AttributeError(f"{self.label} has no {name!r}") from None
        self.__dict__[name] = found  # asked for many times
        return found

    def make_field(self, field_name: str) -> Any:
        """The field of one item's element: `batched`, `flat` (all of dimension 0), `shared` (batch of 1)."""
        if field_name == "batched":
            return self.MultiModalBatchedField()
        if field_name == "flat":
            return self.MultiModalFlatField(slices=[slice(None)])
        if field_name == "shared":
            return self.MultiModalSharedField(batch_size=1)
        raise ValueError(f"no field {field_name!r}: take batched, flat or shared")

    def make_element(self, key: str, data: Any, field_name: str = "batched") -> Any:
        """One keyword argument of one item; releases before 0.16 record key and modality in it."""
        values = {"modality": "image", "key": key, "data": data, "field": self.make_field(field_name)}
        return call_with(self.MultiModalFieldElem, values)

    def make_item(self, data: Mapping[str, Any]) -> Any:
        """An item with one batched element for each key."""
        return self.MultiModalKwargsItem({key: self.make_element(key, value) for key, value in data.items()})

    def make_feature(self, item: Any, modality: str, mm_hash: str, index: int) -> Any:
        """The feature of one item of a request: one token at offset `index`; `item` None means P1 has it."""
        values = {
            "data": item,
            "modality": modality,
            "identifier": mm_hash,
            "mm_position": self.PlaceholderRange(offset=index, length=1),
            "mm_hash": mm_hash,
        }
        return call_with(self.MultiModalFeatureSpec, values)

    def make_prompt_update(self, modality: str, index: int, token_ids: Sequence[int]) -> Any:
        """A resolved prompt update that inserts `token_ids` for the item `index` of its modality."""
        tokens = list(token_ids)
        details = getattr(self, "PromptUpdateDetails", None)
        modes = getattr(self, "UpdateMode", None)
        return self.ResolvedPromptUpdate(
            modality=modality,
            item_idx=index,
            mode="insert" if modes is None else modes.INSERT,
            target=[],
            content=SimpleNamespace(full=tokens) if details is None else details.from_seq(tokens),
        )

    @contextlib.contextmanager
    def ring_named(self, name: str) -> Iterator[None]:
        """Shared-memory caches of this target that are made inside use the ring `name`.

        Not for use by several threads at once: the name stands in the environment meanwhile.
        """
        before = os.environ.get(RING_NAME)
        os.environ[RING_NAME] = name
        try:
            yield
        finally:
            if before is None:
                os.environ.pop(RING_NAME, None)
            else:
                os.environ[RING_NAME] = before

    def make_model_config(self, capacity_bytes: int) -> Any:
        """A model configuration whose caches hold `capacity_bytes` bytes, exactly (up to 2**53)."""
        return self.make_vllm_config(mm_processor_cache_gb=capacity_bytes / GIB).model_config

    def make_vllm_config(
        self,
        *,
        supports_multimodal_inputs: bool = True,
        mm_processor_cache_gb: float = 4,
        mm_processor_cache_type: str = "lru",
        mm_shm_cache_max_object_size_mb: float = 128,
        world_size: int = 1,
        _api_process_count: int = 1,
        data_parallel_size: int = 1,
        data_parallel_external_lb: bool = False,
    ) -> Any:
        """A whole configuration: plain objects with the attributes that the caches read (FA-09).

        Real configuration classes load models. An attribute that is not here is an `AttributeError`.
        """
        multimodal_config = SimpleNamespace(
            mm_processor_cache_gb=mm_processor_cache_gb,
            mm_processor_cache_type=mm_processor_cache_type,
            mm_shm_cache_max_object_size_mb=mm_shm_cache_max_object_size_mb,
        )
        model_config = SimpleNamespace(
            supports_multimodal_inputs=supports_multimodal_inputs,
            multimodal_config=multimodal_config,
            get_multimodal_config=lambda: multimodal_config,
        )
        parallel_config = SimpleNamespace(
            world_size=world_size,
            _api_process_count=_api_process_count,
            data_parallel_size=data_parallel_size,
            data_parallel_external_lb=data_parallel_external_lb,
        )
        return SimpleNamespace(model_config=model_config, parallel_config=parallel_config)


def call_with(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call `function` with those of the named values that it has a parameter for."""
    known = parameters(function)
    return function(**{name: value for name, value in values.items() if name in known})


@lru_cache(maxsize=64)
def parameters(function: Callable[..., Any]) -> frozenset[str]:
    """The names of a function's parameters."""
    return frozenset(inspect.signature(function).parameters)
