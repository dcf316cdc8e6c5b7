"""The protocol around the reference's shared-memory caches, by hand: a ring of three units, two workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from mmcache_ref import protocol
from mmcache_ref.model import shm_environment
from mmcache_ref.model.component import Content
from mmcache_ref.model.shm_environment import ACCIDENTS, DEFAULT_PROTECTIONS, Config, configure
from mmcache_ref.oracle.adapters.shm_caches import ShmCachesAdapter
from mmcache_ref.oracle.adapters.shm_chunks import observe_chunks
from mmcache_ref.oracle.adapters.shm_units import UNIT
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import execute_graph
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol import Reading, RequestItem, SharedDeployment, SharedMessage, UnsuppliedError

CAPACITY = 3
LIMIT = 2
Deploy = Callable[..., SharedDeployment]


@pytest.fixture
def deploy() -> Iterator[Deploy]:
    """Makes deployments of some caches under the default protections, but for some."""
    made: list[ShmCachesAdapter] = []

    def deployment(*, without: Iterable[str] = (), of: Any = None) -> SharedDeployment:
        protections = protocol.SHARED_DEFAULT - set(without)
        config = Config(CAPACITY, LIMIT, requests=(), protections=protections)
        made.append(ShmCachesAdapter(of or resolve("reference"), config))
        deployed: SharedDeployment = made[-1].deployment
        return deployed

    yield deployment
    for adapter in made:
        adapter.close()


def request(*names: str, is_supplied: bool = True) -> protocol.Request:
    """Items such as `a` (one unit) or `b:2` (two)."""
    parts = [name.partition(":") for name in names]
    return tuple(
        [
            RequestItem(key, Content(int(units or 1), ord(key)), is_supplied=is_supplied)
            for key, _, units in parts
        ]
    )


def read_all(deployment: SharedDeployment, position: int = 0) -> list[Reading]:
    """Both workers read a message, for one child."""
    message = deployment.channel[position]
    return [deployment.read(deployment.channel.index(message), worker) for worker in (0, 1)]


def serve(deployment: SharedDeployment, *names: str) -> list[Reading]:
    """A request from P0 to its end."""
    deployment.submit(request(*names))
    readings = read_all(deployment)
    deployment.finish()
    return readings


def chunks(deployment: SharedDeployment) -> tuple[str, tuple[int, ...], tuple[int, ...]]:
    """Keys, references and reader counts of the chunks, oldest first."""
    seen = observe_chunks(deployment.front_end.sender._shm_cache)
    return "".join(seen["keys"]), seen["references"], seen["counts"]


def travels(message: SharedMessage) -> str:
    """How each item travels: as a handle, itself, or not at all."""
    return "".join(
        "-" if item is None else "h" if protocol.is_handle(item) else "i" for item in message.items
    )


def fills(reading: Reading) -> list[Any]:
    """The value of the bytes of each item that a worker was served."""
    assert reading.items is not None
    return [item and set(item["data"].data.tolist()) for item in reading.items]


def raising_at(failing: str, put: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
    """A `put` that fails at one key."""

    def fails(key: str, value: Any) -> Any:
        if key == failing:
            raise OSError("read-only")
        return put(key, value)

    return fails


# The course of a request


@pytest.mark.clause("SC-25", "SC-28", "SC-29", "SC-31")
def test_each_worker_reads_each_item_by_its_handle(deploy: Deploy) -> None:
    deployment = deploy()
    message = deployment.submit(request("a", "c:2"))
    assert travels(message) == "hh"
    readings = read_all(deployment)
    assert [fills(reading) for reading in readings] == [[{ord("a")}, {ord("c")}]] * 2
    assert chunks(deployment) == ("ac", (1, 1), (2, 2))
    assert (deployment.channel, deployment.running) == ([], [message])
    deployment.finish()
    assert deployment.running == []


@pytest.mark.clause("SC-26")
def test_a_request_without_data_for_what_is_not_stored_is_refused(deploy: Deploy) -> None:
    deployment = deploy()
    serve(deployment, "a")
    with pytest.raises(UnsuppliedError, match=r"\['e'\].*send it with their data"):
        deployment.submit(request("a", "e", is_supplied=False))
    assert chunks(deployment) == ("a", (1,), (2,))
    assert deployment.channel == []


@pytest.mark.clause("SC-28", "SC-36", "SC-37")
def test_what_the_store_refuses_travels_itself(deploy: Deploy) -> None:
    """[c (2)] is under way, [e (2)] needs its place; [g (3)] is above the limit."""
    deployment = deploy()
    assert travels(deployment.submit(request("c:2"))) == "h"
    assert travels(deployment.submit(request("e:2"))) == "i"
    assert travels(deployment.submit(request("g:3"))) == "i"
    assert [fills(reading) for reading in read_all(deployment, 2)] == [[{ord("g")}]] * 2
    assert chunks(deployment) == ("c", (1,), (0,))


@pytest.mark.clause("SC-35")
def test_what_all_workers_have_acknowledged_makes_room(deploy: Deploy) -> None:
    deployment = deploy()
    for key in "aceg":
        serve(deployment, f"{key}:2")
    assert chunks(deployment) == ("g", (1,), (2,))


# Accidents, with their protection and without it


@pytest.mark.clause("SC-38")
@pytest.mark.parametrize("accident", ["reject", "abort"])
def test_what_was_refused_or_aborted_is_read_and_makes_room(deploy: Deploy, accident: str) -> None:
    deployment, careless = deploy(), deploy(without=["release-on-abort"])
    for each in (deployment, careless):
        if accident == "reject":
            each.reject(request("a"))
        else:
            each.submit(request("a"))
            each.abort()
    assert careless.channel == []
    assert [reading.items for reading in read_all(deployment)] == [(), ()]
    assert (deployment.channel, deployment.running) == ([], [])
    for each, key in ((deployment, "e"), (careless, "a")):
        serve(each, "c:2")
        serve(each, "e:2")
        assert chunks(each)[0][0] == key
    assert (deployment.work.stranded, careless.work.stranded) == (0, 2)


@pytest.mark.clause("SC-38")
@pytest.mark.parametrize("accident", ["submit", "reject"])
def test_what_a_request_was_given_before_an_update_failed_is_read(deploy: Deploy, accident: str) -> None:
    deployment, careless = deploy(), deploy(without=["release-on-abort"])
    for each in (deployment, careless):
        store = each.front_end.sender._shm_cache
        asked = request("a", "c")
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(store, "put", raising_at("c", store.put))
            with pytest.raises(OSError, match="read-only"):
                getattr(each, accident)(asked)
        assert chunks(each) == ("a", (1,), (0,))
    assert careless.channel == []
    assert [reading.items for reading in read_all(deployment)] == [(), ()]
    assert (deployment.channel, chunks(deployment)) == ([], ("a", (1,), (2,)))
    assert (deployment.work.stranded, careless.work.stranded) == (0, 2)


@pytest.mark.clause("SC-38")
def test_a_request_whose_first_update_fails_leaves_nothing_to_read(deploy: Deploy) -> None:
    deployment = deploy()
    deployment.submit(request("a"))
    store = deployment.front_end.sender._shm_cache
    fails, unsupplied = request("c", "a"), request("e", is_supplied=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(store, "put", raising_at("c", store.put))
        with pytest.raises(OSError, match="read-only"):
            deployment.submit(fails)
    assert len(deployment.channel) == 1
    with pytest.raises(UnsuppliedError):
        deployment.submit(unsupplied)
    assert len(deployment.channel) == 1


@pytest.mark.clause("SC-38")
def test_after_an_abort_only_who_has_not_read_owes_a_read(deploy: Deploy) -> None:
    deployment = deploy()
    deployment.submit(request("a"), 3)
    deployment.read(0, 0)
    deployment.abort()
    assert deployment.channel[0].owed == [0, 1]
    deployment.read(0, 1)
    assert deployment.channel == []
    assert chunks(deployment) == ("a", (1,), (2,))


@pytest.mark.clause("SC-34", "SC-39")
def test_children_are_served_from_the_first_read(deploy: Deploy) -> None:
    deployment, careless = deploy(), deploy(without=["one-acknowledgement"])
    for each in (deployment, careless):
        each.submit(request("a"), 2)
        assert [fills(reading) for _ in range(2) for reading in read_all(each)] == [[{ord("a")}]] * 4
        assert (len(each.channel), len(each.running)) == (0, 1)
    assert chunks(deployment) == ("a", (1,), (2,))
    assert chunks(careless) == ("a", (1,), (4,))
    assert (deployment.work.spared, careless.work.spared) == (2, 0)


@pytest.mark.clause("SC-34", "SC-40")
def test_a_resumed_request_is_served_from_what_was_read(deploy: Deploy) -> None:
    deployment, careless = deploy(), deploy(without=["handle-until-done"])
    for each in (deployment, careless):
        each.submit(request("a"))
        read_all(each)
        assert [fills(reading) for reading in each.resume()] == [[{ord("a")}]] * 2
    assert chunks(deployment)[2] == (2,)
    assert chunks(careless)[2] == (4,)


@pytest.mark.clause("SC-40", "SC-42", "SC-45")
def test_a_resumed_request_whose_handles_are_gone_is_retried_with_its_data(deploy: Deploy) -> None:
    deployment = deploy(without=["handle-until-done"])
    deployment.submit(request("a:2"))
    read_all(deployment)
    deployment.submit(request("c:2"))
    read_all(deployment)
    assert {reading.missing for reading in deployment.resume()} == {("a",)}
    assert (len(deployment.running), len(deployment.retries)) == (1, 1)
    assert travels(deployment.retry()) == "i"
    assert [fills(reading) for reading in read_all(deployment)] == [[{ord("a")}]] * 2


@pytest.mark.clause("SC-41")
def test_a_clear_waits_for_the_handles_under_way(deploy: Deploy) -> None:
    deployment = deploy()
    deployment.submit(request("a"), 2)
    assert deployment.clear() is False
    deployment.read(0, 0)
    assert deployment.clear() is False
    deployment.read(0, 1)
    assert deployment.clear()
    assert chunks(deployment)[0] == ""
    assert [fills(reading) for reading in read_all(deployment)] == [[{ord("a")}]] * 2


@pytest.mark.clause("SC-33", "SC-42", "SC-45")
def test_a_worker_that_finds_a_chunk_gone_reports_it_and_reads_the_rest(deploy: Deploy) -> None:
    """[a, g, c] under way, g (3) with its data: after a clear the other two are gone."""
    deployment = deploy(without=["drained-clear"])
    deployment.submit(request("a", "g:3", "c"))
    assert deployment.clear()
    deployment.submit(request("e"))
    assert [reading.missing for reading in read_all(deployment)] == [("a", "c")] * 2
    assert deployment.is_dead is False
    assert deployment.work.misses == 2
    assert travels(deployment.retry()) == "iii"
    assert deployment.work.retries == 1


@pytest.mark.clause("SC-23", "SC-42")
def test_without_recovery_a_chunk_that_is_gone_ends_the_engine(deploy: Deploy) -> None:
    deployment = deploy(without=["drained-clear", "recoverable-miss"])
    deployment.submit(request("a"))
    deployment.clear()
    deployment.submit(request("e"))
    with pytest.raises(ValueError, match="modified or is invalid"):
        deployment.read(0, 1)
    assert deployment.is_dead


@pytest.mark.clause("SC-30")
def test_a_strip_leaves_the_handles(deploy: Deploy) -> None:
    deployment, careless = deploy(), deploy(without=["keep-handles"])
    for each, left in ((deployment, "h-"), (careless, "--")):
        message = each.submit(request("a", "g:3"))
        each.strip()
        assert travels(message) == left
        assert [fills(reading)[1] for reading in read_all(each)] == [None, None]
    assert chunks(deployment)[2] == (2,)
    assert chunks(careless)[2] == (0,)


@pytest.mark.clause("SC-27", "SC-43")
def test_a_handle_that_a_client_brings_takes_a_reference(deploy: Deploy) -> None:
    deployment, careless = deploy(), deploy(without=["validated-handle"])
    for each in (deployment, careless):
        [handle] = each.submit(request("a")).items
        read_all(each)
        assert travels(each.replay(request("a")[0], handle)) == "h"
        read_all(each)
    assert chunks(deployment) == ("a", (2,), (4,))
    assert chunks(careless) == ("a", (1,), (4,))


@pytest.mark.clause("SC-27")
def test_a_handle_that_is_not_current_is_refused(deploy: Deploy) -> None:
    deployment = deploy()
    [handle] = deployment.submit(request("a:2")).items
    read_all(deployment)
    serve(deployment, "c:2")
    for item in (*request("a"), *request("c")):
        with pytest.raises(ValueError, match="SHM handle signature"):
            deployment.forge(item, handle)
    assert deployment.channel == []
    assert chunks(deployment) == ("c", (1,), (2,))


@pytest.mark.clause("SC-42", "SC-44", "SC-45")
def test_after_the_death_of_a_worker_everything_is_retried_and_nothing_waits_for_it(deploy: Deploy) -> None:
    deployment = deploy()
    serve(deployment, "a")
    deployment.submit(request("a"))
    deployment.submit(request("c"), 2)
    read_all(deployment, 0)
    deployment.die(1)
    assert [retry.request[0].mm_hash for retry in deployment.retries] == ["c", "a"]
    assert chunks(deployment)[0] == ""
    assert [message.owed for message in deployment.channel] == [[1, 0]]
    assert deployment.read(0, 0).items == ()
    assert deployment.channel == []
    deployment.retry()
    assert deployment.channel[0].owed == [2, 2]
    assert [fills(reading) for reading in read_all(deployment)] == [[{ord("c")}]] * 2


@pytest.mark.clause("SC-44")
def test_without_a_clear_a_dead_worker_holds_its_chunks_for_ever(deploy: Deploy) -> None:
    deployment = deploy(without=["clear-on-death"])
    deployment.submit(request("a"))
    deployment.die(0)
    assert deployment.read(0, 1).items == ()
    assert (deployment.channel, deployment.retries) == ([], [])
    serve(deployment, "c:2")
    assert travels(deployment.submit(request("e:2"))) == "i"
    assert deployment.work.stranded == 1


# Around the published caches


def stranded(deployment: SharedDeployment) -> None:
    """A request is refused after its update, and the next ones need its place."""
    deployment.reject(request("a:2"))
    while deployment.channel:
        read_all(deployment)
    assert travels(deployment.submit(request("c:2"))) == "h"
    read_all(deployment)


def cleared(deployment: SharedDeployment) -> None:
    """A clear while a handle is under way, and another item in its place."""
    deployment.submit(request("a:2"))
    if deployment.clear():
        deployment.submit(request("c:2"))
    read_all(deployment)


def paid_twice(deployment: SharedDeployment) -> None:
    """A request of two children pays for the next one, whose chunk is then reclaimed."""
    deployment.submit(request("a:2"), 2)
    read_all(deployment)
    read_all(deployment)
    deployment.submit(request("a:2"))
    deployment.submit(request("c:2"))
    read_all(deployment)


def resumed(deployment: SharedDeployment) -> None:
    """A preempted request comes back when its chunk has been reclaimed."""
    deployment.submit(request("a:2"))
    read_all(deployment)
    serve_after(deployment, "c:2")
    deployment.resume()


def serve_after(deployment: SharedDeployment, name: str) -> None:
    deployment.submit(request(name))
    read_all(deployment)
    deployment.finish(1)


def replayed(deployment: SharedDeployment) -> None:
    """A client's handle is accepted, and its chunk reclaimed before the workers read it."""
    [handle] = deployment.submit(request("a:2")).items
    read_all(deployment)
    deployment.replay(request("a:2")[0], handle)
    deployment.submit(request("c:2"))
    read_all(deployment)


