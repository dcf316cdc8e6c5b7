"""What targets log while they are judged: nothing, but for where a clause asks about it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quiet_logs() -> Iterator[None]:
    """Every logger is silent inside: an oracle makes thousands of values that are too large."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


@contextmanager
def heard_warnings() -> Iterator[list[str]]:
    """The messages of level WARNING and above, of whatever logger; they go to no handler."""
    heard: list[str] = []

    def hear(logger: logging.Logger, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            heard.append(record.getMessage())

    before, handle = logging.root.manager.disable, logging.Logger.handle
    logging.disable(logging.NOTSET)
    replaced: Any = hear
    logging.Logger.handle = replaced  # type: ignore[method-assign]
    try:
        yield heard
    finally:
        logging.Logger.handle = handle  # type: ignore[method-assign]
        logging.disable(before)
