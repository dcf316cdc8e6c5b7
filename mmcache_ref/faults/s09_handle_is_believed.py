"""A handle that a client has written is believed.   [OS-18, OS-17, OS-16]

Handles travel through requests, and a client can put one into its own: with an address and an id that it
chose, or those of another client's image under its own key. A reader that does not verify reads whatever
lies there. A handle is signed with the segment's secret, over key, address and id, and is verified before
any byte is read.
"""

from __future__ import annotations

from typing import Any

from mmcache_ref.reference.handles import HandleSignatureError, check_handle, key_digest, sign

from .fault import Fault


def believe(secret: bytes, key: Any, address: Any, monotonic_id: Any, signature: Any) -> bytes:
    """Whatever has the form of a handle is one: nobody asks who signed it."""
    check_handle(address, monotonic_id, signature)
    if type(key) is not str:
        raise HandleSignatureError("Missing SHM handle signature: a handle comes with its key")
    return sign(secret, key_digest(key), address, monotonic_id)


FAULT = Fault(
    name="S09",
    title="a handle that a client made up is taken for the writer's",
    replaces="reference.handles:verified",
    rule=believe,
    component="object-store",
    clauses=("OS-18", "OS-17", "OS-16"),
)
