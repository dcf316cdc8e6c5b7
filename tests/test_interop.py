"""Writers and readers of different implementations on one segment."""

from __future__ import annotations

import json
import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from mmcache_ref import reference
from mmcache_ref.cli import app
from mmcache_ref.oracle import peer_processes
from mmcache_ref.oracle.interop import Matrix, try_together
from mmcache_ref.oracle.interop_checks import CHECKS
from mmcache_ref.oracle.interop_values import catalogue, fingerprint
from mmcache_ref.oracle.targets import resolve


class BlindReader(reference.SingleWriterShmObjectStorage):
    """Takes the handle of another key for its own."""

    def get(self, address: int, monotonic_id: int, signature: Any = None, key: Any = None) -> Any:
        try:
            return super().get(address, monotonic_id, signature, key)
        except ValueError:
            return super().get(address, monotonic_id, signature, "a")


class Mute(reference.SingleWriterShmObjectStorage):
    """Ends its process."""

    def put(self, key: str, value: Any) -> Any:
        os._exit(7)


def blind() -> Any:
    return SimpleNamespace(**{**vars(reference), "SingleWriterShmObjectStorage": BlindReader})


def mute() -> Any:
    return SimpleNamespace(**{**vars(reference), "SingleWriterShmObjectStorage": Mute})


def answers(matrix: Matrix, writer: str, reader: str) -> dict[str, str]:
    (pair,) = [each for each in matrix.pairs if (each.writer, each.reader) == (writer, reader)]
    return {cell.check: cell.answer for cell in pair.cells}


ALL_WELL = dict.fromkeys(CHECKS, "yes")


@pytest.mark.upstream
@pytest.mark.usefixtures("no_segment_is_left")
@pytest.mark.clause("OS-15", "OS-17", "OS-18", "OS-20", "OS-33", "OS-34")
def test_reference_and_release_write_and_read_for_each_other() -> None:
    told: list[str] = []
    matrix = try_together(["reference", "vllm@0.32.0"], told.append)
    assert [answers(matrix, each.writer, each.reader) for each in matrix.pairs] == [ALL_WELL] * 4
    assert (matrix.status, matrix.exit_code) == ("conforms", 0)
    assert told[-1] == "vllm@0.32.0 writes, vllm@0.32.0 reads"


def test_what_a_reader_does_wrong_is_told() -> None:
    bad = f"py:{__name__}:blind"
    matrix = try_together([bad])
    assert answers(matrix, bad, bad) == ALL_WELL | {"refuses forged handles": "no"}
    assert (matrix.status, matrix.exit_code) == ("violates", 2)
    (reason,) = [cell.reason for cell in matrix.pairs[0].cells if cell.answer == "no"]
    assert reason.startswith("the handle of another key: read ['array'")


@pytest.mark.usefixtures("no_segment_is_left")
def test_what_cannot_be_tried_is_undetermined() -> None:
    bad, absent = f"py:{__name__}:mute", "py:no_such_module"
    matrix = try_together([bad, absent])
    assert {cell.answer for pair in matrix.pairs for cell in pair.cells} == {"undetermined"}
    assert (matrix.status, matrix.exit_code) == ("undetermined", 3)
    reasons = {cell.reason for pair in matrix.pairs for cell in pair.cells}
    assert any("exit code is 7" in each for each in reasons)
    assert any("no_such_module cannot be imported" in each for each in reasons)


def test_a_process_that_does_not_answer_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer_processes, "START_SECONDS", 0.0)
    matrix = try_together(["reference"])
    assert set(answers(matrix, "reference", "reference").values()) == {"undetermined"}
    assert "has not answered" in matrix.pairs[0].cells[0].reason


def test_the_command_prints_the_matrix() -> None:
    done = CliRunner().invoke(app, ["interop", "reference", "--format", "json"])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["status"], told["targets"]) == (0, "conforms", ["reference"])
    assert "no such target" in CliRunner().invoke(app, ["interop", "nonsense"]).output


def test_values_that_differ_have_different_fingerprints() -> None:
    values = [build(resolve("reference")) for build in catalogue().values()]
    told = [json.dumps(fingerprint(value)) for value in values]
    assert len(set(told)) == len(told)
    assert fingerprint(np.zeros(3, np.uint8)) != fingerprint(np.zeros((3, 1), np.uint8))
    assert fingerprint((1, [2])) == fingerprint([1, (2,)])
    assert fingerprint(1) != fingerprint(1.0) != fingerprint(True)
