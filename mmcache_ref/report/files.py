"""A report as files: what a CI keeps."""

from __future__ import annotations

import re
from pathlib import Path

from rich.console import Console

from mmcache_ref.oracle.stored import encode_run
from mmcache_ref.oracle.verdict import Report
from mmcache_ref.report.junit import junit
from mmcache_ref.report.printed import json_text
from mmcache_ref.report.text import report_text

WIDTH = 120
"""Columns of a text report in a file."""


def report_json(report: Report) -> str:
    """The report as indented JSON."""
    return json_text(report, order="deterministic")


def write_report(report: Report, folder: Path) -> None:
    """Write `verdict.txt`, `verdict.json`, `junit.xml`, and each run as `runs/TARGET-COMPONENT-CLAUSE.json`.

    What an earlier report left there is replaced.
    """
    runs = folder / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    for stale in runs.glob("*.json"):
        stale.unlink()
    (folder / "verdict.json").write_text(report_json(report), encoding="utf-8")
    (folder / "junit.xml").write_text(junit(report), encoding="utf-8")
    with (folder / "verdict.txt").open("w", encoding="utf-8") as file:
        Console(file=file, width=WIDTH, highlight=False).print(report_text(report), crop=False)
    for target in report.targets:
        label = re.sub(r"[^\w.]+", "-", target.target)
        for component in target.components:
            for each in component.broken:
                if each.run is not None:
                    path = runs / f"{label}-{component.component}-{each.id}.json"
                    path.write_text(encode_run(each.run) + "\n", encoding="utf-8")
