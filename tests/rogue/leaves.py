"""A touch ends the process with exit code 0."""

from __future__ import annotations

import os

from rogue import names


def misbehave() -> None:
    os._exit(0)


globals().update(names(misbehave))
