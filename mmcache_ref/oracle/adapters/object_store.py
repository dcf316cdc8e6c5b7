"""`SingleWriterShmObjectStorage` of a target, on real shared memory, driven by `model/object_store.py`."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from mmcache_ref.model import object_store, object_store_alphabet
from mmcache_ref.model.component import Content
from mmcache_ref.model.object_store import ID_MAX, OVERHEAD, SEAL
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters import pickled, store_blame
from mmcache_ref.oracle.adapters import store_calls as calls
from mmcache_ref.oracle.adapters.base import Unexpected, need
from mmcache_ref.oracle.adapters.fixed_serde import SERIAL, FixedSerde, Parcel, serde_for
from mmcache_ref.oracle.adapters.forgeries import Shown, forged
from mmcache_ref.oracle.adapters.held_lock import in_vain
from mmcache_ref.oracle.adapters.ring_ids import begin_at, wrap_at
from mmcache_ref.oracle.adapters.seals import Snapshot
from mmcache_ref.oracle.adapters.store_checksum import spoiled
from mmcache_ref.oracle.adapters.store_damage import damage, miscount
from mmcache_ref.oracle.adapters.store_observation import observe_indexes, observe_segment
from mmcache_ref.oracle.adapters.travelling import travelled
from mmcache_ref.oracle.errors import NotOffered

PLANTED: Final = b"\xff" * SERIAL
"""The serial number of an object that nobody put: it lies in the bytes of another."""
MOST_LOOKED_AT: Final = 2
"""Handles of each key at whose old places one looks for seals."""
ANOTHER: Final = 256
"""Bytes of the ring of a store that is made for a moment."""


@dataclasses.dataclass(frozen=True)
class Issued:
    """A handle as it was issued, and the serial number of its object."""

    shown: Shown
    serial: int


class ObjectStoreAdapter:
    """One writer without a lock, as the caches make it, and readers that attach when they are needed."""

    CERTAIN: Final = frozenset({"OS-23", "OS-41"})
    """Clauses that `blamed` names beyond doubt."""

    def __init__(
        self,
        namespace: Any,
        config: object_store.Config,
        *,
        make_serde: Callable[[type], type] = serde_for,
        writer_lock: Any = None,
    ) -> None:
        """`make_serde` makes the serde for the target's own base class; the writer is handed its lock."""
        need(namespace, "SingleWriterShmRingBuffer", "SingleWriterShmObjectStorage", "ObjectSerde")
        self._namespace = namespace
        self._config = config
        self._names: list[str] = []
        self._closings: list[Callable[[], object]] = []
        self.tidy_up = segments.close_with(self, self._names, self._closings)
        self._serde = make_serde(namespace.ObjectSerde)
        self._writer_lock = writer_lock
        self.store = self._make_writer(config.capacity)
        self.ring = self.store.ring_buffer
        if config.id_max != ID_MAX:
            wrap_at(self.ring, config.id_max)
        begin_at(self.ring, config.first_id)
        self._shows_chunks = not self.ring.metadata
        """What is wrong from the start says nothing later, and the ring has a component of its own."""
        self._readers: dict[int, Any] = {}
        self._lock: Any = None
        self._issued: dict[str, list[Issued]] = {}
        self._parcels: dict[int, tuple[Content, bytes]] = {}

    def _make_writer(self, capacity: int, limit: int = 0) -> Any:
        """A store on a new segment, which is removed with this adapter."""
        name = segments.fresh_name()
        ring = self._namespace.SingleWriterShmRingBuffer(capacity, name, True)
        if hasattr(ring, "close"):
            # Those of old releases remove it themselves when they are dropped, and complain if it is gone.
            self._names.append(name)
        store = self._namespace.SingleWriterShmObjectStorage(
            limit or self._config.max_object_size,
            self._config.readers,
            ring,
            serde_class=self._serde,
            reader_lock=self._writer_lock,
        )
        self._closings.append(lambda: calls.close(store))
        return store

    def _lock_of_readers(self) -> Any:
        self._lock = self._lock or multiprocessing.Lock()
        return self._lock

    def _reader(self, number: int) -> Any:
        """The reader with this number, attached as the caches attach theirs."""
        if number not in self._readers:
            reader = self._attached(self._lock_of_readers())
            self._closings.append(lambda: calls.close(reader))
            self._readers[number] = reader
        return self._readers[number]

    def _attached(self, lock: Any, store: Any = None) -> Any:
        """A new reader with this lock, of this store or another."""
        return self._namespace.SingleWriterShmObjectStorage(
            self._config.max_object_size,
            self._config.readers,
            self._namespace.SingleWriterShmRingBuffer(*(store or self.store).ring_buffer.handle()),
            serde_class=self._serde,
            reader_lock=lock,
        )

    def perform(self, operation: object_store.Operation) -> Any:
        """One call of the store; of what it returns only what a clause speaks of."""
        store = self.store
        match operation:
            case object_store.Put(key, content, is_watched):
                return self._put_watched(key, content) if is_watched else self._put(key, content)
            case object_store.PutFailing(key, content, while_copying):
                return self._put(key, content, fails="copying" if while_copying else "serialising")
            case object_store.Plant():
                return self._plant(operation)
            case object_store.IsCached(key):
                return store.is_cached(key)
            case object_store.GetCached(key):
                address, identifier = store.get_cached(key)
                return address, identifier
            case object_store.Touch(key):
                return calls.offered(store, "touch")(key)
            case object_store.ReleaseTouches():
                return calls.offered(store, "release_touches")()
            case object_store.Signature(key):
                return self._signature(key)
            case object_store.Get(key, back, reader):
                handle = self._handle(key, back)
                return self._content(calls.get(self._reader(reader), handle.shown), handle.serial)
            case object_store.GetLocked(key):
                handle = self._handle(key)
                return in_vain(
                    self._attached, lambda each: self._content(calls.get(each, handle.shown), handle.serial)
                )
            case object_store.GetOvertaken():
                return self._get_overtaken(operation)
            case object_store.OwnGet(key):
                handle = self._handle(key)
                return self._content(store.get(handle.shown.address, handle.shown.id), handle.serial)
            case object_store.ReaderTouch(key, back, reader):
                return calls.show(calls.offered(self._reader(reader), "touch"), self._handle(key, back).shown)
            case object_store.Verify(key, back, on_reader):
                side = self._reader(0) if on_reader else store
                return calls.show(calls.offered(side, "verify_signature"), self._handle(key, back).shown)
            case object_store.Forge():
                return self._forge(operation)
            case object_store.FreeUnused():
                return store.free_unused()
            case object_store.Clear():
                return store.clear()
            case object_store.Attach(key):
                return self._attach(self._handle(key))
            case object_store.AttachWithoutLock():
                with contextlib.suppress(ValueError):
                    calls.close(self._attached(None))
                    return "attached"
                handle = dataclasses.replace(store.handle(), reader_lock=None)
                calls.close(self._namespace.SingleWriterShmObjectStorage.create_from_handle(handle))
                return "attached"
            case object_store.ReaderWrites(call):
                return calls.write(self._reader(0), call)
            case object_store.CloseAnother():
                return self._close_another()
            case object_store.Damage("payload"):
                return spoiled(self._namespace, self._lock_of_readers())
            case object_store.Damage(part):
                return self._damage(part)
            case object_store.Unpickle(layout):
                return pickled.loaded(self._namespace, layout)
            case object_store.Travel(values):
                return travelled(self._namespace, values)

    def _handle(self, key: str, back: int = 0) -> Issued:
        """A handle that was issued for the key, so many before the newest."""
        try:
            return self._issued[key][back]
        except LookupError:
            raise NotOffered(f"no such handle was issued for {key!r}") from None

    def _put(
        self, key: str, content: Content, data: bytes = b"", fails: str = "", watcher: Any = None
    ) -> tuple[Any, Any]:
        """Put a new object; its handle is kept."""
        serial = len(self._parcels)
        data = data or bytes([content.fill]) * content.nbytes
        self._parcels[serial] = content, data
        shown = calls.put(self.store, key, Parcel(serial, data, fails, watcher))
        self._issued.setdefault(key, []).insert(0, Issued(shown, serial))
        return shown.address, shown.id

    def _put_watched(self, key: str, content: Content) -> Any:
        """Put an object; was there a valid seal before its last byte?"""
        if not Snapshot(self.ring).is_sealing:
            raise NotOffered("the target's writer does not seal")
        identifier = self.ring.monotonic_id_end
        half = content.nbytes // 2
        halves = bytes([content.fill]) * half + bytes([content.fill ^ 0xFF]) * (content.nbytes - half)
        seen: list[bool] = []

        def look() -> None:
            address = self.ring.metadata.get(identifier)
            seen.append(address is not None and Snapshot(self.ring).is_sealed(key, address, identifier))

        placed = self._put(key, content, halves, watcher=look)
        return Unexpected("a seal before the object was complete") if any(seen) else placed

    def _plant(self, operation: object_store.Plant) -> Any:
        """Put bytes in which there is what looks like a chunk with the id of the handle."""
        content, offset = operation.content, operation.offset
        identifier = self._handle(operation.victim, operation.back).shown.id
        head = [each.to_bytes(4, "little") for each in (identifier, OVERHEAD, 0)]
        # A seal below all others, or above: who only compares which is larger is found by one of them.
        seal = b"\xff" * SEAL if ord(operation.victim[0]) % 2 else bytes(SEAL)
        chunk = b"".join(head) + seal + PLANTED
        filler = bytes([content.fill]) * (content.nbytes - len(chunk))
        return self._put(operation.key, content, data=filler[:offset] + chunk + filler[offset:])

    def _content(self, value: Any, serial: int) -> Any:
        """The content of the object that was read, if it is the one with this serial number, byte by byte."""
        if not isinstance(value, tuple) or len(value) != 2:
            return Unexpected(f"not what the serde gave: {value!r:.80}")
        found, data = value
        if found == int.from_bytes(PLANTED, "little"):
            return Unexpected("an object that lies in the bytes of another one, and that nobody put")
        known = self._parcels.get(found)
        if known is None or known[1] != data:
            return Unexpected("bytes that are no object")
        return known[0] if found == serial else Unexpected("another object than that of the handle")

    def _signature(self, key: str) -> Any:
        """Is the signature as the specification says?"""
        signature = calls.offered(self.store, "get_signature")(key)
        if not isinstance(signature, list):
            return Unexpected(f"not a list: {signature!r:.40}")
        address, identifier = self.store.key_index[key]
        is_right = bytes(signature) == Snapshot(self.ring).signature(key, address, identifier)
        return is_right and {type(each) for each in signature} == {int}

    def _get_overtaken(self, operation: object_store.GetOvertaken) -> Any:
        """What a reader gets while the writer clears and puts another object."""
        handle, reader = self._handle(operation.key), self._reader(0)

        def overtake() -> None:
            FixedSerde.hook = None
            self.store.clear()
            self._put(operation.other, operation.content)

        FixedSerde.hook, FixedSerde.is_late = overtake, operation.is_late
        try:
            return self._content(calls.get(reader, handle.shown), handle.serial)
        finally:
            FixedSerde.hook, FixedSerde.is_late = None, False

    def _forge(self, operation: object_store.Forge) -> Any:
        """What a changed handle is good for."""
        handle = self._handle(operation.key)
        shown = forged(operation.forgery, handle.shown)
        match operation.call:
            case "get":
                return self._content(calls.get(self._reader(0), shown), handle.serial)
            case "touch":
                return calls.show(calls.offered(self._reader(0), "touch"), shown)
            case "reader_verify":
                return calls.show(calls.offered(self._reader(0), "verify_signature"), shown)
            case "verify":
                return calls.show(calls.offered(self.store, "verify_signature"), shown)

    def _attach(self, handle: Issued) -> Any:
        """What `handle()` says, and what a reader made of it reads."""
        told = self.store.handle()
        with_lock = dataclasses.replace(told, reader_lock=self._lock_of_readers())
        reader = self._namespace.SingleWriterShmObjectStorage.create_from_handle(with_lock)
        try:
            content = self._content(calls.get(reader, handle.shown), handle.serial)
        finally:
            calls.close(reader)
        return told.max_object_size, told.n_readers, content

    @contextlib.contextmanager
    def _another(self) -> Iterator[Any]:
        """Another store, for a moment."""
        store = self._make_writer(ANOTHER, ANOTHER)
        has_name = hasattr(store.ring_buffer, "close")
        try:
            yield store
        finally:
            self._closings.pop()()
            if has_name:
                segments.remove(self._names.pop())

    def _damage(self, part: object_store_alphabet.Damaged) -> Any:
        """Is damage to another store as harmless as it must be?"""
        judge = miscount if part in object_store_alphabet.MISCOUNTED else damage
        with self._another() as store, contextlib.ExitStack() as readers:

            def attach() -> Any:
                reader = self._attached(self._lock_of_readers(), store)
                readers.callback(calls.close, reader)
                return reader

            return judge(store, attach, part)

    def _close_another(self) -> tuple[bool, Any]:
        """Is the segment of a store gone when it was closed, twice; how does it refuse a put?"""
        calls.offered(self.store, "close")
        with self._another() as store:
            refused = calls.closed_twice(store)
            return not segments.exists(self._names[-1]), refused

    also_decided_by = staticmethod(store_blame.may_be_blamed)

    def must_be(self, state: object_store.State, operation: object_store.Operation) -> str | None:
        """The clause that is broken for certain, whatever differs: see store_blame.py."""
        return store_blame.must_be(self.ring, self._config, state, operation) if self._shows_chunks else None

    def blamed(
        self, operation: object_store.Operation, aspect: str, expected: Any, actual: Any
    ) -> str | None:
        """What the operation shows beyond what decides it: see store_blame.py."""
        shown = self.ring if self._shows_chunks else None
        return store_blame.blamed(shown, self._config.id_max, operation, aspect, expected, actual)

    def observe(self) -> Mapping[str, Any]:
        """What the writer's indexes say, and what is in the segment: see store_observation.py."""
        shown = [each.shown for handles in self._issued.values() for each in handles[:MOST_LOOKED_AT]]
        return observe_indexes(self.store, self._shows_chunks) | observe_segment(
            self.store, self._parcels, shown
        )
