"""The rules that keep the shared memory safe from what happens around it.   [spec/08-shm-caches.md]"""

from __future__ import annotations

from collections.abc import Mapping

SHARED_PROTECTIONS: Mapping[str, str] = {
    "clear-on-death": "when a worker dies, all requests under way are retried and the store is cleared",
    "drained-clear": "a clear waits until no message with a handle is under way",
    "handle-until-done": "what a worker has read is kept until its request is finished",
    "keep-handles": "a handle is never stripped from a message",
    "one-acknowledgement": "a worker acknowledges a reference once, however many children a request has",
    "recoverable-miss": "a stale handle is a miss, and the retry carries the data",
    "release-on-abort": "a request that ends before it was read is still read, for its references",
    "validated-handle": "a handle that P0 has validated gets a reference of its own",
}
"""Name to rule."""

SHARED_DEFAULT = frozenset(SHARED_PROTECTIONS)
"""With these no accident strands a reference, ends a worker or serves a wrong object."""
