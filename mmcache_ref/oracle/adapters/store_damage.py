"""A segment that somebody has written to: what a reader gets, and what the writer makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from mmcache_ref.model.component import Raised
from mmcache_ref.model.object_store import HEADER, MODIFIED, READER_COUNT, SEAL, SIGNATURE
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters import store_calls as calls
from mmcache_ref.oracle.adapters.base import Unexpected, agrees, raised
from mmcache_ref.oracle.adapters.fixed_serde import Parcel
from mmcache_ref.oracle.adapters.forgeries import Shown
from mmcache_ref.oracle.adapters.seals import SECRET, Snapshot
from mmcache_ref.oracle.errors import NotOffered

LAST_COUNT: Final = (1 << 8 * READER_COUNT - 1) - 1
"""The largest reader count: a reader cannot add to it."""
WRITTEN: Final = (0, 0xFF)
"""What secrets, ids and seals are written over with: less than it was, and more."""
FEW_BYTES: Final = b"few"
GONE: Final = Unexpected("an object that nobody could free is gone")
NOT_FREED: Final = Unexpected("an object stays that everybody has read, by its count")

Attach = Callable[[], Any]
"""Makes a reader of the damaged store, which is closed later."""


class _Put(NamedTuple):
    """An object, and the handle that it was given."""

    parcel: Parcel
    shown: Shown


def damage(store: Any, attach: Attach, part: str) -> Any:
    """True, if `get` gives its object or a documented error, the writer goes on, and a clear mends all."""
    readers = [attach()]
    for byte in WRITTEN:
        first = _put(store, 0, "x")
        _read(readers[0], first)
        segments.write(store.ring_buffer.handle()[1], *_damage(store, first, part, byte))
        readers.append(attach())
        for reader in readers:
            given = _read(reader, first)
            if not (given is True or agrees(SIGNATURE, given) or agrees(MODIFIED, given)):
                return given
        _put(store, 1, "y")
        store.clear()
        afterwards = _put(store, 2, "z")
        for reader in (*readers, attach()):
            if (given := _read(reader, afterwards)) is not True:
                return Unexpected(f"after a clear: {given}")
        store.clear()
    return True


def miscount(store: Any, attach: Attach, part: str) -> Any:
    """True, if a wrong count costs its own chunk only: the last one stays and lets the chunk be freed; one
    below zero keeps it until a clear."""
    reader, first, segment = attach(), _put(store, 0, "x"), store.ring_buffer.handle()[1]
    place = _place(store, first, HEADER)
    is_lost = part == "lost count"
    count = -2 if is_lost else LAST_COUNT - 1
    segments.write(segment, place, count.to_bytes(READER_COUNT, "little", signed=True))
    for _ in range(2):
        if (given := _read(reader, first)) is not True:
            return given
        count = min(count + 1, LAST_COUNT)
        bytes_of_count = segments.content(segment)[place : place + READER_COUNT]
        found = int.from_bytes(bytes_of_count, "little", signed=True)
        if found != count:
            return Unexpected(f"a reader count of {found}, not {count}")
    store.free_unused()
    if store.is_cached("x") is not is_lost:
        return GONE if is_lost else NOT_FREED
    store.clear()
    return _read(reader, _put(store, 1, "x"))


def _put(store: Any, serial: int, key: str) -> _Put:
    parcel = Parcel(serial, FEW_BYTES)
    return _Put(parcel, calls.put(store, key, parcel))


def _read(reader: Any, put: _Put) -> bool | Raised | Any:
    """True for the object, whatever else came otherwise."""
    try:
        given = calls.get(reader, put.shown)
    except Exception as error:
        return raised(error)
    return True if given == (put.parcel.serial, FEW_BYTES) else Unexpected(f"another object: {given!r:.60}")


def _place(store: Any, put: _Put, offset: int) -> int:
    """Where in the segment a byte of the chunk lies."""
    return int(getattr(store.ring_buffer, "DATA_OFFSET", 0) + put.shown.address + offset)


def _damage(store: Any, put: _Put, part: str, byte: int) -> tuple[int, bytes]:
    """Where one writes, and what."""
    size = Snapshot(store.ring_buffer).chunk_at(put.shown.address)[HEADER // 2]
    match part:
        case "secret" if hasattr(store, "get_signature"):
            return 0, bytes([byte]) * SECRET
        case "id":
            return _place(store, put, 0), bytes([byte])
        case "smaller" | "larger":
            return _place(store, put, HEADER // 2), bytes([size + (1 if part == "larger" else -1)])
        case "seal" if Snapshot(store.ring_buffer).is_sealing:
            return _place(store, put, HEADER + READER_COUNT), bytes([byte]) * SEAL
    raise NotOffered(f"the target's chunks have no {part}")
