"""What the oracle drives of one release, under the names of vLLM 0.32."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

from mmcache_ref.oracle.namespace import RING_NAME, Namespace


class UpstreamNamespace(Namespace):
    """One release: `namespace.LRUCache` and so on, by the names of 0.32.

    A name that the release lacks is no attribute, and is listed in `missing`. Besides the classes
    there are the four `…_from_config` factories and `merge_mm_kwargs(cache, mm_hashes, mm_is_cached,
    mm_missing_kwargs, mm_missing_prompt_updates)`, the release's own merge step, all with the
    signatures of 0.32.
    """

    def __init__(
        self,
        version: str,
        missing: tuple[str, ...],
        names: Mapping[str, Any],
        ring_name_modules: tuple[ModuleType, ...],
    ) -> None:
        super().__init__(SimpleNamespace(**names), f"vllm {version}")
        self.version = version
        self.missing = missing
        self.ring_name_modules = ring_name_modules

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
