"""What one can see of an object store: the writer's indexes, and the bytes of the segment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mmcache_ref.model.component import Content
from mmcache_ref.model.object_store import OVERHEAD
from mmcache_ref.oracle.adapters.base import Unexpected, read
from mmcache_ref.oracle.adapters.fixed_serde import SERIAL
from mmcache_ref.oracle.adapters.forgeries import Shown
from mmcache_ref.oracle.adapters.seals import Snapshot


def observe_indexes(store: Any, shows_chunks: bool) -> dict[str, Any]:
    """Keys, references, places and touches, as the writer has them; chunks where its ring shows them."""
    ring = store.ring_buffer
    seen: dict[str, Any] = {
        "length": read(lambda: len(store.key_index)),
        "order": read(lambda: tuple(store.key_index)),
        "references": read(
            lambda: tuple([(key, store.writer_flag[entry[1]]) for key, entry in store.key_index.items()])
        ),
        "indexes": read(lambda: _indexes(store, shows_chunks)),
        "bounds": read(lambda: (ring.data_buffer_start, ring.data_buffer_end, ring.monotonic_id_end)),
    }
    if shows_chunks:
        seen["chunks"] = read(lambda: tuple(ring.metadata.items()))
    if hasattr(store, "_touched"):
        seen["touched"] = read(lambda: tuple(sorted(store.id_index[each] for each in store._touched)))
    return seen


def _indexes(store: Any, shows_chunks: bool) -> Any:
    """Id and key of each chunk, if all of the writer's indexes name the same ones."""
    ids = tuple(store.ring_buffer.metadata if shows_chunks else store.id_index)
    for name in ("id_index", "writer_flag"):
        if tuple(getattr(store, name)) != ids:
            return ("ring", ids), (name, tuple(getattr(store, name)))
    return tuple(store.id_index.items())


def observe_segment(
    store: Any, parcels: Mapping[int, tuple[Content, bytes]], shown: Iterable[Shown]
) -> dict[str, Any]:
    """Reader count, header, content and seal of each object, as they are in the segment, and the seals that
    are still there of handles that were shown once. `parcels`: what was put, by its serial number."""
    counts, headers, contents, sealed = [], [], [], []
    segment = Snapshot(store.ring_buffer)
    is_sealing = segment.is_sealing
    for key, (address, identifier) in store.key_index.items():
        chunk = segment.chunk_at(address)
        number, size, count = (int.from_bytes(chunk[at : at + 4], "little", signed=True) for at in (0, 4, 8))
        headers.append((number, size))
        counts.append((key, count))
        serial = int.from_bytes(chunk[OVERHEAD - SERIAL : OVERHEAD], "little")
        content, data = parcels.get(serial, (None, b""))
        is_whole = chunk[OVERHEAD:size] == data
        contents.append((key, content if is_whole else Unexpected("other bytes than were put")))
        if is_sealing:
            sealed.append((key, segment.is_sealed(key, address, identifier)))
    seen: dict[str, Any] = {"reads": tuple(counts), "headers": tuple(headers), "contents": tuple(contents)}
    if is_sealing:
        gone = [each for each in shown if store.key_index.get(each.key) != (each.address, each.id)]
        old = [each.key for each in gone if segment.is_sealed(each.key, each.address, each.id)]
        seen |= {"seals": tuple(sealed), "old_seals": tuple(old)}
    return seen
