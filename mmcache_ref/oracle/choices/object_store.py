"""Choices for the object store: rings of one chunk to a few dozen, contents at edges, handles of any age."""

from __future__ import annotations

import string
from collections import Counter
from typing import Any, Final

from hypothesis import strategies as st

from mmcache_ref.model import object_store
from mmcache_ref.model.component import Content, Op
from mmcache_ref.model.object_store import HEADER, ID_MAX, METADATA, OVERHEAD, READER_COUNT
from mmcache_ref.model.object_store_alphabet import (
    CALLS,
    DAMAGED,
    FORGERIES,
    LAYOUTS,
    TRAVELLED,
    UNTYPED,
    WRITES,
    Untyped,
)
from mmcache_ref.model.ring_moves import place, place_in
from mmcache_ref.oracle.choices.common import FIRST_IDS
from mmcache_ref.oracle.draws import Draw

KEYS: Final = string.ascii_lowercase
MOST_CHUNKS: Final = 12
"""Of the ring, where it is not one of the larger ones."""
LARGER: Final = 30
"""Chunks of the smallest size in the largest ring."""
NEARLY_ALIKE: Final = (5, 8, 9)
"""Bytes of the largest content of rings in which nearly all contents have 1 byte."""
MOST_ALIKE: Final = 5
"""Chunks in the largest of these rings."""
BOOLS: Final[tuple[Untyped, ...]] = ("bool address", "bool id")
"""Forgeries that only the first handles can have."""
MOST_READS: Final = 8
"""Reader counts that are brought about."""
EDGES: Final = (0, 1, 7, 8, 9, 0, 30)
"""Bytes by which a ring is larger than a number of chunks, and gaps that are tried."""
SMALLEST: Final = OVERHEAD + 1
"""Bytes of the smallest chunk."""


