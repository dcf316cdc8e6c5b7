"""The ring buffer by hand, on real memory. A chunk has an 8-byte header: `allocate_buf(42)` takes 50."""

from __future__ import annotations

import itertools
import multiprocessing
import struct
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection

import pytest

from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def make() -> Iterator[Callable[[int], Ring]]:
    """Makes writers, and closes them whatever happens."""
    made: list[Ring] = []

    def create(capacity: int) -> Ring:
        made.append(Ring(capacity, create=True))
        return made[-1]

    yield create
    for each in made:
        each.close()


@pytest.fixture
def ring(make: Callable[[int], Ring]) -> Ring:
    """A writer with room for 200 bytes."""
    return make(200)


def seen(ring: Ring) -> tuple[object, ...]:
    """All that the writer knows: begin, end, the oldest id and the next, the addresses."""
    return (
        ring.data_buffer_start,
        ring.data_buffer_end,
        ring.monotonic_id_start,
        ring.monotonic_id_end,
        list(ring.metadata.items()),
    )


def always(identifier: int, payload: memoryview) -> bool:
    return True


def header(ring: Ring, place: int) -> tuple[int, ...]:
    """The id and the size that stand at a place of the data area."""
    return struct.unpack_from("<ii", ring.shared_memory.buf, 32 + place)


@pytest.mark.clause("RB-01")
def test_the_numbers_of_the_layout(ring: Ring) -> None:
    assert (ring.DATA_OFFSET, ring.AUTH_SECRET_BYTES, ring.MD_SIZE) == (32, 32, 8)
    assert (ring.ID_NBYTES, ring.SIZE_NBYTES, ring.ID_MAX) == (4, 4, 2147483648)
    assert ring.shared_memory.size == 232


@pytest.mark.clause("RB-02")
def test_the_secret_stands_first_and_is_another_for_each_segment(make: Callable[[int], Ring]) -> None:
    secrets = [make(10).get_auth_secret() for _ in range(3)]
    assert [len(secret) for secret in secrets] == [32, 32, 32]
    assert len({*secrets, bytes(32)}) == 4
    ring = make(10)
    assert bytes(ring.shared_memory.buf[:32]) == ring.get_auth_secret()


@pytest.mark.clause("RB-03")
def test_a_chunk_begins_with_id_and_whole_size_in_little_endian(ring: Ring) -> None:
    ring.allocate_buf(42)
    ring.allocate_buf(3)
    assert bytes(ring.shared_memory.buf[32:40]) == bytes([0, 0, 0, 0, 50, 0, 0, 0])
    assert bytes(ring.shared_memory.buf[82:90]) == bytes([1, 0, 0, 0, 11, 0, 0, 0])


@pytest.mark.clause("RB-04")
@pytest.mark.parametrize(
    ("number", "form"),
    [(0, "00000000"), (1, "01000000"), (-2, "feffffff"), (2**31 - 1, "ffffff7f"), (-(2**31), "00000080")],
)
def test_numbers_are_signed_and_little_endian(ring: Ring, number: int, form: str) -> None:
    assert ring.int2byte(number).hex() == form
    assert ring.byte2int(bytes.fromhex(form)) == number


@pytest.mark.clause("RB-04")
def test_a_number_of_more_than_four_bytes_has_no_form(ring: Ring) -> None:
    with pytest.raises(OverflowError):
        ring.int2byte(2**31)


@pytest.mark.clause("RB-05", "RB-07", "RB-13")
def test_chunks_lie_one_behind_the_other(ring: Ring) -> None:
    assert [ring.allocate_buf(42) for _ in range(3)] == [(0, 0), (50, 1), (100, 2)]
    assert seen(ring) == (0, 150, 0, 3, [(0, 0), (1, 50), (2, 100)])


