"""TLA+ values and Python values: the one canonical form, read and written.

    TLA+                                    Python
    1, "a", TRUE                            1, "a", True
    <<1, 2>>                                (1, 2)
    {1, 2}                                  frozenset({1, 2})
    [a |-> 1], (1 :> 2 @@ 3 :> 4)           Mapped({("a", 1)}), Mapped({(1, 2), (3, 4)})
    a model value                           ModelValue("a")

A record is a function on strings and a sequence a function on 1..n, so a function on 1..n is written as a
sequence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Mapped:
    """A function or a record: its pairs of argument and value."""

    pairs: frozenset[tuple[Any, Any]]

    def __getitem__(self, argument: Any) -> Any:
        return dict(self.pairs)[argument]


@dataclass(frozen=True, slots=True)
class ModelValue:
    """A value that is equal to itself alone."""

    name: str


class NoValue(ValueError):  # noqa: N818 - reads as what it is
    """A text that is no TLA+ value; the message shows where."""


TOKEN: Final = re.compile(
    r"""\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+)|(?P<name>[A-Za-z_]\w*)
    |(?P<sign><<|>>|\|->|:>|@@|\.\.|[\[\]{}(),]))""",
    re.VERBOSE,
)
ESCAPE: Final = re.compile(r"\\(.)")
ESCAPED: Final = {"n": "\n", "t": "\t", "f": "\f", "r": "\r"}


def canonical(value: Any) -> Any:
    """A Python value in canonical form: dicts and named tuples become functions, sets become frozen."""
    match value:
        case bool() | int() | str() | ModelValue() | Mapped():
            return value
        case Mapping():
            return function({canonical(key): canonical(each) for key, each in value.items()})
        case tuple() if hasattr(value, "_asdict"):
            return canonical(value._asdict())
        case tuple() | list():
            return tuple([canonical(each) for each in value])
        case set() | frozenset():
            return frozenset([canonical(each) for each in value])
    raise TypeError(f"{value!r} has no form as a TLA+ value")


def function(pairs: Mapping[Any, Any]) -> Any:
    """A function; on 1..n it is a sequence."""
    length = len(pairs)
    if all(number in pairs for number in range(1, length + 1)):
        return tuple([pairs[number] for number in range(1, length + 1)])
    return Mapped(frozenset(pairs.items()))


def parse(text: str) -> Any:
    """The value that a text of TLC is."""
    tokens = _Tokens(text)
    value = tokens.value()
    tokens.end()
    return value


def text(value: Any) -> str:
    """A canonical value as TLA+ text; sets and functions in an order that depends on nothing else."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return str(value)
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case ModelValue(name):
            return name
        case Mapped(pairs):
            shown = sorted((text(argument), argument, text(each)) for argument, each in pairs)
            if all(isinstance(argument, str) for _, argument, _ in shown):
                return "[" + ", ".join(f"{argument} |-> {each}" for _, argument, each in shown) + "]"
            return "(" + " @@ ".join(f"{argument} :> {each}" for argument, _, each in shown) + ")"
        case tuple():
            return "<<" + ", ".join(map(text, value)) + ">>"
        case frozenset():
            return "{" + ", ".join(sorted(map(text, value))) + "}"
    raise TypeError(f"{value!r} has no form as a TLA+ value")


def unquoted(quoted: str) -> str:
    """The characters of a TLA+ string."""
    return ESCAPE.sub(lambda escape: ESCAPED.get(escape[1], escape[1]), quoted[1:-1])


class _Tokens:
    """A text, token by token."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = self._split()
        self.kind, self.token = next(self.tokens)

    def _split(self) -> Iterator[tuple[str, str]]:
        place, length = 0, len(self.source)
        match = TOKEN.match
        while place < length:
            found = match(self.source, place)
            if found is None:
                if self.source[place:].isspace():
                    break
                raise NoValue(f"no TLA+ value: {self.source[place : place + 40]!r}")
            place = found.end()
            kind = str(found.lastgroup)
            yield kind, found[kind]
        yield "end", ""

    def take(self) -> str:
        token = self.token
        self.kind, self.token = next(self.tokens, ("end", ""))
        return token

    def expect(self, sign: str) -> None:
        if self.token != sign:
            raise NoValue(f"expected {sign!r}, found {self.token!r} in {self.source[:80]!r}")
        self.take()

    def end(self) -> None:
        if self.kind != "end":
            raise NoValue(f"{self.token!r} follows the value in {self.source[:80]!r}")

    def value(self) -> Any:
        kind, token = self.kind, self.take()
        if kind == "number":
            first = int(token)
            if self.token == "..":
                self.take()
                return frozenset(range(first, int(self.take()) + 1))
            return first
        if kind == "string":
            return unquoted(token)
        if kind == "name":
            return {"TRUE": True, "FALSE": False}.get(token, ModelValue(token))
        if token == "<<":
            return tuple(self.members(">>", ",", self.value))
        if token == "{":
            return frozenset(self.members("}", ",", self.value))
        if token == "[":
            return function(dict(self.members("]", ",", self.field)))
        if token == "(":
            return function(dict(self.members(")", "@@", self.argument)))
        raise NoValue(f"no TLA+ value begins with {token!r}, in {self.source[:80]!r}")

    def members(self, closing: str, separator: str, member: Callable[[], Any]) -> Iterator[Any]:
        while self.token != closing:
            yield member()
            if self.token != closing:
                self.expect(separator)
        self.take()

    def field(self) -> tuple[str, Any]:
        name = self.take()
        self.expect("|->")
        return name, self.value()

    def argument(self) -> tuple[Any, Any]:
        argument = self.value()
        self.expect(":>")
        return argument, self.value()
