"""Where chunks go in the ring and how begin and end move: functions on integers and nothing else.

Begin is the virtual address of the oldest live chunk, end the one behind the youngest. Between two calls
of the ring `0 <= begin < capacity` and `begin <= end <= begin + capacity`, so addresses stay below twice
the capacity and the place in the data area is found by one comparison. Each `pre:` and `post:` line is a
contract that CrossHair confirms for all integers.
"""

from __future__ import annotations

HEADER_BYTES = 8
"""A chunk begins with its id and its size, 4 bytes each."""
LARGEST_CHUNK = 2**31 - 1
"""What the 4 signed bytes of the size can say."""
NO_ROOM = -1
"""Answer of `place` that is no address."""


def position(address: int, capacity: int) -> int:
    """Where in the data area the byte at a virtual address lies.   [RB-05]

    pre: capacity > 0
    pre: 0 <= address < 2 * capacity
    post: 0 <= _ < capacity
    post: _ == address or _ == address - capacity
    """
    return address if address < capacity else address - capacity


def gap(end: int, size: int, capacity: int) -> int:
    """How many bytes stay unused behind `end` so that a chunk does not straddle.   [RB-05, RB-23]

    pre: capacity > 0 and size > 0
    pre: 0 <= end < 2 * capacity
    post: 0 <= _ < size
    post: _ == 0 or end + _ == capacity or end + _ == 2 * capacity
    """
    left = capacity - position(end, capacity)
    return 0 if size <= left else left


def place(begin: int, end: int, size: int, capacity: int) -> int:
    """The virtual address of a new chunk of `size` bytes, or `NO_ROOM`.   [RB-05, RB-06, RB-09, RB-22]

    An answer is behind end, inside the data area in one piece, and its chunk ends at most a capacity
    behind begin. `NO_ROOM` is the answer only where the chunk and the gap before it are more than what is
    free.

    pre: capacity > 0 and size > 0
    pre: 0 <= begin < capacity
    pre: begin <= end <= begin + capacity
    post: _ == NO_ROOM or end <= _ <= begin + capacity - size
    post: _ == NO_ROOM or _ + size <= capacity or capacity <= _ <= 2 * capacity - size
    post: _ == NO_ROOM or size <= LARGEST_CHUNK
    post: _ == NO_ROOM or _ == end + gap(end, size, capacity)
    post: (_ != NO_ROOM) == (size <= min(LARGEST_CHUNK, capacity - (end - begin) - gap(end, size, capacity)))
    """
    if size > LARGEST_CHUNK:
        return NO_ROOM
    address = end + gap(end, size, capacity)
    return address if address + size <= begin + capacity else NO_ROOM


def free_up_to(begin: int, end: int, oldest: int, capacity: int) -> tuple[int, int]:
    """Begin and end after everything before the chunk at `oldest` is freed.   [RB-20]

    `oldest` is the address that was handed out for the chunk: begin and end may have gone down by the
    capacity since.

    pre: capacity > 0
    pre: 0 <= begin < capacity
    pre: begin < end <= begin + capacity
    pre: begin < oldest < end or begin < oldest - capacity < end
    pre: oldest < 2 * capacity
    post: 0 <= _[0] < capacity
    post: _[0] == position(oldest, capacity)
    post: _[0] < _[1] <= _[0] + capacity
    post: _[1] - _[0] == end - (oldest if oldest < end else oldest - capacity)
    post: _[1] == end or _[1] == end - capacity
    """
    if oldest >= end:
        oldest -= capacity
    return (oldest, end) if oldest < capacity else (oldest - capacity, end - capacity)


def next_id(identifier: int, id_max: int) -> int:
    """The id that follows: ids run from 0 to `id_max - 1` and begin again.   [RB-10]

    pre: 0 <= identifier < id_max
    post: 0 <= _ < id_max
    post: _ == identifier + 1 or (_ == 0 and identifier == id_max - 1)
    """
    return identifier + 1 if identifier + 1 < id_max else 0


def is_chunk(place_in_area: int, size: int, capacity: int) -> bool:
    """Whether a header at this place that says `size` can be that of a chunk.   [RB-15]

    pre: 0 <= place_in_area
    post: not _ or size > HEADER_BYTES
    post: not _ or place_in_area + size <= capacity
    post: _ or size <= HEADER_BYTES or place_in_area + size > capacity
    """
    return HEADER_BYTES < size <= capacity - place_in_area
