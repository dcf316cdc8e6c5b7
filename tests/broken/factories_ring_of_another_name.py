"""P0 gives its segment a name of its own.   [FA-12]"""

from __future__ import annotations

import os
from typing import Any
from unittest import mock

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.config import RING_NAME_VARIABLE

BREAKS = Breaks("factories", ("FA-12", "FA-08"), longest=1, level=2)


def processor_cache_from_config(vllm_config: Any) -> Any:
    name = os.environ.get(RING_NAME_VARIABLE, "")
    with mock.patch.dict(os.environ, {RING_NAME_VARIABLE: name + "x"}):
        return reference.processor_cache_from_config(vllm_config)


globals().update(names(processor_cache_from_config=processor_cache_from_config))