@pytest.mark.upstream
@pytest.mark.clause("SC-38", "SC-39", "SC-40", "SC-41", "SC-43")
@pytest.mark.parametrize(
    ("accident", "protection"),
    [
        (stranded, "release-on-abort"),
        (paid_twice, "one-acknowledgement"),
        (resumed, "handle-until-done"),
        (cleared, "drained-clear"),
        (replayed, "validated-handle"),
    ],
)
def test_the_published_caches_fail_without_the_protection_and_not_with_it(
    release: Any, deploy: Deploy, accident: Callable[[SharedDeployment], None], protection: str
) -> None:
    protected = deploy(of=release)
    accident(protected)
    assert (protected.is_dead, protected.retries) == (False, [])
    with pytest.raises((ValueError, AssertionError), match=r"modified or is invalid|'i' == 'h'"):
        accident(deploy(without=[protection, "recoverable-miss"], of=release))
    if accident is not stranded:
        recovering = deploy(without=[protection], of=release)
        accident(recovering)
        assert recovering.is_dead is False
        assert [retry.request[0].mm_hash for retry in recovering.retries] == ["a"]


# What it costs, and what it is made of


def test_the_work_is_counted(deploy: Deploy) -> None:
    """[a, c] twice, two workers, then [g] inline: two puts, four references, eight copies, one item sent."""
    deployment = deploy()
    serve(deployment, "a", "c")
    serve(deployment, "a", "c")
    serve(deployment, "g:3")
    work = deployment.work.report()
    assert {name: count for name, count in work.items() if count and not name.endswith("bytes")} == {
        "processed": 3,
        "messages": 3,
        "references": 4,
        "acknowledgements": 8,
    }
    one = work["stored_bytes"] // 2
    assert 0 < one < UNIT
    assert work["copied_bytes"] == 8 * one
    assert 2 * UNIT < work["inline_bytes"] < 3 * UNIT
    assert work["peak_bytes"] == work["inline_bytes"]


