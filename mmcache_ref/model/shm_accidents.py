"""Operations of the shared-memory caches and their protocol, accidents included.   [spec/08-shm-caches.md]

An accident is off until a configuration names it; until then, and wherever it makes no sense, its outcome is
`disabled`.
"""

from __future__ import annotations

from typing import Literal

from .component import Op
from .shm_requests import Request

Forgery = Literal["wrong-key", "wrong-signature", "out-of-range", "unsigned"]
Seen = Literal["p0", "worker"]


class Submit(Op, frozen=True, tag="submit"):
    """P0: check, touches, updates, and sending; for n > 1 with several children."""

    request: Request
    children: int = 1


class Read(Op, frozen=True, tag="read"):
    """A worker: `get_and_update_features` on the message at this place, for its next child."""

    position: int = 0
    worker: int = 0


class Finish(Op, frozen=True, tag="finish"):
    """The running request at this place ends."""

    position: int = 0


class Clear(Op, frozen=True, tag="clear"):
    """P0: `clear_cache()`; with handles under way it is an accident."""


class SubmitAgain(Op, frozen=True, tag="retry"):
    """P0: the retry at this place, its data past the cache."""

    position: int = 0


class Reject(Op, frozen=True, tag="reject"):
    """A request goes through P0's update, is then refused, and never sent."""

    request: Request
    children: int = 1


class Abort(Op, frozen=True, tag="abort"):
    """The message at this place leaves the channel before all workers have read it."""

    position: int = 0


class Strip(Op, frozen=True, tag="strip"):
    """The prefix cache covers the message at this place: what it carries becomes `None`."""

    position: int = 0


class Resume(Op, frozen=True, tag="resume"):
    """The running request at this place was preempted: every worker is given its message again, in order."""

    position: int = 0


class Die(Op, frozen=True, tag="worker-death"):
    """A worker dies, its queue with it, and a new one takes its place."""

    worker: int = 0


class Forge(Op, frozen=True, tag="forge"):
    """A client makes a handle of its own from the current one of `key`, and shows it to P0 or to a worker."""

    key: str
    how: Forgery = "wrong-key"
    at: Seen = "p0"


class Replay(Op, frozen=True, tag="replay"):
    """A client sends the current handle of `key`, or one that is not current any more."""

    key: str
    is_outdated: bool = False


Operation = (
    Submit | Read | Finish | Clear | SubmitAgain | Reject | Abort | Strip | Resume | Die | Forge | Replay
)
