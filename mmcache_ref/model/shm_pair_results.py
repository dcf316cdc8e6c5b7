"""What the sender of the shared-memory caches gives its caller."""

from __future__ import annotations

from typing import Final

import msgspec

from .component import Content

ANOTHER: Final = Content(1, 1)
"""What is in a cache that is made for a moment."""


class Handed(msgspec.Struct, frozen=True, tag_field="result", tag="handed"):
    """A handle, and the content whose prompt updates came with it."""

    updates: Content


class Served(msgspec.Struct, frozen=True, tag_field="result", tag="served"):
    """The very input: its item, and the content whose prompt updates came with it."""

    item: Content
    updates: Content