def test_protocol_and_model_know_the_same_protections() -> None:
    assert protocol.SHARED_PROTECTIONS.keys() == shm_environment.PROTECTIONS.keys()
    assert protocol.SHARED_DEFAULT == shm_environment.DEFAULT_PROTECTIONS


def test_an_unknown_protection_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"no such protection: magic\. Take of: clear-on-death, drained"):
        SharedDeployment(None, ["magic"])  # type: ignore[arg-type]


# Step by step as the model


def executed(accidents: Iterable[str], protections: Iterable[str], depth: int = 1) -> int:
    """The edges of the model's tiny graph, each performed by the protocol and compared with the model."""
    config = configure("tiny", accidents=accidents, protections=protections, depth=depth)
    done = execute_graph(Trial(COMPONENTS["shm-caches"], resolve("reference")), config)
    assert done.runs == {}
    assert done.is_complete
    return done.edges


@pytest.mark.parametrize("accident", sorted(ACCIDENTS))
@pytest.mark.parametrize("protections", ["none", "its own", "default"])
def test_the_protocol_does_what_the_model_does(accident: str, protections: str) -> None:
    named = {
        "none": frozenset[str](),
        "its own": ACCIDENTS[accident].protections,
        "default": DEFAULT_PROTECTIONS,
    }[protections]
    assert executed([accident], named) >= 28


