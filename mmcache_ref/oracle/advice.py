"""What an engineer is told about a broken clause: what it is about, and where to look."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from mmcache_ref.oracle.clauses import clause


class Advice(NamedTuple):
    """`why`: what holds in the case at hand, as a clause of a sentence; `look`: what decides it, or nothing;
    `look_in_p1`: what decides it in P1, where `look` names P0; `unjudged`: why no component judges the
    clause, where none does.

    `{key}` stands for the key that the mismatch is about, `{cache}` for the class of the component; names in
    backticks are public names.
    """

    why: str
    look: str = ""
    look_in_p1: str = ""
    unjudged: str = ""


@cache
def all_advice() -> Mapping[str, Advice]:
    """The stored advice, by clause."""
    text = resources.files("mmcache_ref.oracle").joinpath("advice.toml").read_text(encoding="utf-8")
    return {identifier: Advice(**entry) for identifier, entry in tomllib.loads(text).items()}


def advice(identifier: str) -> Advice:
    """The advice for a clause; where none is stored, the rule of the clause speaks for itself."""
    rule = clause(identifier).rule.rstrip(".")
    is_word = len(rule) > 1 and (rule[1].islower() or rule[1] == " ")
    return all_advice().get(identifier) or Advice(rule[0].lower() + rule[1:] if is_word else rule)
