"""What goes wrong between processes, and errors that were raised in another one."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from . import wire


class ProcessLost(RuntimeError):  # noqa: N818 - reads as what happened
    """A process of the deployment ended, hangs, or answers rubbish; the message says which, and what to do.

    Attributes:
        part: which one it was: `p0`, `p1`, `w0` and so on.
        is_hung: it is there, and did not answer in time.
        was_killed: somebody killed it who has nothing to do with the deployment.
    """

    def __init__(self, part: str, message: str, *, is_hung: bool = False, was_killed: bool = False) -> None:
        super().__init__(f"{part}: {message}")
        self.part = part
        self.is_hung = is_hung
        self.was_killed = was_killed


class Cause(NamedTuple):
    """An error on its way to another process: the classes it is of, the most special one first; its arguments
    and its attributes, as far as they can travel."""

    kinds: tuple[tuple[str, str], ...]
    arguments: tuple[Any, ...]
    attributes: dict[str, Any]
    message: str


def cause_of(error: BaseException) -> Cause:
    """What of an error travels."""
    kinds = tuple([(each.__module__, each.__qualname__) for each in type(error).__mro__])
    attributes = {name: value for name, value in vars(error).items() if _travels(value)}
    arguments = error.args if _travels(error.args) else (_message(error),)
    return Cause(kinds, arguments, attributes, _message(error))


def raised_by(cause: Cause) -> Exception:
    """The error again: of its own class where that is known here, else of the nearest one that is, by its
    own name. What ended the other process, as `SystemExit`, is an error here like any other."""
    known = ((each, getattr(sys.modules.get(each[0]), each[1], None)) for each in cause.kinds)
    name, kind = next(
        ((name, kind) for name, kind in known if isinstance(kind, type) and issubclass(kind, Exception)),
        (("", ""), Exception),
    )
    if name != cause.kinds[0]:
        kind = type(cause.kinds[0][1].rpartition(".")[2], (kind,), {"__str__": lambda self: cause.message})
    error: Exception = kind.__new__(kind, *cause.arguments)
    error.args = cause.arguments
    error.__dict__.update(cause.attributes)
    return error


def _travels(value: Any) -> bool:
    try:
        wire.packed(value)
    except Exception:
        return False
    return True


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as another:
        return f"(its message cannot be read: {type(another).__name__})"
