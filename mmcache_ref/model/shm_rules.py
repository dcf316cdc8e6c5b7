"""Which clauses decide what the shared-memory caches in their protocol do, and what of it can be seen."""

from __future__ import annotations

from collections.abc import Mapping

from .component import Aspect, Rule, rule

UPDATING = {
    "put": rule("SC-28", "SC-02"),
    "hit": rule("SC-28", "SC-03"),
    "too-large": rule("SC-05", "SC-37"),
    "no-room": rule("SC-05", "SC-36"),
    "asserted": rule("SC-04"),
}
"""What decides the updates of a request, by kind."""

READING = {
    "acknowledged": rule("SC-31", "SC-19"),
    "passed": rule("SC-31", "SC-20"),
    "kept": rule("SC-39"),
    "dropped": rule("SC-38"),
    "missed": rule("SC-33", "SC-42"),
    "died": rule("SC-23"),
}
"""What decides a read, by kind."""

RULES: Mapping[tuple[str, str], Rule] = {
    **{("submit", kind): clause for kind, clause in UPDATING.items()},
    ("submit", "unsupplied"): rule("SC-26"),
    **{("read", kind): clause for kind, clause in READING.items()},
    ("finish", "finished"): rule("SC-29"),
    ("clear", "cleared"): rule("SC-12"),
    ("clear", "deferred"): rule("SC-41"),
    ("retry", "sent"): rule("SC-45"),
    ("reject", "rejected"): rule("SC-28", "SC-38"),
    ("reject", "released"): rule("SC-28", "SC-38"),
    **{("reject", kind): clause for kind, clause in UPDATING.items()},
    ("reject", "unsupplied"): rule("SC-26"),
    ("abort", "aborted"): rule("SC-38"),
    ("abort", "released"): rule("SC-38"),
    ("strip", "stripped"): rule("SC-30"),
    ("strip", "handles-kept"): rule("SC-30"),
    **{("resume", kind): rule("SC-40") for kind in ("kept", "acknowledged", "passed", "missed", "died")},
    ("worker-death", "restarted"): rule("SC-44"),
    ("worker-death", "cleared"): rule("SC-44"),
    ("forge", "refused"): rule("SC-27"),
    ("forge", "refused-by-worker"): rule("SC-22"),
    ("replay", "refused"): rule("SC-27"),
    ("replay", "accepted"): rule("SC-43"),
    ("replay", "referenced"): rule("SC-43"),
}

ASPECTS = {
    "dead": Aspect(1, "SC-42"),
    "hits": Aspect(1, "SC-13"),
    "total": Aspect(1, "SC-13"),
    "length": Aspect(1),
    "keys": Aspect(2),
    "references": Aspect(2, "SC-35", is_culprit=False),
    "counts": Aspect(2, "SC-34", is_culprit=False),
    "layout": Aspect(3),
    "ring": Aspect(3),
    "under-way": Aspect(1),
    "channel": Aspect(2),
}

CULPRITS = {
    # What a request has handed out before it failed is released.
    **{
        (operation, "asserted", aspect): "SC-38"
        for operation in ("submit", "reject")
        for aspect in ("under-way", "channel")
    },
    # A store that should have been cleared still counts.
    **{("clear", "cleared", aspect): "SC-12" for aspect in ("hits", "total")},
    **{("worker-death", "cleared", aspect): "SC-44" for aspect in ("hits", "total")},
    # A handle without a lookup has no reference of its own.
    **{("replay", "referenced", aspect): "SC-43" for aspect in ("hits", "total")},
}
