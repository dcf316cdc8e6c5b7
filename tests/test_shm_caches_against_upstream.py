"""The shared-memory caches beside those of vLLM 0.32.0, both with one serde: every address is the same."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from typing import Any

import pytest
import torch

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.upstream import UpstreamNamespace
from mmcache_ref.reference.serde import ItemClasses, MsgpackSerde

pytestmark = pytest.mark.upstream

MIB = 2**20
WORKERS = 2
RING = 30_000
LARGEST = 8_000


class Side:
    """One target's sender and its workers on a segment of their own."""

    def __init__(self, target: Namespace, ring: int, largest: int, cleanup: ExitStack) -> None:
        self.target = target
        config = target.make_vllm_config(
            mm_processor_cache_gb=ring / 2**30,
            mm_processor_cache_type="shm",
            mm_shm_cache_max_object_size_mb=largest / MIB,
            world_size=WORKERS,
        )
        lock = get_context("spawn").Lock()
        with target.ring_named(segments.fresh_name()):
            self.sender = target.ShmObjectStoreSenderCache(config)
            cleanup.callback(self.sender.close)
            self.workers = []
            for _ in range(WORKERS):
                worker = target.ShmObjectStoreReceiverCache(config, lock)
                cleanup.callback(worker._shm_cache.close)
                self.workers.append(worker)
        self.store = self.sender._shm_cache
        self.sent: list[list[tuple[str, Any]]] = []

    def item(self, nbytes: int, fill: int) -> Any:
        return self.target.make_item({"pixels": torch.full((nbytes,), fill, dtype=torch.uint8)})

    def request(self, wanted: list[tuple[str, int, int]]) -> Any:
        """P0's steps for a request of (key, bytes, fill); what is sent waits in `sent`."""
        keys = [key for key, _, _ in wanted]
        is_cached = self.sender.is_cached(keys)
        for key in keys:
            self.sender.touch_sender_cache_item(key)
        given = [
            None if cached else (self.item(nbytes, fill), [f"{key} of {fill}"])
            for (key, nbytes, fill), cached in zip(wanted, is_cached, strict=True)
        ]
        try:
            got = self.sender.get_and_update(given, keys)
        finally:
            self.sender.release_sender_touches()
        self.sent.append([(key, item) for key, (item, _) in zip(keys, got, strict=True)])
        return is_cached, [(shown(item), updates) for item, updates in got]

    def serve(self, wanted: list[tuple[str, int, int]]) -> Any:
        """A request that every worker reads at once."""
        return self.request(wanted), [self.read(worker, -1) for worker in range(WORKERS)]

    def read(self, worker: int, request: int) -> Any:
        """What a worker makes of a request that was sent."""
        features = [
            self.target.make_feature(item, "image", key, index)
            for index, (key, item) in enumerate(self.sent[request])
        ]
        self.workers[worker].get_and_update_features(features)
        return [shown(each.data) for each in features]

    def is_live(self, request: int) -> bool:
        """Are the chunks of all its handles still there?"""
        ids = [item.get_data()["monotonic_id"] for _, item in self.sent[request] if "address" in item]
        return all(each in self.store.id_index for each in ids)

    def validate(self, request: int, key: str) -> Any:
        for _, item in self.sent[request]:
            self.sender.validate_input_item(item, key)

    def clear(self) -> None:
        self.sender.clear_cache()

    def state(self) -> Any:
        ring = self.store.ring_buffer
        return (
            dict(self.store.key_index),
            dict(self.store.writer_flag),
            ring.data_buffer_start,
            ring.data_buffer_end,
            (ring.monotonic_id_start, ring.monotonic_id_end),
            dict(self.sender._p0_cache),
            tuple(self.sender.make_stats()),
            [self.reader_count(address) for address, _ in self.store.key_index.values()],
        )

    def reader_count(self, address: int) -> bytes:
        with self.store.ring_buffer.access_buf(address) as (payload, _):
            return bytes(payload[:4])


