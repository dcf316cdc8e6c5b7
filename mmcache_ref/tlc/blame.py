"""Which clauses a model that is not as recorded breaks: those above the property, or above the action."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mmcache_ref.tlc.checking import Judged
from mmcache_ref.tlc.manifest import in_models
from mmcache_ref.tlc.sources import DEFINITION, clauses_of_definitions, extended

STEPS: Final = "[]["
"""How the definition of a property of steps begins, which is no action although it tells of `call'`."""


def blamed(judged: Judged) -> tuple[str, ...]:
    """The clauses of the property that failed where it must not, or did not where it must; where that has
    none, or where Python makes another step, those of the action that makes the last step."""
    if judged.is_right:
        return ()
    module = in_models(judged.module.path)
    found, where = judged.found, judged.difference
    name = found.property or judged.entry.violated
    if name is not None:
        clauses = clauses_of_definitions(module).get(name, ())
        return clauses or (
            clauses_of_call(module, found.trace[-1].state["call"]["op"]) if found.trace else ()
        )
    if where is not None and where.run:
        return clauses_of_call(module, where.run[-1].call["op"])
    return tuple(judged.executed.runs) if judged.executed is not None else ()


def clauses_of_call(module: Path, op: str) -> tuple[str, ...]:
    """The clauses of the actions that make a call, those of its own name first: each tells in `call` what it
    did."""
    clauses = clauses_of_definitions(module)
    named = [name for name, _ in _definitions(module) if _plain(name) == _plain(op)]
    telling = [name for name, body in _definitions(module) if f'|-> "{op}"' in body and STEPS not in body]
    return tuple(dict.fromkeys(each for name in (*named, *telling) for each in clauses.get(name, ())))


def _plain(name: str) -> str:
    """`GetCached` is `get_cached` in Python, and `HandleReport` is `handle-report`."""
    return name.lower().replace("_", "").replace("-", "")


def _definitions(module: Path) -> Iterator[tuple[str, str]]:
    """Every definition of a module and of those that it extends, with its text."""
    for path in extended(module):
        name, body = "", list[str]()
        for line in path.read_text(encoding="utf-8").splitlines():
            if definition := DEFINITION.match(line):
                yield name, "\n".join(body)
                name, body = definition[1], []
            body.append(line)
        yield name, "\n".join(body)
