"""What the shared-memory pair does with handles that clients may send, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from batched_items import item
from shm_setup import (
    HANDLE_REFUSED,
    handle_with,
    is_item,
    put,
    reader_count,
    reader_count_or_zero,
    references,
    stats,
)

from mmcache_ref.reference import MultiModalFieldElem, MultiModalKwargsItem, MultiModalSharedField

WRONG: dict[str, Any] = {
    "no id": {"monotonic_id": ...},
    "no signature": {"signature": ...},
    "an address that is a bool": {"address": False},
    "an address that is a float": {"address": 0.0},
    "an address that is an array": {"address": np.zeros((), np.int64)},
    "an address that is None": {"address": None},
    "a negative address": {"address": -1},
    "an address of 65 bits": {"address": 2**64},
    "another address": {"address": 8},
    "an id that is a bool": {"monotonic_id": False},
    "a negative id": {"monotonic_id": -1},
    "an id of 33 bits": {"monotonic_id": 2**32},
    "another id": {"monotonic_id": 1},
    "a signature of 31 bytes": {"signature": [0] * 31},
    "a signature with a byte of 256": {"signature": [256] * 32},
    "a signature of bools": {"signature": [True] * 32},
    "a signature that is an array": {"signature": np.zeros(32, np.uint8)},
    "a signature that is a string": {"signature": "0" * 32},
    "another signature": {"signature": [0] * 32},
}


@pytest.mark.clause("SC-15", "SC-22")
@pytest.mark.parametrize("wrong", WRONG)
def test_a_forged_handle_is_refused_on_both_sides(shm: Any, wrong: str) -> None:
    forged = handle_with(put(shm.sender, "a"), **WRONG[wrong])
    for refuses in (
        shm.sender.validate_input_item,
        shm.workers[0].get_and_update_item,
        lambda each, key: shm.workers[0].touch_receiver_cache_item(key, each),
    ):
        with pytest.raises(ValueError, match=HANDLE_REFUSED):
            refuses(forged, "a")
    assert (reader_count(shm, "a"), references(shm, "a"), stats(shm.sender)) == (0, 1, (0, 1))


@pytest.mark.clause("SC-15", "SC-22")
def test_a_handle_holds_for_its_own_key_only(shm: Any) -> None:
    handle = put(shm.sender, "a")
    put(shm.sender, "b")
    for key in ("b", "unknown"):
        with pytest.raises(ValueError, match=HANDLE_REFUSED):
            shm.sender.validate_input_item(handle, key)
        with pytest.raises(ValueError, match=HANDLE_REFUSED):
            shm.workers[0].get_and_update_item(handle, key)
    assert reader_count(shm, "a") == 0


@pytest.mark.clause("SC-15")
def test_the_sender_accepts_the_current_handle_only(shm: Any) -> None:
    old = put(shm.sender, "a")
    shm.sender.validate_input_item(old, "a")
    assert references(shm, "a") == 1
    shm.sender.clear_cache()
    with pytest.raises(ValueError, match=HANDLE_REFUSED):
        shm.sender.validate_input_item(old, "a")
    put(shm.sender, "a")
    with pytest.raises(ValueError, match=HANDLE_REFUSED):
        shm.sender.validate_input_item(old, "a")


@pytest.mark.clause("SC-15", "SC-19")
def test_other_elements_and_fields_of_a_handle_do_not_matter(shm: Any) -> None:
    handle = put(shm.sender, "a", fill=3)
    field = MultiModalSharedField(batch_size=1)
    data = handle.get_data() | {"pixels": 5}
    other = MultiModalKwargsItem({key: MultiModalFieldElem(each, field) for key, each in data.items()})
    shm.sender.validate_input_item(other, "a")
    assert is_item(shm.workers[0].get_and_update_item(other, "a"), 1000, 3)


@pytest.mark.clause("SC-14", "SC-20")
@pytest.mark.parametrize("parts", [(), ("monotonic_id", "signature")])
def test_an_item_without_an_address_is_no_handle(shm: Any, parts: tuple[str, ...]) -> None:
    plain = handle_with(put(shm.sender, "a"), address=...) if parts else item(10)
    shm.sender.validate_input_item(plain, "a")
    shm.workers[0].touch_receiver_cache_item("a", plain)
    assert shm.workers[0].get_and_update_item(plain, "a") is plain
    assert reader_count_or_zero(shm, "a") == 0
