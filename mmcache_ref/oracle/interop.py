"""The interop matrix: each implementation writes, each reads, in processes of their own, over one segment.

One serde (the reference's) makes the bytes on both sides, so that what is tried is the layout: the chunk, the
count, the signature, and who may free what.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Final, Literal

import msgspec

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.interop_checks import CHECKS, Bench, Broken
from mmcache_ref.oracle.interop_worker import Endpoint
from mmcache_ref.oracle.peer_processes import Peer, Raised
from mmcache_ref.oracle.verdict import EXIT_CODES, Status

READERS: Final = 2

Answer = Literal["yes", "no", "undetermined"]


class Cell(msgspec.Struct, frozen=True):
    """One check of one pair; `reason` says what went wrong, or how much was tried."""

    check: str
    answer: Answer
    reason: str


class Pair(msgspec.Struct, frozen=True):
    """A writer, its readers, and what they can do together."""

    writer: str
    reader: str
    cells: tuple[Cell, ...]


class Matrix(msgspec.Struct, frozen=True):
    """Every pair of the targets."""

    targets: tuple[str, ...]
    pairs: tuple[Pair, ...]

    @property
    def status(self) -> Status:
        """`violates` where a check failed, `undetermined` where one could not be made."""
        answers = {cell.answer for pair in self.pairs for cell in pair.cells}
        if "no" in answers:
            return "violates"
        return "undetermined" if "undetermined" in answers or not answers else "conforms"

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.status]


def try_together(targets: Sequence[str], observe: Callable[[str], None] = lambda _: None) -> Matrix:
    """Every pair of the targets, each check on a segment of its own. `observe` is told what is tried next."""
    lock = multiprocessing.get_context("spawn").Lock()
    pairs: list[Pair] = []
    with ExitStack() as cleanup:
        peers: dict[str, list[Peer]] = {}
        for target in dict.fromkeys(targets):
            peers[target] = [Peer(lock, Endpoint, target) for _ in range(1 + READERS)]
            for peer in peers[target]:
                cleanup.callback(peer.stop)
        lost: dict[str, str] = {}
        for target, started in peers.items():
            observe(f"starting {target}")
            try:
                for peer in started:
                    peer.wait_until_ready()
            except TargetUnavailable as error:
                lost[target] = str(error)
        for writer, (writing, *_) in peers.items():
            for reader, (_, *reading) in peers.items():
                observe(f"{writer} writes, {reader} reads")
                pairs.append(_try_pair(writing, reading, lost))
    return Matrix(tuple(peers), tuple(pairs))


def _try_pair(writer: Peer, readers: Sequence[Peer], lost: dict[str, str]) -> Pair:
    reader = readers[0].target
    cells: list[Cell] = []
    for check, perform in CHECKS.items():
        gone = lost.get(writer.target) or lost.get(reader)
        if gone is not None:
            cells.append(Cell(check, "undetermined", gone))
            continue
        try:
            with Bench(writer, readers) as bench:
                cells.append(Cell(check, "yes", perform(bench)))
        except (Broken, Raised) as error:
            cells.append(Cell(check, "no", str(error)))
        except TargetUnavailable as error:
            # Which of the two it was that does not answer cannot matter: the pair is over.
            lost[writer.target if writer.target in str(error) else reader] = str(error)
            cells.append(Cell(check, "undetermined", str(error)))
    return Pair(writer.target, reader, tuple(cells))
