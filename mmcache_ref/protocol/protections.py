"""The rules of the protocol that an accident cannot get past.   [spec/05-drift.md]"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

PROTECTIONS: Mapping[str, str] = {
    "content-identity": "clients give an identity to one content only; nothing here enforces it",
    "epoch": "messages and reports carry the number of the clear they belong to",
    "ingest-aborted": "a message that was sent is ingested also when its request is aborted",
    "keep-data-until-sent": "a message is kept until it has arrived, and sent again when it is lost",
    "keep-touched": "what a request pushes out itself is kept until it is done; lives in the caches",
    "one-order": "P0 updates the items of a request in prompt order, as P1 does",
    "ordered-delivery": "messages and clears arrive in the order in which they were sent",
    "paired": "one P0 replicates to one P1; any other brings its data, and none is kept",
    "recorded-only": "P1 keeps only what P0 recorded",
    "report-always": "a retry waits until P0 has heard of the miss",
    "resend-all": "P0 forgets every hash of a request as its retry begins",
    "rollback": "P0 updates as it sends, so a refused request leaves it as it was",
    "serialised-invalidation": "nothing comes between the check of a request and its update",
}
"""Name to rule. `content-identity` and `keep-touched` are kept by clients and by the caches."""

DEFAULT = frozenset(PROTECTIONS) - {"content-identity"}
"""With these every accident of the field is harmless, or answered by one miss and one retry."""


def chosen(names: Iterable[str], known: Mapping[str, str]) -> frozenset[str]:
    """The names as a set; one that is not known is a `ValueError` that lists those that are."""
    wanted = frozenset(names)
    unknown = sorted(wanted - known.keys())
    if unknown:
        raise ValueError(f"no such protection: {', '.join(unknown)}. Take of: {', '.join(known)}")
    return wanted
