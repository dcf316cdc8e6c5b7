"""The chunks of a store in shared memory, as far as a target lets one see them, in units."""

from __future__ import annotations

from typing import Any

from mmcache_ref.oracle.adapters.base import read
from mmcache_ref.oracle.adapters.shm_units import UNIT

_COUNT_BYTES = 4
"""The reader count, at the beginning of a chunk's payload.   [OS-02]"""
_OF_STORE = ("key_index", "id_index", "writer_flag", "ring_buffer")
_OF_RING = (
    "metadata",
    "monotonic_id_start",
    "monotonic_id_end",
    "data_buffer_start",
    "data_buffer_end",
    "data_buffer_size",
    "access_buf",
)


def observe_chunks(store: Any) -> dict[str, Any]:
    """Keys, references and reader counts, oldest first; where the chunks lie; begin and end of the ring.

    Nothing where the store or its ring lacks an attribute of upstream's.
    """
    if not all(hasattr(store, name) for name in _OF_STORE):
        return {}
    seen: dict[str, Any] = {"length": read(lambda: len(store.key_index))}
    ring = store.ring_buffer
    if not all(hasattr(ring, name) for name in _OF_RING):
        return seen
    return {
        **seen,
        "keys": read(lambda: tuple([store.id_index[identifier] for identifier in _chunks(ring)])),
        "references": read(lambda: tuple([store.writer_flag[identifier] for identifier in _chunks(ring)])),
        "counts": read(lambda: tuple([_count(ring, address) for address in _chunks(ring).values()])),
        "layout": read(lambda: tuple([_place(ring, address) for address in _chunks(ring).values()])),
        "ring": read(lambda: (_units(ring.data_buffer_start), _units(ring.data_buffer_end))),
    }


def _chunks(ring: Any) -> Any:
    """Id to address, oldest first. Early releases begin with an address for an id that no chunk has."""
    return ring.metadata if ring.monotonic_id_start != ring.monotonic_id_end else {}


def _count(ring: Any, address: int) -> int:
    """How often the readers have acknowledged the chunk at this address."""
    with ring.access_buf(address) as (payload, _):
        return int.from_bytes(payload[:_COUNT_BYTES], "little", signed=True)


def _place(ring: Any, address: int) -> tuple[float, float]:
    """Where in the area the chunk at this address lies, and its size."""
    with ring.access_buf(address) as (_, (_identifier, nbytes)):
        return _units(address % ring.data_buffer_size), _units(nbytes)


def _units(nbytes: int) -> float:
    """Bytes in units; a fraction where they are not whole."""
    return nbytes // UNIT if nbytes % UNIT == 0 else nbytes / UNIT
