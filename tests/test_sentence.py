"""The sentence of a violation: what the cache did, what it must do, why, and where to look."""

from __future__ import annotations

import re
from typing import Any

import pytest

from mmcache_ref import protocol, reference
from mmcache_ref.model import accidents, factories, items, lru, receiver
from mmcache_ref.model import processor_cache as p0
from mmcache_ref.model.component import Content
from mmcache_ref.model.environment import Config as PairConfig
from mmcache_ref.model.environment import request
from mmcache_ref.oracle.advice import advice, all_advice
from mmcache_ref.oracle.clauses import all_clauses
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Mismatch, Run, Step
from mmcache_ref.oracle.sentence import ENDED, sentence
from mmcache_ref.oracle.targets import resolve

A, B, C = Content(2, 1), Content(2, 2), Content(3, 3)


def failed(error: str, says: str) -> dict[str, str]:
    """An exception as a run has it."""
    return {"result": "raised", "error": error, "says": says}


def run_of(component: str, config: Any, mismatch: Mismatch, *operations: Any, before: Any = None) -> Run:
    """A run that ends so; `before` is the state before its last operation."""
    steps = [Step(each) for each in operations]
    if before is not None:
        steps[-2] = Step(operations[-2], state=before)
    return Run(component, config, "safe", tuple(steps), mismatch)


def broken(component: str, target: str, config: Any, *operations: Any) -> str:
    """The sentence of these operations on a target of tests/broken."""
    return sentence(Trial(COMPONENTS[component], resolve(f"py:broken.{target}")).run(config, operations))


def test_a_promise_that_was_not_kept() -> None:
    merge = p0.Merge((p0.Item("c", C), p0.Item("a", A), p0.Item("b", B)))
    said = broken("sender", "sender_keeps_no_promise", p0.Config(5), p0.Update("b", B), merge)
    assert said == " ".join(
        [
            "Operation 2, merge [c 3 B/3, a 2 B/1, b 2 B/2 (claimed)], raised",
            "AssertionError(\"Expected a cached item for mm_hash='b'\"),",
            "must go on and give no item with the updates of 2 B/2 for 'b' (item 3);",
            "'b' was cached when its request touched it, so its update is served as a hit and recorded",
            "again, also after the request's own insertions pushed it out (KR-13).",
            "Cached before: b, 2 B; the budget is 5 B.",
            "Look at: how LruKeyReplicatedSenderCache.touch_sender_cache_item and",
            "LruKeyReplicatedSenderCache.get_and_update_item treat a key that",
            "the request's own insertions evict.",
        ]
    )


def test_a_wrong_order_of_eviction() -> None:
    one = Content(1, 7)
    operations = (lru.Put("a", one), lru.Put("b", one), lru.Touch("a"))
    assert broken("lru", "lru_touch_keeps_order", lru.Config(2), *operations) == " ".join(
        [
            "After operation 3, touch a, the keys in eviction order are a b, must be b a;",
            "a touch makes a cached key the most recent and counts nothing (LRU-09).",
            "Cached before: a b, 2 B; the budget is 2 B. Look at: LRUCache.touch: a cached key.",
        ]
    )


def test_an_entry_that_has_another_content() -> None:
    said = broken(
        "receiver",
        "receiver_same_size_is_not_stored",
        receiver.Config(5),
        receiver.Update("a", A),
        receiver.Update("a", B),
    )
    assert said.startswith(
        "After operation 2, update a 2 B/2, the entry of 'a' is 2 B/1, must be 2 B/2; data that is sent"
    )
    assert "(KR-08)" in said


def test_a_promise_that_outlives_its_request_is_looked_for_on_the_side_that_made_it() -> None:
    operations = (receiver.Features((receiver.Feature("a"),)), receiver.Update("a"))
    mismatch = Mismatch("KR-15", "outcome", "lapsed", 0, None, None, ())
    said = sentence(run_of("receiver", receiver.Config(5), mismatch, *operations))
    assert "LruKeyReplicatedReceiverCache.get_and_update_features" in said
    assert "SenderCache" not in said


