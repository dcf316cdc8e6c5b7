"""A search as tables for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.model.explore import Exploration, Progress, Run, Verdict
from mmcache_ref.oracle.wording import counted, operation_in_words, state_in_words
from mmcache_ref.report.columns import Columns, key_replicated, ring_buffer, ring_publication, shm_caches
from mmcache_ref.report.columns.common import outcome_in_words as plain_outcome_in_words

COLOURS = {"holds": "green", "violated": "red", "undetermined": "yellow"}
STATUSES = {"holds": "conforms", "violated": "violates", "undetermined": "undetermined"}
COLUMNS: Mapping[str, Columns] = {
    "key-replicated": key_replicated.COLUMNS,
    "ring-buffer": ring_buffer.COLUMNS,
    "ring-publication": ring_publication.COLUMNS,
    "shm-caches": shm_caches.COLUMNS,
}
"""How the states of a model are shown; those of the others in words, in one column."""
PLAIN = Columns({}, operation_in_words, plain_outcome_in_words, frozenset({"state"}))
"""How a run of any other model is shown."""


def exploration_text(exploration: Exploration) -> RenderableType:
    """The verdicts, the counts, then the shortest run to each violation."""
    parts: list[RenderableType] = [verdict_table(exploration), counts_line(exploration)]
    unseen = never_taken(exploration)
    if unseen:
        parts.append(Text(f"Never happened: {', '.join(unseen)}.", style="yellow"))
    for verdict in exploration.verdicts.values():
        if verdict.run is not None:
            parts += ["", run_table(exploration, verdict)]
    legend = COLUMNS.get(exploration.model.NAME, PLAIN).legend
    if exploration.violated and legend:
        parts += ["", Text(legend, style="dim")]
    return Group(*parts)


def exploration_status(exploration: Exploration) -> str:
    """`violates`, `undetermined` or `conforms`: the names that `EXIT_CODES` knows."""
    verdicts = {verdict.verdict for verdict in exploration.verdicts.values()}
    for name in ("violated", "undetermined"):
        if name in verdicts:
            return STATUSES[name]
    return STATUSES["holds" if exploration.complete else "undetermined"]


NEVER_ASKED: Final = (
    "never asked: nothing that the property speaks of can happen with these accidents and protections, so it "
    "was asked 0 times, and neither holds nor fails. Add an accident with --with."
)
"""Said below the verdicts where there is such a property."""


def verdict_table(exploration: Exploration) -> Table:
    """A row for each property: its verdict, the shortest run, the distinct states by then, how often it was
    asked. A property that was never asked holds of nothing."""
    table = Table(title=title(exploration), title_justify="left", title_style="bold")
    for name in ("clause", "property"):
        table.add_column(name, no_wrap=True)
    table.add_column("verdict")
    for name in ("shortest", "states", "asked"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, verdict in exploration.verdicts.items():
        said = verdict.verdict if verdict.checked else "never asked"
        table.add_row(
            verdict.property.clause,
            name,
            Text(said, style=COLOURS[verdict.verdict] if verdict.checked else "yellow"),
            "" if verdict.run is None else steps_words(verdict),
            "" if verdict.found_after is None else f"{verdict.found_after:,}",
            f"{verdict.checked:,}",
        )
    if not all(verdict.checked for verdict in exploration.verdicts.values()):
        table.caption, table.caption_justify = NEVER_ASKED, "left"
    return table


def steps_words(verdict: Verdict) -> str:
    """How long a run is; the state that it begins with is no step."""
    return counted(len(verdict.run or (None,)) - 1, "step")


def title(exploration: Exploration) -> str:
    """The model, the accidents and the protections."""
    config = exploration.config
    accidents = ", ".join(sorted(getattr(config, "accidents", ()))) or "no accidents"
    protections = ", ".join(sorted(getattr(config, "protections", ())))
    return f"{exploration.model.NAME}: {accidents}" + (f"; protected by {protections}" if protections else "")


def counts_line(exploration: Exploration) -> Text:
    """How much was searched, in TLC's terms."""
    cut_short = "cut short (see --states and --seconds): what is not violated is undetermined"
    ending = "complete" if exploration.complete else cut_short
    return Text(
        f"{exploration.generated:,} states generated, {exploration.distinct:,} distinct, "
        f"depth {exploration.depth}, {exploration.seconds:.1f} s; {ending}.",
        style="" if exploration.complete else "yellow",
    )


