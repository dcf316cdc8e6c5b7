"""The implementation in `spec/10-event-logs.md` that writes a log of its own is run as it stands there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.oracle.clauses import spec_directory
from mmcache_ref.oracle.event_log import read_log
from mmcache_ref.oracle.trace_check import check

pytestmark = pytest.mark.timeout(300)

CHAPTER = (spec_directory() / "10-event-logs.md").read_text(encoding="utf-8")
AS_IT_SHOULD = "    cache.move_to_end(key)\n"
FORGETFUL = "    if content: cache.move_to_end(key)\n"


def program() -> str:
    """The Python that stands in the chapter."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", CHAPTER, re.MULTILINE | re.DOTALL)
    return str(code)


def logged(folder: Path, code: str) -> Path:
    """What the program writes, put together as the chapter says."""
    (folder / "pair.py").write_text(code, encoding="utf-8")
    subprocess.run([sys.executable, "-I", "pair.py"], cwd=folder, check=True, timeout=120)
    log = folder / "run.ndjson"
    parts = [folder / f"{name}.ndjson" for name in ("header", "p0", "p1")]
    log.write_bytes(b"".join(part.read_bytes() for part in parts))
    return log


def judged(log: Path) -> tuple[int, str]:
    """Exit code and output of the check of a log."""
    result = CliRunner().invoke(app, ["trace", "check", str(log)])
    return result.exit_code, result.stdout


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return logged(tmp_path_factory.mktemp("pair"), program())


def test_the_example_imports_nothing_of_this_project() -> None:
    assert "mmcache" not in program()


@pytest.mark.clause("EV-01", "EV-02", "EV-06")
def test_the_log_of_the_example_is_explained(good: Path) -> None:
    code, said = judged(good)
    assert code == 0
    assert said.strip() in CHAPTER


@pytest.mark.clause("EV-06")
def test_the_forgetful_example_is_named_as_the_chapter_says(tmp_path: Path) -> None:
    assert FORGETFUL.strip() in CHAPTER
    assert program().count(AS_IT_SHOULD) == 1
    code, said = judged(logged(tmp_path, program().replace(AS_IT_SHOULD, FORGETFUL)))
    assert code == 2
    assert "\n".join(said.splitlines()[:2]) in CHAPTER


CHANGES: list[tuple[int, str, Any, str]] = [
    (2, "made", 77, "EV-04"),
    (4, "holds", ["a", "b"], "KR-02"),
    (4, "saw", [{"nbytes": 4, "fill": 97}], "KR-02"),
    (12, "saw", [{"nbytes": 4, "fill": 98}], "KR-08"),
    (13, "keys", ["b"], "EV-04"),
    (14, "number", 4, "EV-02"),
]


@pytest.mark.clause("EV-02", "EV-04", "EV-05", "EV-06")
@pytest.mark.parametrize(("line", "field", "value", "clause"), CHANGES)
def test_a_value_of_it_that_was_changed_is_named(
    good: Path, tmp_path: Path, line: int, field: str, value: Any, clause: str
) -> None:
    lines = [json.loads(each) for each in good.read_text(encoding="utf-8").splitlines()]
    assert lines[line - 1][field] != value
    lines[line - 1][field] = value
    changed = tmp_path / "changed.ndjson"
    changed.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    found = check(read_log(changed))[0].unexplained
    assert found is not None
    assert found.clause == clause, found
