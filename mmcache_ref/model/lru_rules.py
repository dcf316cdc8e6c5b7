"""Which clause decides what in the byte-budgeted LRU.   [spec/02-lru.md]"""

from __future__ import annotations

from collections.abc import Mapping

from .component import Aspect, Rule, rule

NEW = ("stored", "evicted", "evicted_around_pin", "too_large", "all_pinned")
"""Kinds of an insertion of a key that is not cached."""
STORING = {
    "stored": "LRU-13",
    "evicted": "LRU-13",
    "evicted_around_pin": "LRU-19",
    "replaced": "LRU-14",
    "replaced_pinned": "LRU-14",
    "grown": "LRU-15",
    "too_large": "LRU-16",
    "all_pinned": "LRU-21",
}
STORED = [
    *[(operation, kind, clause) for operation in ("put", "setitem") for kind, clause in STORING.items()],
    *[("put_if_fits", kind, clause) for kind, clause in STORING.items()],
    *[("setdefault", kind, "LRU-30") for kind in NEW],
    ("update", "updated", "LRU-30"),
]
RULES: Mapping[tuple[str, str], Rule] = {
    ("contains", "hit"): rule("LRU-04"),
    ("contains", "miss"): rule("LRU-04"),
    ("len", "counted"): rule("LRU-04"),
    ("getitem", "hit"): rule("LRU-05"),
    ("getitem", "miss"): rule("LRU-06"),
    ("get", "hit"): rule("LRU-07"),
    ("get", "miss"): rule("LRU-08"),
    ("touch", "hit"): rule("LRU-09"),
    ("touch", "miss"): rule("LRU-10"),
    ("pop", "removed"): rule("LRU-11"),
    ("pop", "removed_pinned"): rule("LRU-11"),
    ("pop", "miss"): rule("LRU-11"),
    ("del", "removed"): rule("LRU-12"),
    ("del", "removed_pinned"): rule("LRU-12"),
    ("del", "miss"): rule("LRU-12"),
    **{("put", kind): rule(clause) for kind, clause in STORING.items()},
    **{("setitem", kind): rule(clause) for kind, clause in STORING.items()},
    **{("put_if_fits", kind): rule("LRU-17", clause) for kind, clause in STORING.items()},
    ("put_if_fits", "too_large"): rule("LRU-17"),
    ("put_if_fits", "as put"): rule("LRU-21"),
    **{(operation, "as new"): rule("LRU-13") for operation in ("put", "setitem", "put_if_fits")},
    **{("setdefault", kind): rule("LRU-30") for kind in ("hit", *NEW)},
    ("setdefault", "as getitem"): rule("LRU-05"),
    **{("setdefault", f"as {kind}"): rule(STORING[kind]) for kind in NEW},
    ("update", "updated"): rule("LRU-30"),
    **{("update", f"as {kind}"): rule(clause) for kind, clause in STORING.items()},
    ("pin", "pinned"): rule("LRU-19"),
    ("pin", "miss"): rule("LRU-20"),
    ("remove_oldest", "removed"): rule("LRU-23"),
    ("remove_oldest", "removed_pinned"): rule("LRU-23"),
    ("remove_oldest", "empty"): rule("LRU-23"),
    ("remove_oldest", "all_pinned"): rule("LRU-21"),
    ("popitem", "removed"): rule("LRU-24"),
    ("popitem", "removed_pinned"): rule("LRU-24"),
    ("popitem", "empty"): rule("LRU-25"),
    ("popitem", "all_pinned"): rule("LRU-21"),
    ("clear", "cleared"): rule("LRU-26"),
    ("stat", "total"): rule("LRU-27"),
    ("stat", "delta"): rule("LRU-28"),
    ("hit_ratio", "read"): rule("IT-11"),
    ("usage", "read"): rule("LRU-03"),
    ("keys", "read"): rule("LRU-30"),
    ("view", "read"): rule("LRU-29"),
    ("pairs", "read"): rule("LRU-30"),
    ("fresh", "empty"): rule("LRU-27"),
}

ASPECTS = {
    "order": Aspect(2, reading="LRU-29"),
    "data": Aspect(2, "LRU-02", reading="LRU-29"),
    "views": Aspect(2, "LRU-29", reading="LRU-29"),
    "values": Aspect(2, "LRU-29", reading="LRU-29"),
    "pins": Aspect(2, reading="LRU-19"),
    "hits": Aspect(1, reading="LRU-27"),
    "total": Aspect(1, reading="LRU-27"),
    "length": Aspect(1, reading="LRU-04"),
    "bytes": Aspect(1, "LRU-01", reading="LRU-01"),
}

REMOVING = ("pop", "del", "remove_oldest", "popitem")
CULPRITS = {
    **{
        (operation, kind, "pins"): "LRU-22"
        for operation in (*REMOVING, "put", "setitem", "put_if_fits", "update")
        for kind in (
            "removed",
            "removed_pinned",
            "replaced",
            "replaced_pinned",
            "grown",
            "updated",
            "as grown",
        )
    },
    # Which value is kept is the business of what stored it.
    **{(operation, kind, "values"): clause for operation, kind, clause in STORED},
}

PINNING = "pin", "LRU-22", ("stat", "hit_ratio", "hits", "total")
"""The operation that pins; the clause that ends a pin; operations and aspects that no pin can change."""
