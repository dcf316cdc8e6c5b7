"""The benchmark: targets side by side, in interleaved rounds, against plain copies of the same bytes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from statistics import median
from typing import Any, Final

import msgspec

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.bench_worker import CopyBench, StoreBench
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.peer_processes import Peer, Raised

KIB: Final = 2**10
MIB: Final = 2**20
SIZES: Final = (KIB, 64 * KIB, MIB, 64 * MIB, 512 * MIB)
BATCH_BYTES: Final = 16 * MIB
LARGEST_BATCH: Final = 200
LRU_CASES: Final = ("hit", "miss", "miss with eviction")
LRU_COUNT: Final = 2_000
COPIES: Final = "memcpy"
"""The name of the plain copies beside those of the targets."""
STORE_CASES: Final = ("put", "get", "put+get")

Observer = Callable[[str], None]


class Measure(msgspec.Struct, frozen=True):
    """One case: the seconds of one object, or of one lookup, in each round, by target."""

    case: str
    size: int | None
    seconds: dict[str, tuple[float, ...]]

    def median(self, name: str) -> float | None:
        """The median over the rounds."""
        rounds = self.seconds.get(name)
        return median(rounds) if rounds else None

    def ratio(self, name: str, other: str, *, on_top_of: str | None = None) -> float | None:
        """The median over the rounds of one's time in units of the other's.

        With `on_top_of` only of what both need on top of that one's time; rounds in which the other seems to
        need nothing on top do not count.
        """
        ours, theirs = self.seconds.get(name, ()), self.seconds.get(other, ())
        base = (0.0,) * len(ours) if on_top_of is None else self.seconds.get(on_top_of, ())
        rounds = list(zip(ours, theirs, base, strict=False))
        ratios = [(mine - least) / (other - least) for mine, other, least in rounds if other > least]
        return median(ratios) if ratios else None


class Bench(msgspec.Struct, frozen=True):
    """All measures of a run; `lost` says of a target why it was not measured."""

    targets: tuple[str, ...]
    rounds: int
    clock: str
    measures: tuple[Measure, ...]
    lost: dict[str, str]


def measure(
    targets: Sequence[str],
    sizes: Sequence[int],
    rounds: int,
    observe: Observer = lambda _: None,
    *,
    clock: str = "wall",
    threads: int = 0,
) -> Bench:
    """Measure every target with every size; one round more is not counted, since it warms up.

    `clock` is `wall` or `processor`; `threads` is how many PyTorch may use, 0 its own default.
    """
    names = tuple(dict.fromkeys(targets))
    lost: dict[str, str] = {}
    with ExitStack() as cleanup:
        peers: dict[str, tuple[Peer, Peer]] = {}
        lock = multiprocessing.get_context("spawn").Lock()
        for name in (*names, COPIES):
            make: Any = CopyBench if name == COPIES else StoreBench
            writer, reader = (Peer(lock, make, name, clock, threads) for _ in range(2))
            peers[name] = writer, reader
            for peer in peers[name]:
                cleanup.callback(peer.stop)
        for name in names:
            observe(f"starting {name}")
            try:
                for peer in peers[name]:
                    peer.wait_until_ready()
            except TargetUnavailable as error:
                lost[name] = str(error)
        if len(lost) == len(names):
            raise TargetUnavailable("; ".join(lost.values()))
        for peer in peers[COPIES]:
            peer.wait_until_ready()
        present = {name: pair for name, pair in peers.items() if name not in lost}
        measures = _measure_lru(present, rounds, observe)
        for size in sizes:
            observe(f"objects of {size_in_words(size)}")
            measures += _measure_store(present, size, rounds)
    return Bench(names, rounds, clock, tuple(measures), lost)


def _measure_lru(peers: dict[str, tuple[Peer, Peer]], rounds: int, observe: Observer) -> list[Measure]:
    found = []
    for case in LRU_CASES:
        observe(f"LRU {case}")
        seconds: dict[str, list[float]] = {name: [] for name in peers if name != COPIES}
        for number in range(1 + rounds):
            for name in _rotated(list(seconds), number):
                took = peers[name][0].call("lru", case, LRU_COUNT) / LRU_COUNT
                if number:
                    seconds[name].append(took)
        found.append(Measure(f"LRU {case}", None, {name: tuple(each) for name, each in seconds.items()}))
    return found


def _measure_store(peers: dict[str, tuple[Peer, Peer]], size: int, rounds: int) -> list[Measure]:
    """Put by one process, get by another; the pipe between them is not counted."""
    batch = max(1, min(LARGEST_BATCH, BATCH_BYTES // size))
    seconds: dict[str, dict[str, list[float]]] = {case: {name: [] for name in peers} for case in STORE_CASES}
    with ExitStack() as cleanup:
        for writer, reader in peers.values():
            segment = segments.fresh_name()
            cleanup.callback(segments.remove, segment)
            for peer, create in ((writer, True), (reader, False)):
                cleanup.callback(_close, peer)
                peer.call("open", segment, size, batch, create)
        for number in range(1 + rounds):
            for name in _rotated(list(peers), number):
                writer, reader = peers[name]
                putting, handles = writer.call("put", batch)
                getting = reader.call("get", handles, number == 0)
                if number:
                    for case, took in (("put", putting), ("get", getting), ("put+get", putting + getting)):
                        seconds[case][name].append(took / batch)
    return [
        Measure(case, size, {name: tuple(each) for name, each in by_name.items()})
        for case, by_name in seconds.items()
    ]


def _close(peer: Peer) -> None:
    with suppress(Raised, TargetUnavailable):
        peer.call("close")


def _rotated(names: list[str], number: int) -> list[str]:
    """Each round begins with another target."""
    first = number % len(names)
    return names[first:] + names[:first]


def size_in_words(size: int) -> str:
    """`64 KiB` and the like."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"
