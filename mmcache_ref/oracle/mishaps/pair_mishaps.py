"""What can happen to P0 and P1 of a key-replicated pair, and to their connections, each as one mishap."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Final

from mmcache_ref.oracle.mishaps.mishaps import (
    Mishap,
    Scene,
    cut,
    killed,
    killed_at,
    signal_to,
    stopped,
)

WAITING: Final = frozenset({"drop"})
"""Before a message is lost everything else comes to its end, which a process that is stopped does not."""


def _both_killed(scene: Scene) -> bool:
    """P0 and P1 are gone at once."""
    for part in (scene.choose_front_end(), scene.choose_engine()):
        signal_to(part.pid, signal.SIGKILL)
    return True


PAIR_MISHAPS: Final[Mapping[str, Mishap]] = {
    "kill-p1-before": Mishap(
        "P1 is killed before it takes a message",
        "DR-32",
        killed_at("before a message", Scene.choose_engine),
    ),
    "kill-p1-inside": Mishap(
        "P1 is killed inside a message, before one of its items",
        "DR-32",
        killed_at("inside a message", Scene.choose_engine),
    ),
    "kill-p1-after": Mishap(
        "P1 is killed after it took a message, before it answers",
        "DR-32",
        killed_at("after a message", Scene.choose_engine),
    ),
    "kill-p1": Mishap("P1 is killed", "DR-32", killed(Scene.choose_engine)),
    "kill-p0-inside": Mishap(
        "P0 is killed inside a request, before one of its items",
        "DR-32",
        killed_at("inside a message", Scene.choose_front_end),
    ),
    "kill-p0-after": Mishap(
        "P0 is killed after its update, before it sends",
        "DR-32",
        killed_at("after a message", Scene.choose_front_end),
    ),
    "kill-p0": Mishap("P0 is killed", "DR-32", killed(Scene.choose_front_end)),
    "kill-both": Mishap("P0 and P1 are killed at once", "DR-32", _both_killed),
    "stop-p1": Mishap(
        "P1 is stopped, and goes on",
        "DR-33",
        stopped(lambda scene: int(scene.session.course.engine.pid)),
        without=WAITING,
    ),
    "stop-p0": Mishap(
        "P0 is stopped, and goes on",
        "DR-33",
        stopped(lambda scene: int(scene.session.course.front_end.pid)),
        without=WAITING,
    ),
    "cut-p1": Mishap("the connection of P1 ends inside a message", "DR-33", cut(Scene.choose_engine)),
    "cut-p0": Mishap("the connection of P0 ends inside a message", "DR-33", cut(Scene.choose_front_end)),
}
"""Name to mishap, in the order in which they are tried."""
