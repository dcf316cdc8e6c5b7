"""How targets lived through mishaps: a table, the clauses that did not hold, and JSON."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

import msgspec
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from mmcache_ref.oracle.mishaps.judge import ROUNDS, Judged, Survived
from mmcache_ref.oracle.mishaps.mishaps import Mishap
from mmcache_ref.oracle.mishaps.rounds import Broken
from mmcache_ref.oracle.mishaps.soak import MIB, Minute, Soaked
from mmcache_ref.oracle.verdict import worst
from mmcache_ref.oracle.wording import counted
from mmcache_ref.report.printed import json_text


def mishaps_text(judged: Sequence[Judged]) -> RenderableType:
    """For each target a table of its mishaps, what broke, and how to repeat it."""
    parts: list[RenderableType] = []
    for each in judged:
        parts.append(_table(each))
        parts += [
            part
            for survived in each.mishaps
            for broken in survived.broken
            for part in _said(each, survived, broken)
        ]
        parts.append(Text(_last_line(each)))
    return Group(*parts)


def _table(judged: Judged) -> Table:
    known = _mishaps_of(judged)
    parts = "P0 and P1"
    if judged.options.cache == "shm":
        parts = f"one writer, {judged.options.workers} reader{'s' * (judged.options.workers > 1)}"
    table = Table(title=f"{escape(judged.target)}: {parts}, real processes", title_justify="left")
    for name in ("mishap", "what happens", "rounds", "lived through"):
        table.add_column(name, justify="right" if name == "rounds" else "left")
    for each in judged.mishaps:
        says = known[each.mishap].says if each.mishap in known else "what is left"
        broken = ", ".join(dict.fromkeys(broken.clause for broken in each.broken))
        answer = (
            Text(f"no: {broken}", "red") if broken else Text("yes", "green") if each.rounds else Text("–")
        )
        table.add_row(each.mishap, says, str(each.rounds), answer)
    return table


def _said(judged: Judged, survived: Survived, broken: Broken) -> list[RenderableType]:
    known = _mishaps_of(judged)
    says = known[survived.mishap].says if survived.mishap in known else survived.mishap
    return [
        Text(f"{broken.clause} broken by {judged.target}, when {says}", "bold"),
        Text(f"  {broken.says}"),
        Text(f"  “{broken.rule}”"),
        Text(f"repeat: {_command(judged, survived, broken)}", "dim", no_wrap=True, overflow="ignore"),
    ]


def _command(judged: Judged, survived: Survived, broken: Broken) -> str:
    words = ["mmcache-ref", "conform", judged.target, "--processes", "--cache", judged.options.cache]
    words += ["--mishap", survived.mishap] if survived.mishap in _mishaps_of(judged) else []
    words += ["--workers", str(judged.options.workers)] if judged.options.cache == "shm" else []
    words += ["--profile", judged.options.profile] if judged.options.profile != "safe" else []
    return shlex.join([*words, "--seconds", "0", "--seed", str(broken.seed)])


def _mishaps_of(judged: Judged) -> Mapping[str, Mishap]:
    return ROUNDS[judged.options.cache].mishaps


def _last_line(judged: Judged) -> str:
    clauses = dict.fromkeys(broken.clause for each in judged.mishaps for broken in each.broken)
    outcome = f"{judged.status}: {', '.join(clauses)}" if clauses else judged.status
    reason = f" ({judged.reason})" if judged.reason else ""
    rounds = sum(each.rounds for each in judged.mishaps)
    lost = "1 process" if judged.lost == 1 else f"{judged.lost} processes"
    return (
        f"{judged.target} ({judged.options.cache}) {outcome}{reason}: {counted(rounds, 'round')}, "
        f"{counted(judged.requests, 'request')} served, {judged.retried:,} retried, {lost} lost "
        f"(profile {judged.options.profile}, seed {judged.options.seed}, {judged.seconds:.0f} s)"
    )


def mishaps_json(judged: Sequence[Judged]) -> str:
    """The same as indented JSON."""
    told = {"status": worst(each.status for each in judged), "targets": msgspec.to_builtins(tuple(judged))}
    return json_text(told)


def soak_line(minute: Minute) -> str:
    """How things stand, in one line."""
    readers = [each for each in minute.usage if each.part.startswith("w")]
    memory_of_readers = f", readers {_span([each.resident // MIB for each in readers])}" if readers else ""
    files_of_readers = f", readers {_span([each.descriptors for each in readers])}" if readers else ""
    segment = f"; segment {minute.segment:,} B" if readers else ""
    others = [each for each in minute.usage if not each.part.startswith("w")]
    memory = ", ".join([f"{each.part} {each.resident // MIB}" for each in others])
    files = ", ".join([f"{each.part} {each.descriptors}" for each in others])
    return (
        f"{minute.seconds / 60:6.1f} min: {counted(minute.requests, 'request')}, "
        f"{counted(minute.mishaps, 'mishap')}, "
        f"{minute.retried:,} retried, {minute.lost} lost; "
        f"MiB: {memory}{memory_of_readers}; open files: {files}{files_of_readers}{segment}; "
        f"{'ok' if not minute.broken else 'BROKEN'}"
    )


def _span(values: Sequence[int]) -> str:
    return f"{min(values)}" if min(values) == max(values) else f"{min(values)}-{max(values)}"


def soak_text(soaks: Sequence[Soaked]) -> RenderableType:
    """What came of a soak of each kind of caches: what broke, and the verdict."""
    return Group(*[part for soaked in soaks for part in _soak_parts(soaked)])


def _soak_parts(soaked: Soaked) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for broken in soaked.broken:
        parts += [
            Text(f"{broken.clause} broken by {soaked.target}", "bold"),
            Text(f"  {broken.says}"),
            Text(f"  “{broken.rule}”"),
        ]
    happened = ", ".join(f"{name} {count}" for name, count in soaked.mishaps.items() if count)
    reason = f" ({soaked.reason})" if soaked.reason else ""
    kind = soaked.options.cache
    command = ["mmcache-ref", "soak", soaked.target, "--minutes", f"{soaked.minutes:g}"]
    command += ["--cache", kind]
    command += ["--workers", str(soaked.options.workers)] if kind == "shm" else []
    command += ["--seed", str(soaked.options.seed)]
    parts += [
        Text(f"mishaps: {happened or 'none'}"),
        Text(f"{soaked.target} ({kind}) {soaked.status}{reason} after {soaked.minutes:g} minutes"),
        Text(f"repeat: {shlex.join(command)}", "dim", no_wrap=True, overflow="ignore"),
    ]
    return parts


def soak_json(soaks: Sequence[Soaked]) -> str:
    """The same as indented JSON."""
    told = {"status": worst(each.status for each in soaks), "soaks": msgspec.to_builtins(tuple(soaks))}
    return json_text(told)
