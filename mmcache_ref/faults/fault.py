"""A fault: one rule of the reference or of the protocol, replaced by one that is wrong."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """What happened in the field, and the one rule that makes it happen again.

    Attributes:
        name: its id in `spec/faults.md`.
        title: what is wrong, in a line.
        replaces: the rule that is replaced, as `package.module:name` or `package.module:Class.name`; the
            package is `reference` or `protocol`.
        rule: the function that takes its place. Its global names are those of the module of `replaces`.
        component: the component whose judgement finds it.
        clauses: what it breaks; the first is what an oracle should name.
        upstream: the public threads of vLLM that report it.
        accidents: what the environment must do before it shows, by the names of `mmcache-ref explore`.
        without: the protections that the model gives up to have the same fault; with none of these, and no
            accident, the model cannot express it.
    """

    name: str
    title: str
    replaces: str
    rule: Callable[..., Any]
    component: str
    clauses: tuple[str, ...]
    upstream: tuple[str, ...] = ()
    accidents: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def story(self) -> str:
        """How it went wrong, in a few lines: the docstring of the fault's module."""
        module = inspect.getmodule(self.rule)
        return inspect.getdoc(module) or ""

    @property
    def is_in_model(self) -> bool:
        """Can the pure model be told to behave like this?"""
        return bool(self.accidents or self.without)
