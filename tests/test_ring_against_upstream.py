"""The ring of the reference and that of vLLM 0.32.0 in lockstep, and each on the other's segment.

After every call results, exceptions (by type), bookkeeping and the bytes of the data area are the same.
Where 0.32.0 may differ a test says so: a question that raises (RB-19), an id that is still live (RB-11), a
header that no chunk can have (RB-15).
"""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmcache_ref.oracle.upstream import load_release
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer

pytestmark = [pytest.mark.upstream, pytest.mark.timeout(120)]

Make = Callable[..., Any]
RINGS = ("reference", "vllm@0.32.0")
ALL = None


@functools.cache
def published() -> Any:
    """The class of the release."""
    return load_release("0.32.0").SingleWriterShmRingBuffer


def ring_class(name: str) -> Any:
    return SingleWriterShmRingBuffer if name == "reference" else published()


class Pair:
    """Both writers, with the same capacity, called alike."""

    def __init__(self, capacity: int, id_max: int) -> None:
        self.rings = [SingleWriterShmRingBuffer(capacity, create=True), published()(capacity, create=True)]
        for ring in self.rings:
            ring.ID_MAX = id_max
            ring.shared_memory.buf[32:] = bytes(len(ring.shared_memory.buf) - 32)
        self.steps = itertools.count()

    def close(self) -> None:
        for ring in self.rings:
            ring.close()

    def call(self, operation: tuple[Any, ...]) -> None:
        """Do the same on both, and compare all that can be seen."""
        number = next(self.steps) % 256
        ours, theirs = (perform(ring, operation, number) for ring in self.rings)
        assert ours == theirs, operation
        ours, theirs = (seen(ring) for ring in self.rings)
        assert ours == theirs, operation


def perform(ring: Any, operation: tuple[Any, ...], number: int) -> Any:
    """What a call returns, or the type of what it raises."""
    try:
        match operation:
            case ("allocate", size):
                address, identifier = ring.allocate_buf(size)
                with ring.access_buf(address) as (payload, header):
                    payload[:] = bytes([number]) * len(payload)
                    return address, identifier, tuple(header), len(payload)
            case ("free", count, nbytes):
                asked: list[tuple[int, bytes]] = []

                def is_free(identifier: int, payload: memoryview) -> bool:
                    asked.append((identifier, bytes(payload)))
                    return len(asked) <= count

                return list(ring.free_buf(is_free, nbytes)), asked
            case ("clear",):
                return ring.clear()
            case ("access", address):
                with ring.access_buf(address) as (payload, header):
                    return bytes(payload), tuple(header)
    except (MemoryError, AssertionError) as error:
        return type(error)
    raise AssertionError(operation)


def seen(ring: Any) -> Any:
    """The bookkeeping, and the bytes of every live chunk and of the data area."""
    area = bytes(ring.shared_memory.buf[32 : 32 + ring.data_buffer_size])
    return (
        ring.data_buffer_start,
        ring.data_buffer_end,
        ring.monotonic_id_start,
        ring.monotonic_id_end,
        list(ring.metadata.items()),
        area,
    )


