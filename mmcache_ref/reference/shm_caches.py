"""The shared-memory pair: the sender in P0 writes items into an object store, receivers copy them out."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from multiprocessing.synchronize import Lock
from typing import Any, Final

from .base import (
    BaseMultiModalProcessorCache,
    BaseMultiModalReceiverCache,
    MultiModalProcessorCacheInItem,
    MultiModalProcessorCacheOutItem,
)
from .config import max_object_bytes, ring_bytes, ring_name
from .features import MultiModalFeatureSpec, ResolvedPromptUpdate, cache_key
from .fields import MultiModalBatchedField, MultiModalFieldElem
from .handles import check_handle
from .items import MultiModalKwargsItem
from .lru import CacheInfo
from .object_store import SingleWriterShmObjectStorage
from .ring_buffer import SingleWriterShmRingBuffer
from .serde import MsgpackSerde, ObjectSerde

logger = logging.getLogger(__name__)

ADDRESS: Final = "address"
MONOTONIC_ID: Final = "monotonic_id"
SIGNATURE: Final = "signature"
_BATCHED: Final = MultiModalBatchedField()


class ShmObjectStoreSenderCache(BaseMultiModalProcessorCache):
    """P0's half: makes the segment, writes the items, hands out handles.   [SC-01, FA-12, FA-15, IF-19]

    Args:
        vllm_config: the attributes that are read are those of FA-09.

    Attributes:
        serde_class: how items become bytes; the receivers must have the same.
    """

    serde_class: type[ObjectSerde] = MsgpackSerde

    def __init__(self, vllm_config: Any) -> None:
        self.world_size: int = vllm_config.parallel_config.world_size
        self._shm_cache = open_store(vllm_config, self.serde_class, create=True)
        self._p0_cache: dict[str, Sequence[ResolvedPromptUpdate]] = {}
        self._hits = 0
        self._total = 0
        self._last_info = CacheInfo(0, 0)

    def is_cached_item(self, mm_hash: str) -> bool:
        """Whether the key is stored; nothing changes.   [IF-06, SC-07]"""
        return self._shm_cache.is_cached(mm_hash)

    def get_and_update_item(
        self, mm_item: MultiModalProcessorCacheInItem, mm_hash: str
    ) -> MultiModalProcessorCacheOutItem:
        """A handle and prompt updates; the very input if it cannot be stored.   [SC-02, SC-03, SC-04, SC-05]

        Raises `AssertionError` when the key is not stored and there is no data.
        """
        if self._shm_cache.is_cached(mm_hash):
            self._hits += 1
            self._total += 1
            return self._hand_out(mm_hash, *self._shm_cache.get_cached(mm_hash)), self._p0_cache[mm_hash]
        if mm_item is None:
            raise AssertionError(f"Expected a cached item for {mm_hash=}")
        self._total += 1
        item, prompt_updates = mm_item
        try:
            address, monotonic_id = self._shm_cache.put(mm_hash, item)
        except (ValueError, MemoryError) as refusal:
            self._report_refusal(refusal)
            return mm_item
        self._record(mm_hash, prompt_updates)
        return self._hand_out(mm_hash, address, monotonic_id), prompt_updates

    def _record(self, mm_hash: str, prompt_updates: Sequence[ResolvedPromptUpdate]) -> None:
        """Keep the prompt updates of an item that was just stored.   [SC-10, SC-11]"""
        if len(self._p0_cache) >= 2 * len(self._shm_cache.key_index):
            self.remove_dangling_items()
        self._p0_cache[mm_hash] = prompt_updates

    def remove_dangling_items(self) -> None:
        """Drop the prompt updates of keys that are no longer stored.   [SC-11]"""
        stored = self._shm_cache.key_index
        self._p0_cache = {key: updates for key, updates in self._p0_cache.items() if key in stored}

    def _hand_out(self, mm_hash: str, address: int, monotonic_id: int) -> MultiModalKwargsItem:
        """The address item of a stored key's current entry.   [SC-06]"""
        return self.address_as_item(address, monotonic_id, self._shm_cache.get_signature(mm_hash))

    def address_as_item(self, address: int, monotonic_id: int, signature: list[int]) -> MultiModalKwargsItem:
        """A handle in the form in which it travels.   [SC-06]"""
        return MultiModalKwargsItem(
            {
                ADDRESS: MultiModalFieldElem(address, _BATCHED),
                MONOTONIC_ID: MultiModalFieldElem(monotonic_id, _BATCHED),
                SIGNATURE: MultiModalFieldElem(signature, _BATCHED),
            }
        )

    def _report_refusal(self, refusal: Exception) -> None:
        """Log the first item that cannot be stored.   [IF-04, SC-05]"""
        if not self._has_warned:
            self._has_warned = True
            logger.warning(
                "An item is not stored in shared memory and is sent with its data: %s. Raise "
                "mm_processor_cache_gb or mm_shm_cache_max_object_size_mb to store items of this size. "
                "Further ones are not reported.",
                refusal,
            )

    def touch_sender_cache_item(self, mm_hash: str) -> None:
        """Protect a stored key until it is looked up or the touches end.   [IF-07, SC-08]"""
        self._shm_cache.touch(mm_hash)

    def release_sender_touches(self) -> None:
        """End all touches.   [SC-09]"""
        self._shm_cache.release_touches()

    def validate_input_item(self, mm_item: MultiModalKwargsItem, mm_hash: str) -> None:
        """Refuse a handle from a client unless it is this key's own and current one.   [SC-14, SC-15]

        Raises `ValueError`.
        """
        if ADDRESS in mm_item:
            address, monotonic_id, signature = handle_of(mm_item, mm_hash)
            self._shm_cache.verify_signature(mm_hash, address, monotonic_id, signature)

    def clear_cache(self) -> None:
        """Empty the store, drop the prompt updates, set the counters to zero.   [IF-05, SC-12]"""
        self._shm_cache.clear()
        self._p0_cache.clear()
        self._hits = 0
        self._total = 0
        self._last_info = CacheInfo(0, 0)

    def make_stats(self, *, delta: bool = False) -> CacheInfo:
        """Counters of the updates.   [IF-09, SC-13]"""
        info = CacheInfo(self._hits, self._total)
        if not delta:
            return info
        since_last = info - self._last_info
        self._last_info = info
        return since_last

    def close(self) -> None:
        """Unmap the segment and remove its name.   [SC-16]"""
        self._shm_cache.close()


