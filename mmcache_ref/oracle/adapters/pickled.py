"""A pickle that runs code when it is loaded, given to the default serde of a target."""

from __future__ import annotations

import pickle
from typing import Any, Final

from mmcache_ref.model.object_store_alphabet import Layout
from mmcache_ref.oracle.adapters.base import Unexpected, need

ROOM: Final = 16
"""Bytes of room for a seal."""
_ran: list[str] = []


def run() -> str:
    """What the pickle runs."""
    _ran.append("ran")
    return "loaded"


class Bomb:
    """Its pickle calls `run` when it is loaded."""

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return run, ()


def loaded(namespace: Any, layout: Layout) -> Any:
    """What the serde makes of the pickle; words, if it has run."""
    need(namespace, "MsgpackSerde")
    bomb = pickle.dumps(Bomb())
    size = len(bomb).to_bytes(4, "little")
    stored = {
        "bare": bomb,
        "sized": size + bomb,
        "sealed": bytes(ROOM) + size + bomb,
        "typed": pickle.dumps((Bomb(), 0, [0])),
    }[layout]
    _ran.clear()
    try:
        result = namespace.MsgpackSerde().deserialize(memoryview(stored))
    except Exception:
        if not _ran:
            raise
    if _ran:
        return Unexpected("code that lay in the segment was run")
    return result
