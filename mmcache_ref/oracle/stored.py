"""Runs and verdicts read back from JSON, where operations take the type of their component."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.run import Profile, Run, Step
from mmcache_ref.oracle.simpler import canonical
from mmcache_ref.oracle.verdict import ComponentVerdict


def typed(run: Run) -> Run:
    """The run with configuration and operations of its component's own types; `BadRun` says what is wrong."""
    component = COMPONENTS.get(run.component)
    if component is None:
        raise BadRun(f"no component {run.component!r}: take one of {', '.join(COMPONENTS)}")
    model = component.model
    config = _converted(run.config, model.Config, f"the configuration of a run of {run.component}")
    steps = []
    for number, step in enumerate(run.steps, 1):
        operation = _converted(step.operation, model.Operation, f"operation {number} of {run.component}")
        steps.append(msgspec.structs.replace(step, operation=canonical(operation)))
    return msgspec.structs.replace(run, config=config, steps=tuple(steps))


def _converted(value: Any, kind: Any, what: str) -> Any:
    """The value as one of this type, with all its fields known; `BadRun` names what it should have been."""
    try:
        made = msgspec.convert(value, type=kind)
    except msgspec.ValidationError as error:
        raise BadRun(f"not {what}: {error}") from error
    if isinstance(value, dict) and isinstance(made, msgspec.Struct):
        known = {field.encode_name for field in msgspec.structs.fields(made)}
        tag_field = made.__struct_config__.tag_field
        unknown = sorted(map(str, value.keys() - known - {tag_field}))
        if unknown:
            raise BadRun(f"not {what}: it has no field {unknown[0]!r}; it has {', '.join(sorted(known))}")
    return made


def decode_verdict(encoded: bytes) -> ComponentVerdict:
    """A component's verdict, its runs typed."""
    verdict = msgspec.json.decode(encoded, type=ComponentVerdict)
    clauses = tuple(
        each if each.run is None else msgspec.structs.replace(each, run=typed(each.run))
        for each in verdict.clauses
    )
    return msgspec.structs.replace(verdict, clauses=clauses)


def encode_run(run: Run) -> str:
    """What `mmcache-ref replay` takes: component, configuration, profile and operations alone."""
    bare = {
        "component": run.component,
        "config": run.config,
        "profile": run.profile,
        "operations": run.operations,
    }
    return msgspec.json.encode(bare, order="deterministic").decode()


class _Bare(msgspec.Struct, forbid_unknown_fields=False):
    component: str
    config: Any
    profile: Profile = "safe"
    operations: list[Any] | None = None
    steps: list[Any] | None = None


def read_run(text_or_path: str) -> Run:
    """A run from JSON text, or from a file that holds it: the bare form, or a whole run of a report."""
    text = text_or_path
    if not text.strip():
        raise BadRun("no run: the text is empty. Give a JSON file, or the JSON itself")
    if not text.lstrip().startswith(("{", "[")):
        try:
            text = Path(text_or_path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise BadRun(f"cannot read the run: {error}. Give a JSON file, or the JSON itself") from error
    try:
        bare = msgspec.json.decode(text, type=_Bare)
    except msgspec.MsgspecError as error:
        raise BadRun(f"not a run: {error}. A run has component, config and operations") from error
    operations = bare.operations
    if operations is None:
        operations = [step.get("operation") if isinstance(step, dict) else None for step in bare.steps or ()]
    if not operations:
        raise BadRun("the run has no operations: there is nothing to repeat")
    return typed(Run(bare.component, bare.config, bare.profile, tuple(Step(each) for each in operations)))
