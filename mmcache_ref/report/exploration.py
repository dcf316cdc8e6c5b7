"""A search as tables for a terminal, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.model.component import Content, Missed, Op, Outcome, Raised, tag
from mmcache_ref.model.entries import Entries
from mmcache_ref.model.explore import Exploration, Progress, Run, Verdict
from mmcache_ref.model.pair import Item, Message, State
from mmcache_ref.oracle.wording import operation_in_words, state_in_words

COLOURS = {"holds": "green", "violated": "red", "undetermined": "yellow"}
STATUSES = {"holds": "conforms", "violated": "violates", "undetermined": "undetermined"}
LEGEND = (
    "Keys least recent first. a is 1 byte, a:2 two, a:2:7 two of value 7; a* is an entry that the other side "
    "does not hold; a+ travels with its data, a without."
)


def exploration_text(exploration: Exploration) -> RenderableType:
    """The verdicts, the counts, then the shortest run to each violation."""
    parts: list[RenderableType] = [verdict_table(exploration), counts_line(exploration)]
    unseen = never_taken(exploration)
    if unseen:
        parts.append(Text(f"Never happened: {', '.join(unseen)}.", style="yellow"))
    for verdict in exploration.verdicts.values():
        if verdict.run is not None:
            parts += ["", run_table(exploration, verdict)]
    if exploration.violated and exploration.model.NAME in COLUMNS:
        parts += ["", Text(LEGEND, style="dim")]
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
    count = len(verdict.run or (None,)) - 1
    return f"{count} step{'' if count == 1 else 's'}"


def title(exploration: Exploration) -> str:
    """The model, the accidents and the protections."""
    config = exploration.config
    accidents = ", ".join(sorted(getattr(config, "accidents", ()))) or "no accidents"
    protections = ", ".join(sorted(getattr(config, "protections", ())))
    return f"{exploration.model.NAME}: {accidents}" + (f"; protected by {protections}" if protections else "")


def counts_line(exploration: Exploration) -> Text:
    """How much was searched, in TLC's terms."""
    ending = "complete" if exploration.complete else "cut short: what is not violated is undetermined"
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
    met_by = {"invalidate-race": {"update"}, "lost-report": {"lose-report"}}
    named_by_requests = {"mixed-modality", "new-content", "oversize", "reorder"}
    return sorted(name for name in wanted - named_by_requests if not taken & met_by.get(name, {name}))


def run_table(exploration: Exploration, verdict: Verdict) -> Table:
    """The shortest run to a violation, a row for each step."""
    run = verdict.run or ()
    heading = f"{verdict.property.clause} {verdict.name}: {steps_words(verdict)}"
    table = Table(title=heading, title_justify="left", title_style="bold red")
    table.add_column("step", justify="right")
    table.add_column("operation")
    model, config = exploration.model, exploration.config
    single = {"state": lambda state: state_in_words(msgspec.to_builtins(model.observe(config, state)))}
    columns = COLUMNS.get(model.NAME, single)
    cells = {name: [cell(step.state) for step in run] for name, cell in columns.items()}
    shown = {name: column for name, column in cells.items() if any(column) or name in ALWAYS}
    for name in shown:
        table.add_column(name)
    table.add_column("outcome")
    for number, step in enumerate(run):
        words = operation_words if model.NAME in COLUMNS else operation_in_words
        operation = "" if step.operation is None else words(step.operation)
        outcome = "" if step.outcome is None else outcome_words(step.operation, step.outcome)
        states = [column[number] for column in shown.values()]
        table.add_row(*(escape(cell) for cell in (str(number or ""), operation, *states, outcome)))
    return table


def exploration_json(exploration: Exploration) -> dict[str, Any]:
    """Everything that the tables say, and the runs with their states, as plain values."""
    return {
        "model": exploration.model.NAME,
        "config": plain(exploration.config),
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
            "outcome": plain(step.outcome),
            "state": plain(step.state),
        }
        for step in run
    ]


def plain(value: Any) -> Any:
    """A value of a model as JSON has it: records as objects, sets in alphabetical order."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(member) for name, member in value._asdict().items()}
    if isinstance(value, tuple | list):
        return [plain(member) for member in value]
    if isinstance(value, frozenset | set):
        return sorted(plain(member) for member in value)
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, msgspec.Struct):
        return {name: plain(member) for name, member in msgspec.to_builtins(value).items()}
    return value


def content_words(key: str, content: Content) -> str:
    """`a` for one byte of value 0, `a:2` for two, `a:2:7` for two of value 7."""
    if content.fill:
        return f"{key}:{content.nbytes}:{content.fill}"
    return key if content.nbytes == 1 else f"{key}:{content.nbytes}"


def operation_words(operation: Op) -> str:
    """An operation as its name and what it is about."""
    words = [tag(operation)]
    for name in operation.__struct_fields__:
        value = getattr(operation, name)
        if name == "request":
            words += [_item_words(item) for item in value]
        elif name != "position" or value:
            words.append(str(value))
    return " ".join(words)


def outcome_words(operation: Op, outcome: Outcome) -> str:
    """What happened, and the hashes that are missing or the bytes that P1 served."""
    result = outcome.result
    if isinstance(result, Missed):
        return f"{outcome.kind}: {' '.join(result.hashes)}"
    if isinstance(result, Raised):
        return f"{outcome.kind}: {result.error}({result.says})"
    if tag(operation) == "deliver" and isinstance(result, tuple):
        return f"{outcome.kind}: served {', '.join(map(_served_words, result))}"
    return outcome.kind


def _served_words(content: Content) -> str:
    return f"{content.nbytes} B" + (f" of value {content.fill}" if content.fill else "")


def _item_words(item: Item) -> str:
    words = content_words(item.key, item.content)
    if item.modality != "image":
        words += f" ({item.modality})"
    return words if item.supplied else f"{words} (no data)"


def _entries_words(entries: Entries, others: Entries) -> str:
    held = {key for key, _ in others}
    return " ".join(content_words(key, content) + ("" if key in held else "*") for key, content in entries)


def _message_words(message: Message) -> str:
    features = " ".join(
        content_words(item.key, item.content) + ("+" if sent else "") for item, sent, _ in message.features
    )
    number = f" #{message.number}" if message.number else ""
    return f"[{features}{number}{'' if message.recorded else ' past P0'}]"


def _requests_words(requests: Iterable[Iterable[Item]]) -> str:
    return ", ".join(
        " ".join(content_words(item.key, item.content) for item in request) for request in requests
    )


def _waiting_words(state: State) -> str:
    parts = []
    if state.checked is not None:
        parts.append(f"checked {_requests_words([state.checked.request])}")
    parts += [f"missed {' '.join(report.missing)}" for report in state.reports]
    parts += [f"to retry {_requests_words([retry.request])}" for retry in state.retries]
    if state.clearing:
        parts.append("P1 to be cleared")
    return "; ".join(parts)


def _numbers_words(state: State) -> str:
    if not (state.p0_number or state.p1_number):
        return ""
    return f"{state.p0_number} {state.p1_number}"


ALWAYS = frozenset({"P0", "channel", "P1", "state"})
"""Columns that are shown even when they are empty throughout a run."""
COLUMNS: Mapping[str, Mapping[str, Callable[[Any], str]]] = {
    "key-replicated": {
        "P0": lambda state: _entries_words(state.sender, state.receiver),
        "channel": lambda state: " ".join(_message_words(message) for message in state.channel),
        "P1": lambda state: _entries_words(state.receiver, state.sender),
        "waiting": _waiting_words,
        "clears P0 P1": _numbers_words,
    }
}
