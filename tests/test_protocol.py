"""The protocol around the reference's caches: it does what the model does, and costs what the clauses say."""

from __future__ import annotations

import random
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from mmcache_ref import protocol
from mmcache_ref.model import environment
from mmcache_ref.model import key_replicated as model
from mmcache_ref.model.component import Content
from mmcache_ref.model.environment import ACCIDENTS, DEFAULT_PROTECTIONS, Config, configure
from mmcache_ref.oracle.adapters.key_replicated import KeyReplicatedAdapter
from mmcache_ref.oracle.choices.key_replicated import choose
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.draws import Draw
from mmcache_ref.oracle.exhaustive import execute_graph
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol import Deployment, RequestItem, UnsuppliedError

DRIFT = COMPONENTS["drift"]
BUDGET = 6


def deploy(*, without: Iterable[str] = (), budget: int = BUDGET) -> Deployment:
    """The reference's pair under the default protections, but for some; raw data is a `Content`."""
    config = Config(budget, requests=(), protections=DEFAULT_PROTECTIONS - set(without))
    deployment: Deployment = KeyReplicatedAdapter(resolve("reference"), config).deployment
    return deployment


def request(*names: str, modality: str = "image", is_supplied: bool = True) -> protocol.Request:
    """Items such as `a` (one byte) or `b:2` (two bytes)."""
    parts = [name.partition(":") for name in names]
    return tuple(
        [RequestItem(key, Content(int(size or 1), 7), modality, is_supplied) for key, _, size in parts]
    )


def keys(deployment: Deployment) -> tuple[str, str]:
    """The keys of P0 and of P1, least recent first."""
    sender, receiver = deployment.front_end.sender, deployment.engine.receiver
    return "".join(sender._cache.order), "".join(receiver._cache.order)


def exchange(deployment: Deployment, *names: str) -> protocol.Answer:
    """A request that is sent and ingested at once."""
    deployment.submit(request(*names))
    answer = deployment.deliver()
    assert answer is not None
    return answer


def executed(accidents: Iterable[str], protections: Iterable[str], **options: Any) -> int:
    """The edges of the model's tiny graph, each performed by the protocol and compared with the model."""
    config = configure("tiny", accidents=accidents, protections=protections, **options)
    done = execute_graph(Trial(DRIFT, resolve("reference")), config)
    assert done.runs == {}
    assert done.is_complete
    return done.edges


# Step by step as the model


@pytest.mark.parametrize("accident", sorted(ACCIDENTS))
@pytest.mark.parametrize("protections", ["none", "its own", "default"])
def test_the_protocol_does_what_the_model_does(accident: str, protections: str) -> None:
    named = {
        "none": frozenset({"keep-touched"}),
        "its own": frozenset({"keep-touched"}) | ACCIDENTS[accident].protections,
        "default": DEFAULT_PROTECTIONS,
    }[protections]
    assert executed([accident], named, depth=1) >= 42


@pytest.mark.slow
@pytest.mark.parametrize("dropped", ["nothing", *sorted(DEFAULT_PROTECTIONS - {"keep-touched", "paired"})])
def test_it_does_so_whatever_protection_is_switched_off(dropped: str) -> None:
    within = set(ACCIDENTS) - {"new-content", "dry-run"}
    assert executed(within, DEFAULT_PROTECTIONS - {dropped}, depth=1) > 15_000


@pytest.mark.slow
@pytest.mark.parametrize("second", ["second-engine", "second-front-end"])
def test_it_does_so_with_a_peer_too_many(second: str) -> None:
    others = {"reject", "oversize", "restart-p1"}
    assert executed({second, *others}, DEFAULT_PROTECTIONS - {"paired", "rollback"}, depth=1) > 5_000


def test_protocol_and_model_know_the_same_protections() -> None:
    assert protocol.PROTECTIONS.keys() == environment.PROTECTIONS.keys()
    assert protocol.DEFAULT == environment.DEFAULT_PROTECTIONS


# By hand


@pytest.mark.clause("DR-01", "DR-04", "KR-02", "KR-10")
def test_a_hit_sends_no_payload_and_is_served() -> None:
    deployment = deploy()
    first, second = exchange(deployment, "a:2"), exchange(deployment, "a:2")
    assert first.items is not None
    assert second.items is not None
    assert second.items[0] is first.items[0]
    assert (deployment.work.payload_bytes, deployment.work.claims) == (2, 1)


