"""What may happen while a chunk is published and read, and what keeps it from doing harm.   [OS-08]"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .environment import Accident, Protection, accident, known_names, spelled_out
from .publication_accesses import Program
from .publication_programs import PIECES, Piece, reading, writing

ACCIDENTS: Mapping[str, Accident] = {
    "clear-meanwhile": accident(
        "the writer clears while readers have handles",
        "check-under-lock",
        "count-last",
        "second-check",
        "wipe",
        "writer-takes-lock",
    ),
    "early-handle": accident("a reader has a handle before its chunk is complete", "seal-last"),
    "load-reordering": accident(
        "the loads of a process are done in another order than written",
        "barrier-after-copy",
        "barrier-before-copy",
    ),
    "look-alike": accident(
        "what a client chose stands where an old chunk began, and looks like its header", "seals"
    ),
    "stale-handle": accident(
        "a reader has a handle that has no reference", "second-check", "wipe", "writer-takes-lock"
    ),
    "store-reordering": accident(
        "the stores of a process become visible in another order than written",
        "barrier-after-wipe",
        "barrier-before-seal",
    ),
}

PROTECTIONS: Mapping[str, Protection] = {
    "barrier-after-copy": Protection("OS-08", "a reader has copied before it compares again"),
    "barrier-after-wipe": Protection("OS-26", "a wiped seal is gone before its place is used again"),
    "barrier-before-copy": Protection("OS-08", "a reader has found the seal before it copies"),
    "barrier-before-seal": Protection("OS-08", "what comes before the seal is visible before it"),
    "check-under-lock": Protection("OS-23", "the second comparison is made under the lock"),
    "count-last": Protection("OS-23", "a reader counts after it has copied"),
    "count-under-lock": Protection("OS-20", "a reader counts under the readers' lock"),
    "drained-clear": Protection("SC-41", "a clear waits until every handle under way is acknowledged"),
    "handle-last": Protection("RB-29", "the handle is given out after everything is written"),
    "seal-last": Protection("OS-08", "the seal is written after header, count and payload"),
    "seals": Protection("OS-22", "chunks have seals, and readers compare them"),
    "second-check": Protection("OS-22", "a reader compares again after it has copied"),
    "validated-handle": Protection("SC-43", "every handle that is read has a reference of its own"),
    "wipe": Protection("OS-26", "the writer wipes the seal of a chunk that goes"),
    "writer-takes-lock": Protection("OS-23", "the writer wipes under the readers' lock"),
}

BY_PROTOCOL = frozenset({"drained-clear", "validated-handle"})
"""What the protocol does when the writer has no lock."""
DEFAULT_PROTECTIONS = frozenset(PROTECTIONS) - BY_PROTOCOL
"""What the store does by itself, with a writer that has the lock."""
WITHOUT_WRITERS_LOCK = DEFAULT_PROTECTIONS - {"writer-takes-lock"}
"""What the store does by itself when its writer has no lock."""


@dataclass(frozen=True)
class Config:
    """What the search tries: which handles each reader uses, once each, and in which order a put writes.

    An old object `a` lies in the place at first; the writer frees or clears it and puts `b` there. With
    `stale-handle` the last reader's handle of `a` has no reference.
    """

    reads: tuple[str, ...] = ("b", "ab")
    order: tuple[Piece, ...] = PIECES
    accidents: frozenset[str] = field(default=frozenset())
    protections: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        known_names(self.accidents, ACCIDENTS, "accident")
        known_names(self.protections, PROTECTIONS, "protection")
        if sorted(self.order) != sorted(PIECES):
            raise ValueError(f"an order names each of {', '.join(PIECES)} once")

    @cached_property
    def clears(self) -> bool:
        """The writer waits for no reader.   [OS-29]"""
        return "clear-meanwhile" in self.accidents and "drained-clear" not in self.protections

    @cached_property
    def stale_reader(self) -> int | None:
        """The reader whose handle of the old object has no reference.   [OS-21]"""
        if "stale-handle" in self.accidents and "validated-handle" not in self.protections:
            return len(self.reads) - 1
        return None

    @cached_property
    def references(self) -> int:
        """How many reads of the old object the writer waits for.   [OS-25]"""
        having = [handles for place, handles in enumerate(self.reads) if place != self.stale_reader]
        return sum("a" in handles for handles in having)

    @cached_property
    def is_early(self) -> bool:
        """Handles come by a way that orders nothing.   [RB-29]"""
        return "early-handle" in self.accidents

    @cached_property
    def layouts(self) -> tuple[str, ...]:
        """How the new object may lie in the place.   [OS-42]"""
        return ("same", "look-alike") if "look-alike" in self.accidents else ("same",)

    @cached_property
    def has_seals(self) -> bool:
        """Chunks have seals.   [OS-22]"""
        return "seals" in self.protections

    @cached_property
    def writers(self) -> Mapping[str, Program]:
        """What the writer does, by layout."""
        return {layout: writing(self, layout) for layout in self.layouts}

    @cached_property
    def reader(self) -> Program:
        """What a reader does for one `get`."""
        return reading(self)

    @cached_property
    def letters(self) -> dict[Any, Any]:
        """The operations by process and place, filled by a search as it goes."""
        return {}


PRESETS: Mapping[str, Config] = {"tiny": Config(), "small": Config(reads=("a", "ab"))}


def configure(
    preset: str = "tiny",
    *,
    accidents: Iterable[str] = (),
    protections: Iterable[str] = (),
    depth: int | None = None,
    clears: int | None = None,
) -> Config:
    """A preset with accidents and protections by name; `all` and `default` are names, too.

    An unknown name is a `ValueError` that lists the known ones; so is a bound, which nothing here needs.
    """
    known_names([preset], PRESETS, "preset")
    if depth is not None or clears is not None:
        raise ValueError("ring-publication has no bounds: leave depth and clears away")
    return replace(
        PRESETS[preset],
        accidents=spelled_out(accidents, ACCIDENTS, "accident", {"all": ACCIDENTS}),
        protections=spelled_out(protections, PROTECTIONS, "protection", {"default": DEFAULT_PROTECTIONS}),
    )