@pytest.mark.slow
@pytest.mark.parametrize("accident", sorted(ACCIDENTS))
def test_it_does_so_with_two_requests_under_way(accident: str) -> None:
    assert executed([accident], (), depth=2) >= 700


@pytest.mark.slow
@pytest.mark.parametrize("dropped", ["nothing", *sorted(DEFAULT_PROTECTIONS)])
def test_it_does_so_whatever_protection_is_switched_off(dropped: str) -> None:
    assert executed(ACCIDENTS, DEFAULT_PROTECTIONS - {dropped}) > 200


@pytest.mark.clause("SC-48")
def test_when_p1_dies_everything_is_retried_and_the_store_is_empty(deploy: Deploy) -> None:
    deployment = deploy()
    serve(deployment, "a")
    deployment.submit(request("a", "b"))
    deployment.read(0, 1)
    before = list(deployment.workers)
    deployment.restart_p1()
    assert all(new is not old for new, old in zip(deployment.workers, before, strict=True))
    assert chunks(deployment)[0] == ""
    assert deployment.channel == []
    assert [retry.request for retry in deployment.retries] == [request("a", "b")]
    deployment.retry()
    assert [reading.items is not None for reading in read_all(deployment)] == [True, True]
    deployment.finish()
    assert travels(deployment.submit(request("a"))) == "h"