@pytest.mark.clause("DR-02")
def test_a_request_that_brings_no_data_for_what_is_not_cached_is_refused() -> None:
    deployment = deploy()
    exchange(deployment, "a")
    with pytest.raises(UnsuppliedError, match=r"\['b', 'c'\].*send it with their data") as caught:
        deployment.submit(request("b", "a", "c", is_supplied=False))
    assert caught.value.mm_hashes == ["b", "c"]
    assert keys(deployment) == ("a", "a")
    assert deployment.channel.messages == ()


@pytest.mark.clause("DR-13")
@pytest.mark.parametrize("refuse", ["reject", "dry_run"])
def test_a_refused_request_leaves_p0_as_it_was(refuse: str) -> None:
    deployment, careless = deploy(), deploy(without=["rollback"])
    for each in (deployment, careless):
        exchange(each, "a:3", "b:3")
        getattr(each, refuse)(request("c:4"))
    assert keys(deployment) == ("ab", "ab")
    assert keys(careless) == ("c", "ab")
    assert exchange(careless, "c:4").missing == ("c",)


@pytest.mark.clause("DR-14")
def test_what_arrives_early_is_held_back() -> None:
    deployment = deploy()
    deployment.submit(request("a"))
    deployment.submit(request("a", "b"))
    assert deployment.deliver(1) is None
    assert deployment.deliver() is not None
    assert deployment.deliver() is not None
    assert keys(deployment) == ("ab", "ab")


@pytest.mark.clause("DR-15")
def test_a_clear_travels_among_the_messages() -> None:
    deployment = deploy()
    deployment.submit(request("a"))
    assert deployment.clear_both()
    deployment.submit(request("b"))
    assert deployment.finish_clear() is False
    assert deployment.deliver() is not None
    assert deployment.deliver() is None
    assert deployment.finish_clear()
    assert deployment.deliver() is not None
    assert keys(deployment) == ("b", "b")


@pytest.mark.clause("DR-15")
def test_a_clear_of_both_waits_for_the_one_before() -> None:
    deployment = deploy(without=("epoch",))
    exchange(deployment, "a")
    assert deployment.clear_both()
    deployment.submit(request("b"))
    assert not deployment.clear_both()
    assert deployment.deliver() is None
    assert keys(deployment) == ("b", "a")
    assert deployment.finish_clear()
    assert deployment.clear_both()
    assert deployment.deliver() is not None
    assert deployment.finish_clear()
    assert keys(deployment) == ("", "")


@pytest.mark.clause("DR-05", "DR-09", "DR-15", "DR-23", "DR-25")
def test_after_p1_forgot_one_miss_and_one_retry_bring_both_sides_back_in_step() -> None:
    deployment = deploy()
    exchange(deployment, "a", "b", "c")
    deployment.restart_p1()
    missed = exchange(deployment, "a", "d", "c")
    assert (missed.items, missed.missing) == (None, ("a", "c"))
    assert deployment.handle_report()
    deployment.retry()
    answer = deployment.deliver()
    assert answer is not None
    assert [len(item["data"].data) for item in answer.items or ()] == [1, 1, 1]
    assert keys(deployment) == ("adc", "adc")


@pytest.mark.clause("DR-16")
def test_p0_updates_in_prompt_order() -> None:
    mixed = (*request("a", modality="video"), *request("b"), *request("c", modality="video"))
    for without, order in (((), "abc"), (("one-order",), "bac")):
        deployment = deploy(without=without)
        deployment.submit(mixed)
        deployment.deliver()
        assert keys(deployment) == (order, "abc")


@pytest.mark.clause("DR-17")
def test_what_p0_did_not_record_is_served_and_not_kept() -> None:
    deployment = deploy()
    deployment.bypass(request("a"))
    answer = deployment.deliver()
    assert answer is not None
    assert answer.items is not None
    assert keys(deployment) == ("", "")
    assert deployment.work.set_aside == 1


@pytest.mark.clause("DR-18", "DR-19")
def test_reports_and_clears_wait_for_the_update() -> None:
    deployment = deploy()
    exchange(deployment, "a")
    deployment.restart_p1()
    exchange(deployment, "a")
    deployment.check(request("a"))
    assert not deployment.handle_report()
    assert not deployment.lose_report()
    assert not deployment.clear_p0()
    assert not deployment.clear_both()
    deployment.update()
    assert deployment.lose_report()
    assert keys(deployment) == ("", "")


@pytest.mark.clause("DR-21")
def test_another_engine_or_front_end_changes_nothing_in_the_pair() -> None:
    deployment = deploy()
    exchange(deployment, "a")
    for other in (deployment.second_engine, deployment.second_front_end):
        assert other(request("b:6")).items is not None
        with pytest.raises(UnsuppliedError):
            other(request("a", is_supplied=False))
    assert keys(deployment) == ("a", "a")
    unpaired = deploy(without=["paired"])
    unpaired.second_engine(request("b"))
    assert exchange(unpaired, "b").missing == ("b",)