def test_a_merge_step_says_what_is_gone_since_the_check() -> None:
    merge = p0.Merge((p0.Item("b", B), p0.Item("a", A)), stale=("a",))
    mismatch = Mismatch("KR-04", "outcome", "asserted", 0, failed("AssertionError", "a"), None, ())
    said = sentence(run_of("sender", p0.Config(5), mismatch, p0.Update("b", B), merge, before={}))
    assert said.startswith("Operation 2, merge [b 2 B/2, a 2 B/1 (claimed, but gone)], returned nothing")


def test_another_object_than_the_input() -> None:
    said = broken(
        "receiver",
        "receiver_prefers_old",
        receiver.Config(5),
        receiver.Update("a", A),
        receiver.Update("a", A),
    )
    assert (
        "Operation 2, update a 2 B/1, returned 2 B/1 as an object of its own, must return 2 B/1 (the input);"
        in said
    )
    assert "what was cached under 'a' is dropped" in said


@pytest.mark.parametrize(
    ("order", "must", "says"),
    [
        (["a", "b"], ["b"], "the keys in eviction order are a b, must be b ('a' is still there)"),
        (["b"], ["a", "b"], "the keys in eviction order are b, must be a b ('a' is gone)"),
        (["a", "c"], ["a", "b"], "are a c, must be a b ('c' is there, 'b' is gone)"),
        (["a", "b", "a"], ["b", "a"], "(the order names 'a' more than once)"),
        ([], ["c"], "the keys in eviction order are none, must be c ('c' is not there)"),
    ],
)
def test_what_is_in_the_order_and_must_not_be(order: list[str], must: list[str], says: str) -> None:
    mismatch = Mismatch("LRU-13", "order", "evicted", 2, must, order)
    before = {"order": ["a", "b"], "bytes": 2}
    run = run_of("lru", lru.Config(2), mismatch, lru.Get("a"), lru.Put("c", C), before=before)
    said = sentence(run)
    assert said.startswith("After operation 2, put c 3 B/3, the keys in eviction order are ")
    assert says in said


@pytest.mark.parametrize(
    ("aspect", "expected", "actual", "says"),
    [
        ("total", 1, 0, "After operation 1, get a, total is 0, must be 1;"),
        ("hits", 0, 1, "hits is 1, must be 0;"),
        ("bytes", 3, 5, "5 B are in use, must be 3 B;"),
        ("length", 1, 2, "the number of entries is 2, must be 1;"),
        ("pins", [], ["a"], "pinned are a, must be none;"),
        ("data", ["a"], [], "the keys that have a value are none, must be a;"),
        (
            "order",
            [],
            {"result": "raised", "error": "KeyError", "says": "'a'"},
            "order cannot be read: it raised Key",
        ),
        (
            "observation",
            "x",
            {"result": "unexpected", "what": "odd"},
            "the state cannot be read: it gave odd",
        ),
    ],
)
def test_an_aspect_of_the_state(aspect: str, expected: Any, actual: Any, says: str) -> None:
    run = run_of("lru", lru.Config(2), Mismatch("LRU-08", aspect, "miss", 1, expected, actual), lru.Get("a"))
    assert says in sentence(run)


def test_the_side_of_a_pair() -> None:
    mismatch = Mismatch("DR-11", "p1.bytes", "cleared", 1, 0, 2)
    said = sentence(run_of("key-replicated", PairConfig(2, ()), mismatch, accidents.ClearP1()))
    assert said.startswith("After operation 1, clear-p1, in P1 2 B are in use, must be 0 B;")
    assert "the LRU inside LruKeyReplicatedReceiverCache" in said


