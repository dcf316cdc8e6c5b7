"""What a writer and its readers are asked to do together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, Final

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.interop_values import catalogue, fingerprint
from mmcache_ref.oracle.peer_processes import Peer, Raised
from mmcache_ref.oracle.targets import resolve

MIB: Final = 2**20
CAPACITY: Final = 16 * MIB
LIMIT: Final = 6 * MIB
LARGE: Final = f"{5 * MIB:,} B"
"""The largest value of the catalogue: three fit."""


class Broken(Exception):  # noqa: N818 - reads as what it is
    """A check that failed; the message says how."""


class Bench:
    """A fresh segment with one writer and its readers."""

    def __init__(self, writer: Peer, readers: Sequence[Peer]) -> None:
        self.writer = writer
        self.readers = readers

    def __enter__(self) -> Bench:
        self.name = segments.fresh_name()
        try:
            self.writer.call("open", self.name, CAPACITY, LIMIT, len(self.readers), True)
            for reader in self.readers:
                reader.call("open", self.name, CAPACITY, LIMIT, len(self.readers), False)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for peer in (*self.readers, self.writer):
            with suppress(Raised, TargetUnavailable):
                peer.call("close")
        segments.remove(self.name)

    def put(self, key: str, value: str) -> tuple[Any, ...]:
        """Key and handle of a value that is stored now."""
        return key, *self.writer.call("put", key, value)

    def read(self, handle: tuple[Any, ...], value: str) -> None:
        """Every reader finds this value."""
        expected = fingerprint_of(value)
        for reader in self.readers:
            found = reader.call("get", *handle)
            if found != expected:
                raise Broken(f"{value}: put {expected}, read {found}")

    def refused(self, handle: tuple[Any, ...], phrase: str, what: str) -> None:
        """Every reader raises `ValueError` with this phrase."""
        for reader in self.readers:
            try:
                found = reader.call("get", *handle)
            except Raised as error:
                if "ValueError" not in error.kinds or phrase not in error.message:
                    raise Broken(f"{what}: raised {error}, must raise ValueError with {phrase!r}") from None
            else:
                raise Broken(f"{what}: read {found}, must raise ValueError with {phrase!r}")

    def must_count(self, key: str, count: int) -> None:
        found = self.writer.call("count", key)
        if found != count:
            raise Broken(f"the reader count of {key!r} is {found}, must be {count}")


@lru_cache
def fingerprint_of(value: str) -> Any:
    """A value of the catalogue, as the reference makes it."""
    return fingerprint(catalogue()[value](resolve("reference")))


def _round_trips(bench: Bench) -> str:
    """Every value of the catalogue comes out as it went in, for every reader.   [OS-20, OS-38]"""
    values = catalogue()
    for value in values:
        bench.read(bench.put(value, value), value)
        bench.must_count(value, len(bench.readers))
    return f"{len(values)} values of up to 5 MiB"


def _refuses_forged(bench: Bench) -> str:
    """Handles that the writer did not give are refused, and count nothing.   [OS-17, OS-18, OS-19]"""
    key, address, monotonic_id, signature = bench.put("a", "1,000 B")
    bench.put("b", "1,000 B")
    other = [(signature[0] + 1) % 256, *signature[1:]]
    forged: dict[str, tuple[Any, ...]] = {
        "another signature": (key, address, monotonic_id, other),
        "the handle of another key": ("b", address, monotonic_id, signature),
        "another address": (key, address + 8, monotonic_id, signature),
        "another id": (key, address, monotonic_id + 1, signature),
        "no signature": (key, address, monotonic_id, None),
        "a short signature": (key, address, monotonic_id, signature[:-1]),
    }
    for what, handle in forged.items():
        bench.refused(handle, "SHM handle signature", what)
    for each in "ab":
        bench.must_count(each, 0)
    bench.read((key, address, monotonic_id, signature), "1,000 B")
    return f"{len(forged)} forged handles"


def _reclaims(bench: Bench) -> str:
    """What all have read makes room; what one has not is kept, and what is behind it.   [OS-04, OS-31]"""
    rounds = 4 * CAPACITY // (5 * MIB)
    for number in range(rounds):
        bench.read(bench.put(f"k{number}", LARGE), LARGE)
    bench.writer.call("clear")
    unread = bench.put("head", LARGE)
    for key in "xy":
        bench.read(bench.put(key, LARGE), LARGE)
    bench.readers[0].call("get", *unread)
    try:
        bench.put("z", LARGE)
    except Raised as error:
        if "MemoryError" not in error.kinds:
            raise
    else:
        raise Broken("a chunk that one reader has not read was freed")
    bench.readers[1].call("get", *unread)
    bench.read(bench.put("z", LARGE), LARGE)
    return f"{rounds} objects of 5 MiB through a ring of {CAPACITY // MIB} MiB"


def _survives_clear(bench: Bench) -> str:
    """After a clear new handles work; an old one never reads another object.   [OS-28, OS-29]"""
    old = bench.put("a", "65,536 B")
    bench.read(old, "65,536 B")
    bench.writer.call("clear")
    if bench.writer.call("keys"):
        raise Broken("keys are left after a clear")
    new = bench.put("b", f"{MIB:,} B")
    if new[1] != 0 or new[2] != old[2] + 1:
        raise Broken(
            f"the first put after a clear is at address {new[1]} with id {new[2]}, must be 0 and {old[2] + 1}"
        )
    bench.refused(old, "has been modified or is invalid", "a handle from before the clear, its place reused")
    bench.must_count("b", 0)
    bench.read(new, f"{MIB:,} B")
    return "new handles read, the old one is refused"


CHECKS: Final[dict[str, Callable[[Bench], str]]] = {
    "round trips": _round_trips,
    "refuses forged handles": _refuses_forged,
    "reclaims": _reclaims,
    "survives clear": _survives_clear,
}
"""In the order of the columns."""
