"""A sender takes over the segment whose name it was given.   [FA-15]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.oracle import segments
from mmcache_ref.reference.config import ring_name

BREAKS = Breaks("factories", ("FA-15",), longest=1)


def processor_cache_from_config(vllm_config: Any) -> Any:
    try:
        return reference.processor_cache_from_config(vllm_config)
    except FileExistsError:
        segments.remove(ring_name())
        return reference.processor_cache_from_config(vllm_config)


globals().update(names(processor_cache_from_config=processor_cache_from_config))
