"""P0 validates a client's handle and takes no reference.   [SC-43, SC-34]

A client sends a handle that it got before. P0 finds that it is current and correctly signed, and lets it
pass. Before the workers read it, another request puts an image, and the object, which all its readers have
acknowledged, is reclaimed. The worker then fails on a handle that P0 has accepted. A validated handle
counts as a reference of its own.
"""

from __future__ import annotations

from typing import Any

from mmcache_ref.protocol import RequestItem, SharedFrontEnd, SharedMessage

from .fault import Fault


def send_what_came(self: SharedFrontEnd, item: RequestItem, handle: Any) -> SharedMessage:
    """The client's handle is validated, and sent as it is."""
    self.sender.validate_input_item(handle, item.mm_hash)
    return self._message((item,), [handle], 1, [True])


FAULT = Fault(
    name="S19",
    title="a client's handle is validated, but holds nothing until it is read",
    replaces="protocol.shared_front_end:SharedFrontEnd.bring",
    rule=send_what_came,
    component="shm-caches",
    clauses=("SC-43", "SC-34"),
    accidents=("replay",),
    without=("validated-handle",),
)
