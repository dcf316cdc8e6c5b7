"""Of a broken ring, store or cache the clause that it breaks is named, and no other one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from mmcache_ref import reference
from mmcache_ref.model import object_store, ring_buffer
from mmcache_ref.model.component import Content
from mmcache_ref.model.object_store import ID_MAX, OVERHEAD
from mmcache_ref.oracle.components import COMPONENTS, TWO_READERS
from mmcache_ref.oracle.exhaustive import execute_graph
from mmcache_ref.oracle.fuzz import fuzz
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.suite import Options, judge
from mmcache_ref.reference.object_chunks import COUNT

NAMES = {name: getattr(reference, name) for name in reference.__all__}
FULL_OF_IDS = ring_buffer.Config(capacity=36, id_max=3, sizes=(4,))
"""A ring in which all ids are live at once."""


def reference_with(**replaced: Any) -> Namespace:
    """The reference with classes of its own in place of some."""
    return Namespace(SimpleNamespace(**NAMES | replaced), "broken")


def broken(name: str, config: Any, **replaced: Any) -> set[str]:
    """The clauses that a walk through a graph finds to be broken."""
    trial = Trial(COMPONENTS[name], reference_with(**replaced))
    return set(execute_graph(trial, config).runs)


class BeginsTooLate(reference.SingleWriterShmRingBuffer):
    def _forget(self, freed: Sequence[int]) -> None:
        super()._forget(freed)
        if self.metadata and freed:
            self.data_buffer_start = min(self.data_buffer_start + 1, self.data_buffer_end)


class FreesTheSecond(reference.SingleWriterShmRingBuffer):
    def _free_prefix(self, buf: memoryview, is_free: Callable[..., bool], nbytes: int) -> list[int]:
        freed = super()._free_prefix(buf, is_free, nbytes)
        if freed or nbytes <= 0 or len(self.metadata) < 2:
            return freed
        second = list(self.metadata)[1]
        with self.access_buf(self.metadata[second]) as (payload, _):
            return [second] if is_free(second, payload) else []


class FreesAByteMore(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Callable[..., bool], nbytes: int | None = None) -> Any:
        return super().free_buf(is_free_fn, nbytes if nbytes is None else nbytes + 1)


class FullIsEmpty(reference.SingleWriterShmRingBuffer):
    def free_buf(self, is_free_fn: Callable[..., bool], nbytes: int | None = None) -> Any:
        if len(self.metadata) == self.ID_MAX:
            return []
        return super().free_buf(is_free_fn, nbytes)


@pytest.mark.parametrize(
    ("ring_class", "clauses"),
    [
        (reference.SingleWriterShmRingBuffer, set()),
        (BeginsTooLate, {"RB-20"}),
        (FreesTheSecond, {"RB-16"}),
        (FreesAByteMore, {"RB-17"}),
        # In a full ring it does not ask what raises, either.
        (FullIsEmpty, {"RB-11", "RB-19"}),
    ],
)
def test_live_ids_are_to_blame_only_if_nothing_is_freed_for_them(
    ring_class: type[Any], clauses: set[str]
) -> None:
    assert broken("ring-buffer", FULL_OF_IDS, SingleWriterShmRingBuffer=ring_class) == clauses


class AnyReaderFrees(reference.SingleWriterShmObjectStorage):
    def default_is_free_check(self, id: int, buf: memoryview) -> bool:
        return id not in self._touched and COUNT.unpack_from(buf)[0] >= self.writer_flag[id]


class WaitsForAllButOne(reference.SingleWriterShmObjectStorage):
    def default_is_free_check(self, id: int, buf: memoryview) -> bool:
        acknowledged = COUNT.unpack_from(buf)[0] + (self.n_readers > 1)
        return id not in self._touched and acknowledged >= self.writer_flag[id] * self.n_readers


class FreesWhatIsHeld(reference.SingleWriterShmObjectStorage):
    def default_is_free_check(self, id: int, buf: memoryview) -> bool:
        return True


class SaysItLoudly(reference.SingleWriterShmObjectStorage):
    def put(self, key: str, value: Any) -> tuple[int, int]:
        try:
            return super().put(key, value)
        except MemoryError as error:
            raise MemoryError("NOT ENOUGH SPACE") from error


class LimitsToOneLess(reference.SingleWriterShmObjectStorage):
    def put(self, key: str, value: Any) -> tuple[int, int]:
        self.max_object_size -= 1
        try:
            return super().put(key, value)
        finally:
            self.max_object_size += 1


@pytest.mark.parametrize(
    ("store_class", "clauses"),
    [(AnyReaderFrees, {"OS-25"}), (LimitsToOneLess, {"OS-03"}), (SaysItLoudly, set())],
)
def test_a_store_for_two_readers(store_class: type[Any], clauses: set[str]) -> None:
    assert isinstance(TWO_READERS, object_store.Config)
    assert broken("object-store", TWO_READERS, SingleWriterShmObjectStorage=store_class) == clauses


@pytest.mark.clause("OS-25")
def test_a_store_that_does_not_wait_for_its_last_reader_breaks_what_is_free_and_nothing_else() -> None:
    component = COMPONENTS["object-store"]
    namespace = reference_with(SingleWriterShmObjectStorage=WaitsForAllButOne)
    put = {key: object_store.Put(key, Content(1, 1)) for key in "ahcd"}
    free = object_store.FreeUnused()

    def first(capacity: int, *operations: Any) -> Any:
        config = object_store.Config(capacity=capacity, max_object_size=OVERHEAD, readers=2)
        mismatch = Trial(component, namespace).run(config, operations).mismatch
        return mismatch and (mismatch.clause, mismatch.aspect, mismatch.suspects)

    both = [put["a"], *(object_store.Get("a", reader=each) for each in (0, 1))]
    one = [put["h"], object_store.Get("h")]
    size = OVERHEAD + 1
    assert first(3 * size, *one, free) == ("OS-25", "length", ("OS-25",))
    assert first(3 * size, *both, *one, free) == ("OS-25", "length", ("OS-25",))
    assert first(3 * size, *both, *one, put["d"], put["c"]) == ("OS-25", "length", ("OS-25",))
    assert first(size, *one, put["c"]) == ("OS-25", "outcome", ("OS-25",))
    assert first(3 * size, *both, free) is None

    small = replace(component, tiny=TWO_READERS, beside=())
    verdict = judge(small, namespace, Options(seed=0, examples=200), seconds=120)
    assert [(each.id, each.run and len(each.run.steps)) for each in verdict.broken] == [("OS-25", 3)]


@pytest.mark.parametrize("id_max", [ID_MAX, 4])
def test_a_chunk_that_is_freed_behind_a_held_one_is_no_matter_of_when_it_is_free(id_max: int) -> None:
    config = object_store.Config(capacity=3 * OVERHEAD + 3, max_object_size=OVERHEAD, id_max=id_max)
    put = [object_store.Put(key, Content(1, 1)) for key in "abc"]
    get = [object_store.Get(key) for key in "abc"]
    free = object_store.FreeUnused()
    wrapped = [put[0], get[0], free, put[1], put[2], object_store.Put("d", Content(1, 1))]

    def culprit(store: type[Any], ring: type[Any], *operations: Any) -> str | None:
        replaced = {"SingleWriterShmObjectStorage": store, "SingleWriterShmRingBuffer": ring}
        trial = Trial(COMPONENTS["object-store"], reference_with(**replaced))
        mismatch = trial.run(config, operations).mismatch
        return mismatch and mismatch.clause

    store, ring = reference.SingleWriterShmObjectStorage, reference.SingleWriterShmRingBuffer
    for begin, held in ([*put[:2]], get[1]), ([*wrapped], get[2]):
        assert culprit(store, FreesTheSecond, *begin, held, free) == "OS-27"
        assert culprit(FreesWhatIsHeld, ring, *begin, free) == "OS-25"
        assert culprit(store, ring, *begin, held, free) is None


class KeepsWhatWasTold(reference.ShmObjectStoreSenderCache):
    def clear_cache(self) -> None:
        told = self._last_info
        super().clear_cache()
        self._last_info = told


def test_differences_begin_anew_with_a_clear_also_inside_the_protocol() -> None:
    replaced = {"ShmObjectStoreSenderCache": KeepsWhatWasTold}
    namespace = reference_with(**replaced)
    found = fuzz(
        Trial(COMPONENTS["shm-caches"], namespace), seconds=60, seed=0, max_examples=200, only_first=True
    )
    assert set(found.runs) == {"SC-13"}
