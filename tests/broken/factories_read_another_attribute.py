"""A factory reads what no configuration has.   [FA-09]"""

from __future__ import annotations

from typing import Any

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("factories", ("FA-09",), longest=1)


def engine_receiver_cache_from_config(vllm_config: Any) -> Any:
    assert vllm_config.parallel_config.tensor_parallel_size
    return reference.engine_receiver_cache_from_config(vllm_config)


globals().update(names(engine_receiver_cache_from_config=engine_receiver_cache_from_config))
