"""The engine has a receiver also where the processor caches by itself.   [FA-07]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("factories", ("FA-07",), longest=1)


def engine_receiver_cache_from_config(vllm_config: Any) -> Any:
    processor = reference.processor_cache_from_config(vllm_config)
    if isinstance(processor, reference.MultiModalProcessorOnlyCache):
        return reference.LruKeyReplicatedReceiverCache(vllm_config.model_config)
    return reference.engine_receiver_cache_from_config(vllm_config)


globals().update(names(engine_receiver_cache_from_config=engine_receiver_cache_from_config))
