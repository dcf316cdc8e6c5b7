"""A shared-memory pair for tests: a ring of 64 KiB, objects up to 16 KiB, two workers."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from types import SimpleNamespace
from typing import Any

import numpy as np
from batched_items import item

from mmcache_ref.reference import (
    ModelConfig,
    MultiModalBatchedField,
    MultiModalConfig,
    MultiModalFeatureSpec,
    MultiModalFieldElem,
    MultiModalKwargsItem,
    ParallelConfig,
    PlaceholderRange,
    ShmObjectStoreReceiverCache,
    ShmObjectStoreSenderCache,
    VllmConfig,
)
from mmcache_ref.reference.config import RING_NAME_VARIABLE as RING_NAME_VARIABLE

KIB = 1024
HANDLE_REFUSED = "SHM handle signature"
STALE = "has been modified or is invalid"


def config(ring: int = 64 * KIB, largest: int = 16 * KIB, workers: int = 2) -> VllmConfig:
    return VllmConfig(
        ModelConfig(MultiModalConfig(ring / 2**30, "shm", largest / 2**20)),  # type: ignore[arg-type]
        ParallelConfig(world_size=workers),
    )


def fresh_name() -> str:
    return f"mmcache_{os.getpid()}_{secrets.token_hex(4)}"


@contextmanager
def shm_pair(name: str) -> Iterator[Any]:
    """A sender and its two workers on the segment `name`, which the environment names."""
    lock = get_context("spawn").Lock()
    with ExitStack() as cleanup:
        sender = ShmObjectStoreSenderCache(config())
        cleanup.callback(sender.close)
        workers = [ShmObjectStoreReceiverCache(config(), lock) for _ in range(2)]
        for worker in workers:
            cleanup.callback(worker.close)
        yield SimpleNamespace(sender=sender, workers=workers, store=sender._shm_cache, name=name)


def is_item(found: Any, nbytes: int, fill: int) -> bool:
    return list(found) == ["pixels"] and np.array_equal(found["pixels"].data, np.full(nbytes, fill, np.uint8))


def element(data: Any) -> MultiModalFieldElem:
    return MultiModalFieldElem(data, MultiModalBatchedField())


def handle_with(handle: Any, **changed: Any) -> MultiModalKwargsItem:
    """The same handle with other values; `...` leaves a part out."""
    data = handle.get_data() | changed
    return MultiModalKwargsItem({key: element(value) for key, value in data.items() if value is not ...})


def feature(data: MultiModalKwargsItem | None, mm_hash: str) -> MultiModalFeatureSpec:
    return MultiModalFeatureSpec(data, "image", mm_hash, PlaceholderRange(0, 1), mm_hash)


def put(sender: Any, key: str, nbytes: int = 1000, fill: int = 0) -> Any:
    """What is sent for a new key: a handle, or the item when it was not stored."""
    return sender.get_and_update_item((item(nbytes, fill), [f"update of {key}"]), key)[0]


def reader_count(shm: Any, key: str) -> int:
    address, _ = shm.store.key_index[key]
    with shm.store.ring_buffer.access_buf(address) as (payload, _):
        return int.from_bytes(payload[:4], "little", signed=True)


def references(shm: Any, key: str) -> int:
    return int(shm.store.writer_flag[shm.store.key_index[key][1]])


def stats(cache: Any) -> tuple[int, int]:
    return tuple(cache.make_stats())  # type: ignore[return-value]


def read_by_all(shm: Any, key: str, handle: Any) -> None:
    for worker in shm.workers:
        worker.get_and_update_item(handle, key)


def handle_of_key(shm: Any, key: str) -> Any:
    """The current handle, without another reference."""
    address, monotonic_id = shm.store.key_index[key]
    return shm.sender.address_as_item(address, monotonic_id, shm.store.get_signature(key))


def reader_count_or_zero(shm: Any, key: str) -> int:
    return reader_count(shm, key) if shm.sender.is_cached_item(key) else 0
