"""Folders that are needed for a while: none is left, also where nobody waits for the threads in them.

A folder's name says from the beginning whose it is: the process that made it, when that began, and where it
runs. What a killed process left is therefore removed by the next one that makes a folder.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from mmcache_ref.oracle.known_process import Known, began, is_running, namespace

REMOVALS: Final = 50
"""So often a folder is removed, a tenth of a second apart, into which a dying process still writes."""
_NAME: Final = re.compile(r"mmcache-[a-z]+-(?P<process>\d+)\.(?P<began>\d+)\.(?P<place>[0-9a-f]+)-\w+")

_folders: set[Path] = set()


@contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """A folder `mmcache-KIND-…` of one's own, removed when the block is left, or by `remove_scratch`, or by
    whoever makes the next one when this process is dead."""
    sweep()
    process = os.getpid()
    owner = f"{process}.{began(process) or 0}.{_place()}"
    folder = Path(tempfile.mkdtemp(prefix=f"mmcache-{kind}-{owner}-"))
    _folders.add(folder)
    try:
        yield folder
    finally:
        _remove(folder)


def remove_scratch() -> None:
    """Remove all of this process, at an interruption."""
    for folder in tuple(_folders):
        _remove(folder)


def sweep() -> None:
    """Remove what processes of this user left that are gone; others may do the same at the same time.

    What cannot be removed now, since a dying process still writes into it, is left to the next one.
    """
    here = _place()
    for folder in Path(tempfile.gettempdir()).glob("mmcache-*"):
        named = _NAME.fullmatch(folder.name)
        if named is None or named["place"] != here:
            continue
        if _is_left(folder, Known(int(named["process"]), int(named["began"]))):
            shutil.rmtree(folder, ignore_errors=True)


def _is_left(folder: Path, owner: Known) -> bool:
    """Whether a folder of this user is one whose owner is known to be gone."""
    if is_running(owner):
        return False
    try:
        found = folder.lstat()
    except OSError:  # somebody else was faster
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _place() -> str:
    """Where processes of one id are the same: this machine, since a folder may be shared, and namespace."""
    return f"{zlib.crc32(f'{platform.node()} {namespace()}'.encode()):08x}"


def _remove(folder: Path) -> None:
    for _ in range(REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.1)
    _folders.discard(folder)
