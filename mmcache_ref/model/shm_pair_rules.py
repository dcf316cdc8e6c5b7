"""Which clauses decide what the shared-memory caches do, call by call, and what of it can be seen."""

from __future__ import annotations

from collections.abc import Mapping

from .component import Aspect, Rule, rule

UPDATING = {
    "put": rule("SC-02"),
    "hit": rule("SC-03"),
    "over_limit": rule("SC-05"),
    "too_large": rule("SC-05", "SC-37"),
    "no_room": rule("SC-05"),
    "asserted": rule("SC-04"),
}
"""What decides one update of the sender, by kind."""
RECEIVING = {
    "read": rule("SC-19"),
    "passed": rule("SC-20"),
    "nothing": rule("SC-18"),
    "refused": rule("SC-22"),
    "gone": rule("SC-23"),
}
"""What decides one update of a receiver, by kind."""

RULES: Mapping[tuple[str, str], Rule] = {
    ("is_cached", "checked"): rule("SC-07"),
    ("touch", "hit"): rule("SC-08"),
    ("touch", "miss"): rule("SC-08"),
    ("release", "released"): rule("SC-09"),
    ("invalidate", "ignored"): rule("IF-08"),
    **{("update", kind): clause for kind, clause in UPDATING.items()},
    ("update_all", "updated"): rule("IF-01"),
    ("update_all", "unequal"): rule("IF-02"),
    **{("update_all", kind): UPDATING[kind] for kind in ("asserted", "over_limit", "too_large", "no_room")},
    **{("update_all", f"item {kind}"): UPDATING[kind] for kind in ("put", "hit")},
    ("stats", "total"): rule("SC-13", "IF-09"),
    ("stats", "delta"): rule("SC-13", "IF-09"),
    ("clear", "cleared"): rule("SC-12", "IF-05"),
    ("validate", "plain"): rule("SC-14"),
    ("validate", "current"): rule("SC-15"),
    ("validate", "outdated"): rule("SC-15"),
    ("odd", "accepted"): rule("SC-15"),
    ("forge", "refused"): rule("SC-15"),
    ("forge", "refused_by_worker"): rule("SC-22"),
    **{("receive", kind): clause for kind, clause in RECEIVING.items()},
    ("verify", "in_place"): rule("SC-21"),
    ("verify", "gone"): rule("SC-23"),
    ("verify", "passed"): rule("SC-21"),
    ("verify", "refused"): rule("SC-22"),
    ("verify", "nothing"): rule("SC-18"),
    ("receive_all", "received"): rule("IF-01"),
    ("receive_all", "unequal"): rule("IF-02"),
    ("features", "received"): rule("IF-14", "SC-21"),
    ("features", "by_identifier"): rule("IT-10", "SC-21"),
    ("features", "passed_over"): rule("SC-18", "SC-21"),
    ("features", "refused"): rule("SC-22", "SC-21"),
    ("features", "gone"): rule("SC-23", "SC-21"),
    **{("features", f"item {kind}"): RECEIVING[kind] for kind in ("read", "passed")},
    **{("receive_all", f"item {kind}"): RECEIVING[kind] for kind in ("read", "passed")},
    ("clear_receiver", "cleared"): rule("SC-24"),
    ("attach", "segment"): rule("SC-17"),
    ("attach", "lock"): rule("SC-17"),
    ("close_another", "closed"): rule("SC-16"),
    ("fresh", "empty"): rule("IF-19"),
    ("too_large", "warned"): rule("IF-04"),
    ("too_large", "item too_large"): UPDATING["too_large"],
}

ASPECTS = {
    "hits": Aspect(1, "SC-13"),
    "total": Aspect(1, "SC-13"),
    "length": Aspect(1),
    "keys": Aspect(2),
    "records": Aspect(2, "SC-11"),
    "updates": Aspect(2, "SC-10"),
    "references": Aspect(2),
    "counts": Aspect(2),
    "touched": Aspect(2),
    "layout": Aspect(3),
    "ring": Aspect(3),
}

_UNCOUNTED = {
    ("is_cached", "checked"): "SC-07",
    ("touch", "hit"): "SC-08",
    ("touch", "miss"): "SC-08",
    ("release", "released"): "SC-09",
    ("update", "asserted"): "SC-04",
    ("update_all", "asserted"): "SC-04",
    ("clear", "cleared"): "SC-12",
}
"""Operations that say themselves what they do to the counters."""
_RECORDING = {("clear", "cleared"): "SC-12", ("invalidate", "ignored"): "IF-08"}
"""Operations that say themselves what they do to the prompt updates on record."""
CULPRITS: Mapping[tuple[str, str, str], str] = {
    **{(*case, name): clause for case, clause in _UNCOUNTED.items() for name in ("hits", "total")},
    **{(*case, name): clause for case, clause in _RECORDING.items() for name in ("records", "updates")},
    # What is held by chunks that are not free, and what is behind them.
    **{
        (operation, "no_room", name): "SC-36"
        for operation in ("update", "update_all")
        for name, aspect in ASPECTS.items()
        if aspect.clause is None
    },
}
