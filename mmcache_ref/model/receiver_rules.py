"""Which clause decides what in the receiver of the key-replicated pair."""

from __future__ import annotations

from collections.abc import Mapping

from .component import Aspect, Rule, rule

UPDATING = {
    "stored": "KR-08",
    "evicted": "KR-08",
    "replaced": "KR-08",
    "too_large": "KR-09",
    "hit": "KR-10",
    "miss": "KR-11",
    "lapsed": "KR-15",
}
"""What decides one update, by kind."""
RARE = ("lapsed", "too_large", "miss")
"""Kinds of an update that name an operation of several."""
ORDER = ("promised", "lapsed", "too_large", "missed", "evicted", "replaced", "by_identifier", "ingested")
"""Kinds of a request, the rarest rule first."""

RULES: Mapping[tuple[str, str], Rule] = {
    ("touch", "hit"): rule("KR-12"),
    ("touch", "miss"): rule("KR-12"),
    **{("update", kind): rule(clause) for kind, clause in UPDATING.items()},
    **{("features", f"item {kind}"): rule(UPDATING[kind]) for kind in ("stored", "hit")},
    ("features", "ingested"): rule("IF-14"),
    ("features", "evicted"): rule("IF-13"),
    ("features", "by_identifier"): rule("IT-10", "IF-14"),
    ("features", "missed"): rule("IF-16", "IF-15"),
    ("features", "replaced"): rule("KR-08"),
    ("features", "too_large"): rule("KR-09"),
    ("features", "promised"): rule("KR-14"),
    ("features", "lapsed"): rule("KR-15"),
    ("update_all", "updated"): rule("IF-01"),
    ("update_all", "unequal"): rule("IF-02"),
    **{("update_all", kind): rule(UPDATING[kind]) for kind in RARE},
    **{("update_all", f"item {kind}"): rule(clause) for kind, clause in UPDATING.items() if kind not in RARE},
    ("fresh", "empty"): rule("IF-19"),
    ("miss_error", "made"): rule("IF-17"),
    ("clear", "cleared"): rule("IF-05"),
}
ASPECTS = {
    "budget": Aspect(2, "FA-11", reading="FA-11"),
    "order": Aspect(2, reading="LRU-02"),
    "bytes": Aspect(2, "LRU-01", reading="LRU-01"),
    "values": Aspect(2),
}
