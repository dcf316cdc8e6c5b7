"""Which clauses decide what the pair and the protocol around it do, and what of them can be seen."""

from __future__ import annotations

from collections.abc import Mapping

from .component import Aspect, Rule, rule

UPDATING = {
    "claimed": rule("KR-02"),
    "sent": rule("KR-03"),
    "mixed": rule("IF-12", "IF-11"),
    "too-large": rule("KR-05"),
    "kept": rule("KR-13"),
    "asserted": rule("KR-04"),
}
"""What decides a merge step, by kind."""

INGESTING = {
    "claimed": rule("KR-10"),
    "sent": rule("KR-08"),
    "mixed": rule("IF-14"),
    "too-large": rule("KR-09"),
    "kept": rule("KR-14"),
    "missed": rule("IF-16", "IF-15"),
}
"""What decides an ingested message, by kind."""

RULES: Mapping[tuple[str, str], Rule] = {
    **{("submit", kind): clause for kind, clause in UPDATING.items()},
    **{("retry", kind): clause for kind, clause in UPDATING.items()},
    **{("update", kind): clause for kind, clause in UPDATING.items()},
    ("update", "invalidated"): rule("KR-04"),
    ("submit", "unsupplied"): rule("DR-02"),
    **{("deliver", kind): clause for kind, clause in INGESTING.items()},
    ("deliver", "awaits-clear"): rule("DR-15"),
    ("deliver", "cleared-first"): rule("IF-14", "DR-15"),
    ("deliver", "held-back"): rule("DR-14"),
    ("deliver", "set-aside"): rule("DR-15"),
    ("deliver", "unrecorded"): rule("DR-17"),
    ("handle-report", "invalidated"): rule("KR-06"),
    ("handle-report", "cleared"): rule("DR-15"),
    ("handle-report", "deferred"): rule("DR-18"),
    ("handle-report", "outdated"): rule("DR-15"),
    ("reject", "rejected"): rule("IF-12", "IF-11"),
    ("reject", "rolled-back"): rule("DR-13"),
    **{("reject", kind): clause for kind, clause in UPDATING.items()},
    ("reject", "unsupplied"): rule("DR-02"),
    ("dry-run", "discarded"): rule("IF-12", "IF-11"),
    ("dry-run", "rolled-back"): rule("DR-13"),
    **{("dry-run", kind): clause for kind, clause in UPDATING.items()},
    ("dry-run", "unsupplied"): rule("DR-02"),
    ("bypass", "bypassed"): rule("DR-17"),
    ("abort", "aborted"): rule("DR-22"),
    ("abort", "still-ingested"): rule("DR-22"),
    ("drop", "lost"): rule("DR-24"),
    ("drop", "sent-again"): rule("DR-24"),
    ("lose-report", "lost"): rule("DR-19"),
    **{("lose-report", kind): rule("DR-19") for kind in ("invalidated", "cleared", "outdated")},
    ("lose-report", "deferred"): rule("DR-18"),
    ("check", "checked"): rule("IF-06"),
    ("check", "unsupplied"): rule("DR-02"),
    ("clear-p0", "cleared"): rule("IF-05"),
    ("clear-p0", "deferred"): rule("DR-18"),
    ("clear-both", "deferred"): rule("DR-18"),
    ("finish-clear", "held-back"): rule("DR-14"),
    ("clear-p1", "cleared"): rule("IF-05"),
    ("clear-both", "cleared"): rule("IF-05"),
    ("finish-clear", "cleared"): rule("IF-05"),
    ("finish-clear", "ignored"): rule("DR-15"),
    ("restart-p1", "restarted"): rule("DR-15"),
    **{
        (second, kind): clause
        for second in ("second-front-end", "second-engine")
        for kind, clause in {
            **UPDATING,
            **INGESTING,
            "unsupplied": rule("DR-02"),
            "unshared": rule("DR-21"),
            **{f"p0-{kind}": clause for kind, clause in UPDATING.items()},
        }.items()
    },
}

ASPECTS = {
    "p0.order": Aspect(2),
    "p0.length": Aspect(1),
    "p0.bytes": Aspect(1, "DR-11"),
    "p1.order": Aspect(2),
    "p1.length": Aspect(1),
    "p1.bytes": Aspect(1, "DR-11"),
    "p0.number": Aspect(1),
    "p1.number": Aspect(1, "DR-15"),
    "p0.uncounted": Aspect(1, "KR-07"),
    "under-way": Aspect(1),
    "checked": Aspect(1),
    "work": Aspect(1, "DR-26"),
    "channel": Aspect(2),
    "reports": Aspect(2),
}