@pytest.mark.parametrize(
    ("expected", "actual", "says"),
    [
        (None, failed("KeyError", "a"), "raised KeyError('a'), must return nothing"),
        (failed("ValueError", "too"), None, "returned nothing, must raise ValueError that says 'too'"),
        (failed("Exception", ""), 3, "returned 3, must raise an exception"),
        (
            None,
            {"result": "unexpected", "what": "no answer within 2 s"},
            "did not come back (no answer within 2 s)",
        ),
        (None, f"{ENDED[0]} by SIGKILL", f"did not return ({ENDED[0]} by SIGKILL), must return nothing"),
        (None, {"result": "missed", "hashes": ["a", "b"]}, "raised MultiModalCacheMissError for a, b"),
    ],
)
def test_what_came_back(expected: Any, actual: Any, says: str) -> None:
    run = run_of(
        "lru", lru.Config(2), Mismatch("LRU-13", "outcome", "x", 0, expected, actual), lru.Put("a", A)
    )
    assert f"Operation 1, put a 2 B/1, {says}" in sentence(run)


def test_a_default_that_did_not_come_back() -> None:
    actual = {"result": "unexpected", "what": "None, not the default that was given"}
    run = run_of("lru", lru.Config(2), Mismatch("LRU-11", "outcome", "miss", 0, None, actual), lru.Pop("a"))
    assert "gave None, not the default that was given, must return the default that was given;" in sentence(
        run
    )


def test_memory_and_sizes_have_units() -> None:
    kept = items.Kept(items.Tensor((2,), is_view=True), "processor-only")
    said = sentence(run_of("items", items.Config(), Mismatch("IT-20", "outcome", "view", 0, 2, 4), kept))
    assert "keeps alive 4 B of memory, must keep alive 2 B of memory;" in said
    assert "where MultiModalProcessorOnlyCache stores an item" in said
    size = items.Size(items.Plain(7))
    said = sentence(run_of("items", items.Config(), Mismatch("IT-14", "outcome", "plain", 0, 28, 8), size))
    assert said.startswith("Operation 1, size 7, weighs 8 B, must weigh 28 B;")


def test_a_configuration_is_told_by_what_is_unusual_in_it() -> None:
    made = factories.Make("processor", factories.Configuration(1000, api_processes=2), has_lock=False)
    mismatch = Mismatch("FA-02", "outcome", "x", 0, "A", "B")
    said = sentence(run_of("factories", factories.Config(), mismatch, made))
    assert said.startswith(
        "Operation 1, make processor (1000 B, lru, API processes 2) has_lock=False, returned B,"
    )
    assert "Cached before" not in said


def test_a_step_that_the_protocol_puts_off() -> None:
    mismatch = Mismatch("DR-18", "outcome", "deferred", 0, False, None)
    said = sentence(run_of("drift", PairConfig(2, ()), mismatch, accidents.ClearP0()))
    assert said.startswith(
        "Operation 1, clear-p0, returned nothing, must wait until the request that was checked is"
    )


def test_what_is_under_way_is_told_as_far_as_it_differs() -> None:
    mismatch = Mismatch("DR-24", "under-way", "sent-again", 1, [1, 0, 0, 2], [0, 0, 0, 2])
    said = sentence(run_of("drift", PairConfig(2, ()), mismatch, accidents.Drop(0)))
    assert (
        "After operation 1, drop 0, of what is under way messages are 0, must be 1; a message that is lost"
        in said
    )


def test_a_difference_before_the_first_operation() -> None:
    mismatch = Mismatch("LRU-27", "total", "initial", 1, 0, 1)
    said = sentence(run_of("lru", lru.Config(2), mismatch, lru.Get("a")))
    assert said.startswith("Before the first operation, total is 1, must be 0; ")


@pytest.mark.clause("IF-19")
def test_a_new_cache_that_is_not_empty_shares_its_state() -> None:
    mismatch = Mismatch("IF-19", "outcome", "empty", 0, [0, 0, False, False], [0, 2, True, False])
    said = sentence(run_of("sender", p0.Config(2), mismatch, p0.Fresh(("a", "b"))))
    assert said.startswith(
        "A new cache is not empty, it has 'a', 2 lookups: state is shared between instances;"
    )
    mismatch = Mismatch("IF-19", "order", "initial", 2, (), ("a",))
    said = sentence(run_of("sender", p0.Config(2), mismatch, p0.Update("b")))
    assert said.startswith("A new cache is not empty, it has a: state is shared between instances;")


