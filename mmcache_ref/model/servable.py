"""Whether a request can be begun in a state: it is open to more, and the client left nothing out."""

from __future__ import annotations

from collections.abc import Sequence

from .component import Outcome, Refused
from .pair import Request, State, check

Stepped = tuple[State, Outcome]
DISABLED = Outcome("disabled")


def open_requests(state: State) -> int:
    """How many requests are under way: checked, in the channel, missed, or to be retried."""
    return len(state.channel) + len(state.reports) + len(state.retries) + (state.checked is not None)


def unsupplied(state: State, request: Request) -> Outcome | None:
    """The refusal of a request with items that are neither cached in P0 nor supplied; None for any other."""
    if all(item.supplied for item in request):
        return None
    return left_out(request, check(state.sender, request))


def left_out(request: Request, is_cached: Sequence[bool]) -> Outcome | None:
    """As `unsupplied`, by what the check said of each item.   [DR-02]"""
    both = zip(request, is_cached, strict=True)
    hashes = tuple([item.key for item, cached in both if not (item.supplied or cached)])
    return Outcome("unsupplied", Refused(hashes)) if hashes else None