@pytest.mark.clause("SC-50")
def test_a_current_handle_that_is_missed_says_that_the_segment_is_damaged(deploy: Deploy) -> None:
    deployment = deploy()
    deployment.submit(request("a"))
    deployment.submit(request("b"))
    store = deployment.front_end.sender._shm_cache
    place = 32 + store.key_index["a"][0]
    store.ring_buffer.shared_memory.buf[place : place + 4] = b"\xff\xff\xff\x7f"
    assert [reading.missing for reading in read_all(deployment)] == [("a",), ("a",)]
    assert deployment.examine() is True
    assert chunks(deployment)[0] == ""
    assert [[item.mm_hash for item in retry.request] for retry in deployment.retries] == [["a"], ["b"]]
    assert [reading.items for reading in read_all(deployment)] == [(), ()]
    assert deployment.channel == []
    assert deployment.examine() is False


@pytest.mark.clause("SC-50")
def test_a_handle_that_is_gone_says_nothing_of_damage(deploy: Deploy) -> None:
    deployment = deploy(without=["drained-clear"])
    deployment.submit(request("a"))
    deployment.clear()
    assert [reading.missing for reading in read_all(deployment)] == [("a",), ("a",)]
    deployment.submit(request("b"))
    assert deployment.examine() is False
    assert chunks(deployment)[0] == "b"