@pytest.mark.clause("RB-06")
def test_what_does_not_fit_is_refused_and_changes_nothing(ring: Ring) -> None:
    """100 + 80 fit into 200, with two headers; one byte more does not, for it needs nine."""
    ring.allocate_buf(100)
    ring.allocate_buf(80)
    before, memory = seen(ring), bytes(ring.shared_memory.buf)
    with pytest.raises(MemoryError, match="Not enough space in the data buffer"):
        ring.allocate_buf(1)
    assert (seen(ring), bytes(ring.shared_memory.buf)) == (before, memory)


@pytest.mark.clause("RB-06", "RB-25")
def test_an_empty_ring_takes_a_chunk_of_its_capacity_and_not_one_byte_more(ring: Ring) -> None:
    with pytest.raises(MemoryError):
        ring.allocate_buf(193)
    for identifier in range(3):
        assert ring.allocate_buf(192) == (0, identifier)
        assert ring.free_buf(always) == [identifier]


@pytest.mark.clause("RB-05", "RB-23")
@pytest.mark.parametrize("gap", [0, 1, 7, 8, 9, 20])
def test_a_chunk_that_would_straddle_leaves_a_gap(ring: Ring, gap: int) -> None:
    ring.allocate_buf(92)
    ring.allocate_buf(92 - gap)
    ring.free_buf(always, nbytes=1)
    assert ring.allocate_buf(gap + 1) == (200, 2)
    assert (ring.data_buffer_start, ring.data_buffer_end) == (100, 209 + gap)
    assert header(ring, 0) == (2, gap + 9)


@pytest.mark.clause("RB-08")
@pytest.mark.parametrize("size", [0, -1, -100])
def test_a_chunk_has_at_least_one_byte(ring: Ring, size: int) -> None:
    with pytest.raises(AssertionError, match="Size must be greater than 0"):
        ring.allocate_buf(size)
    assert seen(ring) == (0, 0, 0, 0, [])


@pytest.mark.clause("RB-10", "RB-12", "RB-18")
def test_ids_begin_again_after_the_last_one(ring: Ring) -> None:
    ring.ID_MAX = 5
    given = []
    for _ in range(3):
        given += [ring.allocate_buf(10)[1] for _ in range(4)]
        with pytest.raises(MemoryError):
            ring.allocate_buf(192)
        assert ring.free_buf(always) == given[-4:]
        assert ring.monotonic_id_start == ring.monotonic_id_end
    assert given == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1]


@pytest.mark.clause("RB-11")
def test_an_id_is_not_given_while_its_chunk_is_live(ring: Ring) -> None:
    ring.ID_MAX = 2
    assert [ring.allocate_buf(1), ring.allocate_buf(1)] == [(0, 0), (9, 1)]
    before = seen(ring)
    with pytest.raises(MemoryError):
        ring.allocate_buf(1)
    assert seen(ring) == before
    assert ring.free_buf(always, nbytes=1) == [0]
    assert ring.allocate_buf(1) == (18, 0)


@pytest.mark.clause("RB-14")
def test_the_payload_can_be_written_and_read_by_its_address(ring: Ring) -> None:
    ring.allocate_buf(5)
    address, identifier = ring.allocate_buf(3)
    with ring.access_buf(address) as (payload, found):
        assert found == (identifier, 11)
        payload[:] = b"abc"
    assert bytes(ring.shared_memory.buf[53:56]) == b"abc"
    payload, found = ring.payload_at(address)
    assert (bytes(payload), found) == (b"abc", (1, 11))


@pytest.mark.clause("RB-14")
def test_the_view_ends_with_the_block(ring: Ring) -> None:
    with ring.access_buf(ring.allocate_buf(3)[0]) as (payload, _):
        pass
    with pytest.raises(ValueError, match="released"):
        bytes(payload)


@pytest.mark.clause("RB-14")
@pytest.mark.parametrize("address", [0, 200, 400])
def test_an_address_means_its_remainder(ring: Ring, address: int) -> None:
    ring.allocate_buf(4)
    with ring.access_buf(address) as (payload, found):
        assert (len(payload), found) == (4, (0, 12))


