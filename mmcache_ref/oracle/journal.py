"""A journal of the run in progress, so that a target that takes its process down still leaves its run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from mmcache_ref.model.component import Op


class Journal:
    """Keeps, in a file, the configuration and every operation begun on the current target.

    It costs a write for each operation, so it is used only to repeat a judgement whose process died.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        self._noted: Sequence[Op] | None = None

    def note(self, config: Any, performed: Sequence[Op]) -> None:
        """The last of `performed` is about to begin; a list not seen before starts a new run."""
        if performed is not self._noted:
            self._noted = performed
            self._file.seek(0)
            self._file.truncate()
            self._file.write(msgspec.json.encode(config) + b"\n")
        self._file.write(msgspec.json.encode(performed[-1]) + b"\n")


def read_journal(path: Path, config_type: Any, operation_type: Any) -> tuple[Any, list[Op]] | None:
    """The configuration and the operations of the last run; None when none was begun."""
    lines = path.read_bytes().splitlines() if path.is_file() else []
    if len(lines) < 2:
        return None
    config = msgspec.json.decode(lines[0], type=config_type)
    return config, [msgspec.json.decode(line, type=operation_type) for line in lines[1:]]
