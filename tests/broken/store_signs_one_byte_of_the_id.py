"""A handle is signed with one byte of its id.   [OS-15]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference
from mmcache_ref.reference.handles import key_digest, sign

BREAKS = Breaks("object-store", ("OS-15", "OS-16", "OS-17", "OS-20"), longest=5, in_tiny=False)


class SingleWriterShmObjectStorage(reference.SingleWriterShmObjectStorage):
    def get_signature(self, key: str) -> list[int]:
        super().get_signature(key)
        address, monotonic_id = self.key_index[key]
        secret = self.ring_buffer.get_auth_secret()
        return list(sign(secret, key_digest(key), address, monotonic_id % (1 << 8)))


globals().update(names(SingleWriterShmObjectStorage=SingleWriterShmObjectStorage))
