"""The accidents as operations: what the environment does to the pair.   [spec/05-drift.md]

Each is off until a configuration names it; until then, and wherever it makes no sense, its outcome is
`disabled`.
"""

from __future__ import annotations

from .component import Op
from .pair import Request


class Reject(Op, frozen=True, tag="reject"):
    """A request goes through P0's update, is then refused, and never sent."""

    request: Request


class DryRun(Op, frozen=True, tag="dry-run"):
    """A request goes through P0's update for its result only, and is never sent."""

    request: Request


class Bypass(Op, frozen=True, tag="bypass"):
    """A request is put into the channel, with its data and without P0."""

    request: Request


class Abort(Op, frozen=True, tag="abort"):
    """The message at this place of the channel is taken out."""

    position: int


class Drop(Op, frozen=True, tag="drop"):
    """The message at this place of the channel is lost."""

    position: int


class LoseReport(Op, frozen=True, tag="lose-report"):
    """The client will retry, and P0 is not told why."""

    position: int


class Check(Op, frozen=True, tag="check"):
    """The first half of a submit: `is_cached` for every hash."""

    request: Request


class Update(Op, frozen=True, tag="update"):
    """The second half of a submit: the merge step of the checked request, and sending it."""


class ClearP0(Op, frozen=True, tag="clear-p0"):
    """`sender.clear_cache()`"""


class ClearP1(Op, frozen=True, tag="clear-p1"):
    """`receiver.clear_cache()`"""


class ClearBoth(Op, frozen=True, tag="clear-both"):
    """`sender.clear_cache()`, and P1 is asked to follow."""


class FinishClear(Op, frozen=True, tag="finish-clear"):
    """P1 does what `clear-both` asked for: `receiver.clear_cache()`."""


class RestartP1(Op, frozen=True, tag="restart-p1"):
    """P1 starts again with an empty cache; what was in the channel is gone."""


class SecondFrontEnd(Op, frozen=True, tag="second-front-end"):
    """Another P0 handles a request of its own, from its check to P1's answer."""

    request: Request


class SecondEngine(Op, frozen=True, tag="second-engine"):
    """P0 handles a request that another P1 ingests at once."""

    request: Request


AccidentOperation = (
    Reject
    | DryRun
    | Bypass
    | Abort
    | Drop
    | LoseReport
    | Check
    | Update
    | ClearP0
    | ClearP1
    | ClearBoth
    | FinishClear
    | RestartP1
    | SecondFrontEnd
    | SecondEngine
)
