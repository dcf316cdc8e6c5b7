"""The shared-memory receiver, and the lifetime of the segment, by hand."""

from __future__ import annotations

import os
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from batched_items import item
from shm_setup import (
    HANDLE_REFUSED,
    RING_NAME_VARIABLE,
    STALE,
    config,
    feature,
    is_item,
    put,
    read_by_all,
    reader_count,
    references,
)

from mmcache_ref.reference import MultiModalKwargsItem, ShmObjectStoreReceiverCache, ShmObjectStoreSenderCache


@pytest.mark.clause("SC-19")
def test_a_worker_gets_a_copy_and_counts_it(shm: Any) -> None:
    handle = put(shm.sender, "a", fill=9)
    found = shm.workers[0].get_and_update_item(handle, "a")
    assert isinstance(found, MultiModalKwargsItem)
    assert (reader_count(shm, "a"), references(shm, "a")) == (1, 1)
    found["pixels"].data[:] = 0
    assert is_item(shm.workers[1].get_and_update_item(handle, "a"), 1000, 9)
    assert reader_count(shm, "a") == 2


@pytest.mark.clause("SC-21", "SC-22")
def test_a_touch_verifies_and_counts_nothing(shm: Any) -> None:
    handle = put(shm.sender, "a")
    shm.workers[0].touch_receiver_cache_item("a", handle)
    assert reader_count(shm, "a") == 0


@pytest.mark.clause("SC-18", "SC-20", "SC-21")
def test_a_request_is_updated_in_place(shm: Any) -> None:
    handle, plain = put(shm.sender, "a", fill=4), item(5)
    features = [feature(None, "stripped"), feature(handle, "a"), feature(plain, "b"), feature(handle, "a")]
    assert shm.workers[0].get_and_update_features(features) is features
    assert features[0].data is None
    assert features[2].data is plain
    for each in (features[1], features[3]):
        assert is_item(each.data, 1000, 4)
    assert reader_count(shm, "a") == 2


@pytest.mark.clause("SC-21")
def test_the_key_of_a_feature_is_its_hash_else_its_identifier(shm: Any) -> None:
    handle = put(shm.sender, "a", fill=4)
    by_hash, by_identifier = feature(handle, "a"), feature(handle, "a")
    by_hash.identifier, by_identifier.mm_hash = "lora", None
    for each in shm.workers[0].get_and_update_features([by_hash, by_identifier]):
        assert is_item(each.data, 1000, 4)


@pytest.mark.clause("SC-21", "SC-22", "SC-23")
@pytest.mark.parametrize("bad", ["forged", "stale"])
def test_one_bad_handle_of_a_request_leaves_all_unread(shm: Any, bad: str) -> None:
    old = put(shm.sender, "old")
    shm.sender.clear_cache()
    good = put(shm.sender, "a")
    wrong = feature(good, "b") if bad == "forged" else feature(old, "old")
    features = [feature(good, "a"), wrong]
    with pytest.raises(ValueError, match=HANDLE_REFUSED if bad == "forged" else STALE):
        shm.workers[0].get_and_update_features(features)
    assert features[0].data is good
    assert reader_count(shm, "a") == 0


@pytest.mark.clause("SC-18")
def test_a_worker_cannot_update_without_an_item(shm: Any) -> None:
    with pytest.raises(AssertionError, match="'a'"):
        shm.workers[0].get_and_update_item(None, "a")
    with pytest.raises(AssertionError, match="'a'"):
        shm.workers[0].touch_receiver_cache_item("a")


@pytest.mark.clause("SC-23")
def test_a_handle_whose_place_was_reused_is_refused(shm: Any) -> None:
    old = put(shm.sender, "a", 15_000, fill=1)
    read_by_all(shm, "a", old)
    for key in "bcde":
        put(shm.sender, key, 15_000, fill=2)
    assert not shm.sender.is_cached_item("a")
    with pytest.raises(ValueError, match=STALE):
        shm.workers[0].get_and_update_item(old, "a")
    with pytest.raises(ValueError, match=STALE):
        shm.workers[0].touch_receiver_cache_item("a", old)
    assert [reader_count(shm, key) for key in "bcde"] == [0, 0, 0, 0]


@pytest.mark.clause("SC-24")
def test_a_worker_clears_nothing(shm: Any) -> None:
    handle = put(shm.sender, "a", fill=1)
    shm.workers[0].clear_cache()
    assert is_item(shm.workers[0].get_and_update_item(handle, "a"), 1000, 1)
    assert shm.sender.is_cached_item("a")


@pytest.mark.clause("SC-16")
def test_close_removes_the_name_once_and_workers_read_on(shm: Any) -> None:
    handle = put(shm.sender, "a", fill=6)
    shm.workers[1].close()
    assert Path("/dev/shm", shm.name).exists()
    shm.sender.close()
    assert not Path("/dev/shm", shm.name).exists()
    shm.sender.close()
    assert is_item(shm.workers[0].get_and_update_item(handle, "a"), 1000, 6)
    assert Path("/proc/self/maps").read_text().count(shm.name) == 1
    shm.workers[0].close()
    assert shm.name not in Path("/proc/self/maps").read_text()


@pytest.mark.clause("SC-17")
def test_a_worker_needs_a_segment_and_a_lock(ring_name: str, shm: Any, monkeypatch: Any) -> None:
    with pytest.raises(ValueError, match=r"(?i)lock"):
        ShmObjectStoreReceiverCache(config(), None)  # type: ignore[arg-type]
    monkeypatch.setenv(RING_NAME_VARIABLE, f"{ring_name}_x")
    with pytest.raises(FileNotFoundError):
        ShmObjectStoreReceiverCache(config(), get_context("spawn").Lock())
    assert not Path("/dev/shm", f"{ring_name}_x").exists()


@pytest.mark.clause("FA-15")
def test_a_name_in_use_is_refused(shm: Any) -> None:
    handle = put(shm.sender, "a", fill=1)
    with pytest.raises(FileExistsError):
        ShmObjectStoreSenderCache(config())
    assert is_item(shm.workers[0].get_and_update_item(handle, "a"), 1000, 1)
    assert Path("/dev/shm", shm.name).exists()


@pytest.mark.clause("FA-12")
def test_a_name_is_made_up_once_and_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RING_NAME_VARIABLE, "so that it is restored")
    monkeypatch.delenv(RING_NAME_VARIABLE)
    names = []
    for _ in range(2):
        sender = ShmObjectStoreSenderCache(config())
        try:
            names.append(sender._shm_cache.ring_buffer.handle()[1])
        finally:
            sender.close()
    assert names == [os.environ[RING_NAME_VARIABLE]] * 2
    assert len(names[0]) <= 30, "macOS allows 31 characters with the slash"


@pytest.mark.clause("SC-16")
def test_a_sender_that_cannot_be_made_leaves_no_segment(ring_name: str) -> None:
    class NoSerde:
        def __init__(self) -> None:
            raise KeyError("no serde")

    class Sender(ShmObjectStoreSenderCache):
        serde_class = NoSerde  # type: ignore[assignment]

    with pytest.raises(KeyError):
        Sender(config())
    assert not Path("/dev/shm", ring_name).exists()
