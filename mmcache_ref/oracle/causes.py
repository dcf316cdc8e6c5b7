"""Which broken clauses probably follow from which others, so that the one to repair is read first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from mmcache_ref.oracle.run import Mismatch
from mmcache_ref.oracle.verdict import ClauseVerdict, ComponentVerdict

LRU: Final = frozenset({"items", "lru"})
PAIR: Final = LRU | {"processor-only", "sender", "receiver"}
STORE: Final = frozenset({"items", "ring-buffer", "object-store"})
BUILT_ON: Final[Mapping[str, frozenset[str]]] = {
    "lru": frozenset({"items"}),
    "processor-only": LRU,
    "sender": LRU,
    "receiver": LRU,
    "key-replicated": PAIR,
    "drift": PAIR,
    "factories": PAIR,
    "object-store": frozenset({"items", "ring-buffer"}),
    "shm-pair": STORE,
    "shm-caches": STORE | {"shm-pair"},
}
"""The components that a component uses, and so may fail by."""

SIZES: Final = frozenset({"IT-12", "IT-13", "IT-15"})
MOVES: Final = frozenset({f"LRU-{number:02}" for number in (2, 5, 7, *range(9, 20), 21)})
"""Clauses of the LRU that decide what is cached and in which order."""
BELOW: Final[Mapping[str, frozenset[str]]] = {
    "order": MOVES | SIZES,
    "length": MOVES | SIZES,
    "bytes": MOVES | SIZES | {"LRU-01"},
    "hits": frozenset({"LRU-04", "LRU-05", "LRU-07", "LRU-26", "LRU-27", "LRU-28"}),
    "total": frozenset({"LRU-04", "LRU-05", "LRU-06", "LRU-07", "LRU-08", "LRU-26", "LRU-27", "LRU-28"}),
    "TypeError": frozenset({"IT-18"}),
    "ValueError": frozenset({"LRU-13", "LRU-14", "LRU-15", "LRU-16", "LRU-17"}),
    "RuntimeError": frozenset({"LRU-13", "LRU-14", "LRU-15", "LRU-19", "LRU-21"}),
}
"""What a wrong aspect of a cache, or an error it raises, can come from in the LRU or the sizes below it."""
OWN: Final[Mapping[str, frozenset[str]]] = {
    "IF-05": frozenset({"LRU-26"}),
    "IF-06": frozenset({"LRU-04"}),
    "IF-07": frozenset({"LRU-09", "LRU-10"}),
    "IF-09": frozenset({"LRU-27", "LRU-28"}),
    "IF-20": frozenset({"LRU-10", "LRU-18"}),
    "KR-06": frozenset({"LRU-11", "LRU-12"}),
    "KR-07": frozenset({"LRU-27", "LRU-28"}),
    "KR-12": frozenset({"LRU-09", "LRU-10"}),
    "LRU-18": frozenset({"LRU-10", "LRU-18"}),
    "PO-06": frozenset({"LRU-27", "LRU-28"}),
}
"""Clauses whose operation uses only this of the LRU, whatever the aspect."""


class Found(NamedTuple):
    """One broken clause and where."""

    component: str
    verdict: ClauseVerdict

    @property
    def below(self) -> frozenset[str]:
        """What its component is built on."""
        return BUILT_ON.get(self.component, frozenset())

    @property
    def name(self) -> str:
        """How `follows_from` names it."""
        return f"{self.verdict.id} ({self.component})"


def with_causes(components: Sequence[ComponentVerdict]) -> tuple[ComponentVerdict, ...]:
    """The verdicts on one target, each broken clause with what it probably follows from."""
    found = [Found(each.component, broken) for each in components for broken in each.broken]
    roots: list[Found] = []
    reasons: dict[tuple[str, str], tuple[str, ...]] = {}
    for each in sorted(found, key=lambda each: (len(each.below), len(_suspects(each)))):
        causes = tuple(root.name for root in roots if may_follow(each, root))
        reasons[each.component, each.verdict.id] = causes
        if not causes:
            roots.append(each)
    return tuple(
        msgspec.structs.replace(
            component,
            clauses=tuple(
                msgspec.structs.replace(each, follows_from=reasons.get((component.component, each.id), ()))
                for each in component.clauses
            ),
        )
        for component in components
    )


def may_follow(found: Found, root: Found) -> bool:
    """Is the broken `root` enough to explain this one?"""
    is_below = root.component in found.below
    if root.verdict.id == found.verdict.id:
        return is_below
    if root.verdict.id in _suspects(found):
        is_simpler = root.component == found.component and found.verdict.id not in _suspects(root)
        return is_below or is_simpler
    is_same_error = _error(found) == _error(root) or not _error(found)
    return is_below and is_same_error and root.verdict.id in _foundations(found)


def _mismatch(found: Found) -> Mismatch | None:
    return found.verdict.run.mismatch if found.verdict.run is not None else None


def _error(found: Found) -> str:
    """The exception that came instead of a result, if one did."""
    mismatch = _mismatch(found)
    if mismatch is None or not isinstance(mismatch.actual, Mapping):
        return ""
    return str(mismatch.actual.get("error", ""))


def _suspects(found: Found) -> frozenset[str]:
    mismatch = _mismatch(found)
    return frozenset({found.verdict.id, *(mismatch.suspects if mismatch is not None else ())})


def _foundations(found: Found) -> frozenset[str]:
    """The clauses of the layers below that can make this mismatch."""
    mismatch = _mismatch(found)
    if found.verdict.id in OWN:
        return OWN[found.verdict.id]
    if mismatch is None:
        return frozenset()
    if mismatch.aspect == "outcome":
        return BELOW.get(_error(found), frozenset())
    return BELOW.get(mismatch.aspect.rpartition(".")[2], frozenset())
