"""What the oracle raises when it cannot judge at all."""

from __future__ import annotations


class TargetUnavailable(Exception):  # noqa: N818 - a state of the target, not a mistake of the caller
    """The target cannot be loaded or started here: no verdict is possible.

    The message says what failed and what to do about it. It is never a pass: a run that
    meets it is *undetermined*.
    """