class ShmObjectStoreReceiverCache(BaseMultiModalReceiverCache):
    """A worker's half: copies out what a handle names.   [SC-17, FA-12]

    Args:
        vllm_config: as the sender's.
        shared_worker_lock: the lock that all workers of the engine share; it guards the reader counts.

    Attributes:
        serde_class: how bytes become items; the sender must have the same.
    """

    serde_class: type[ObjectSerde] = MsgpackSerde

    def __init__(self, vllm_config: Any, shared_worker_lock: Lock) -> None:
        self.world_size: int = vllm_config.parallel_config.world_size
        self._shm_cache = open_store(vllm_config, self.serde_class, create=False, lock=shared_worker_lock)

    def get_and_update_features(
        self, mm_features: list[MultiModalFeatureSpec]
    ) -> list[MultiModalFeatureSpec]:
        """Verify the handles of a request, then put what they name in their place.   [IF-13, SC-18, SC-21]

        A feature without data is passed over. Raises `ValueError` for a handle that is refused.
        """
        for feature in mm_features:
            if feature.data is not None:
                self.touch_receiver_cache_item(cache_key(feature), feature.data)
        for feature in mm_features:
            if feature.data is not None:
                feature.data = self.get_and_update_item(feature.data, cache_key(feature))
        return mm_features

    def get_and_update_item(self, mm_item: MultiModalKwargsItem | None, mm_hash: str) -> MultiModalKwargsItem:
        """A copy of what a handle names, any other item as it is.   [SC-18, SC-19, SC-20, SC-22, SC-23]

        Raises `ValueError` for a handle that is refused, `AssertionError` for `None`.
        """
        if mm_item is None:
            raise AssertionError(f"Expected an item or a handle for {mm_hash=}")
        if ADDRESS not in mm_item:
            return mm_item
        address, monotonic_id, signature = handle_of(mm_item, mm_hash)
        item: MultiModalKwargsItem = self._shm_cache.get(address, monotonic_id, signature, mm_hash)
        return item

    def touch_receiver_cache_item(self, mm_hash: str, mm_item: MultiModalKwargsItem | None = None) -> None:
        """Verify a handle without reading what it names.   [SC-18, SC-21, SC-22, SC-23]

        Raises `ValueError` for a handle that is refused, `AssertionError` for `None`.
        """
        if mm_item is None:
            raise AssertionError(f"Expected an item or a handle for {mm_hash=}")
        if ADDRESS in mm_item:
            address, monotonic_id, signature = handle_of(mm_item, mm_hash)
            self._shm_cache.touch(mm_hash, address, monotonic_id, signature)

    def clear_cache(self) -> None:
        """Nothing: the items are the sender's.   [SC-24]"""
        return

    def close(self) -> None:
        """Unmap the segment; its name stays.   [SC-16]"""
        self._shm_cache.close()


def handle_of(mm_item: MultiModalKwargsItem, mm_hash: str) -> tuple[int, int, list[int]]:
    """Address, id and signature of an address item, as they were sent and never converted.   [SC-15, SC-22]

    Raises `ValueError` when one is not there, or of a wrong type or range.
    """
    address, monotonic_id, signature = (
        getattr(mm_item.get(name), "data", None) for name in (ADDRESS, MONOTONIC_ID, SIGNATURE)
    )
    check_handle(address, monotonic_id, signature)
    return address, monotonic_id, signature  # type: ignore[return-value]


def open_store(
    vllm_config: Any, serde_class: type[ObjectSerde], *, create: bool, lock: Lock | None = None
) -> SingleWriterShmObjectStorage:
    """The object store of a configuration: made with its segment, or attached to.   [FA-12, FA-13, FA-14]

    Raises `FileExistsError` or `FileNotFoundError` for the segment, `ValueError` for a reader without a lock.
    """
    config = vllm_config.model_config.get_multimodal_config()
    ring = SingleWriterShmRingBuffer(ring_bytes(config), name=ring_name(), create=create)
    try:
        return SingleWriterShmObjectStorage(
            max_object_size=max_object_bytes(config),
            n_readers=vllm_config.parallel_config.world_size,
            ring_buffer=ring,
            serde_class=serde_class,
            reader_lock=lock,
        )
    except BaseException:
        ring.close()
        raise
