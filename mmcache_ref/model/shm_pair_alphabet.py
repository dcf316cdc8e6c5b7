"""The operations of the shared-memory caches, call by call: what P0 calls, what a worker calls."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

import msgspec

from .component import Content, Op

Back = Annotated[int, msgspec.Meta(ge=0, le=1)]
"""How many handles of a key were issued after this one."""
Worker = Annotated[int, msgspec.Meta(ge=0, le=3)]


class IsCached(Op, frozen=True, tag="is_cached"):
    """`is_cached(hashes)` of the sender, and `is_cached_item` for each"""

    hashes: tuple[str, ...]


class Touch(Op, frozen=True, tag="touch"):
    """`touch_sender_cache_item(hash)`"""

    key: str


class Release(Op, frozen=True, tag="release"):
    """`release_sender_touches()`"""


class Invalidate(Op, frozen=True, tag="invalidate"):
    """`invalidate(hash)`"""

    key: str


class Update(Op, frozen=True, tag="update"):
    """`get_and_update_item((item, prompt updates) or None, hash)` of the sender"""

    key: str
    content: Content | None = None


class UpdateAll(Op, frozen=True, tag="update_all"):
    """`get_and_update(items, hashes)` of the sender"""

    contents: tuple[Content | None, ...]
    hashes: tuple[str, ...]


class Stats(Op, frozen=True, tag="stats"):
    """`make_stats(delta=…)`"""

    delta: bool = False


class Clear(Op, frozen=True, tag="clear"):
    """`clear_cache()` of the sender"""


class Validate(Op, frozen=True, tag="validate"):
    """`validate_input_item(item, hash)` of a handle that was issued for the key, or of an item"""

    key: str
    back: Back = 0
    is_plain: bool = False


Form = Literal[
    "other key",
    "no id",
    "no signature",
    "address alone",
    "one bit",
    "next address",
    "next id",
    "zeros",
    "bool address",
    "bool id",
    "float address",
    "float id",
    "text address",
    "no address",
    "tensor address",
    "tensor id",
    "negative address",
    "negative id",
    "huge address",
    "huge id",
    "vast address",
    "vast id",
    "minus one address",
    "minus one id",
    "tuple signature",
    "bytes signature",
    "tensor signature",
    "short signature",
    "long signature",
    "wrapped signature",
    "bools in signature",
    "floats in signature",
]
"""What was changed in the newest handle of a key: it is not signed like this, or of a wrong type or range."""
FORMS: Final[tuple[Form, ...]] = get_args(Form)
Unusual = Literal["more elements", "shared elements"]
"""What does not matter to P0: elements of other names, and how the three are batched."""
UNUSUAL: Final[tuple[Unusual, ...]] = get_args(Unusual)
Call = Literal["validate", "receive", "verify"]
"""Who is shown a handle: P0; `get_and_update_item` or `touch_receiver_cache_item` of a worker."""
CALLS: Final[tuple[Call, ...]] = get_args(Call)


class Forge(Op, frozen=True, tag="forge"):
    """The newest handle of a key, changed as a client could change it"""

    key: str
    form: Form
    call: Call = "validate"


class Odd(Op, frozen=True, tag="odd"):
    """`validate_input_item` of the newest handle of a key in an unusual form"""

    key: str
    form: Unusual


Source = Literal["handle", "item", "nothing", "forged"]
"""What a worker is given: a handle that was issued, an item, None, or a handle with one bit changed."""
SOURCES: Final[tuple[Source, ...]] = get_args(Source)


class Feature(msgspec.Struct, frozen=True, order=True):
    """One feature of a request: its key, and what it carries.

    `back` is for handles, `content` for items. Without an `mm_hash` its key is its identifier.   [IT-10]
    """

    key: str
    source: Source = "handle"
    back: Back = 0
    content: Content = Content(1, 1)
    has_mm_hash: bool = True


class Receive(Op, frozen=True, tag="receive"):
    """`get_and_update_item(item, hash)` of a worker's receiver"""

    feature: Feature
    worker: Worker = 0


class ReceiveAll(Op, frozen=True, tag="receive_all"):
    """`get_and_update(items, hashes)` of a worker's receiver; `is_unequal`: with one hash less"""

    features: tuple[Feature, ...]
    worker: Worker = 0
    is_unequal: bool = False


class Verify(Op, frozen=True, tag="verify"):
    """`touch_receiver_cache_item(hash, item)` of a worker's receiver"""

    feature: Feature
    worker: Worker = 0


class Features(Op, frozen=True, tag="features"):
    """`get_and_update_features(features)` of a worker's receiver"""

    features: tuple[Feature, ...]
    worker: Worker = 0


class ClearReceiver(Op, frozen=True, tag="clear_receiver"):
    """`clear_cache()` of a worker's receiver"""

    worker: Worker = 0


class Attach(Op, frozen=True, tag="attach"):
    """A receiver is made where the sender's segment, or the lock, is lacking"""

    lacking: Literal["segment", "lock"]


class CloseAnother(Op, frozen=True, tag="close_another"):
    """Another sender stores an item and is closed, twice: has its segment a name, what does a worker read?"""


class Fresh(Op, frozen=True, tag="fresh"):
    """Another sender, made now: its counters, and what it has under these hashes"""

    hashes: tuple[str, ...]


class TooLarge(Op, frozen=True, tag="too_large"):
    """The warnings that another sender repeats while so many items are inserted that exceed its limit

    Whether there is a first one cannot be asked of it: a logger may keep quiet about what another cache of
    the process has reported.
    """

    items: Annotated[int, msgspec.Meta(ge=1, le=3)]


Operation = (
    IsCached
    | Touch
    | Release
    | Invalidate
    | Update
    | UpdateAll
    | Stats
    | Clear
    | Validate
    | Forge
    | Odd
    | Receive
    | ReceiveAll
    | Verify
    | Features
    | ClearReceiver
    | Attach
    | CloseAnother
    | Fresh
    | TooLarge
)


def plainer(operation: Operation) -> tuple[Operation, ...]:
    """What does the same with less."""
    match operation:
        case Features((feature,), worker) | ReceiveAll((feature,), worker):
            return (Receive(feature, worker),)
        case Receive(feature):
            return (Verify(feature),)
        case UpdateAll((content,), (key,)):
            return (Update(key, content),)
        case Update(key, content) if content is not None:
            return (Update(key),)
    return ()
