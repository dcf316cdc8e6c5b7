"""Choices for the ring buffer: sizes, places and ids at every edge."""

from __future__ import annotations

from typing import Any, Final

from hypothesis import strategies as st

from mmcache_ref.model import ring_buffer
from mmcache_ref.model import ring_moves as moves
from mmcache_ref.model.component import Op
from mmcache_ref.model.ring_moves import HEADER
from mmcache_ref.oracle.choices.common import FIRST_IDS
from mmcache_ref.oracle.draws import Draw

CAPACITIES: Final = (60, 100, 40, 9, 16, 17, 24, 200, 308, 1000)
"""Bytes: from one chunk to a few dozen."""
SMALLEST_CHUNK: Final = HEADER + 1
GAPS: Final = (0, 7, 8, 9)
"""Bytes that a chunk may leave of a free stretch: none, less than a header, a header, the smallest chunk."""
FILLS: Final = (1, 2, 3, 0, 8, 50, 127, 255)


FEW_IDS: Final = (2, 3)
"""Fewer than there may be chunks."""


def _config(capacity: int, more_ids: int | None, few_ids: int, first_id: int) -> ring_buffer.Config:
    """Ids that wrap soon, with `more_ids` beyond those of a ring full of the smallest chunks; or (0) at their
    usual end, perhaps from a late one on; or `few_ids`."""
    if more_ids == 0:
        return ring_buffer.Config(capacity, first_id=first_id)
    most = capacity // SMALLEST_CHUNK
    return ring_buffer.Config(capacity, few_ids if more_ids is None else most + more_ids)


configs = st.builds(
    _config,
    st.sampled_from(CAPACITIES),
    st.sampled_from((1, 2, 5, 0, None)),
    st.sampled_from(FEW_IDS),
    st.sampled_from(FIRST_IDS),
)

ELSE: Final[tuple[Op, ...]] = (
    ring_buffer.Handle(),
    ring_buffer.Roles(),
    ring_buffer.ReaderLeaves(),
    ring_buffer.ByReader("allocate"),
    ring_buffer.ByReader("free"),
    ring_buffer.ByReader("clear"),
    ring_buffer.Secret(),
    ring_buffer.Another(),
    ring_buffer.Attach("nothing"),
    ring_buffer.Attach("too-short"),
    ring_buffer.Attach("longer"),
    ring_buffer.Create(),
    ring_buffer.Constants(),
    ring_buffer.Unnamed(),
    ring_buffer.Claimed(),
    ring_buffer.Owned(),
    ring_buffer.Largest(),
    ring_buffer.CloseAgain(),
    ring_buffer.Allocate(0),
    ring_buffer.Allocate(-1),
)


def choose(config: ring_buffer.Config, state: ring_buffer.State, draw: Draw) -> Op:
    """Allocations about as often as everything else together."""
    ring = state.ring
    if state.is_closed:
        return draw.of(
            (ring_buffer.Close(), ring_buffer.Allocate(1), ring_buffer.Access(0), ring_buffer.Free())
        )
    role = draw.up_to(19)
    if role <= 9:
        return ring_buffer.Allocate(_nbytes(config, ring, draw), draw.of(FILLS))
    if role <= 13:
        return _free(ring, draw)
    if role <= 16:
        return _access(config, ring, draw)
    if role == 17:
        return ring_buffer.Number(draw.of((0, 1, ring.end, -1, 255, 256, (1 << 31) - 1, -(1 << 31))))
    if role == 18 and draw.is_one_in(8):
        return draw.of((ring_buffer.Clear(), ring_buffer.Clear(), ring_buffer.Clear(), ring_buffer.Close()))
    return draw.of(ELSE)


def _nbytes(config: ring_buffer.Config, ring: moves.Ring, draw: Draw) -> int:
    """A size at an edge: of a free stretch, less what may be left of it, one over; small; or any."""
    role = draw.up_to(9)
    stretches = [stretch.length for stretch in moves.free_stretches(config.capacity, ring)]
    if role <= 4 and stretches:
        nbytes = draw.of(stretches) - HEADER - draw.of(GAPS) + draw.up_to(1)
    elif role <= 7:
        nbytes = draw.of((1, 2, 8, config.capacity // 4, config.capacity // 3, config.capacity // 2))
    elif role == 8:
        nbytes = config.capacity - HEADER + draw.up_to(1)
    else:
        nbytes = draw.up_to(config.capacity)
    return max(1, nbytes)


def _free(ring: moves.Ring, draw: Draw) -> Op:
    """Everything; up to a chunk that is refused, that raises; up to a number of bytes at an edge."""
    role = draw.up_to(9)
    if role <= 1 or not ring.chunks:
        return ring_buffer.Free()
    some = draw.of(ring.chunks)
    if role <= 4:
        return ring_buffer.Free(refuses=(some.id,))
    if role == 5:
        return ring_buffer.Free(raises=some.id)
    whole = sum(chunk.size for chunk in ring.chunks[: 1 + draw.up_to(len(ring.chunks) - 1)])
    nbytes = draw.of((whole, whole - 1, whole + 1, whole - HEADER, 1, 0, -1))
    if role == 6:
        return ring_buffer.Free(nbytes, (some.id,))
    return ring_buffer.Free(nbytes)


def _access(config: ring_buffer.Config, ring: moves.Ring, draw: Draw) -> Op:
    """A chunk, in its lap or the next; a place near the end; the middle of a payload."""
    role = draw.up_to(9)
    by_reader = draw.is_one_in(3)
    if not ring.chunks or role == 0:
        return ring_buffer.Access(config.capacity - 1 - draw.up_to(min(7, config.capacity - 1)), by_reader)
    chunk: Any = draw.of(ring.chunks)
    if role == 1 and moves.place_in(config.capacity, chunk.begin) > HEADER:
        return ring_buffer.Access(chunk.begin - 1 - draw.up_to(HEADER - 2), by_reader)
    if role <= 2:
        return ring_buffer.Access(chunk.begin + HEADER + draw.up_to(chunk.size - HEADER), by_reader)
    address = chunk.begin + config.capacity * draw.up_to(2)
    if role <= 6:
        return ring_buffer.Access(address, by_reader)
    return ring_buffer.Fill(address, draw.of(FILLS), by_reader)
