"""Folders that are needed for a while: none is left, also where nobody waits for the threads in them."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

REMOVALS: Final = 50
"""So often a folder is removed, a tenth of a second apart, into which a dying process still writes."""

_folders: set[Path] = set()


@contextmanager
def scratch(kind: str) -> Iterator[Path]:
    """A folder `mmcache-KIND-…` of one's own, removed when the block is left, or by `remove_scratch`."""
    folder = Path(tempfile.mkdtemp(prefix=f"mmcache-{kind}-"))
    _folders.add(folder)
    try:
        yield folder
    finally:
        _remove(folder)


def remove_scratch() -> None:
    """Remove all of this process, at an interruption."""
    for folder in tuple(_folders):
        _remove(folder)


def _remove(folder: Path) -> None:
    for _ in range(REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            break
        time.sleep(0.1)
    _folders.discard(folder)
