"""`SingleWriterShmRingBuffer` of a target, on real shared memory, driven by `model/ring_buffer.py`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from multiprocessing import shared_memory
from typing import Any, Final

from mmcache_ref.model import ring_buffer
from mmcache_ref.model.ring_buffer import ID_MAX, LARGEST_CHUNK, NAME_LENGTH
from mmcache_ref.model.ring_moves import HEADER
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters import ring_blame
from mmcache_ref.oracle.adapters.base import Unexpected, need, read
from mmcache_ref.oracle.adapters.owner_record import names_this_process
from mmcache_ref.oracle.adapters.ring_blame import LEFT_ITS_NAME
from mmcache_ref.oracle.adapters.ring_ids import begin_at, told_capacity, wrap_at
from mmcache_ref.oracle.errors import NotOffered

MOST_ASKED: Final = 1000
"""Questions about chunks in one call: more than any ring here has."""
CLAIMED_BYTES: Final = 1 << 16
"""The capacity of a ring of which one asks whether its memory is claimed: many pages, and soon done."""
TOLD_BYTES: Final = 1 << 32
"""The capacity that a ring is told: more than a header can say."""
PROBED_BYTES: Final = 1 << 20
"""More than any ring here has: does a ring believe what it is told?"""


class RingBufferAdapter:
    """One writer; readers come and go with the operations that need one."""

    def __init__(self, namespace: Any, config: ring_buffer.Config) -> None:
        need(namespace, "SingleWriterShmRingBuffer")
        self._ring_class: Callable[..., Any] = namespace.SingleWriterShmRingBuffer
        self._config = config
        self._names: list[str] = []
        self._closings: list[Callable[[], object]] = []
        self.tidy_up = segments.close_with(self, self._names, self._closings)
        self.name = segments.fresh_name()
        self._held = self._make(self.name)
        self._is_closed = False
        self._addresses: dict[int, int] = {}
        self._had_all_ids = False
        self._shows_chunks = hasattr(self.ring, "metadata") and not self.ring.metadata
        """What is wrong from the start says nothing later: `Another` tells of it once."""
        if config.id_max != ID_MAX:
            wrap_at(self.ring, config.id_max)
        begin_at(self.ring, config.first_id)

    @property
    def ring(self) -> Any:
        """The writer."""
        return self._held[0]

    def _make(self, name: str | None, capacity: int = 0) -> list[Any]:
        """A writer of a new segment, which is removed with this adapter; in a list, which then is empty.

        A ring without `close()` leaves when nobody holds it any more, which must be before its name goes.
        """
        if name is not None:
            self._names.append(name)
        held = [self._ring_class(capacity or self._config.capacity, name, True)]
        self._closings.append(lambda: close_ring(held.pop()))
        return held

    @contextlib.contextmanager
    def _another(self, capacity: int = 0) -> Iterator[Any]:
        """Another ring, for a moment."""
        (ring,) = self._make(segments.fresh_name(), capacity)
        try:
            yield ring
        finally:
            del ring
            self._closings.pop()()

    @contextlib.contextmanager
    def _reader(self) -> Iterator[Any]:
        """A reader of the ring, for a moment."""
        reader = self._ring_class(*self.ring.handle())
        try:
            yield reader
        finally:
            close_ring(reader)

    @contextlib.contextmanager
    def _side(self, by_reader: bool) -> Iterator[Any]:
        """The reader, or the writer."""
        if not by_reader:
            yield self.ring
            return
        with self._reader() as reader:
            yield reader

    def perform(self, operation: ring_buffer.Operation) -> Any:
        """One call of the ring; of what it returns only what a clause speaks of."""
        ring = self.ring
        match operation:
            case ring_buffer.Allocate(nbytes, fill):
                return self._allocate(nbytes, fill)
            case ring_buffer.Access(address, by_reader):
                with self._side(by_reader) as side, side.access_buf(address) as (payload, header):
                    return *_numbers(header), *described(payload)
            case ring_buffer.Fill(address, fill, by_reader):
                with self._side(by_reader) as side:
                    return _fill(side, address, fill)
            case ring_buffer.Free():
                return self._free(operation)
            case ring_buffer.Clear():
                ring.clear()
                self._addresses.clear()
                return None
            case ring_buffer.ByReader(call):
                with self._reader() as reader:
                    return _call_of_writer(reader, call)
            case ring_buffer.ReaderLeaves():
                with self._reader():
                    pass
                return segments.exists(self.name)
            case ring_buffer.Handle():
                size, name = ring.handle()
                return size, name == self.name
            case ring_buffer.Secret():
                return self._secret()
            case ring_buffer.Constants():
                names = ("DATA_OFFSET", "AUTH_SECRET_BYTES", "ID_NBYTES", "SIZE_NBYTES", "MD_SIZE", "ID_MAX")
                with self._another() as another:
                    return tuple([getattr(another, name) for name in names])
            case ring_buffer.Roles():
                with self._reader() as reader:
                    return tuple([(each.data_buffer_size, each.is_writer) for each in (ring, reader)])
            case ring_buffer.Number(number):
                encoded = ring.int2byte(number)
                return tuple(encoded), ring.byte2int(encoded)
            case ring_buffer.Another():
                with self._another() as another:
                    return _summary(another)
            case ring_buffer.Unnamed():
                return self._unnamed()
            case ring_buffer.Claimed():
                with self._another(CLAIMED_BYTES):
                    return segments.claimed(self._names[-1]) >= CLAIMED_BYTES
            case ring_buffer.Owned():
                with self._another() as another:
                    begin = getattr(another, "DATA_OFFSET", 0)
                    content = segments.content(another.handle()[1])
                    return names_this_process(content, begin, another.handle()[0])
            case ring_buffer.Largest():
                return self._largest()
            case ring_buffer.Attach(to):
                return self._attach(to)
            case ring_buffer.Create():
                close_ring(self._ring_class(self._config.capacity, self.name, True))
                return "made"
            case ring_buffer.Close():
                _need_close(ring)
                ring.close()
                self._is_closed = True
                return not segments.exists(self.name)
            case ring_buffer.CloseAgain():
                return self._close_again()

    def _allocate(self, nbytes: int, fill: int) -> Any:
        """Address and id; the payload is filled."""
        address, identifier = self.ring.allocate_buf(nbytes)
        self._addresses[identifier] = address
        try:
            _fill(self.ring, address, fill)
        except Exception as error:
            return Unexpected(f"its payload cannot be written: {type(error).__name__}: {error}")
        return address, identifier

    def _free(self, operation: ring_buffer.Free) -> Any:
        """The ids freed; what `is_free` was shown of each chunk it was asked about."""
        asked: list[Any] = []

        def is_free(identifier: int, payload: memoryview) -> bool:
            if len(asked) == MOST_ASKED:
                raise RuntimeError(f"is_free was asked {MOST_ASKED} times")
            asked.append((identifier, *described(payload)))
            if identifier in operation.refuses:
                return False
            if identifier == operation.raises:
                raise RuntimeError("is_free failed")
            return True

        self._had_all_ids = len(self._addresses) == self._config.id_max
        limit = () if operation.nbytes is None else (operation.nbytes,)
        freed = tuple(self.ring.free_buf(is_free, *limit))
        for identifier in freed:
            self._addresses.pop(identifier, None)
        return freed, tuple(asked)

    def _attach(self, to: str) -> str:
        """Attach to no segment, or to that of the ring with a data area for which it is a byte too short or
        too long.
        """
        name, size = self.name, self._config.capacity - 1
        if to == "nothing":
            name = segments.fresh_name()
        elif to == "too-short":
            size = len(segments.content(name)) - getattr(self.ring, "DATA_OFFSET", 0) + 1
        close_ring(self._ring_class(size, name))
        return "attached"

    def _largest(self) -> Any:
        """Where the largest chunk ends; the error for a larger one; is the ring as it was, then?"""
        with self._another() as ring, told_capacity(ring, TOLD_BYTES):
            try:
                ring.allocate_buf(PROBED_BYTES)
            except Exception as error:
                raise NotOffered("the target's ring cannot be told another capacity") from error
        with self._another() as ring, told_capacity(ring, TOLD_BYTES):
            address, _ = ring.allocate_buf(LARGEST_CHUNK - HEADER)
        with self._another() as ring, told_capacity(ring, TOLD_BYTES):
            before = _summary(ring)
            try:
                refused: Any = ring.allocate_buf(LARGEST_CHUNK + 1 - HEADER)
            except Exception as error:
                refused = type(error).__name__
            is_unchanged = _summary(ring) == before
        return address + LARGEST_CHUNK, refused, is_unchanged

    def _secret(self) -> Any:
        """Its length; is it the reader's, that of the segment, and not another ring's?"""
        secret = bytes(self.ring.get_auth_secret())
        with self._reader() as reader:
            is_shared = bytes(reader.get_auth_secret()) == secret
        with self._another() as another:
            is_own = bytes(another.get_auth_secret()) != secret
        return len(secret), is_shared, segments.content(self.name)[: len(secret)] == secret, is_own

    def _unnamed(self) -> tuple[bool, bool]:
        """Do the names of two rings differ; are they short?"""
        names = []
        for _ in range(2):
            (ring,) = self._make(None)
            names.append(str(ring.handle()[1]).lstrip("/"))
            self._names.append(names[-1])
            del ring
        while len(self._closings) > 1:
            self._closings.pop()()
        return names[0] != names[1], max(map(len, names)) <= NAME_LENGTH

    def _close_again(self) -> Any:
        """Does another segment with the name of a closed ring outlive a second close, and the ring itself?"""
        name = segments.fresh_name()
        _need_close(self.ring)
        held = self._make(name)
        ring = held.pop()
        ring.close()
        if segments.exists(name):
            return LEFT_ITS_NAME
        shared_memory.SharedMemory(name, create=True, size=HEADER).close()
        ring.close()
        self._closings.pop()
        del ring
        return segments.exists(name)

    also_decided_by = staticmethod(ring_blame.may_be_blamed)

    def blamed(self, operation: ring_buffer.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """A segment that somebody removed; what else an operation shows: see ring_blame.py."""
        if not (self._is_closed or segments.exists(self.name)):
            return "RB-36"
        return ring_blame.blamed(operation, aspect, expected, actual, had_all_ids=self._had_all_ids)

    def observe(self) -> Mapping[str, Any]:
        """Is the segment there; begin, end and ids; the chunks that the target records; what is in it."""
        ring = self.ring
        if self._is_closed:
            return {}
        seen: dict[str, Any] = {"segment": segments.exists(self.name)}
        places, ids = read(lambda: _places(ring)), read(lambda: _ids(ring))
        seen["begin"], seen["end"] = places if isinstance(places, tuple) else (places, places)
        seen["first_id"], seen["next_id"] = ids if isinstance(ids, tuple) else (ids, ids)
        if self._shows_chunks:
            seen["ids"] = read(lambda: tuple(ring.metadata))
            seen["addresses"] = read(lambda: tuple(ring.metadata.items()))
        return seen | self._layout() if seen["segment"] else seen

    def _layout(self) -> dict[str, Any]:
        """Header and payload of each chunk, as they are in the segment."""
        data = segments.content(self.name)[getattr(self.ring, "DATA_OFFSET", 0) :][: self._config.capacity]
        headers, payloads = [], []
        for identifier, address in self._addresses.items():
            chunk = data[address % self._config.capacity :]
            numbers = [int.from_bytes(chunk[at : at + 4], "little", signed=True) for at in (0, 4)]
            headers.append(tuple(numbers))
            payloads.append((identifier, *described(memoryview(chunk[HEADER : max(HEADER, numbers[1])]))))
        return {"headers": tuple(headers), "payloads": tuple(payloads)}


def close_ring(ring: Any) -> None:
    """Close a ring; those of old releases leave when they are dropped."""
    if hasattr(ring, "close"):
        ring.close()


def _need_close(ring: Any) -> None:
    if not hasattr(ring, "close"):
        raise NotOffered("the target's ring has no close()")


def _places(ring: Any) -> tuple[Any, Any]:
    return ring.data_buffer_start, ring.data_buffer_end


def _ids(ring: Any) -> tuple[Any, Any]:
    return ring.monotonic_id_start, ring.monotonic_id_end


def _summary(ring: Any) -> tuple[Any, ...]:
    """Begin and end, the ids, and how many chunks it records."""
    return *_places(ring), *_ids(ring), len(ring.metadata)


def _numbers(header: Any) -> tuple[Any, Any]:
    identifier, size = header
    return identifier, size


def described(payload: memoryview) -> tuple[Any, ...]:
    """The length of a payload, and the value of its bytes."""
    values = set(bytes(payload))
    if len(values) > 1:
        return len(payload), Unexpected(f"a payload of mixed bytes {sorted(values)}")
    return len(payload), values.pop() if values else None


def _fill(ring: Any, address: int, fill: int) -> None:
    with ring.access_buf(address) as (payload, _):
        payload[:] = bytes([fill]) * len(payload)


def _call_of_writer(reader: Any, call: str) -> Any:
    match call:
        case "allocate":
            return reader.allocate_buf(1)
        case "free":
            return tuple(reader.free_buf(lambda identifier, payload: True))
        case _:
            return reader.clear()
