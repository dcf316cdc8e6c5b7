"""A placeholder counts an embedding for each of its tokens.   [IT-09]"""

from __future__ import annotations

from broken import Breaks, names
from mmcache_ref import reference

BREAKS = Breaks("items", ("IT-09",), longest=1)


class PlaceholderRange(reference.PlaceholderRange):
    def get_num_embeds(self) -> int:
        return self.length


globals().update(names(PlaceholderRange=PlaceholderRange))