def shown(item: Any) -> Any:
    """An item as plain values; a handle without its signature, whose secret differs."""
    data = {} if item is None else dict(item.get_data())
    data.pop("signature", None)
    return {key: value.numpy().tobytes() if torch.is_tensor(value) else value for key, value in data.items()}


def outcome(call: Callable[..., Any], *arguments: Any) -> Any:
    """The result, or the kind of error and which of the documented phrases it has."""
    try:
        return call(*arguments)
    except (ValueError, AssertionError) as error:
        phrases = ("SHM handle signature", "has been modified or is invalid")
        kind = "ValueError" if isinstance(error, ValueError) else "AssertionError"
        return kind, [phrase in str(error) for phrase in phrases]


def choose(draw: random.Random, sent: int, step: int) -> tuple[Any, ...]:
    """The name of a method of `Side` and its arguments."""
    names = ("serve", "request", "read", "validate", "clear")
    name = draw.choices(names, (60, 4, 10, 6, 2))[0]
    if name == "clear":
        return ("clear",)
    if name in ("serve", "request") or not sent:
        sizes = (0, 1, 100, 1_000, 2_500, 7_000, LARGEST + 1)
        keys = [f"k{draw.randrange(40)}" for _ in range(draw.randrange(1, 4))]
        return name if sent else "request", [(key, draw.choice(sizes), step % 251) for key in keys]
    if name == "read":
        return "read", draw.randrange(WORKERS), draw.randrange(max(0, sent - 6), sent)
    return "validate", draw.randrange(sent), f"k{draw.randrange(40)}"


@contextmanager
def sides(release: UpstreamNamespace, ring: int, largest: int) -> Iterator[list[Side]]:
    """The reference and the release, both with the reference's serde."""
    module = sys.modules[release.ShmObjectStoreSenderCache.__module__]
    with ExitStack() as cleanup, pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MsgpackSerde", MsgpackSerde)
        yield [Side(target, ring, largest, cleanup) for target in (resolve("reference"), release)]


@pytest.mark.clause("SC-02", "SC-03", "SC-05", "SC-08", "SC-09", "SC-10", "SC-12", "SC-13", "SC-19", "SC-23")
@pytest.mark.parametrize("seed", range(4))
def test_random_requests_have_the_same_outcomes(release: UpstreamNamespace, seed: int) -> None:
    """Two thousand steps, some ten times round the ring, with requests that are never read and clears.

    Objects are at most 9/10 of the limit, or above it: near the limit 0.32.0 refuses what has room (S18).
    A request with a handle whose chunk is gone is read with the reference only (S16).
    """
    draw = random.Random(seed)
    with sides(release, RING, LARGEST) as both:
        wrapped = 0
        for step in range(2_000):
            name, *arguments = choose(draw, len(both[0].sent), step)
            if name == "read" and not both[0].is_live(arguments[1]):
                assert outcome(both[0].read, *arguments) == ("ValueError", [False, True])
                continue
            made = [outcome(getattr(side, name), *arguments) for side in both]
            assert made[0] == made[1], (step, name, arguments)
            assert both[0].state() == both[1].state(), (step, name, arguments)
            wrapped += both[0].store.ring_buffer.data_buffer_end > RING
        assert wrapped > 100


@pytest.mark.clause("SC-02", "SC-03", "SC-05")
@pytest.mark.parametrize("target", ["reference", "vllm@0.32.0"])
def test_three_large_items_in_a_ring_for_three(target: str) -> None:
    """15.2 MiB hold three items of 5 MiB; what is protected by its request stays, and stays readable."""
    with ExitStack() as cleanup:
        side = Side(resolve(target), int(15.2 * MIB), 6 * MIB, cleanup)

        def serve(*wanted: tuple[str, int]) -> None:
            _, read = side.serve([(key, size * MIB, ord(key)) for key, size in wanted])
            for got in read:
                assert [each["pixels"][:1] for each in got] == [key.encode() for key, _ in wanted]

        for key in "ABC":
            serve((key, 5))
        assert list(side.store.key_index) == ["A", "B", "C"]
        serve(("G", 2), ("A", 5))
        assert list(side.store.key_index) == ["A", "B", "C"], (
            "A is wanted, and only what is before it could go"
        )
        serve(("G", 2), ("H", 2), ("I", 2), ("B", 5))
        assert sorted(side.store.key_index) == ["B", "C", "G", "H"]


