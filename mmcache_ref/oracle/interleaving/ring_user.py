"""What a writer and a reader do with a ring, line by line: payloads are written and read in halves."""

from __future__ import annotations

from typing import Any


def lay(ring: Any, nbytes: int, fill: int) -> tuple[int, int]:
    """A new chunk, filled: its address and its id."""
    address, identifier = ring.allocate_buf(nbytes)
    mark(ring, address, fill)
    return address, identifier


def mark(ring: Any, address: int, fill: int) -> None:
    """Fill the payload of a chunk, its beginning last."""
    with ring.access_buf(address) as (payload, _):
        half = len(payload) // 2
        payload[half:] = bytes([fill]) * (len(payload) - half)
        payload[:half] = bytes([fill]) * half


def look(ring: Any, address: int) -> tuple[Any, Any, bytes]:
    """Id and size of a chunk, and its payload."""
    with ring.access_buf(address) as (payload, header):
        identifier, size = header
        half = len(payload) // 2
        first = bytes(payload[:half])
        second = bytes(payload[half:])
    return identifier, size, first + second


def peek(ring: Any, address: int) -> tuple[Any, int]:
    """The size that a header says, and the length of the view."""
    with ring.access_buf(address) as (payload, (_, size)):
        return size, len(payload)


def take_back(ring: Any, least: int) -> tuple[int, ...]:
    """Free the oldest chunks whose payload begins with this byte or a greater one: their ids."""

    def is_free(_: int, payload: Any) -> bool:
        return bool(payload[0] >= least)

    return tuple(ring.free_buf(is_free))