def test_a_run_without_a_mismatch_has_no_sentence() -> None:
    assert sentence(Run("lru", lru.Config(2), "safe", (Step(lru.Get("a")),))) == ""


ODD: list[Any] = [
    *(None, 3, 2.5, "x", [], [None], [[]], [{}], {}),
    failed("E", ""),
    {"result": "updated", "item": None, "updates": None, "is_input": False},
    {"result": "ingested", "items": [], "missed": []},
]


@pytest.mark.parametrize("expected", ODD)
@pytest.mark.parametrize("actual", ODD)
def test_nothing_that_a_target_gives_leaves_one_without_a_sentence(expected: Any, actual: Any) -> None:
    merge = p0.Merge((p0.Item("a", A),))
    for aspect in ("outcome", "order", "bytes", "pins", "data", "anything"):
        run = run_of("sender", p0.Config(5), Mismatch("KR-02", aspect, "hit", 1, expected, actual), merge)
        assert sentence(run).endswith("a cached key.")


def test_all_advice_is_about_clauses_and_public_names() -> None:
    assert all_advice().keys() <= all_clauses().keys()
    words = {
        "LRUCache",
        "delta",
        "lru",
        "shm",
        "uint8",
        "data",
        "mm_hash",
        "identifier",
        "mm_hashes",
        "currsize",
        "nbytes",
    }
    words |= {
        "order",
        "clear",
        "del",
        "in",
        "len",
        "get",
        "pop",
        "put",
        "c[key]",
        "finally",
        "delta=True",
        "popitem",
    }
    words |= {
        "remove_oldest",
        "put_if_fits",
        "get_data()",
        "sys.getsizeof",
        "mm_processor_cache_gb",
        "invalidate",
        "address",
    }
    words |= {"FileNotFoundError", "handle()", "KeyError"}
    words |= {"ID_MAX", "access_buf", "is_free", "is_writer", "metadata"}
    for identifier, told in all_advice().items():
        for name in re.findall(r"`([^`]+)`", f"{told.why} {told.look}"):
            if name in words or name.startswith("mmcache-ref "):
                continue
            for cache in (
                "LruKeyReplicatedSenderCache",
                "LruKeyReplicatedReceiverCache",
                "BaseMultiModalCache",
                "SingleWriterShmRingBuffer",
                "SingleWriterShmObjectStorage",
            ):
                if is_public(name.replace("{cache}", cache)):
                    break
            else:
                pytest.fail(f"{identifier}: no public name {name}")


def is_public(dotted: str) -> bool:
    for namespace in (
        reference,
        protocol,
        reference.BaseMultiModalCache,
        reference.BaseMultiModalProcessorCache,
    ):
        found: Any = namespace
        for part in dotted.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return True
    return False


def test_every_clause_has_advice_and_where_nobody_judges_it_a_reason() -> None:
    judged = {each for component in COMPONENTS.values() for each in component.clauses}
    for identifier in judged:
        assert advice(identifier).look, identifier
    for identifier in all_clauses().keys() - judged:
        assert advice(identifier).unjudged, identifier


def test_a_clause_without_advice_is_explained_by_its_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmcache_ref.oracle.advice.all_advice", dict)
    assert advice("FA-04").why == "an unknown type raises `ValueError`"
    assert advice("DR-04").why.startswith("P1 ingests a request with")


def test_a_request_that_bypasses_p0_claims_nothing() -> None:
    items_of = request("a")
    mismatch = Mismatch("IF-05", "outcome", "x", 0, None, 1)
    before = {"p0.order": ["a"], "p1.order": []}
    for operation, words in (
        (accidents.Bypass(items_of), "bypass [a 1 B/0]"),
        (accidents.Reject(items_of), "reject [a 1 B/0 (claimed)]"),
    ):
        run = run_of(
            "key-replicated", PairConfig(2, ()), mismatch, accidents.ClearP1(), operation, before=before
        )
        assert f"Operation 2, {words}, returned 1" in sentence(run)
