"""Whether a request can be begun in a state: it is open to more, and the client left nothing out."""

from __future__ import annotations

from .component import Outcome
from .pair import Request, State, check

Stepped = tuple[State, Outcome]
DISABLED = Outcome("disabled")
UNSUPPLIED = Outcome("unsupplied")


def open_requests(state: State) -> int:
    """How many requests are under way: checked, in the channel, missed, or to be retried."""
    return len(state.channel) + len(state.reports) + len(state.retries) + (state.checked is not None)


def is_servable(state: State, request: Request) -> bool:
    """Whether each item is cached in P0 or supplied by the client.   [DR-02]"""
    return all(item.supplied for item in request) or all(
        item.supplied or cached for item, cached in zip(request, check(state.sender, request), strict=True)
    )
