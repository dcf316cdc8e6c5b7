"""A clear begins the ids anew.   [RB-21, RB-10, OS-29]

The first object ever put has address 0 and id 0. Its handle is still queued when the store is cleared. The
next object is put at address 0, and with id 0: the old handle fits it in every respect, and the worker
returns another image than the one that was asked for. Ids go on increasing over a clear.
"""

from __future__ import annotations

from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer

from .fault import Fault


def begin_anew(self: SingleWriterShmRingBuffer) -> None:
    """After a clear the ring is as it was made."""
    self._writable("clear the buffer")
    self._forget(list(self.metadata))
    self.monotonic_id_start = self.monotonic_id_end = 0


FAULT = Fault(
    name="S08",
    title="a clear begins the ids anew, and an old handle fits a new object",
    replaces="reference.ring_buffer:SingleWriterShmRingBuffer.clear",
    rule=begin_anew,
    component="ring-buffer",
    clauses=("RB-21", "RB-10", "OS-29"),
)
