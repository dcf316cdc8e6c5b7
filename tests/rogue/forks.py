"""The first touches fork, and the copies go on like the process that was there."""

from __future__ import annotations

import os
from pathlib import Path

from rogue import names

MOST = 20
"""Copies; they make none of their own, so that no more are there if nothing ends them."""

TOLD = "ROGUE_COPY"
"""The environment variable with the file that a copy makes when it is asked for more than one operation."""
IN_ONE = 100
"""Touches; no operation has as many."""

begun = os.getpid()
copies: list[int] = []
touches: list[int] = []


def misbehave() -> None:
    if os.getpid() != begun:
        touches.append(1)
        if len(touches) > IN_ONE:
            Path(os.environ[TOLD]).touch()
    elif len(copies) < MOST:
        copies.append(os.fork())


globals().update(names(misbehave))
