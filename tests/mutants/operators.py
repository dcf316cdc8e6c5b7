"""Mutation operators beside those of cosmic-ray, which never leaves out a statement or changes an order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import parso
from cosmic_ray.operators.operator import Example, Operator

Position = tuple[tuple[int, int], tuple[int, int]]
"""Start and end as (line, column), in the file."""

_REMOVED: Final = frozenset(
    {"expr_stmt", "return_stmt", "raise_stmt", "del_stmt", "assert_stmt", "power", "atom_expr", "yield_expr"}
)
"""Simple statements that do something; a docstring is a string and not among them."""


def _parsed(code: str) -> Any:
    return parso.parse(code)  # type: ignore[no-untyped-call]


class RemoveStatement(Operator):  # type: ignore[misc]
    """A simple statement is left out."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "simple_stmt" and node.children[0].type in _REMOVED:
            yield node.children[0].start_pos, node.children[0].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        prefix = node.children[0].get_first_leaf().prefix
        node.children[0] = _parsed(f"{prefix}pass")
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("f()\n", "pass\n"), Example("x = 1\n", "pass\n"))


_UNORDERED: Final = frozenset({"all", "any", "max", "min", "set", "sorted", "sum"})
"""Functions of a generator that do not care for its order."""


class ReverseIteration(Operator):  # type: ignore[misc]
    """A loop or a comprehension goes from the last to the first, where the order may matter."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "for_stmt" or (node.type == "sync_comp_for" and not self._is_unordered(node)):
            yield node.children[3].start_pos, node.children[3].end_pos

    def _is_unordered(self, node: Any) -> bool:
        trailer = node.parent.parent
        function = (
            trailer.get_previous_sibling() if trailer is not None and trailer.type == "trailer" else None
        )
        return getattr(function, "value", "") in _UNORDERED

    def mutate(self, node: Any, index: int) -> Any:
        iterated = node.children[3].get_code().strip()
        node.children[3] = _parsed(f" reversed(list({iterated}))")
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("[x for x in y]", "[x for x in reversed(list(y))]"),)


class NegateMembership(Operator):  # type: ignore[misc]
    """`in` becomes `not in`, and the reverse."""

    _OPPOSITE: Final = {"in": "not in", "not in": "in"}

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "comparison":
            for place in self._places(node):
                yield node.children[place].start_pos, node.children[place].end_pos

    def mutate(self, node: Any, index: int) -> Any:
        place = list(self._places(node))[index]
        node.children[place] = _parsed(f" {self._OPPOSITE[self._text(node, place)]}")
        return node

    def _places(self, node: Any) -> Iterator[int]:
        return (at for at in range(1, len(node.children), 2) if self._text(node, at) in self._OPPOSITE)

    def _text(self, node: Any, place: int) -> str:
        return " ".join(node.children[place].get_code().split())

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("x in y", "x not in y"), Example("x not in y", "x in y"))


OPERATORS: Final = (RemoveStatement, ReverseIteration, NegateMembership)