@pytest.mark.clause("DR-22", "DR-24")
def test_what_was_sent_arrives_also_when_it_is_aborted_or_lost() -> None:
    deployment = deploy()
    deployment.submit(request("a:2"))
    deployment.submit(request("b:3"))
    deployment.abort(0)
    deployment.drop(0)
    assert [deployment.deliver() is not None for _ in range(2)] == [True, True]
    assert keys(deployment) == ("ab", "ab")
    assert (deployment.work.resent_messages, deployment.work.resent_bytes) == (1, 2)


@pytest.mark.clause("KR-07")
def test_statistics_count_one_lookup_for_each_update_also_of_a_retry() -> None:
    """[a, b] twice: 2 hits of 4. The second misses in P1; its retry, all resent: 2 of 6, 0 of 2 since."""
    deployment = deploy(without=["epoch"])
    exchange(deployment, "a", "b")
    deployment.clear_p1()
    assert exchange(deployment, "a", "b").missing == ("a", "b")
    sender = deployment.front_end.sender
    assert tuple(sender.make_stats(delta=True)) == (2, 4)
    deployment.handle_report()
    deployment.retry()
    assert tuple(sender.make_stats(delta=True)) == (0, 2)
    assert tuple(sender.make_stats()) == (2, 6)


# What it costs


@pytest.mark.clause("DR-26")
def test_the_work_of_a_miss_is_counted() -> None:
    """a (2) and b (3) sent; after a restart [b, a, c (1)] is missed, then resent whole: 5 + 1 + 6 bytes."""
    deployment = deploy()
    exchange(deployment, "a:2", "b:3")
    deployment.restart_p1()
    assert exchange(deployment, "b:3", "a:2", "c").missing == ("b", "a")
    deployment.handle_report()
    deployment.retry()
    deployment.deliver()
    work = deployment.work.report()
    assert work == {
        "retries": 1,
        "processed": 6,
        "messages": 3,
        "payload_bytes": 12,
        "claims": 2,
        "resent_messages": 0,
        "resent_bytes": 0,
        "misses": 1,
        "set_aside": 1,
    }


@pytest.mark.clause("DR-23", "DR-25", "DR-26")
@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_a_request_is_sent_at_most_twice(seed: int) -> None:
    """Random walks with every accident; a message that is a retry is never missed, whenever it arrives."""
    chance = random.Random(seed)
    draw = Draw(SimpleNamespace(draw=lambda _: chance.randbytes(8)), ())
    config = Config(
        BUDGET,
        requests=(),
        depth=3,
        clears=1_000,
        accidents=frozenset(ACCIDENTS),
        protections=DEFAULT_PROTECTIONS,
    )
    adapter = KeyReplicatedAdapter(resolve("reference"), config)
    deployment, state = adapter.deployment, model.initial(config)
    retried: dict[int, protocol.Message] = {}
    misses = 0
    for _ in range(1_500):
        operation = choose(config, state, draw)
        state, outcome = model.step(config, state, operation)
        if outcome.kind == "disabled":
            continue
        before = {id(message): message for message in deployment.channel.messages}
        reported = len(deployment.reports)
        adapter.perform(operation)
        after = {id(message): message for message in deployment.channel.messages}
        if isinstance(operation, model.SubmitAgain):
            retried |= {each: after[each] for each in after.keys() - before.keys()}
        if isinstance(operation, model.Deliver) and len(deployment.reports) > reported:
            misses += 1
            assert not (before.keys() - after.keys()) & retried.keys()
    assert misses > 5
    assert len(retried) > 5


def test_an_unknown_protection_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no such protection: magic\. Take of: content-identity, epoch"):
        Deployment(None, ["magic"])  # type: ignore[arg-type]


# Around other caches


@pytest.mark.upstream
@pytest.mark.clause("DR-12")
def test_it_stands_around_the_published_caches_too(release: Any) -> None:
    """0.32 within the budget is in step; [c (7), a (4)] after a, budget 10, ends in its assertion (D03)."""
    config = Config(10, requests=(), protections=DEFAULT_PROTECTIONS)
    deployment = KeyReplicatedAdapter(release, config).deployment
    exchange(deployment, "a:4")
    exchange(deployment, "b:5", "a:4")
    assert keys(deployment) == ("ba", "ba")
    with pytest.raises(AssertionError):
        deployment.submit(request("c:7", "a:4"))