@pytest.mark.clause("RB-15")
@pytest.mark.parametrize("size", [-1, 0, 8, 101, 2**31 - 1])
def test_a_header_that_no_chunk_can_have_is_refused(ring: Ring, size: int) -> None:
    struct.pack_into("<ii", ring.shared_memory.buf, 32 + 100, 0, size)
    with pytest.raises(ValueError, match="has been modified or is invalid"), ring.access_buf(100):
        pass


@pytest.mark.clause("RB-15")
@pytest.mark.parametrize("address", [192, 193, 199, -1])
def test_no_header_is_read_past_the_area(ring: Ring, address: int) -> None:
    ring.shared_memory.buf[32:] = bytes([0, 0, 0, 9] * 50)
    with pytest.raises(ValueError, match="has been modified or is invalid"), ring.access_buf(address):
        pass


@pytest.mark.clause("RB-15")
def test_a_chunk_may_reach_the_very_end_of_the_area(ring: Ring) -> None:
    ring.allocate_buf(183)
    address, _ = ring.allocate_buf(1)
    with ring.access_buf(address) as (payload, found):
        assert (len(payload), found) == (1, (1, 9))


@pytest.mark.clause("RB-16", "RB-24")
def test_freeing_stops_at_the_first_chunk_that_is_not_free(ring: Ring) -> None:
    for size in (10, 20, 30, 40):
        ring.allocate_buf(size)
    asked = []

    def is_free(identifier: int, payload: memoryview) -> bool:
        asked.append((identifier, len(payload)))
        return identifier != 2

    assert list(ring.free_buf(is_free)) == [0, 1]
    assert asked == [(0, 10), (1, 20), (2, 30)]
    assert seen(ring) == (46, 132, 2, 4, [(2, 46), (3, 84)])


@pytest.mark.clause("RB-16")
def test_the_question_comes_with_the_payload(ring: Ring) -> None:
    with ring.access_buf(ring.allocate_buf(3)[0]) as (payload, _):
        payload[:] = b"abc"
    contents = []
    ring.free_buf(lambda identifier, payload: contents.append(bytes(payload)) or False)
    assert contents == [b"abc"]


@pytest.mark.clause("RB-17")
@pytest.mark.parametrize(
    ("nbytes", "freed"), [(-1, 0), (0, 0), (1, 1), (50, 1), (51, 2), (100, 2), (101, 3), (150, 3), (200, 4)]
)
def test_freeing_stops_when_enough_is_freed_headers_counted(ring: Ring, nbytes: int, freed: int) -> None:
    for _ in range(4):
        ring.allocate_buf(42)
    asked = []
    assert list(ring.free_buf(lambda i, _: asked.append(i) or True, nbytes)) == [0, 1, 2, 3][:freed]
    assert asked == [0, 1, 2, 3][:freed]


@pytest.mark.clause("RB-24", "RB-25")
def test_a_held_head_holds_everything_back_and_nothing_for_longer_than_itself(ring: Ring) -> None:
    for _ in range(4):
        ring.allocate_buf(42)
    assert list(ring.free_buf(lambda identifier, _: identifier != 0)) == []
    with pytest.raises(MemoryError):
        ring.allocate_buf(1)
    assert list(ring.free_buf(always)) == [0, 1, 2, 3]
    assert ring.allocate_buf(192) == (0, 4)


@pytest.mark.clause("RB-19")
def test_a_question_that_raises_changes_nothing(ring: Ring) -> None:
    for _ in range(3):
        ring.allocate_buf(42)
    before = seen(ring)

    def is_free(identifier: int, payload: memoryview) -> bool:
        if identifier == 1:
            raise KeyError(identifier)
        return True

    for _ in range(2):
        with pytest.raises(KeyError):
            ring.free_buf(is_free)
        assert seen(ring) == before
    assert list(ring.free_buf(always)) == [0, 1, 2]


