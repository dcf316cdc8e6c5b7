"""Sleep or pause clears one side only.   [DR-15]

The engine is put to sleep, and frees the memory of its cache; nobody tells P0. After the wake-up P0 still
claims everything it sent before, and each of these claims misses. Whatever clears one side has to take a new
number, so that the other side learns of it with the next message or report, and clears too.
"""

from __future__ import annotations

from mmcache_ref.protocol import Engine

from .fault import Fault


def clear_in_silence(self: Engine) -> None:
    """The cache is emptied, and no number says so."""
    self.receiver.clear_cache()


FAULT = Fault(
    name="D07",
    title="sleep or pause clears P1, and P0 never learns of it",
    replaces="protocol.engine:Engine.clear",
    rule=clear_in_silence,
    component="drift",
    clauses=("DR-15",),
    upstream=("#42995", "#43001", "#47147"),
    accidents=("clear-p1",),
    without=("epoch",),
)
