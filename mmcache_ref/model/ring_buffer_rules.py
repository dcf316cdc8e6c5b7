"""Which clause decides what in the ring buffer.   [spec/06-ring-buffer.md]"""

from __future__ import annotations

from collections.abc import Mapping

from .component import Aspect, Rule, rule

FREED = {
    "nothing": "RB-16",
    "held": "RB-24",
    "freed": "RB-16",
    "limited": "RB-17",
    "no-bytes": "RB-17",
    "all": "RB-25",
    "all-ids-live": "RB-11",
    "raised": "RB-19",
}
"""Kinds of `free_buf`, with the clauses of what it gives."""
RULES: Mapping[tuple[str, str], Rule] = {
    ("allocate", "allocated"): rule("RB-07"),
    ("allocate", "after-gap"): rule("RB-05"),
    ("allocate", "no-room"): rule("RB-06"),
    ("allocate", "no-bytes"): rule("RB-08"),
    ("allocate", "id-live"): rule("RB-11"),
    ("allocate", "closed"): rule("RB-31"),
    ("access", "read"): rule("RB-14"),
    ("access", "not-a-chunk"): rule("RB-15"),
    ("access", "closed"): rule("RB-31"),
    ("fill", "filled"): rule("RB-14"),
    **{("free", kind): rule(clause) for kind, clause in FREED.items()},
    **{("free", kind): rule(FREED[kind], "RB-20") for kind in ("freed", "limited", "all", "all-ids-live")},
    ("free", "closed"): rule("RB-31"),
    ("clear", "cleared"): rule("RB-21"),
    ("by-reader", "refused"): rule("RB-28"),
    ("reader-leaves", "left"): rule("RB-36"),
    ("handle", "read"): rule("RB-26"),
    ("secret", "read"): rule("RB-02"),
    ("constants", "read"): rule("RB-01"),
    ("roles", "read"): rule("RB-28"),
    ("number", "converted"): rule("RB-04"),
    ("another", "empty"): rule("RB-10"),
    ("unnamed", "made"): rule("RB-32"),
    ("claimed", "claimed"): rule("RB-33"),
    ("owned", "owned"): rule("RB-34"),
    ("largest", "at-the-limit"): rule("RB-09"),
    ("attach", "refused"): rule("RB-27"),
    ("attach", "attached"): rule("RB-27"),
    ("create", "refused"): rule("RB-35"),
    ("close", "closed"): rule("RB-30"),
    ("close-again", "left"): rule("RB-36"),
}

ASPECTS = {
    "segment": Aspect(1, "RB-36", reading="RB-32"),
    "begin": Aspect(1, reading="RB-20"),
    "end": Aspect(1, reading="RB-20"),
    "first_id": Aspect(1, "RB-12", reading="RB-12"),
    "next_id": Aspect(1, "RB-10", reading="RB-12"),
    "ids": Aspect(2, reading="RB-13"),
    "addresses": Aspect(2, "RB-13", reading="RB-13"),
    "headers": Aspect(3, "RB-03", reading="RB-03"),
    "payloads": Aspect(3, "RB-22", reading="RB-22"),
}

LOOKING = {
    "access": ("read", "not-a-chunk"),
    "free": ("held", "freed", "limited", "no-bytes", "all-ids-live", "raised"),
    "handle": ("read",),
    "roles": ("read",),
    "secret": ("read",),
}
"""Calls that write nothing, by operation and kind."""
CULPRITS = {
    # What is in a live chunk stays as it was handed out.
    **{
        (operation, kind, aspect): "RB-29"
        for operation, kinds in LOOKING.items()
        for kind in kinds
        for aspect in ("headers", "payloads")
    },
    ("clear", "cleared", "first_id"): "RB-21",
    ("clear", "cleared", "next_id"): "RB-21",
    ("fill", "filled", "payloads"): "RB-14",
    # What is refused changes nothing, ids included.
    **{
        ("allocate", kind, aspect): clause
        for kind, clause in (("no-room", "RB-06"), ("no-bytes", "RB-08"), ("id-live", "RB-11"))
        for aspect in ("first_id", "next_id", "addresses")
    },
    **{("free", "raised", aspect): "RB-19" for aspect in ("first_id", "next_id", "addresses")},
    **{("by-reader", "refused", aspect): "RB-28" for aspect in ASPECTS if aspect != "segment"},
}
