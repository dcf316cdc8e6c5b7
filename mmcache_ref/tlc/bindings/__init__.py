"""What binds each Python model to the TLA+ module of its component."""

from collections.abc import Mapping
from typing import Final

from mmcache_ref.tlc.bindings.base import Binding
from mmcache_ref.tlc.bindings.key_replicated import KEY_REPLICATED
from mmcache_ref.tlc.bindings.lru import LRU
from mmcache_ref.tlc.bindings.object_store import OBJECT_STORE
from mmcache_ref.tlc.bindings.ring_buffer import RING_BUFFER
from mmcache_ref.tlc.bindings.ring_publication import RING_PUBLICATION
from mmcache_ref.tlc.bindings.shm_caches import SHM_CACHES

BINDINGS: Final[Mapping[str, Binding]] = {
    binding.model.NAME: binding
    for binding in (LRU, RING_BUFFER, OBJECT_STORE, RING_PUBLICATION, KEY_REPLICATED, SHM_CACHES)
}
"""By the name of the Python model."""
