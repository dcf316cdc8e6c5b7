"""Requests that bypass P0 fill P1.   [DR-17]

A client sends prompts that are tokens and embeddings already. They never pass P0's cache, but P1 stores what
they bring. P1 now evicts earlier than P0 expects, and a request of somebody else claims an item that is
gone. P1 may store only what P0 recorded.
"""

from __future__ import annotations

from mmcache_ref.protocol import Engine, Message

from .fault import Fault


def take_everything(self: Engine, message: Message) -> bool:
    """A message that went past P0 is ingested like any other."""
    return False


FAULT = Fault(
    name="D11",
    title="requests that bypass P0 fill P1",
    replaces="protocol.engine:Engine._is_unrecorded",
    rule=take_everything,
    component="drift",
    clauses=("DR-17", "DR-06", "DR-07"),
    accidents=("bypass",),
    without=("recorded-only",),
)
