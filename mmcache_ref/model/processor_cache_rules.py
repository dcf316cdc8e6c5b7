"""Which clause decides what in a cache of P0."""

from __future__ import annotations

from collections.abc import Mapping

from .component import Aspect, Rule


def aspects(size_clause: str) -> dict[str, Aspect]:
    """What can be observed; `size_clause` says what an entry is charged.

    Order comes before bytes: where the same keys are cached and the bytes differ, they were weighed wrong.
    """
    return {
        "budget": Aspect(2, "FA-11", reading="FA-11"),
        "order": Aspect(2, reading="LRU-02"),
        "hits": Aspect(1, reading="IF-09"),
        "total": Aspect(1, reading="IF-09"),
        "bytes": Aspect(2, size_clause, reading="LRU-01"),
        "values": Aspect(2),
    }


def culprits(stats_clause: str) -> dict[tuple[str, str, str], str]:
    """The counters after a merge step: what is counted besides the updates, unless one was promised."""
    kinds = ("merged", "evicting", "too_large")
    return {("merge", kind, name): stats_clause for kind in kinds for name in ("hits", "total")}


UPDATING = ("hit", "stored", "evicted", "too_large", "asserted", "lapsed", "promised")
"""Kinds of one update."""
USUAL = ("hit", "stored", "evicted")
"""Those of which an operation of several names each item's, as `item KIND`."""


def rules(clauses: Mapping[str, str]) -> dict[tuple[str, str], Rule]:
    """The binding table of a cache of P0, given its own clauses by the names used here."""

    def own(name: str) -> Rule:
        return Rule(clauses[name], clauses[name])

    def common(clause: str) -> Rule:
        return Rule(clause, clause)

    invalidating = {"dropped": "invalidated", "miss": "invalidated"} if "invalidated" in clauses else {}
    return {
        ("is_cached", "checked"): common("IF-06"),
        ("touch", "hit"): common("IF-07"),
        ("touch", "miss"): common("IF-07"),
        ("release", "released"): common("IF-08"),
        ("validate", "ignored"): common("IF-08"),
        ("close", "ignored"): common("IF-08"),
        ("defaults", "ignored"): common("IF-08"),
        ("fresh", "empty"): common("IF-19"),
        ("too_large", "warned"): common("IF-04"),
        ("too_large", "item too_large"): own("too_large"),
        **{("update", kind): own(kind) for kind in UPDATING},
        ("update_all", "updated"): common("IF-01"),
        ("update_all", "unequal"): common("IF-02"),
        **{("update_all", kind): own(kind) for kind in ("asserted", "lapsed", "promised", "too_large")},
        **{("update_all", f"item {kind}"): own(kind) for kind in USUAL},
        **{("invalidate", kind): own(name) for kind, name in invalidating.items()},
        **({} if invalidating else {("invalidate", "ignored"): common("IF-08")}),
        ("merge", "merged"): Rule("IF-12", "IF-11"),
        ("merge", "evicting"): Rule("IF-10", "IF-11"),
        **{("merge", kind): own(kind) for kind in ("too_large", "promised", "lapsed")},
        ("merge", "unsupplied"): common("IF-18"),
        # Its items before the one that fails have been updated.
        ("merge", "asserted"): Rule(clauses["asserted"], "IF-11"),
        **{("merge", f"item {kind}"): own(kind) for kind in USUAL},
        ("clear", "cleared"): common("IF-05"),
        ("stats", "total"): Rule(clauses["stats"], "IF-09"),
        ("stats", "delta"): common("IF-09"),
    }
