"""The budget is read in units of 10**9 bytes.   [FA-11]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("factories", ("FA-11",), longest=1, level=2)


def engine_receiver_cache_from_config(vllm_config: Any) -> Any:
    vllm_config.model_config.multimodal_config.mm_processor_cache_gb *= 10**9 / 2**30
    return reference.engine_receiver_cache_from_config(vllm_config)


globals().update(names(engine_receiver_cache_from_config=engine_receiver_cache_from_config))
