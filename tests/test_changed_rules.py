"""One rule is changed, in one view or in two alike, and a gate notices and names a clause.

`changed_rules.toml` has the changes: a text, what stands in its place, the part of `.ci/run` that is enough.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parent.parent
COPIED = ("mmcache_ref", "models", "spec", "tests", "pyproject.toml")
SECONDS = 1200.0
VIOLATES = {"models": 2, "pytest": 1}
"""What a gate's exit code is when it has noticed."""


class Edit(msgspec.Struct, forbid_unknown_fields=True):
    """A text in a file, and what stands in its place."""

    file: str
    old: str
    new: str


class Change(msgspec.Struct, forbid_unknown_fields=True):
    """A changed rule: in which view, the gate that notices it, and a clause that it names."""

    what: str
    view: str
    gate: str
    clause: str
    edits: list[Edit]


CHANGES = msgspec.toml.decode(
    (Path(__file__).parent / "changed_rules.toml").read_bytes(), type=dict[str, list[Change]]
)["change"]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_the_changed_text_is_there_once(change: Change) -> None:
    for edit in change.edits:
        assert (ROOT / edit.file).read_text(encoding="utf-8").count(edit.old) == 1


def test_every_view_is_changed() -> None:
    views = [change.view for change in CHANGES]
    assert set(views) == {"TLA+", "fairness", "abstract", "Python", "code", "two alike"}
    assert min(views.count(view) for view in views) >= 4


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.what)
def test_a_changed_rule_is_noticed(change: Change, tmp_path: Path) -> None:
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    for edit in change.edits:
        path = tmp_path / edit.file
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
    tool, *names = change.gate.split()
    command = {
        "models": ["-m", "mmcache_ref", "models", *names],
        "pytest": ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *names],
    }[tool]
    ran = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{tmp_path / 'tests'}", "COLUMNS": "160"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ran.returncode == VIOLATES[tool], ran.stdout + ran.stderr
    assert change.clause in ran.stdout
