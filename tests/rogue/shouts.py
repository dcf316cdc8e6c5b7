"""A touch prints what is no message, on both streams and past Python."""

from __future__ import annotations

import os
import sys

from rogue import names


def misbehave() -> None:
    print("{not json")
    print('{"type": "judged"}', file=sys.stderr)
    os.write(1, b"\xff\x00 past Python\n")


globals().update(names(misbehave))