def progress_line(progress: Progress) -> str:
    """One line while a search goes on."""
    return (
        f"{progress.distinct:,} distinct states, {progress.queued:,} to expand, "
        f"depth {progress.depth}, {progress.seconds:.0f} s"
    )


def never_taken(exploration: Exploration) -> list[str]:
    """The accidents that are on and never happened, since nothing led to them."""
    taken = {operation for operation, _ in exploration.taken}
    wanted = set(getattr(exploration.config, "accidents", ()))
    wanted -= getattr(exploration.model, "CONDITIONS", frozenset())
    met_by = {"invalidate-race": {"update"}, "lost-report": {"lose-report"}, "clear-in-flight": {"clear"}}
    seen_in_requests = {"fan-out", "mixed-modality", "new-content", "oversize", "reorder"}
    return sorted(name for name in wanted - seen_in_requests if not taken & met_by.get(name, {name}))


def run_table(exploration: Exploration, verdict: Verdict) -> Table:
    """The shortest run to a violation, a row for each step."""
    run = verdict.run or ()
    heading = f"{verdict.property.clause} {verdict.name}: {steps_words(verdict)}"
    table = Table(title=heading, title_justify="left", title_style="bold red")
    table.add_column("step", justify="right")
    table.add_column("operation")
    model, config = exploration.model, exploration.config
    columns = COLUMNS.get(model.NAME, PLAIN)
    single = {"state": lambda state: state_in_words(msgspec.to_builtins(model.observe(config, state)))}
    cells = {name: [cell(step.state) for step in run] for name, cell in (columns.cells or single).items()}
    shown = {name: column for name, column in cells.items() if any(column) or name in columns.always}
    for name in shown:
        table.add_column(name)
    table.add_column("outcome")
    for number, step in enumerate(run):
        operation = "" if step.operation is None else columns.operation(step.operation)
        outcome = "" if step.outcome is None else columns.outcome(step.operation, step.outcome)
        states = [column[number] for column in shown.values()]
        table.add_row(*(escape(cell) for cell in (str(number or ""), operation, *states, outcome)))
    return table


def exploration_json(exploration: Exploration) -> dict[str, Any]:
    """Everything that the tables say, and the runs with their states, as plain values."""
    return {
        "model": exploration.model.NAME,
        "config": value_json(exploration.config),
        "status": exploration_status(exploration),
        "distinct": exploration.distinct,
        "generated": exploration.generated,
        "depth": exploration.depth,
        "complete": exploration.complete,
        "seconds": round(exploration.seconds, 3),
        "properties": [
            {
                "name": name,
                "clause": verdict.property.clause,
                "verdict": verdict.verdict,
                "asked": verdict.checked,
                "found_after": verdict.found_after,
                "run": None if verdict.run is None else run_json(verdict.run),
            }
            for name, verdict in exploration.verdicts.items()
        ],
        "taken": [
            {"operation": operation, "kind": kind, "times": times}
            for (operation, kind), times in sorted(exploration.taken.items())
        ],
    }


def run_json(run: Run) -> list[dict[str, Any]]:
    """A run as plain values; an operation converts back with `msgspec.convert`."""
    return [
        {
            "operation": None if step.operation is None else msgspec.to_builtins(step.operation),
            "outcome": value_json(step.outcome),
            "state": value_json(step.state),
        }
        for step in run
    ]


def value_json(value: Any) -> Any:
    """A value of a model as JSON has it: records as objects, sets in alphabetical order."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: value_json(member) for name, member in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [value_json(member) for member in value]
    if isinstance(value, frozenset | set):
        return sorted(value_json(member) for member in value)
    if hasattr(value, "__dataclass_fields__"):
        return {name: value_json(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, msgspec.Struct):
        return {name: value_json(member) for name, member in msgspec.to_builtins(value).items()}
    return value