@st.composite
def rings_and_calls(draw: st.DrawFn) -> tuple[int, int, list[tuple[Any, ...]]]:
    """A capacity, a number of ids that the live chunks cannot use up, and calls with sizes at every edge."""
    capacity = draw(st.sampled_from([9, 20, 60, 100, 200, 257]))
    id_max = draw(st.sampled_from([capacity // 9 + 2, capacity // 9 + 5, 2**31]))
    edges = [
        -1,
        0,
        1,
        2,
        capacity // 4,
        capacity // 3,
        capacity // 2 - 8,
        *range(capacity - 17, capacity + 1),
    ]
    sizes = st.one_of(st.sampled_from(edges), st.integers(1, capacity))
    call = st.one_of(
        st.tuples(st.just("allocate"), sizes),
        st.tuples(st.just("allocate"), sizes),
        st.tuples(
            st.just("free"), st.integers(0, 5), st.sampled_from([ALL, -1, 0, 1, capacity // 3, capacity])
        ),
        st.just(("clear",)),
    )
    return capacity, id_max, draw(st.lists(call, max_size=60))


@settings(max_examples=200)
@given(rings_and_calls())
def test_both_do_the_same(drawn: tuple[int, int, list[tuple[Any, ...]]]) -> None:
    capacity, id_max, calls = drawn
    pair = Pair(capacity, id_max)
    try:
        for call in calls:
            pair.call(call)
    finally:
        pair.close()


@pytest.mark.parametrize("capacity", [100, 200, 1000, 4099])
def test_both_do_the_same_for_a_long_time(capacity: int) -> None:
    """Thousands of calls on one ring: addresses wrap all the time, ids every few dozen chunks."""
    choices = random.Random(capacity)
    pair = Pair(capacity, id_max=capacity // 9 + 2)
    try:
        for _ in range(3000):
            size = choices.randint(1, choices.choice([4, capacity // 8, capacity // 3, capacity - 8]))
            pair.call(("allocate", size))
            if choices.random() < 0.6:
                pair.call(("free", choices.randint(0, 4), choices.choice([ALL, 1, capacity // 4])))
            if choices.random() < 0.002:
                pair.call(("clear",))
    finally:
        pair.close()


@pytest.fixture
def make() -> Iterator[Make]:
    """Makes rings of either kind, and closes them, readers first, whatever happens."""
    made: list[Any] = []

    def create(name: str, *arguments: Any, **options: Any) -> Any:
        made.append(ring_class(name)(*arguments, **options))
        return made[-1]

    yield create
    for each in reversed(made):
        each.close()


@pytest.mark.clause("RB-01", "RB-02", "RB-03", "RB-14", "RB-26")
@pytest.mark.parametrize("writer", RINGS)
@pytest.mark.parametrize("reader", RINGS)
def test_each_reads_the_segment_of_the_other(writer: str, reader: str, make: Make) -> None:
    ring = make(writer, 300, create=True)
    other = make(reader, *ring.handle())
    assert other.get_auth_secret() == ring.get_auth_secret()
    for number in range(20):
        address, identifier = ring.allocate_buf(50 + number)
        with ring.access_buf(address) as (payload, _):
            payload[:] = bytes([number]) * len(payload)
        with other.access_buf(address) as (payload, header):
            assert bytes(payload) == bytes([number]) * (50 + number)
            assert tuple(header) == (identifier, 58 + number)
        ring.free_buf(lambda identifier, payload: True, 1)


@pytest.mark.clause("RB-36")
@pytest.mark.parametrize("reader", RINGS)
def test_no_reader_takes_the_segment_with_it(reader: str, make: Make) -> None:
    ring = make("reference", 300, create=True)
    make(reader, *ring.handle()).close()
    make("reference", *ring.handle())


@pytest.mark.clause("RB-06", "RB-20", "RB-22")
@pytest.mark.parametrize("name", RINGS)
def test_a_ring_of_200_bytes_takes_100_and_80_and_not_1_more(name: str, make: Make) -> None:
    ring = make(name, 200, create=True)
    assert ring.allocate_buf(100) == (0, 0)
    assert ring.allocate_buf(80) == (108, 1)
    with pytest.raises(MemoryError, match="Not enough space in the data buffer"):
        ring.allocate_buf(1)
    assert list(ring.free_buf(lambda identifier, payload: True)) == [0, 1]
    assert ring.allocate_buf(100) == (0, 2)


@pytest.mark.clause("RB-16", "RB-12", "RB-18")
@pytest.mark.parametrize("name", RINGS)
def test_freed_are_the_chunks_before_the_first_that_is_not_free(name: str, make: Make) -> None:
    ring = make(name, 1000, create=True)
    for _ in range(5):
        ring.allocate_buf(50)
    assert list(ring.free_buf(lambda identifier, payload: identifier % 2 == 0)) == [0]
    assert list(ring.free_buf(lambda identifier, payload: identifier < 3, nbytes=60)) == [1, 2]
    assert (ring.monotonic_id_start, ring.monotonic_id_end) == (3, 5)
    assert list(ring.free_buf(lambda identifier, payload: True)) == [3, 4]
    assert ring.monotonic_id_start == ring.monotonic_id_end == 5


@pytest.mark.clause("RB-08", "RB-28", "RB-30")
@pytest.mark.parametrize("name", RINGS)
def test_misuse_is_an_assertion_and_a_second_close_is_harmless(name: str, make: Make) -> None:
    ring = make(name, 100, create=True)
    reader = make(name, *ring.handle())
    with pytest.raises(AssertionError, match="Size must be greater than 0"):
        ring.allocate_buf(0)
    for forbidden in (lambda: reader.allocate_buf(8), lambda: reader.free_buf(lambda *_: True), reader.clear):
        with pytest.raises(AssertionError, match="Only the writer can"):
            forbidden()
    for each in (reader, ring):
        each.close()
        each.close()


@pytest.mark.clause("RB-19")
@pytest.mark.parametrize(("name", "left"), [("reference", [0, 1, 2]), ("vllm@0.32.0", [1, 2])])
def test_a_question_that_raises(name: str, left: list[int], make: Make) -> None:
    """0.32.0 has freed what came before, and tells nobody."""
    ring = make(name, 100, create=True)
    for _ in range(3):
        ring.allocate_buf(2)

    def is_free(identifier: int, payload: memoryview) -> bool:
        if identifier == 1:
            raise KeyError(identifier)
        return True

    with pytest.raises(KeyError):
        ring.free_buf(is_free)
    assert list(ring.metadata) == left
    assert list(ring.free_buf(lambda identifier, payload: True)) == left


@pytest.mark.clause("RB-11")
def test_an_id_that_is_still_live(make: Make) -> None:
    """0.32.0 gives it again, and loses the older chunk."""
    outcomes = {}
    for name in RINGS:
        ring = make(name, 100, create=True)
        ring.ID_MAX = 2
        ring.allocate_buf(1)
        ring.allocate_buf(1)
        try:
            outcomes[name] = ring.allocate_buf(1)
        except MemoryError:
            outcomes[name] = "refused"
    assert outcomes == {"reference": "refused", "vllm@0.32.0": (18, 0)}


@pytest.mark.clause("RB-15")
def test_a_header_that_no_chunk_can_have(make: Make) -> None:
    """0.32.0 gives a view of what there is, not of what the header says."""
    outcomes = {}
    for name in RINGS:
        ring = make(name, 100, create=True)
        ring.shared_memory.buf[32:132] = bytes(100)
        ring.shared_memory.buf[122:130] = bytes([7, 0, 0, 0, 127, 0, 0, 0])
        try:
            with ring.access_buf(90) as (payload, header):
                outcomes[name] = (len(payload), tuple(header))
        except ValueError as error:
            outcomes[name] = str(error).partition(": ")[2]
    assert outcomes == {
        "reference": "the data there has been modified or is invalid",
        "vllm@0.32.0": (2, (7, 127)),
    }