@pytest.mark.clause("SC-06", "SC-15", "SC-19", "SC-20", "SC-22")
@pytest.mark.parametrize("sender_is_ours", [True, False])
def test_one_side_writes_what_the_other_reads(release: UpstreamNamespace, sender_is_ours: bool) -> None:
    """A handle of one implementation's sender is read by the other's worker; each makes its own items."""
    ours = resolve("reference")
    writing, reading = (ours, release) if sender_is_ours else (release, ours)
    with ExitStack() as cleanup, own_items(release):
        sender, worker = across(writing, reading, cleanup)
        item = writing.make_item({"pixels": torch.arange(10), "grid": [1, [2, 3]]})
        handle, updates = sender.get_and_update_item((item, ["update"]), "a")
        assert updates == ["update"]
        plain = reading.make_item({"pixels": torch.zeros(3)})
        features = [reading.make_feature(each, "image", "a", 0) for each in (handle, plain, None)]
        worker.get_and_update_features(features)
        found = features[0].data
        assert type(found) is reading.MultiModalKwargsItem
        assert found.get_data()["pixels"].tolist() == list(range(10))
        assert type(found["pixels"].field) is reading.MultiModalBatchedField
        assert features[1].data is plain
        assert features[2].data is None
        with sender._shm_cache.ring_buffer.access_buf(handle.get_data()["address"]) as (payload, _):
            assert int.from_bytes(payload[:4], "little") == 1
        sender.validate_input_item(handle, "a")
        for refused in (sender.validate_input_item, worker.get_and_update_item):
            with pytest.raises(ValueError, match="SHM handle signature"):
                refused(handle, "b")


@pytest.mark.clause("SC-02", "SC-14", "SC-19")
def test_items_of_the_release_in_caches_of_the_reference(release: UpstreamNamespace) -> None:
    ours = resolve("reference")
    with ExitStack() as cleanup:
        sender, worker = across(ours, ours, cleanup)
        item = release.make_item({"pixels": torch.arange(10)})
        sender.validate_input_item(item, "a")
        handle, _ = sender.get_and_update_item((item, []), "a")
        found = worker.get_and_update_item(handle, "a")
        assert type(found) is ours.MultiModalKwargsItem
        assert found.get_data()["pixels"].tolist() == list(range(10))
        forged = release.make_item(handle.get_data())
        sender.validate_input_item(forged, "a")
        assert worker.get_and_update_item(forged, "a").get_data()["pixels"].tolist() == list(range(10))
        assert worker.get_and_update_item(item, "b") is item


def across(writing: Namespace, reading: Namespace, cleanup: ExitStack) -> tuple[Any, Any]:
    """A sender of one target, and a worker of another attached to its segment."""
    values = {
        "mm_processor_cache_gb": RING / 2**30,
        "mm_processor_cache_type": "shm",
        "mm_shm_cache_max_object_size_mb": LARGEST / MIB,
    }
    name = segments.fresh_name()
    with writing.ring_named(name), reading.ring_named(name):
        sender = writing.ShmObjectStoreSenderCache(writing.make_vllm_config(**values))
        cleanup.callback(sender.close)
        lock = get_context("spawn").Lock()
        worker = reading.ShmObjectStoreReceiverCache(reading.make_vllm_config(**values), lock)
        cleanup.callback(worker._shm_cache.close)
    return sender, worker


@contextmanager
def own_items(release: UpstreamNamespace) -> Iterator[None]:
    """Inside, the release's caches have the reference's serde, and make items of their own classes."""

    class OwnItems(MsgpackSerde):
        item_classes = ItemClasses(
            release.MultiModalKwargsItem,
            release.MultiModalFieldElem,
            release.MultiModalBatchedField,
            release.MultiModalFlatField,
            release.MultiModalSharedField,
        )

    module = sys.modules[release.ShmObjectStoreSenderCache.__module__]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MsgpackSerde", OwnItems)
        yield
