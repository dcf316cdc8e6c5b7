"""The first touches fork, and the copies go on like the process that was there."""

from __future__ import annotations

import os

from rogue import names

MOST = 20
"""Copies; they make none of their own, so that no more are there if nothing ends them."""

begun = os.getpid()
copies: list[int] = []


def misbehave() -> None:
    if os.getpid() == begun and len(copies) < MOST:
        copies.append(os.fork())


globals().update(names(misbehave))
