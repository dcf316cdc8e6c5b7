"""The key-replicated pair, by hand, with a budget of 10 bytes unless said otherwise."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from batched_items import item
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcache_ref.reference import (
    LruKeyReplicatedReceiverCache,
    LruKeyReplicatedSenderCache,
    ModelConfig,
    MultiModalCacheMissError,
    MultiModalConfig,
    MultiModalFeatureSpec,
    MultiModalKwargsItem,
    PlaceholderRange,
)


def pair(nbytes: int, *updates: Any) -> Any:
    return item(nbytes), list(updates)


def feature(data: MultiModalKwargsItem | None, mm_hash: str) -> MultiModalFeatureSpec:
    return MultiModalFeatureSpec(data, "image", mm_hash, PlaceholderRange(0, 1), mm_hash)


def config(capacity: int = 10) -> ModelConfig:
    return ModelConfig(MultiModalConfig(mm_processor_cache_gb=capacity / 2**30))


def sender_with(capacity: int = 10, **sizes: int) -> Any:
    """A sender with these entries; the prompt updates of `a` are `["update of a"]`."""
    sender = LruKeyReplicatedSenderCache(config(capacity))
    for key, size in sizes.items():
        sender.get_and_update_item(pair(size, f"update of {key}"), key)
    return sender


def receiver_with(capacity: int = 10, **sizes: int) -> Any:
    receiver = LruKeyReplicatedReceiverCache(config(capacity))
    for key, size in sizes.items():
        receiver.get_and_update_item(item(size), key)
    return receiver


def order(cache: Any) -> str:
    return "".join(cache._cache.order)


class Pair:
    """A sender and a receiver joined by a channel that loses and reorders nothing."""

    def __init__(self, capacity: int, sizes: dict[str, int]) -> None:
        self.sender = LruKeyReplicatedSenderCache(config(capacity))
        self.receiver = LruKeyReplicatedReceiverCache(config(capacity))
        self.items = {key: item(size, fill=index) for index, (key, size) in enumerate(sizes.items())}

    def send(self, keys: str) -> list[MultiModalFeatureSpec]:
        """Check, touch, update, as P0 does it with one request."""
        checks = self.sender.is_cached(list(keys))
        for key in keys:
            self.sender.touch_sender_cache_item(key)
        inputs: list[Any] = [None if c else (self.items[k], []) for c, k in zip(checks, keys, strict=True)]
        outputs = self.sender.get_and_update(inputs, list(keys))
        self.sender.release_sender_touches()
        return [feature(sent, key) for (sent, _), key in zip(outputs, keys, strict=True)]

    def serve(self, keys: str) -> list[MultiModalKwargsItem | None]:
        """The items of one request as they come out of P1."""
        return [f.data for f in self.receiver.get_and_update_features(self.send(keys))]

    def retry(self, missing: list[str], keys: str) -> list[MultiModalKwargsItem | None]:
        """Invalidate what was reported missing, then serve the request again."""
        for key in missing:
            self.sender.invalidate(key)
        return self.serve(keys)

    def orders(self) -> tuple[str, str]:
        return order(self.sender), order(self.receiver)


@pytest.mark.clause("KR-01")
def test_the_sender_keeps_no_payload() -> None:
    sender = sender_with()
    given_item = item(4)
    payload = weakref.ref(given_item["pixels"].data)
    sender.get_and_update_item((given_item, ["update"]), "a")
    del given_item
    gc.collect()
    assert payload() is None
    assert (order(sender), sender._cache.currsize) == ("a", 4)


@pytest.mark.clause("KR-02")
@pytest.mark.parametrize("input_", [None, pair(3, "another")], ids=["without data", "with data"])
def test_a_hit_sends_no_payload(input_: Any) -> None:
    sender = sender_with(a=4, b=4)
    assert sender.get_and_update_item(input_, "a") == (None, ["update of a"])
    assert (order(sender), sender._cache.currsize, sender.make_stats()) == ("ba", 8, (1, 3))


@pytest.mark.clause("KR-03")
def test_a_miss_sends_the_very_input_and_records_it() -> None:
    sender = sender_with(a=4, b=4)
    input_ = pair(4)
    assert sender.get_and_update_item(input_, "c") is input_
    assert (order(sender), sender._cache.currsize, sender.make_stats()) == ("bc", 8, (0, 3))


@pytest.mark.clause("KR-04")
def test_a_miss_without_data_names_the_hash_and_leaves_the_entries() -> None:
    sender = sender_with(a=4, b=4)
    with pytest.raises(AssertionError, match="some-hash"):
        sender.get_and_update_item(None, "some-hash")
    assert (order(sender), sender.make_stats()) == ("ab", (0, 3))


@pytest.mark.clause("KR-05")
def test_an_item_larger_than_the_budget_is_sent_every_time_and_evicts_nothing() -> None:
    sender = sender_with(a=4, b=4)
    input_ = pair(11)
    assert sender.get_and_update_item(input_, "c") is input_
    assert sender.get_and_update_item(input_, "c") is input_
    assert (order(sender), sender.make_stats()) == ("ab", (0, 4))


@pytest.mark.clause("KR-06")
def test_invalidating_drops_the_entry_and_counts_nothing() -> None:
    sender = sender_with(a=4, b=4)
    sender.invalidate("a")
    sender.invalidate("z")
    assert (order(sender), sender._cache.currsize, sender.make_stats()) == ("b", 4, (0, 2))
    input_ = pair(4)
    assert sender.get_and_update_item(input_, "a") is input_


@pytest.mark.clause("KR-07")
def test_statistics_count_updates_only() -> None:
    sender = sender_with(a=1)
    sender.is_cached(["a", "z"])
    sender.touch_sender_cache_item("a")
    sender.release_sender_touches()
    assert sender.make_stats() == (0, 1)
    sender.get_and_update_item(None, "a")
    sender.invalidate("a")
    assert sender.make_stats() == (1, 2)


@pytest.mark.clause("KR-08")
def test_data_sent_always_wins() -> None:
    receiver = receiver_with(a=4, b=4)
    larger = item(6)
    assert receiver.get_and_update_item(larger, "a") is larger
    assert receiver.get_and_update_item(None, "a") is larger
    assert (order(receiver), receiver._cache.currsize) == ("ba", 10)


@pytest.mark.clause("KR-08")
def test_the_old_item_makes_room_for_the_new_one_before_others_must() -> None:
    receiver = receiver_with(a=4, b=4, c=2)
    receiver.get_and_update_item(item(4), "c")
    assert order(receiver) == "bc"
    receiver.get_and_update_item(item(6), "c")
    assert order(receiver) == "bc"


@pytest.mark.clause("KR-09")
def test_a_replacement_that_is_too_large_leaves_no_old_item_behind() -> None:
    receiver = receiver_with(a=4, b=4)
    large = item(11)
    assert receiver.get_and_update_item(large, "a") is large
    assert (order(receiver), receiver._cache.currsize) == ("b", 4)
    with pytest.raises(MultiModalCacheMissError):
        receiver.get_and_update_item(None, "a")


@pytest.mark.clause("KR-10")
def test_an_update_without_data_serves_the_cached_item() -> None:
    receiver = receiver_with(b=4)
    kept = item(4)
    receiver.get_and_update_item(kept, "a")
    receiver.get_and_update_item(item(2), "c")
    assert receiver.get_and_update_item(None, "a") is kept
    assert order(receiver) == "bca"


@pytest.mark.clause("KR-11")
def test_a_missing_item_is_reported_and_changes_nothing() -> None:
    receiver = receiver_with(a=4, b=4)
    with pytest.raises(MultiModalCacheMissError) as raised:
        receiver.get_and_update_item(None, "z")
    assert raised.value.mm_hashes == ["z"]
    assert (order(receiver), receiver._cache.currsize) == ("ab", 8)


@pytest.mark.clause("KR-12")
def test_touching_in_the_receiver_moves_a_cached_key_and_no_other() -> None:
    receiver = receiver_with(a=4, b=4)
    receiver.touch_receiver_cache_item("a")
    receiver.touch_receiver_cache_item("z")
    receiver.touch_receiver_cache_item("y", item(1))
    assert order(receiver) == "ba"


@pytest.mark.clause("KR-13", "DR-12")
def test_the_sender_keeps_its_word_for_what_the_request_itself_pushed_out() -> None:
    sender = sender_with(A=4)
    for key in "BA":
        sender.touch_sender_cache_item(key)
    big = pair(7)
    assert sender.get_and_update_item(big, "B") is big
    assert order(sender) == "B"
    assert sender.get_and_update_item(None, "A") == (None, ["update of A"])
    assert (order(sender), sender._cache.currsize, sender.make_stats()) == ("A", 4, (1, 3))


@pytest.mark.clause("KR-13")
def test_a_touch_of_a_key_that_is_not_cached_promises_nothing() -> None:
    sender = sender_with()
    sender.touch_sender_cache_item("A")
    sender.get_and_update([pair(7), pair(7)], ["A", "B"])
    with pytest.raises(AssertionError, match="A"):
        sender.get_and_update_item(None, "A")


def broken_promise(sender: Any) -> None:
    """Assert that the sender promises A, which is not cached, no longer."""
    with pytest.raises(AssertionError, match="A"):
        sender.get_and_update_item(None, "A")


def promising_sender() -> Any:
    """A sender that has promised A but holds only B."""
    sender = sender_with(A=4)
    sender.touch_sender_cache_item("A")
    sender.get_and_update_item(pair(7), "B")
    assert order(sender) == "B"
    return sender


@pytest.mark.clause("KR-15")
def test_the_senders_promise_ends_with_the_release() -> None:
    sender = promising_sender()
    sender.release_sender_touches()
    broken_promise(sender)


@pytest.mark.clause("KR-13", "KR-15")
def test_the_senders_promise_ends_with_the_first_touch_after_an_update() -> None:
    sender = promising_sender()
    sender.touch_sender_cache_item("z")
    broken_promise(sender)


@pytest.mark.clause("KR-15")
def test_the_senders_promise_ends_with_an_invalidation() -> None:
    sender = promising_sender()
    sender.invalidate("A")
    broken_promise(sender)


@pytest.mark.clause("KR-15")
def test_the_senders_promise_ends_with_a_clear() -> None:
    sender = promising_sender()
    sender.clear_cache()
    broken_promise(sender)


@pytest.mark.clause("KR-15")
@pytest.mark.parametrize("nbytes", [5, 11], ids=["that fits", "that does not fit"])
def test_the_senders_promise_ends_with_new_data(nbytes: int) -> None:
    sender = promising_sender()
    new = pair(nbytes)
    assert sender.get_and_update_item(new, "A") is new
    sender.get_and_update_item(pair(10), "C")
    broken_promise(sender)


@pytest.mark.clause("KR-14", "DR-12")
def test_the_receiver_serves_what_the_request_itself_pushed_out() -> None:
    receiver = receiver_with()
    kept = item(4)
    receiver.get_and_update_item(kept, "A")
    features = receiver.get_and_update_features([feature(item(7), "B"), feature(None, "A")])
    assert features[1].data is kept
    assert (order(receiver), receiver._cache.currsize) == ("A", 4)


@pytest.mark.clause("KR-14")
def test_the_receiver_promises_nothing_outside_a_request() -> None:
    receiver = receiver_with(A=4)
    receiver.touch_receiver_cache_item("B")
    receiver.touch_receiver_cache_item("A")
    receiver.get_and_update_item(item(7), "B")
    with pytest.raises(MultiModalCacheMissError):
        receiver.get_and_update_item(None, "A")


@pytest.mark.clause("KR-15")
@pytest.mark.parametrize("missing", [[], ["Z"]], ids=["after a return", "after a miss"])
def test_the_receivers_promise_ends_with_the_request(missing: list[str]) -> None:
    receiver = receiver_with(A=4)
    request = [feature(None, "A"), *(feature(None, key) for key in missing), feature(item(10), "C")]
    if missing:
        with pytest.raises(MultiModalCacheMissError, match="Z"):
            receiver.get_and_update_features(request)
    else:
        receiver.get_and_update_features(request)
    assert order(receiver) == "C"
    assert receiver._promises._entries == {}
    with pytest.raises(MultiModalCacheMissError, match="A"):
        receiver.get_and_update_item(None, "A")
    with pytest.raises(MultiModalCacheMissError, match="A"):
        receiver.get_and_update_features([feature(None, "A")])


@pytest.mark.clause("KR-15")
@pytest.mark.parametrize("nbytes", [5, 11], ids=["that fits", "that does not fit"])
def test_the_receivers_promise_ends_with_new_data(nbytes: int) -> None:
    receiver = receiver_with(A=4)
    request = [feature(item(nbytes), "A"), feature(item(10), "B"), feature(None, "A")]
    with pytest.raises(MultiModalCacheMissError) as raised:
        receiver.get_and_update_features(request)
    assert raised.value.mm_hashes == ["A"]
    assert order(receiver) == "B"


@pytest.mark.clause("IF-10", "IF-13", "DR-06", "DR-07")
def test_a_request_never_evicts_its_own_cached_members() -> None:
    pair_ = Pair(6, {"A": 2, "B": 2, "C": 2, "D": 1, "E": 1})
    pair_.serve("A")
    pair_.serve("B")
    pair_.serve("C")
    assert pair_.serve("DEAC") == [pair_.items[key] for key in "DEAC"]
    assert pair_.orders() == ("DEAC", "DEAC")


@pytest.mark.clause("DR-12", "KR-13", "KR-14")
def test_a_request_larger_than_the_budget_converges_on_both_sides() -> None:
    pair_ = Pair(10, {"A": 4, "B": 7})
    pair_.serve("A")
    for _ in range(3):
        assert pair_.serve("BA") == [pair_.items["B"], pair_.items["A"]]
        assert pair_.orders() == ("A", "A")


@pytest.mark.clause("KR-02", "KR-10")
def test_a_hash_that_a_request_repeats_travels_once() -> None:
    pair_ = Pair(10, {"A": 4})
    features = pair_.send("AA")
    assert [f.data is None for f in features] == [False, True]
    pair_.receiver.get_and_update_features(features)
    assert features[0].data is features[1].data is pair_.items["A"]
    assert pair_.sender.make_stats() == (1, 2)


@pytest.mark.clause("DR-05", "DR-09", "KR-06")
def test_one_retry_serves_a_request_that_missed() -> None:
    pair_ = Pair(10, {"A": 2, "B": 2, "C": 2, "D": 2, "E": 2})
    pair_.send("BDE")
    with pytest.raises(MultiModalCacheMissError) as raised:
        pair_.serve("ABCDE")
    assert raised.value.mm_hashes == ["B", "D", "E"]
    assert pair_.retry(raised.value.mm_hashes, "ABCDE") == [pair_.items[key] for key in "ABCDE"]
    assert pair_.orders() == ("ABCDE", "ABCDE")


SIZES = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 7, "F": 11}
REQUESTS = st.lists(st.text("ABCDEF", min_size=1, max_size=6), min_size=1, max_size=12)


@pytest.mark.clause("DR-06", "DR-07", "DR-11", "DR-12", "IF-14")
@given(REQUESTS)
@settings(max_examples=300, deadline=None)
def test_without_accidents_both_sides_agree_and_caching_changes_no_result(requests: list[str]) -> None:
    pair_ = Pair(10, SIZES)
    for keys in requests:
        assert pair_.serve(keys) == [pair_.items[key] for key in keys]
        assert order(pair_.sender) == order(pair_.receiver)
        for side in (pair_.sender, pair_.receiver):
            held: Any = side._cache
            assert held.currsize == sum(SIZES[key] for key in held.order) <= 10


@pytest.mark.clause("DR-09", "KR-06", "KR-08", "KR-15")
@given(st.lists(st.tuples(st.text("ABCDEF", min_size=1, max_size=6), st.booleans()), max_size=8), REQUESTS)
@settings(max_examples=300, deadline=None)
def test_whatever_was_lost_one_retry_serves_every_request(
    history: list[tuple[str, bool]], requests: list[str]
) -> None:
    pair_ = Pair(10, SIZES)
    for keys, is_delivered in history:
        features = pair_.send(keys)
        if is_delivered:
            try:
                pair_.receiver.get_and_update_features(features)
            except MultiModalCacheMissError as error:
                for key in error.mm_hashes:
                    pair_.sender.invalidate(key)
    for keys in requests:
        try:
            served = pair_.serve(keys)
        except MultiModalCacheMissError as error:
            served = pair_.retry(error.mm_hashes, keys)
        assert served == [pair_.items[key] for key in keys]
