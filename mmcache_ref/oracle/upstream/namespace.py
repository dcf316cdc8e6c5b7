"""What the oracle drives of one release, under the names of vLLM 0.32."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final

from mmcache_ref.oracle.upstream import configs

RING_NAME: Final = "VLLM_OBJECT_STORAGE_SHM_BUFFER_NAME"
"""Where a release looks the name of the shared-memory ring up."""


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
        """The field of one item's element: `batched`, `flat` (all of dimension 0), `shared` (batch of 1)."""
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
        return call_with(self.MultiModalFieldElem, values)

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
        return call_with(self.MultiModalFeatureSpec, values)

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


def call_with(function: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """Call `function` with those of the named values that it has a parameter for."""
    parameters = inspect.signature(function).parameters
    return function(**{name: value for name, value in values.items() if name in parameters})
