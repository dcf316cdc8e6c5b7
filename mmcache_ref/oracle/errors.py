"""What the oracle raises when it cannot judge at all."""

from __future__ import annotations


class TargetUnavailable(Exception):  # noqa: N818 - a state of the target, not a mistake of the caller
    """The target cannot be loaded or started here: no verdict is possible.

    The message says what failed and what to do about it. It is never a pass: a run that
    meets it is *undetermined*.
    """


class UnknownClause(LookupError):  # noqa: N818 - reads as what it is
    """A clause id that no file of `spec/` has."""


class NotOffered(Exception):  # noqa: N818 - a state of the target, not a mistake of the caller
    """The target lacks a name that a component needs; the message names it."""


class BadRun(ValueError):  # noqa: N818 - reads as what it is
    """A stored run that cannot be read or replayed; the message says where and what to do."""
