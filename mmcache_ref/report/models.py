"""The models that TLC checked as a table, and as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.report.printed import json_text
from mmcache_ref.report.text import replay_command, run_table
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.blame import blamed
from mmcache_ref.tlc.checking import Judged
from mmcache_ref.tlc.executing import Executed
from mmcache_ref.tlc.parting import Told, trace_in_words
from mmcache_ref.tlc.values import text

MOST_STEPS = 40
"""Steps of a run that are printed."""
INDENTED = 9
"""How far in the fields stand that a step changes."""


def models_text(judged: Sequence[Judged], gaps: Mapping[str, str], tools: str) -> RenderableType:
    """A row for each model; then each that is wrong, with its run; then what the models leave unproved."""
    rows = [("model", "result", "distinct", "generated", "depth", "python", "executed", "seconds")]
    rows += [
        (
            each.entry.name,
            result_in_words(each),
            f"{each.found.distinct:,}",
            f"{each.found.generated:,}",
            str(each.found.depth),
            _python(each),
            "" if each.executed is None else f"{each.executed.executed:,}",
            f"{each.found.seconds:.1f}",
        )
        for each in judged
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    styles = ["bold", *("" if each.is_right else "red" for each in judged)]
    table = [
        Text(_aligned(row, widths), style, no_wrap=True, overflow="ignore")
        for row, style in zip(rows, styles, strict=True)
    ]
    parts: list[RenderableType] = [*table, ""]
    for each in judged:
        if not each.is_right:
            parts += _wrong(each)
    parts += [Text(f"{name}: {gap}", "red") for name, gap in gaps.items()]
    right = sum(each.is_right for each in judged)
    collisions = [each.found.collision for each in judged if each.found.collision]
    is_right = right == len(judged) and not gaps
    parts.append(Text(f"{right} of {len(judged)} models as recorded; {tools}", "" if is_right else "red"))
    if collisions:
        most = max(collisions, key=float)
        parts.append(Text(f"two states with one fingerprint in a model: probability at most {most}", "dim"))
    return Group(*parts)


def models_json(judged: Sequence[Judged], gaps: Mapping[str, str], tools: str) -> str:
    """The same as indented JSON."""
    told = {
        "tools": tools,
        "gaps": gaps,
        "models": [
            {
                "name": each.entry.name,
                "result": each.found.result,
                "property": each.found.property,
                "distinctStates": each.found.distinct,
                "totalStates": each.found.generated,
                "stateDepth": each.found.depth,
                "edges": each.edges,
                "edgesExecuted": None if each.executed is None else each.executed.executed,
                "isBound": each.python is not None,
                "collision": each.found.collision,
                "seconds": round(each.found.seconds, 1),
                "processorSeconds": round(each.found.processor_seconds, 1),
                "actions": {action: steps for action, (_, steps) in each.found.actions.items()},
                "wrong": each.wrong,
                "parting": each.parting,
                "clauses": blamed(each),
                "replay": {} if each.executed is None else _replays(each.executed),
                "trace": [
                    {"action": step.action, **{name: text(value) for name, value in step.state.items()}}
                    for step in each.found.trace
                ],
            }
            for each in judged
        ],
    }
    return json_text(told)


def result_in_words(judged: Judged) -> str:
    """`holds`, or what failed."""
    found = judged.found
    if found.result == "success":
        return "holds"
    return f"{found.result.removesuffix(' failure')}: {found.property}" if found.property else found.result


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """Two columns of words to the left, numbers to the right."""
    cells = [
        cell.ljust(width) if place < 2 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells)


def _python(judged: Judged) -> str:
    """What was compared with the search in Python."""
    if judged.python is None:
        return ""
    return "counts" if judged.edges is None else f"{judged.edges:,} edges"


def _wrong(judged: Judged) -> list[RenderableType]:
    """Everything that is wrong with a model, the clauses that say otherwise, and the run that shows it."""
    parts: list[RenderableType] = [Text(f"{judged.entry.name}: {each}", "red") for each in judged.wrong]
    if clauses := blamed(judged):
        parts.append(Text(f"  {', '.join(clauses)}", "red"))
        parts.append(Text(f"  {clauses[0]}: “{clause(clauses[0]).rule}”", "italic"))
    if judged.parting is not None:
        parts += steps_text([*judged.parting.way, judged.parting.last], stresses_last=True)
    elif judged.found.trace and judged.found.result != judged.entry.result:
        parts += trace_text(judged)
    if judged.executed is not None:
        parts += executed_text(judged.executed)
    target = judged.executed.target if judged.executed is not None else ""
    on = f" --target {shlex.quote(target)}" if target else ""
    parts.append(
        Text(f"repeat: mmcache-ref models {judged.entry.name}{on}", "dim", no_wrap=True, overflow="ignore")
    )
    return [*parts, ""]


def executed_text(executed: Executed) -> list[RenderableType]:
    """What a target did otherwise: the shortest run with its sentence, as `conform` tells it, and the command
    that repeats each run on the target."""
    parts: list[RenderableType] = []
    if executed.runs:
        run = min(executed.runs.values(), key=lambda each: len(each.steps))
        parts += [Padding(Text(sentence(run)), (0, 0, 0, 2)), Padding(run_table(run), (0, 0, 0, 2))]
    for identifier, command in _replays(executed).items():
        parts.append(Text(f"{identifier}: {command}", "dim", no_wrap=True, overflow="ignore"))
    return parts


def _replays(executed: Executed) -> dict[str, str]:
    """For each clause that a target broke the command that repeats the run."""
    return {identifier: replay_command(executed.target, run) for identifier, run in executed.runs.items()}


def steps_text(steps: Sequence[Told], *, stresses_last: bool = False) -> list[RenderableType]:
    """A run: each call with the fields of the state that it changes."""
    left_out = max(0, len(steps) - MOST_STEPS)
    parts: list[RenderableType] = []
    for number, step in enumerate(steps[left_out:], left_out + 1):
        is_last = stresses_last and number == len(steps)
        parts.append(Text(f"  {number:3}  {step.words}", "bold" if is_last else ""))
        parts += [
            Padding(Text(line, "red" if is_last else "dim"), (0, 0, 0, INDENTED), expand=False)
            for line in step.fields
        ]
    return parts


def trace_text(judged: Judged) -> list[RenderableType]:
    """An error trace: each action with what it changed, and where the trace returns to."""
    found, bound = judged.found, judged.entry.bound
    parts = steps_text(trace_in_words(found.trace, None if bound is None else BINDINGS[bound.model]))
    if found.loop is not None:
        returns = found.loop < len(found.trace)
        parts.append(Text(f"       and again from {found.loop}" if returns else "       and nothing more"))
    return parts
