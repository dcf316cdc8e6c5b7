"""The operations of the ring buffer: each is one call of the API, or one look at another ring."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from .component import Op

Byte = Annotated[int, msgspec.Meta(ge=0, le=255)]
Address = Annotated[int, msgspec.Meta(ge=0)]
MOST_BYTES = 1 << 24
"""Bytes of the largest payload that a stored run may ask for."""


class Allocate(Op, frozen=True, tag="allocate"):
    """`r.allocate_buf(nbytes)`; then the payload is filled through `access_buf`, each byte with `fill`"""

    nbytes: Annotated[int, msgspec.Meta(ge=-MOST_BYTES, le=MOST_BYTES)]
    fill: Byte = 1


class Access(Op, frozen=True, tag="access"):
    """`r.access_buf(address)`: id and size, the length of the view, and the value of its bytes"""

    address: Address
    by_reader: bool = False


class Fill(Op, frozen=True, tag="fill"):
    """Fill the payload of a live chunk through `r.access_buf(address)`"""

    address: Address
    fill: Byte
    by_reader: bool = False


class Free(Op, frozen=True, tag="free"):
    """`r.free_buf(is_free, nbytes)`: the ids freed, and what `is_free` was shown

    `is_free` is false for the ids in `refuses`, and raises for the id `raises`.
    """

    nbytes: Annotated[int, msgspec.Meta(ge=-MOST_BYTES, le=MOST_BYTES)] | None = None
    refuses: tuple[int, ...] = ()
    raises: int | None = None


class Clear(Op, frozen=True, tag="clear"):
    """`r.clear()`"""


class ByReader(Op, frozen=True, tag="by-reader"):
    """A call that only the writer may make, made by a reader"""

    call: Literal["allocate", "free", "clear"]


class ReaderLeaves(Op, frozen=True, tag="reader-leaves"):
    """A reader attaches by `r.handle()` and closes; is the segment still there?"""


class Handle(Op, frozen=True, tag="handle"):
    """`r.handle()`: its size, and whether its name is that of the segment"""


class Secret(Op, frozen=True, tag="secret"):
    """`r.get_auth_secret()`: its length; is it what a reader is given, what begins the segment, and another
    than that of another ring?"""


class Constants(Op, frozen=True, tag="constants"):
    """`DATA_OFFSET`, `AUTH_SECRET_BYTES`, `ID_NBYTES`, `SIZE_NBYTES`, `MD_SIZE`, `ID_MAX` of another ring"""


class Roles(Op, frozen=True, tag="roles"):
    """`data_buffer_size` and `is_writer` of the ring and of a reader"""


class Number(Op, frozen=True, tag="number"):
    """`r.int2byte(number)`, as numbers, and what `r.byte2int` makes of it"""

    number: Annotated[int, msgspec.Meta(ge=-(1 << 31), lt=1 << 31)]


class Another(Op, frozen=True, tag="another"):
    """Begin, end, both ids and the chunks of another ring, made now while this one is in use"""


class Unnamed(Op, frozen=True, tag="unnamed"):
    """Two more rings, made without a name: have they one each, which is not too long?"""


class Claimed(Op, frozen=True, tag="claimed"):
    """Another ring of 64 KiB, which nobody has written to: is all its memory taken?"""


class Owned(Op, frozen=True, tag="owned"):
    """Another ring: does the record behind its data area say that this process made it?"""


class Largest(Op, frozen=True, tag="largest"):
    """`allocate_buf` of other rings that are told to have 4 GiB: where the largest chunk ends that a header
    can say, how one byte more is refused, and whether that leaves the ring as it was"""


class Attach(Op, frozen=True, tag="attach"):
    """Attach to a name that no segment has, or with a data area that a segment is too short for, or longer"""

    to: Literal["nothing", "too-short", "longer"]


class Create(Op, frozen=True, tag="create"):
    """Create a ring under the name of this one, which is in use"""


class Close(Op, frozen=True, tag="close"):
    """`r.close()`; is the segment gone?"""


class CloseAgain(Op, frozen=True, tag="close-again"):
    """Another ring is closed; a new segment gets its name; the ring is closed again, and dropped: is that
    segment still there?"""


Operation = (
    Allocate
    | Access
    | Fill
    | Free
    | Clear
    | ByReader
    | ReaderLeaves
    | Handle
    | Secret
    | Constants
    | Roles
    | Number
    | Another
    | Unnamed
    | Claimed
    | Owned
    | Largest
    | Attach
    | Create
    | Close
    | CloseAgain
)


def plainer(operation: Operation) -> tuple[Operation, ...]:
    """What does the same with less."""
    match operation:
        case Free(None, (), None):
            return (Clear(),)
        case Free():
            return (Free(),)
    return ()
