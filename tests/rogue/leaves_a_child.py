"""The first touch starts a process that would outlive this one."""

from __future__ import annotations

import subprocess

from rogue import names

CHILD_SECONDS = 4321
"""Names the child in a list of processes."""

children: list[subprocess.Popen[bytes]] = []


def misbehave() -> None:
    if not children:
        children.append(subprocess.Popen(["sleep", str(CHILD_SECONDS)]))


globals().update(names(misbehave))