@st.composite
def _configs(draw: Any) -> object_store.Config:
    """A ring of some chunks; the largest object is a chunk, all of the ring, or more than that."""
    content = draw(st.sampled_from((5, 40, 9, 8, 2, 1, 16, 40)))
    largest = OVERHEAD + content
    chunks = draw(st.sampled_from((3, 4, 2, 5, 6, 1, MOST_CHUNKS, LARGER)))
    readers = draw(st.sampled_from((1, 1, 2)))
    if content in NEARLY_ALIKE and draw(st.booleans()):
        return object_store.Config(
            max(3, chunks % (MOST_ALIKE + 1)) * SMALLEST + draw(st.integers(0, 3)), largest - HEADER
        )
    capacity = chunks * draw(st.sampled_from((SMALLEST, largest))) + draw(st.sampled_from(EDGES))
    limit = draw(st.sampled_from((largest, largest, largest, capacity, capacity + 20))) - HEADER
    # More ids than there can be chunks.
    ids = draw(st.sampled_from((ID_MAX, ID_MAX, capacity // SMALLEST + 2)))
    first_id = draw(st.sampled_from(FIRST_IDS)) if ids == ID_MAX else 0
    return object_store.Config(max(capacity, SMALLEST), limit, readers, ids, first_id=first_id)


configs = _configs()


def choose(config: object_store.Config, state: object_store.State, draw: Draw) -> Op:
    """Puts and reads about as often as everything else together."""
    if _is_nearly_alike(config) and draw.is_one_in(2):
        return _towards_late(config, state, draw)
    role = draw.up_to(19)
    if role <= 6:
        content = _late(config, state, draw) or _content(config, state, draw)
        return object_store.Put(_key(config, draw, state), content, draw.is_one_in(8))
    if role <= 11:
        return _reading(config, state, draw)
    if role == 12:
        return object_store.Get(_key(config, draw, state), draw.up_to(3), draw.up_to(config.readers - 1))
    if role == 13:
        return draw.of((object_store.FreeUnused, object_store.ReleaseTouches, object_store.ReleaseTouches))()
    if role == 14:
        return draw.of((object_store.GetCached, object_store.Touch))(_stored(config, draw, state))
    if role <= 16:
        return _deceiving(config, state, draw)
    if role == 17 and draw.is_one_in(2):
        while_copying = draw.is_one_in(2)
        return object_store.PutFailing(
            _key(config, draw, state), _content(config, state, draw), while_copying
        )
    return _asking(config, state, draw)


def _keys(config: object_store.Config) -> str:
    """A few more keys than there is room for."""
    return KEYS[: max(5, config.capacity // SMALLEST + 2)]


def _key(config: object_store.Config, draw: Draw, state: object_store.State) -> str:
    """Any key, or one that a handle was issued for."""
    if state.handles and draw.is_one_in(3):
        return draw.of(state.handles).key
    return draw.of(_keys(config))


def _stored(config: object_store.Config, draw: Draw, state: object_store.State) -> str:
    """A stored key, if there is one and not always."""
    if state.objects and not draw.is_one_in(8):
        return draw.of(state.objects).key
    return draw.of(_keys(config))


def _content(config: object_store.Config, state: object_store.State, draw: Draw) -> Content:
    """The smallest or the largest, or one that fits a gap, exactly or nearly; now and then too large."""
    largest, room = config.max_object_size - READER_COUNT - METADATA, config.capacity - OVERHEAD
    if largest > room and draw.is_one_in(8):
        return Content(room + 1, 1)
    role = draw.up_to(15)
    here = place_in(config.capacity, state.ring.end)
    # Chunks of one size, a little smaller than the largest, and then the largest: see `_late`.
    if role <= 3 or (largest in NEARLY_ALIKE and draw.up_to(7)):
        nbytes = 1
    elif role <= 7:
        nbytes = min(largest, config.capacity - OVERHEAD)
    elif role <= 10:
        nbytes = config.capacity - here - OVERHEAD - draw.of((-1, -1, 0, 1, 7, 8, 9))
    elif role <= 13 and (alike := _alike(config, state)):
        nbytes = draw.of(alike)
    elif role == 14:
        nbytes = draw.of((largest, largest + 1, config.capacity - OVERHEAD, config.capacity - OVERHEAD + 1))
    else:
        nbytes = 1 + draw.up_to(max(0, largest - 1))
    return Content(min(max(1, nbytes), largest + 1), 1 + draw.up_to(2))


def _alike(config: object_store.Config, state: object_store.State) -> list[int]:
    """Bytes of contents after which the reader count of the next chunk comes to lie where an old id was."""
    here = place_in(config.capacity, state.ring.end)
    largest = config.max_object_size - READER_COUNT - METADATA
    return [
        nbytes
        for each in state.handles
        if 1 <= each.chunk.id <= MOST_READS and object_store.live_place(state, each) is None
        if 1 <= (nbytes := place_in(config.capacity, each.chunk.begin) - HEADER - here - OVERHEAD) <= largest
    ]


def _is_nearly_alike(config: object_store.Config) -> bool:
    """A ring of a few chunks of one size, and an object that is a little larger than these."""
    largest = config.max_object_size - READER_COUNT - METADATA
    return largest in NEARLY_ALIKE and config.capacity < (MOST_ALIKE + 1) * SMALLEST


def _towards_late(config: object_store.Config, state: object_store.State, draw: Draw) -> Op:
    """The next step towards `_late`: a ring full of small objects, all read, of which the oldest is the last
    in the area. Until it is that one, only the oldest is read."""
    new = [key for key in _keys(config) if object_store.find(state, key) is None]
    if place(config.capacity, state.ring, SMALLEST) is not None:
        return object_store.Put(draw.of(new), Content(1, 1 + draw.up_to(2)))
    is_last = place_in(config.capacity, state.ring.begin) + 2 * SMALLEST > config.capacity
    held = [each for each in state.objects if not object_store.is_free(config, each)]
    if held and (is_last or held[0] is state.objects[0]):
        if held[0].is_touched:
            return object_store.ReleaseTouches()
        return object_store.Get(held[0].key, 0, draw.up_to(config.readers - 1))
    content = _late(config, state, draw) or Content(1, 1 + draw.up_to(2))
    return object_store.Put(draw.of(new), content)


def _late(config: object_store.Config, state: object_store.State, draw: Draw) -> Content | None:
    """A content for which one attempt to free makes no room, though all is free up to where it would."""
    left = config.capacity - place_in(config.capacity, state.ring.end)
    largest = config.max_object_size - READER_COUNT - METADATA
    for nbytes in (largest, left - OVERHEAD + 1):
        size = nbytes + OVERHEAD
        if 1 <= nbytes <= largest and size <= config.capacity:
            _, kind = object_store.make_room(config, state, size)
            if kind == "made_more_room":
                return Content(nbytes, 1 + draw.up_to(2))
    return None


def _reading(config: object_store.Config, state: object_store.State, draw: Draw) -> Op:
    """A read that somebody waits for: of the oldest object that is not yet acknowledged."""
    for each in state.objects:
        if not object_store.is_free(config, each):
            if each.is_touched and draw.is_one_in(3):
                return object_store.ReleaseTouches()
            return object_store.Get(each.key, 0, draw.up_to(config.readers - 1))
    return (
        object_store.FreeUnused()
        if draw.is_one_in(4)
        else object_store.Put(draw.of(_keys(config)), _content(config, state, draw))
    )


def _deceiving(config: object_store.Config, state: object_store.State, draw: Draw) -> Op:
    """Something at the place of an old handle: it is planted, gets the right reader count, is asked for; or
    it comes there by a clear, or while a reader copies."""
    stale = [each for each in state.handles if object_store.live_place(state, each) is None]
    for handle in stale:
        back = [each for each in state.handles if each.key == handle.key].index(handle)
        if handle.is_mimicked:
            return object_store.Get(handle.key, back)
        here = place_in(config.capacity, handle.chunk.begin)
        for chunk, each in zip(state.ring.chunks, state.objects, strict=True):
            if (
                place_in(config.capacity, chunk.begin) + HEADER == here
                and each.reads <= handle.chunk.id <= MOST_READS
            ):
                is_ready = each.reads == handle.chunk.id
                return object_store.Get(handle.key, back) if is_ready else object_store.Get(each.key)
    role = draw.up_to(5)
    if role <= 1 and (plants := _plants(config, state, draw)):
        return draw.of(plants)
    if role <= 3 and stale:
        return object_store.Get(draw.of(stale).key, draw.up_to(3))
    if role == 4:
        return object_store.Clear()
    return object_store.GetOvertaken(
        _stored(config, draw, state), draw.of(_keys(config)), _content(config, state, draw), draw.is_one_in(2)
    )


def _plants(config: object_store.Config, state: object_store.State, draw: Draw) -> list[Op]:
    """The largest content, with a chunk in it for each old handle whose place lies there."""
    largest = min(config.max_object_size - READER_COUNT - METADATA, config.capacity - OVERHEAD)
    content, key = Content(max(1, largest), 1), draw.of(_keys(config))
    backs: Counter[str] = Counter()
    found: list[Op] = []
    for handle in state.handles:
        offset = object_store.offset_of(config, state, content, handle)
        if offset is not None:
            found.append(object_store.Plant(key, content, handle.key, offset, backs[handle.key]))
        backs[handle.key] += 1
    return found


def _asking(config: object_store.Config, state: object_store.State, draw: Draw) -> Op:
    """What changes nothing, or makes something of its own."""
    key, role = _key(config, draw, state), draw.up_to(19)
    if role <= 5:
        return _forged(config, state, draw)
    if role <= 8:
        return object_store.Verify(key, draw.up_to(2), draw.is_one_in(2))
    if role <= 10:
        return object_store.ReaderTouch(key, draw.up_to(2), draw.up_to(config.readers - 1))
    if role <= 12:
        return draw.of((object_store.IsCached, object_store.Signature))(key)
    if role <= 14:
        return object_store.OwnGet(key)
    if role <= 16:
        return draw.of((object_store.Attach, object_store.Attach, object_store.GetLocked))(key)
    if role == 17:
        return object_store.ReaderWrites(draw.of(WRITES))
    if role == 18:
        return draw.of(
            (
                object_store.Unpickle(draw.of(LAYOUTS)),
                object_store.Damage(draw.of(DAMAGED)),
                object_store.Travel(draw.of(TRAVELLED)),
            )
        )
    return draw.of((object_store.AttachWithoutLock, object_store.CloseAnother))()


def _forged(config: object_store.Config, state: object_store.State, draw: Draw) -> Op:
    """A forged handle; now and then a bool for a number that is equal to it."""
    if draw.is_one_in(4):
        for key in {each.key: None for each in state.handles}:
            handle = object_store.handle_of(state, key)
            if handle is not None and min(handle.chunk.begin, handle.chunk.id) <= 1:
                told = BOOLS[handle.chunk.begin > 1]
                return object_store.Forge(key, told, draw.of(CALLS))
    return object_store.Forge(_key(config, draw, state), draw.of((*FORGERIES, *UNTYPED)), draw.of(CALLS))
