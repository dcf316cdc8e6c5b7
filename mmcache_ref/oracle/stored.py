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
    try:
        config = msgspec.convert(run.config, type=model.Config)
        steps = tuple(
            msgspec.structs.replace(
                step, operation=canonical(msgspec.convert(step.operation, type=model.Operation))
            )
            for step in run.steps
        )
    except msgspec.ValidationError as error:
        raise BadRun(f"not a run of {run.component}: {error}") from error
    return msgspec.structs.replace(run, config=config, steps=steps)


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
    if not text.lstrip().startswith("{"):
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
