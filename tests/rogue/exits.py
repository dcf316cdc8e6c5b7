"""A touch calls `sys.exit`."""

from __future__ import annotations

import sys

from rogue import names


def misbehave() -> None:
    sys.exit(0)


globals().update(names(misbehave))
