"""Which clause decides what in the object store.   [spec/07-object-store.md]"""

from __future__ import annotations

from collections.abc import Mapping

from .component import Aspect, Rule, rule

STORING = {
    "stored": rule("OS-01"),
    "made_room": rule("OS-04"),
    "made_more_room": rule("OS-05"),
    "blocked": rule("OS-04"),
}
"""Kinds of a put that is neither a duplicate nor too large."""
REFUSING = {
    "duplicate": rule("OS-02"),
    "too_large": rule("OS-03"),
    "never_fits": rule("OS-06"),
}
RULES: Mapping[tuple[str, str], Rule] = {
    **{("put", kind): each for kind, each in (STORING | REFUSING).items()},
    **{("put_failing", kind): each for kind, each in REFUSING.items()},
    ("put_failing", "blocked"): STORING["blocked"],
    ("plant", "planted"): rule("OS-01"),
    ("put_failing", "failed"): rule("OS-07"),
    ("is_cached", "asked"): rule("OS-09"),
    ("get_cached", "hit"): rule("OS-10"),
    ("get_cached", "miss"): rule("OS-11"),
    ("touch", "touched"): rule("OS-12", "OS-14"),
    ("touch", "miss"): rule("OS-12"),
    ("release_touches", "released"): rule("OS-13"),
    ("signature", "signed"): rule("OS-15"),
    ("signature", "miss"): rule("OS-11"),
    ("get", "read"): rule("OS-20"),
    ("get", "gone"): rule("OS-29"),
    ("get", "replaced"): rule("OS-21"),
    ("get", "overwritten"): rule("OS-22"),
    ("get", "looks_alike"): rule("OS-22"),
    ("get", "planted"): rule("OS-42"),
    ("get_overtaken", "overtaken"): rule("OS-41"),
    ("get_overtaken", "overtaken_late"): rule("OS-23"),
    ("get_overtaken", "as clear"): rule("OS-28", "OS-29"),
    ("get_overtaken", "as put"): rule("OS-01"),
    ("get_locked", "in vain"): rule("OS-40"),
    ("own_get", "read"): rule("OS-20"),
    ("reader_touch", "in place"): rule("OS-17"),
    ("reader_touch", "gone"): rule("OS-17"),
    ("verify", "current"): rule("OS-16"),
    ("verify", "outdated"): rule("OS-16"),
    ("verify", "signed"): rule("OS-17"),
    ("forge", "forged for get"): rule("OS-18"),
    ("forge", "forged for touch"): rule("OS-17"),
    ("forge", "forged for reader_verify"): rule("OS-17"),
    ("forge", "forged for verify"): rule("OS-16"),
    ("forge", "untyped"): rule("OS-19"),
    ("free_unused", "held"): rule("OS-25"),
    ("free_unused", "freed"): rule("OS-27"),
    ("free_unused", "reclaimed"): rule("OS-33"),
    ("clear", "cleared"): rule("OS-28"),
    ("attach", "attached"): rule("OS-34"),
    ("attach_without_lock", "refused"): rule("OS-35"),
    ("reader_writes", "refused"): rule("OS-36"),
    ("close_another", "closed"): rule("OS-37"),
    ("damage", "damaged"): rule("OS-43"),
    ("damage", "miscounted"): rule("OS-45"),
    ("damage", "checked"): rule("OS-44"),
    ("unpickle", "refused"): rule("OS-24"),
    ("travel", "travelled"): rule("OS-38"),
    ("travel", "foreign"): rule("OS-39"),
}

ASPECTS = {
    "length": Aspect(1),
    "reads": Aspect(1, "OS-32", is_culprit=False),
    "order": Aspect(2),
    "references": Aspect(2, "OS-32", is_culprit=False),
    "touched": Aspect(2, "OS-30", is_culprit=False),
    "indexes": Aspect(2, "OS-30", is_culprit=False, reading="OS-30"),
    "chunks": Aspect(3, "OS-30", is_culprit=False),
    "headers": Aspect(3, "OS-30", is_culprit=False),
    "bounds": Aspect(3),
    "contents": Aspect(3, "OS-31", is_culprit=False),
    "seals": Aspect(3, "OS-08"),
    "old_seals": Aspect(3, "OS-26"),
}
READING = {kind: each.state for (operation, kind), each in RULES.items() if operation == "get"}
"""What decides a reader's `get`, by kind."""
CULPRITS = {
    # Whoever reads leaves every seal.
    **{("get", kind, "seals"): clause for kind, clause in READING.items()},
    ("clear", "cleared", "bounds"): "OS-29",
    ("touch", "touched", "touched"): "OS-12",
    ("free_unused", "freed", "indexes"): "OS-26",
    ("free_unused", "reclaimed", "indexes"): "OS-26",
    # Whatever a failed put leaves, it is a trace of it.
    **{("put_failing", "failed", aspect): "OS-07" for aspect in ASPECTS},
}
