"""The shared-memory sender, by hand."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from multiprocessing.shared_memory import SharedMemory
from pathlib import Path
from typing import Any

import pytest
from batched_items import item
from shm_setup import (
    HANDLE_REFUSED,
    KIB,
    RING_NAME_VARIABLE,
    STALE,
    config,
    fresh_name,
    handle_of_key,
    is_item,
    put,
    read_by_all,
    references,
    shm_pair,
    stats,
)

from mmcache_ref.reference import CacheInfo, MultiModalBatchedField, ShmObjectStoreReceiverCache


@pytest.mark.clause("SC-01", "FA-13", "FA-14")
def test_the_sender_makes_a_store_of_the_configured_size(shm: Any) -> None:
    assert shm.store.ring_buffer.data_buffer_size == 64 * KIB
    assert shm.store.max_object_size == 16 * KIB
    assert shm.store.n_readers == 2
    assert Path("/dev/shm", shm.name).exists()


@pytest.mark.clause("SC-02", "SC-06")
def test_a_miss_stores_the_item_and_sends_a_handle(shm: Any) -> None:
    sent, updates = shm.sender.get_and_update_item((item(1000, 7), ["update"]), "a")
    assert updates == ["update"]
    assert stats(shm.sender) == (0, 1)
    assert set(sent) == {"address", "monotonic_id", "signature"}
    assert all(type(each.field) is MultiModalBatchedField for each in sent.values())
    data = sent.get_data()
    assert (data["address"], data["monotonic_id"]) == (0, 0)
    assert len(data["signature"]) == 32
    assert all(type(byte) is int and 0 <= byte < 256 for byte in data["signature"])
    assert references(shm, "a") == 1


@pytest.mark.clause("SC-03")
@pytest.mark.parametrize("again", [None, (item(5, 1), ["another update"])])
def test_a_hit_sends_the_handle_of_what_is_stored(shm: Any, again: Any) -> None:
    first = put(shm.sender, "a", fill=7)
    sent, updates = shm.sender.get_and_update_item(again, "a")
    assert (sent, updates) == (first, ["update of a"])
    assert stats(shm.sender) == (1, 2)
    assert references(shm, "a") == 2
    assert is_item(shm.workers[0].get_and_update_item(sent, "a"), 1000, 7)


@pytest.mark.clause("SC-04")
def test_a_miss_without_data_counts_nothing(shm: Any) -> None:
    with pytest.raises(AssertionError, match="'a'"):
        shm.sender.get_and_update_item(None, "a")
    assert stats(shm.sender) == (0, 0)
    assert not shm.sender.is_cached_item("a")


@pytest.mark.clause("SC-05")
def test_what_is_too_large_is_sent_with_its_data(shm: Any) -> None:
    given = (item(20 * KIB), ["update"])
    assert shm.sender.get_and_update_item(given, "a") is given
    assert stats(shm.sender) == (0, 1)
    assert not shm.sender.is_cached_item("a")
    assert shm.sender._p0_cache == {}


@pytest.mark.clause("SC-05")
def test_what_finds_no_room_is_sent_with_its_data(shm: Any) -> None:
    """Four items of 15,000 bytes fill the ring of 65,536; nobody has read them."""
    kept = [put(shm.sender, key, 15_000) for key in "abcd"]
    assert all("address" in each for each in kept)
    given = (item(15_000), ["update"])
    assert shm.sender.get_and_update_item(given, "e") is given
    assert stats(shm.sender) == (0, 5)
    assert shm.sender.is_cached(list("abcde")) == [True, True, True, True, False]


@pytest.mark.clause("IF-04")
def test_the_first_refusal_is_a_warning(shm: Any, caplog: pytest.LogCaptureFixture) -> None:
    for key in "ab":
        put(shm.sender, key, 20 * KIB)
    (record,) = caplog.records
    assert "mm_shm_cache_max_object_size_mb" in record.getMessage()


@pytest.mark.clause("SC-07", "IF-06")
def test_the_check_changes_nothing(shm: Any) -> None:
    put(shm.sender, "a")
    shm.sender.touch_sender_cache_item("a")
    assert shm.sender.is_cached(["a", "b"]) == [True, False]
    assert (stats(shm.sender), references(shm, "a"), shm.store._touched) == ((0, 1), 1, {0})


@pytest.mark.clause("SC-08")
def test_a_touch_protects_without_taking_a_reference(shm: Any) -> None:
    read_by_all(shm, "a", put(shm.sender, "a", 15_000))
    shm.sender.touch_sender_cache_item("a")
    shm.sender.touch_sender_cache_item("nobody")
    assert (references(shm, "a"), stats(shm.sender)) == (1, (0, 1))
    for key in "bcd":
        put(shm.sender, key, 15_000)
    assert "address" not in put(shm.sender, "e", 15_000), "the touched one is at the head"
    assert shm.sender.is_cached_item("a")


@pytest.mark.clause("SC-03", "SC-09")
@pytest.mark.parametrize("end", ["release", "lookup"])
def test_a_touch_ends_with_the_lookup_or_with_release(shm: Any, end: str) -> None:
    read_by_all(shm, "a", put(shm.sender, "a", 15_000))
    shm.sender.touch_sender_cache_item("a")
    if end == "release":
        shm.sender.release_sender_touches()
    else:
        read_by_all(shm, "a", shm.sender.get_and_update_item(None, "a")[0])
    for key in "bcd":
        put(shm.sender, key, 15_000)
    assert "address" in put(shm.sender, "e", 15_000)
    assert not shm.sender.is_cached_item("a")


@pytest.mark.clause("SC-10")
def test_a_key_stored_again_has_its_new_prompt_updates(shm: Any) -> None:
    read_by_all(shm, "a", put(shm.sender, "a", 15_000, fill=1))
    for key in "bcde":
        put(shm.sender, key, 15_000)
    assert not shm.sender.is_cached_item("a")
    for key in "bcde":
        read_by_all(shm, key, handle_of_key(shm, key))
    sent, updates = shm.sender.get_and_update_item((item(15_000, 2), ["new"]), "a")
    assert updates == ["new"]
    assert shm.sender.get_and_update_item(None, "a")[1] == ["new"]
    assert is_item(shm.workers[0].get_and_update_item(sent, "a"), 15_000, 2)


@pytest.mark.clause("SC-11", "SC-12")
def test_prompt_updates_of_lost_keys_do_not_pile_up(shm: Any) -> None:
    for number in range(50):
        key = str(number)
        read_by_all(shm, key, put(shm.sender, key, 15_000))
        assert len(shm.sender._p0_cache) <= 2 * len(shm.store.key_index) + 1
    shm.sender.remove_dangling_items()
    assert shm.sender._p0_cache.keys() == shm.store.key_index.keys()
    shm.sender.clear_cache()
    assert shm.sender._p0_cache == {}


@pytest.mark.clause("SC-12", "IF-05")
def test_a_clear_empties_all_and_old_handles_are_refused(shm: Any) -> None:
    old = put(shm.sender, "a", fill=1)
    shm.sender.touch_sender_cache_item("a")
    shm.sender.make_stats(delta=True)
    shm.sender.clear_cache()
    assert (stats(shm.sender), shm.sender.is_cached_item("a"), shm.store._touched) == ((0, 0), False, set())
    new = put(shm.sender, "b", fill=2)
    assert shm.sender.make_stats(delta=True) == (0, 1)
    assert new.get_data()["address"] == 0
    assert new.get_data()["monotonic_id"] == 1
    with pytest.raises(ValueError, match=STALE):
        shm.workers[0].get_and_update_item(old, "a")
    assert is_item(shm.workers[0].get_and_update_item(new, "b"), 1000, 2)


@pytest.mark.clause("SC-13", "IF-09")
def test_counters_and_their_differences(shm: Any) -> None:
    put(shm.sender, "a")
    assert shm.sender.make_stats() == CacheInfo(0, 1)
    assert shm.sender.make_stats(delta=True) == CacheInfo(0, 1)
    shm.sender.get_and_update_item(None, "a")
    assert shm.sender.make_stats(delta=True) == CacheInfo(1, 1)
    assert shm.sender.make_stats() == CacheInfo(1, 2)
    assert isinstance(shm.sender.make_stats(), CacheInfo)


@pytest.mark.clause("SC-49", "SC-22")
def test_a_handle_of_another_segment_is_refused(
    monkeypatch: pytest.MonkeyPatch, no_segment_is_left: None
) -> None:
    names = [fresh_name(), fresh_name()]
    with ExitStack() as both:
        pairs = []
        for name in names:
            monkeypatch.setenv(RING_NAME_VARIABLE, name)
            pairs.append(both.enter_context(shm_pair(name)))
        old, new = pairs
        handle = put(old.sender, "a")
        put(new.sender, "a")
        for worker in new.workers:
            with pytest.raises(ValueError, match=HANDLE_REFUSED):
                worker.get_and_update_item(handle, "a")


@pytest.mark.clause("SC-51", "SC-17")
def test_who_is_attached_goes_on_when_the_name_is_removed(shm: Any) -> None:
    old = put(shm.sender, "a", fill=1)
    unlinked = SharedMemory(shm.name)
    unlinked.unlink()
    unlinked.close()
    new = put(shm.sender, "b", fill=2)
    for worker in shm.workers:
        assert is_item(worker.get_and_update_item(old, "a"), 1000, 1)
        assert is_item(worker.get_and_update_item(new, "b"), 1000, 2)
    with pytest.raises(FileNotFoundError):
        ShmObjectStoreReceiverCache(config(), threading.Lock())
