"""The hazards as a Markdown table: what happens without a protection, and that it stops with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mmcache_ref.oracle.regressions import runs_directory
from mmcache_ref.tlc.manifest import Entry, Manifest

PROTECTED: Final = ".protected"
"""How the name of a hazard's model ends that must hold."""
HAZARDS: Final = "hazards"
"""Where among the runs of `spec/` the counterexamples stand."""
HEADING: Final = (
    "| accident | without protection | field fault | steps | run | with protection | states |",
    "|---|---|---|---|---|---|---|",
)


def hazards_markdown(manifest: Manifest, model: str) -> str:
    """A row for each model that fails for want of a protection, with the one in which that is there; of those
    that are bound to this Python model."""
    entries = {entry.name: entry for _, entry in manifest.entries}
    rows = [
        _row(entry, holding)
        for entry in entries.values()
        if (holding := entries.get(entry.name + PROTECTED)) and holding.bound and holding.bound.model == model
    ]
    return "\n".join([*HEADING, *rows]) + "\n"


def _row(failing: Entry, holding: Entry) -> str:
    """One hazard; the steps are those of TLC's counterexample, which is a shortest one."""
    bound = holding.bound
    accidents = ", ".join(f"`{each}`" for each in bound.accidents) if bound else ""
    protections = ", ".join(f"`{each}`" for each in bound.protections) if bound else ""
    cells = (
        accidents,
        f"{failing.violated} fails ({', '.join(failing.clauses)})",
        failing.fault or "",
        str((failing.state_depth or 1) - 1),
        "".join(_run(failing.name)),
        f"{protections}: holds",
        f"{holding.distinct_states or 0:,}",
    )
    return f"| {' | '.join(cells)} |"


def _run(name: str) -> Iterator[str]:
    """A link to the stored counterexample, if there is one."""
    if (runs_directory() / HAZARDS / f"{name}.json").is_file():
        yield f"[json](runs/{HAZARDS}/{name}.json)"
