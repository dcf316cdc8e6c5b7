"""Cannot be imported."""

from __future__ import annotations

raise RuntimeError("a library is missing")