@pytest.mark.clause("RB-20", "RB-13")
def test_begin_and_end_go_down_together_and_addresses_stay_as_they_were(ring: Ring) -> None:
    for _ in range(4):
        ring.allocate_buf(42)
    ring.free_buf(always, nbytes=150)
    assert [ring.allocate_buf(30), ring.allocate_buf(30)] == [(200, 4), (238, 5)]
    assert seen(ring) == (150, 276, 3, 6, [(3, 150), (4, 200), (5, 238)])
    ring.free_buf(always, nbytes=1)
    assert seen(ring) == (0, 76, 4, 6, [(4, 200), (5, 238)])
    assert ring.allocate_buf(72) == (76, 6)
    ring.free_buf(always, nbytes=1)
    assert seen(ring) == (38, 156, 5, 7, [(5, 238), (6, 76)])
    assert list(ring.free_buf(always)) == [5, 6]
    assert seen(ring) == (0, 0, 7, 7, [])


@pytest.mark.clause("RB-16")
def test_the_oldest_chunk_is_not_looked_for_behind_all_that_were_freed(make: Callable[[int], Ring]) -> None:
    """Python's own dictionaries would do so, in no line of Python. Seconds are the processor's."""

    def seconds(chunks: int) -> float:
        ring = make(16 * chunks)
        for _ in range(chunks):
            ring.allocate_buf(8)

        def took() -> float:
            began = time.process_time()
            for _ in range(50):
                assert len(ring.free_buf(always, 1)) == 1
                ring.allocate_buf(8)
            return time.process_time() - began

        return min([took() for _ in range(chunks // 100)][-10:])

    assert seconds(100_000) < 5 * seconds(1_000)


@pytest.mark.clause("RB-21")
def test_clear_forgets_the_chunks_and_goes_on_with_the_ids(ring: Ring) -> None:
    ring.allocate_buf(42)
    ring.allocate_buf(42)
    memory = bytes(ring.shared_memory.buf)
    ring.clear()
    assert seen(ring) == (0, 0, 2, 2, [])
    assert bytes(ring.shared_memory.buf) == memory
    assert ring.allocate_buf(10) == (0, 2)


@pytest.mark.clause("RB-22", "RB-23")
def test_live_chunks_keep_their_bytes_whatever_is_allocated_and_freed(make: Callable[[int], Ring]) -> None:
    """Sizes of 1 to 40 bytes in turn, four of them live, hundreds of times round a ring of 211 bytes."""
    ring = make(211)
    live: list[tuple[int, int, bytes]] = []
    for number in range(5000):
        size = number * 7 % 40 + 1
        while len(live) >= 4:
            assert list(ring.free_buf(always, nbytes=1)) == [live.pop(0)[1]]
        address, identifier = ring.allocate_buf(size)
        with ring.access_buf(address) as (payload, _):
            payload[:] = content = bytes([number % 251]) * size
        live.append((address, identifier, content))
        places = sorted((each % 211, each % 211 + 8 + len(content)) for each, _, content in live)
        assert places[-1][1] <= 211
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(places))
        assert ring.data_buffer_end - ring.data_buffer_start <= 211
        for address, identifier, content in live:
            with ring.access_buf(address) as (payload, found):
                assert (bytes(payload), found) == (content, (identifier, 8 + len(content)))


@pytest.mark.clause("RB-26")
def test_a_handle_leads_to_the_same_bytes(ring: Ring) -> None:
    address, identifier = ring.allocate_buf(3)
    with ring.access_buf(address) as (payload, _):
        payload[:] = b"abc"
    assert ring.handle() == (200, ring.shared_memory.name)
    reader = Ring(*ring.handle())
    assert reader.get_auth_secret() == ring.get_auth_secret()
    with reader.access_buf(address) as (payload, found):
        assert (bytes(payload), found) == (b"abc", (identifier, 11))
        payload[0] = ord("x")
    with ring.access_buf(address) as (payload, _):
        assert bytes(payload) == b"xbc"
    reader.close()


@pytest.mark.clause("RB-27")
def test_attaching_to_what_is_not_there_or_too_short_fails(ring: Ring) -> None:
    with pytest.raises(FileNotFoundError):
        Ring(200, "mmcache-no-such-segment")
    with pytest.raises(ValueError, match="fewer than"):
        Ring(2000, ring.shared_memory.name)
    with pytest.raises(ValueError, match="needs the name"):
        Ring(200)


@pytest.mark.clause("RB-06")
def test_the_smallest_ring_and_the_smallest_that_takes_something(make: Callable[[int], Ring]) -> None:
    with pytest.raises(ValueError, match="capacity of 1 byte or more"):
        make(0)
    with pytest.raises(MemoryError):
        make(1).allocate_buf(1)
    with pytest.raises(MemoryError):
        make(8).allocate_buf(1)
    assert make(9).allocate_buf(1) == (0, 0)


@pytest.mark.clause("RB-28")
def test_a_reader_changes_nothing(ring: Ring) -> None:
    ring.allocate_buf(3)
    reader = Ring(*ring.handle())
    memory = bytes(ring.shared_memory.buf)
    assert (ring.is_writer, reader.is_writer) == (True, False)
    for forbidden in (lambda: reader.allocate_buf(3), lambda: reader.free_buf(always), reader.clear):
        with pytest.raises(AssertionError, match="Only the writer can"):
            forbidden()
    assert bytes(ring.shared_memory.buf) == memory
    reader.close()


def answer_with_payloads(handle: tuple[int, str], asked: Connection) -> None:
    """A reader in a process of its own: for each address the payload and the header, until None comes."""
    reader = Ring(*handle)
    while (address := asked.recv()) is not None:
        with reader.access_buf(address) as (payload, found):
            asked.send((bytes(payload), found))
    reader.close()


@pytest.mark.clause("RB-26", "RB-29", "RB-36")
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_another_process_sees_what_was_written_before_the_address_was_sent(ring: Ring, method: str) -> None:
    context = multiprocessing.get_context(method)
    here, there = context.Pipe()
    process = context.Process(target=answer_with_payloads, args=(ring.handle(), there))
    process.start()
    try:
        for number in range(200):
            address, identifier = ring.allocate_buf(50)
            with ring.access_buf(address) as (payload, _):
                payload[:] = content = bytes([number % 256]) * 50
            here.send(address)
            assert here.recv() == (content, (identifier, 58))
            if number % 3 == 2:
                ring.free_buf(always)
        here.send(None)
    finally:
        process.join(30)
        process.kill()
    assert process.exitcode == 0
    Ring(*ring.handle()).close()


@pytest.mark.clause("RB-30")
def test_closing_removes_the_name_and_closing_again_does_nothing(ring: Ring) -> None:
    reader = Ring(*ring.handle())
    reader.close()
    reader.close()
    Ring(*ring.handle()).close()
    handle = ring.handle()
    ring.close()
    ring.close()
    with pytest.raises(FileNotFoundError):
        Ring(*handle)


@pytest.mark.clause("RB-30")
def test_a_view_that_is_still_held_does_not_keep_the_name(ring: Ring) -> None:
    payload, _ = ring.payload_at(ring.allocate_buf(3)[0])
    payload[:] = b"abc"
    handle = ring.handle()
    ring.close()
    with pytest.raises(FileNotFoundError):
        Ring(*handle)
    assert bytes(payload) == b"abc"


@pytest.mark.clause("RB-31")
def test_a_closed_ring_cannot_be_used(ring: Ring) -> None:
    ring.allocate_buf(3)
    ring.close()
    for use in (
        lambda: ring.allocate_buf(3),
        lambda: ring.free_buf(always),
        ring.clear,
        ring.get_auth_secret,
        lambda: ring.payload_at(0),
    ):
        with pytest.raises(AssertionError, match="has been closed"):
            use()
