"""How every command prints JSON."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


def json_text(value: Any, *, order: Literal["deterministic"] | None = None) -> str:
    """A value as indented JSON with the end of a line; `order` is that of msgspec, of mappings and sets."""
    return msgspec.json.format(msgspec.json.encode(value, order=order), indent=2).decode() + "\n"
