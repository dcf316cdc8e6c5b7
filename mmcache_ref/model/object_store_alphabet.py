"""The operations of the object store: calls of the API, and what else a client or a reader may do."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

import msgspec

from .component import Content, Op

Index = Annotated[int, msgspec.Meta(ge=0, le=64)]
"""Which reader; or how many handles of a key were issued after this one."""


class Put(Op, frozen=True, tag="put"):
    """`put(key, value)` on the writer; `is_watched`: somebody looks at the chunk while it is copied"""

    key: str
    content: Content
    is_watched: bool = False


class PutFailing(Op, frozen=True, tag="put_failing"):
    """`put(key, value)` of a value that raises while it is serialised, or while it is copied"""

    key: str
    content: Content
    while_copying: bool = False


class Plant(Op, frozen=True, tag="plant"):
    """`put(key, value)` of a value whose bytes look, from `offset` on, like the chunk of an old handle

    The handle is the one that was issued for `victim`, `back` handles before its newest; its place is there.
    """

    key: str
    content: Content
    victim: str
    offset: Annotated[int, msgspec.Meta(ge=0)]
    back: Index = 0


class IsCached(Op, frozen=True, tag="is_cached"):
    """`is_cached(key)`"""

    key: str


class GetCached(Op, frozen=True, tag="get_cached"):
    """`get_cached(key)`"""

    key: str


class Touch(Op, frozen=True, tag="touch"):
    """`touch(key)` on the writer"""

    key: str


class ReleaseTouches(Op, frozen=True, tag="release_touches"):
    """`release_touches()`"""


class Signature(Op, frozen=True, tag="signature"):
    """`get_signature(key)`, compared with the formula of the specification"""

    key: str


class Get(Op, frozen=True, tag="get"):
    """`get(address, id, signature, key)` on a reader, with a handle that was issued for the key"""

    key: str
    back: Index = 0
    reader: Index = 0


class GetLocked(Op, frozen=True, tag="get_locked"):
    """`get` of a stored object by a reader whose lock is never free; the time that it waits passes at once"""

    key: str


class GetOvertaken(Op, frozen=True, tag="get_overtaken"):
    """As `get` of the newest handle; while the reader copies, the writer clears and puts another object

    `is_late`: the reader has copied all bytes, and has not counted yet.
    """

    key: str
    other: str
    content: Content
    is_late: bool = False


class OwnGet(Op, frozen=True, tag="own_get"):
    """`get(address, id)` of the key's current handle on the writer"""

    key: str


class ReaderTouch(Op, frozen=True, tag="reader_touch"):
    """`touch(key, address, id, signature)` on a reader"""

    key: str
    back: Index = 0
    reader: Index = 0


class Verify(Op, frozen=True, tag="verify"):
    """`verify_signature(key, address, id, signature)` on the writer or on a reader"""

    key: str
    back: Index = 0
    on_reader: bool = False


Call = Literal["get", "touch", "reader_verify", "verify"]
"""What is given a forged handle: `get`, `touch` and `verify_signature` of a reader, or that of the writer."""
CALLS: Final[tuple[Call, ...]] = get_args(Call)
Forged = Literal["other key", "unsigned", "one bit", "too short", "next address", "next id"]
"""Handles that have the right types and ranges, but are not signed like this."""
FORGERIES: Final[tuple[Forged, ...]] = get_args(Forged)
Untyped = Literal[
    "no key",
    "bool address",
    "bool id",
    "negative address",
    "negative id",
    "huge address",
    "huge id",
    "float address",
    "float id",
    "no address",
    "no id",
    "tuple signature",
    "bytes signature",
    "long signature",
    "bools in signature",
    "floats in signature",
]
"""Handles of a wrong type or out of range, but otherwise right."""
UNTYPED: Final[tuple[Untyped, ...]] = get_args(Untyped)


class Forge(Op, frozen=True, tag="forge"):
    """The key's newest handle, changed as a client could change it"""

    key: str
    forgery: Forged | Untyped
    call: Call = "get"


class FreeUnused(Op, frozen=True, tag="free_unused"):
    """`free_unused()`"""


class Clear(Op, frozen=True, tag="clear"):
    """`clear()`"""


class Attach(Op, frozen=True, tag="attach"):
    """A reader made by `create_from_handle(handle())`, its attributes, and what it reads under the key"""

    key: str


class AttachWithoutLock(Op, frozen=True, tag="attach_without_lock"):
    """A reader made with no lock, and `create_from_handle` of a handle whose lock is None"""


Write = Literal["put", "free_unused", "clear"]
WRITES: Final[tuple[Write, ...]] = get_args(Write)


class ReaderWrites(Op, frozen=True, tag="reader_writes"):
    """`put`, `free_unused` or `clear` on a reader"""

    call: Write


class CloseAnother(Op, frozen=True, tag="close_another"):
    """Another store is made and closed twice: is its segment gone, and is a put refused?"""


Damaged = Literal["secret", "id", "smaller", "larger", "seal", "last count", "lost count", "payload"]
"""What is written over: the size by one that is smaller or larger, the reader count by nearly the largest or
by one below zero; the payload under a serde with a checksum."""
DAMAGED: Final[tuple[Damaged, ...]] = get_args(Damaged)
MISCOUNTED: Final[tuple[Damaged, ...]] = ("last count", "lost count")
"""Of these OS-45 speaks, of the payload OS-44, of the others OS-43."""


class Damage(Op, frozen=True, tag="damage"):
    """In the segment of another store a part of a chunk, or the secret, is written over: does a reader get
    its object or a documented error, does the writer go on, and is all well after a clear?"""

    part: Damaged


Layout = Literal["bare", "sized", "sealed", "typed"]
"""Where the pickle lies: at the beginning; behind its length; behind room for a seal, and its length; in a
pickled tuple."""
LAYOUTS: Final[tuple[Layout, ...]] = get_args(Layout)


class Unpickle(Op, frozen=True, tag="unpickle"):
    """The default serde is given bytes with a pickle in them, which runs code when it is loaded"""

    layout: Layout = "bare"


Travelled = Literal["plain values", "arrays", "tensors", "items", "foreign items"]
"""What is written and read: foreign items have other classes than those that the reader makes."""
TRAVELLED: Final[tuple[Travelled, ...]] = get_args(Travelled)


class Travel(Op, frozen=True, tag="travel"):
    """The default serde writes values and reads them: are they the same, and of the same types?"""

    values: Travelled


Operation = (
    Put
    | PutFailing
    | Plant
    | IsCached
    | GetCached
    | Touch
    | ReleaseTouches
    | Signature
    | Get
    | GetLocked
    | GetOvertaken
    | OwnGet
    | ReaderTouch
    | Verify
    | Forge
    | FreeUnused
    | Clear
    | Attach
    | AttachWithoutLock
    | ReaderWrites
    | CloseAnother
    | Damage
    | Unpickle
    | Travel
)


def plainer(operation: Operation) -> tuple[Operation, ...]:
    """What does the same with less."""
    match operation:
        case Put(key, content, True) | PutFailing(key, content) | Plant(key, content):
            return (Put(key, content),)
        case GetLocked(key) | GetOvertaken(key) | Attach(key):
            return (Get(key),)
        case Get(key, back, reader) if reader:
            return (Get(key, back),)
        case ReaderTouch(key, back, reader) if reader:
            return (ReaderTouch(key, back),)
    return ()
