"""What a reader finds in the segment is unpickled.   [OS-24]

A client sends a payload that contains, at a place where a stale handle points, a forged header and a
pickled object. The worker finds the id it looks for, takes the bytes after it for an object's description,
and unpickles it: code of the client's choice runs in the worker. Nothing that is read from the segment is
ever unpickled.
"""

from __future__ import annotations

import pickle
from typing import Any

from mmcache_ref.reference.serde import _LENGTH, MsgpackSerde, SerdeError

from .fault import Fault


def unpickle_what_else_it_may_be(self: MsgpackSerde, data: memoryview) -> Any:
    """A structure that is not msgpack is perhaps a pickle."""
    begin = self.SEAL_BYTES + _LENGTH.size
    if len(data) < begin:
        raise SerdeError(f"an object has {begin} bytes at least, and {len(data)} are there")
    (length,) = _LENGTH.unpack_from(data, self.SEAL_BYTES)
    structure = bytes(data[begin : begin + length])
    try:
        return self._reader.read(structure, data[begin + length :])
    except Exception:
        return pickle.loads(structure)


FAULT = Fault(
    name="S17",
    title="what is read from the segment and is not msgpack is unpickled",
    replaces="reference.serde:MsgpackSerde.deserialize",
    rule=unpickle_what_else_it_may_be,
    component="object-store",
    clauses=("OS-24",),
)
