"""A touch kills the process."""

from __future__ import annotations

import os
import signal

from rogue import names


def misbehave() -> None:
    print("about to die", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


globals().update(names(misbehave))
