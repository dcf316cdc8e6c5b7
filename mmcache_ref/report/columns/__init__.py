"""How the runs of a search are shown, model by model: one column for each part of the state."""

from mmcache_ref.report.columns import key_replicated, ring_buffer, ring_publication, shm_caches
from mmcache_ref.report.columns.common import Columns

__all__ = ["Columns", "key_replicated", "ring_buffer", "ring_publication", "shm_caches"]
