"""The caches as one would ship them, under the public names of vLLM."""

from .base import (
    BaseMultiModalCache,
    BaseMultiModalProcessorCache,
    BaseMultiModalReceiverCache,
    MultiModalCacheMissError,
    MultiModalProcessorCacheInItem,
    MultiModalProcessorCacheOutItem,
)
from .config import ModelConfig, MultiModalConfig, ParallelConfig, VllmConfig
from .factories import (
    engine_receiver_cache_from_config,
    processor_cache_from_config,
    processor_only_cache_from_config,
    worker_receiver_cache_from_config,
)
from .features import MultiModalFeatureSpec, PlaceholderRange, ResolvedPromptUpdate
from .fields import (
    BaseMultiModalField,
    MultiModalBatchedField,
    MultiModalFieldConfig,
    MultiModalFieldElem,
    MultiModalFlatField,
    MultiModalSharedField,
)
from .handles import ShmObjectStorageHandle
from .items import MultiModalKwargsItem, MultiModalKwargsItems, MultiModalKwargsOptionalItems
from .key_replicated import LruKeyReplicatedReceiverCache, LruKeyReplicatedSenderCache
from .lru import CacheInfo, LRUCache
from .merge import merge_mm_kwargs
from .object_store import SingleWriterShmObjectStorage
from .processor_only import MultiModalProcessorOnlyCache
from .ring_buffer import SingleWriterShmRingBuffer
from .serde import CheckedMsgpackSerde, ChecksumError, MsgpackSerde, ObjectSerde, SerdeError
from .shm_caches import ShmObjectStoreReceiverCache, ShmObjectStoreSenderCache
from .sizes import (
    MultiModalCache,
    MultiModalCacheValue,
    MultiModalProcessorCacheItem,
    MultiModalProcessorCacheItemMetadata,
)
from .tensors import (
    BatchedTensorInputs,
    NestedTensors,
    batched_tensors_equal,
    nested_tensors_equal,
)

__all__ = [
    "BaseMultiModalCache",
    "BaseMultiModalField",
    "BaseMultiModalProcessorCache",
    "BaseMultiModalReceiverCache",
    "BatchedTensorInputs",
    "CacheInfo",
    "CheckedMsgpackSerde",
    "ChecksumError",
    "LRUCache",
    "LruKeyReplicatedReceiverCache",
    "LruKeyReplicatedSenderCache",
    "ModelConfig",
    "MsgpackSerde",
    "MultiModalBatchedField",
    "MultiModalCache",
    "MultiModalCacheMissError",
    "MultiModalCacheValue",
    "MultiModalConfig",
    "MultiModalFeatureSpec",
    "MultiModalFieldConfig",
    "MultiModalFieldElem",
    "MultiModalFlatField",
    "MultiModalKwargsItem",
    "MultiModalKwargsItems",
    "MultiModalKwargsOptionalItems",
    "MultiModalProcessorCacheInItem",
    "MultiModalProcessorCacheItem",
    "MultiModalProcessorCacheItemMetadata",
    "MultiModalProcessorCacheOutItem",
    "MultiModalProcessorOnlyCache",
    "MultiModalSharedField",
    "NestedTensors",
    "ObjectSerde",
    "ParallelConfig",
    "PlaceholderRange",
    "ResolvedPromptUpdate",
    "SerdeError",
    "ShmObjectStorageHandle",
    "ShmObjectStoreReceiverCache",
    "ShmObjectStoreSenderCache",
    "SingleWriterShmObjectStorage",
    "SingleWriterShmRingBuffer",
    "VllmConfig",
    "batched_tensors_equal",
    "engine_receiver_cache_from_config",
    "merge_mm_kwargs",
    "nested_tensors_equal",
    "processor_cache_from_config",
    "processor_only_cache_from_config",
    "worker_receiver_cache_from_config",
]
