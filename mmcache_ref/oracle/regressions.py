"""The shortest run of each seeded fault, kept in `spec/runs/`: `D03.json` and so on.

A file holds what the model says of each operation, and the clause that the fault breaks at the last one. What
the fault itself returned is left out: it may name objects or times. `mmcache-ref replay` takes these files,
and `mmcache-ref hunt --store spec/runs` writes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from mmcache_ref.oracle.clauses import spec_directory
from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.hunt import Hunt
from mmcache_ref.oracle.run import Profile, Run
from mmcache_ref.oracle.stored import read_run


class KeptStep(msgspec.Struct, frozen=True):
    """One operation, what it must give, and what can be observed after it."""

    operation: Any
    expected: Any
    state: dict[str, Any]


class Regression(msgspec.Struct, frozen=True):
    """A run of a fault; at its last step `aspect` mismatches, which breaks `clause`."""

    fault: str
    clause: str
    aspect: str
    component: str
    config: Any
    profile: Profile
    steps: tuple[KeptStep, ...]


def runs_directory() -> Path:
    """The folder of the runs."""
    return spec_directory() / "runs"


def regressions(folder: Path | None = None) -> Mapping[str, tuple[Regression, Run]]:
    """Each regression by its fault, with its run in the types of its component; `BadRun` for a bad file."""
    found = {}
    for path in sorted((folder or runs_directory()).glob("*.json")):
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=Regression)
        except msgspec.MsgspecError as error:
            raise BadRun(f"{path.name}: not a regression: {error}") from error
        found[kept.fault] = kept, read_run(str(path))
    return found


def run_file(fault: str) -> Path | None:
    """The file of a fault's run, if it is there."""
    path = runs_directory() / f"{fault}.json"
    return path if path.is_file() else None


def store_runs(hunt: Hunt, folder: Path) -> None:
    """Write the run of each fault that the hunt found one for. Other files stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for row in hunt.rows:
        run = row.run
        if run is None or run.mismatch is None:
            continue
        steps = tuple(KeptStep(step.operation, step.expected, step.state) for step in run.steps)
        kept = Regression(
            row.fault, run.mismatch.clause, run.mismatch.aspect, run.component, run.config, run.profile, steps
        )
        encoded = msgspec.json.format(msgspec.json.encode(kept, order="deterministic"), indent=1)
        (folder / f"{row.fault}.json").write_bytes(encoded + b"\n")
