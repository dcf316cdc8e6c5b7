"""The operations of the byte-budgeted LRU: each is one call of the API."""

from __future__ import annotations

from .component import Content, Op


class Contains(Op, frozen=True, tag="contains"):
    """`key in c`"""

    key: str


class Length(Op, frozen=True, tag="len"):
    """`len(c)`"""


class GetItem(Op, frozen=True, tag="getitem"):
    """`c[key]`"""

    key: str


class Get(Op, frozen=True, tag="get"):
    """`c.get(key, default)`, or without a default"""

    key: str
    has_default: bool = True


class Touch(Op, frozen=True, tag="touch"):
    """`c.touch(key)`"""

    key: str


class Pop(Op, frozen=True, tag="pop"):
    """`c.pop(key, default)`, or without a default"""

    key: str
    has_default: bool = True


class Delete(Op, frozen=True, tag="del"):
    """`del c[key]`"""

    key: str


class Put(Op, frozen=True, tag="put"):
    """`c.put(key, value)`"""

    key: str
    content: Content


class SetItem(Op, frozen=True, tag="setitem"):
    """`c[key] = value`"""

    key: str
    content: Content


class PutIfFits(Op, frozen=True, tag="put_if_fits"):
    """`c.put_if_fits(key, value)`"""

    key: str
    content: Content


class SetDefault(Op, frozen=True, tag="setdefault"):
    """`c.setdefault(key, value)`"""

    key: str
    content: Content


class UpdateWith(Op, frozen=True, tag="update"):
    """`c.update(pairs)`"""

    pairs: tuple[tuple[str, Content], ...]


class Pin(Op, frozen=True, tag="pin"):
    """`c.pin(key)`"""

    key: str


class RemoveOldest(Op, frozen=True, tag="remove_oldest"):
    """`c.remove_oldest(remove_pinned=...)`"""

    remove_pinned: bool = False


class PopItem(Op, frozen=True, tag="popitem"):
    """`c.popitem(remove_pinned=...)`"""

    remove_pinned: bool = False


class Clear(Op, frozen=True, tag="clear"):
    """`c.clear()`"""


class Stat(Op, frozen=True, tag="stat"):
    """`c.stat(delta=...)`"""

    delta: bool = False


class HitRatio(Op, frozen=True, tag="hit_ratio"):
    """`c.stat().hit_ratio`"""


class Usage(Op, frozen=True, tag="usage"):
    """`(c.capacity, c.maxsize, c.usage)`"""


class Keys(Op, frozen=True, tag="keys"):
    """The keys that iterating over `c` gives, in alphabetical order: the order of iteration has no clause"""


class View(Op, frozen=True, tag="view"):
    """`key in c.cache`, `key in c.order`, what `c.cache` has under the key, and how many keys each has"""

    key: str


class Pairs(Op, frozen=True, tag="pairs"):
    """`values()` and `items()` of another cache, made now and filled with these pairs, each sorted

    Of another cache, because no clause says whether going through the values counts as lookups.
    """

    pairs: tuple[tuple[str, Content], ...]


class Fresh(Op, frozen=True, tag="fresh"):
    """The number of entries and the counters of another cache, made now with the same budget"""


Operation = (
    Contains
    | Length
    | GetItem
    | Get
    | Touch
    | Pop
    | Delete
    | Put
    | SetItem
    | PutIfFits
    | SetDefault
    | UpdateWith
    | Pin
    | RemoveOldest
    | PopItem
    | Clear
    | Stat
    | HitRatio
    | Usage
    | Keys
    | View
    | Pairs
    | Fresh
)


def plainer(operation: Operation) -> tuple[Operation, ...]:
    """What does the same with less."""
    match operation:
        case SetDefault(key, content):
            return (GetItem(key), Put(key, content))
        case SetItem(key, content) | PutIfFits(key, content):
            return (Put(key, content),)
        case UpdateWith(((key, content),)):
            return (Put(key, content),)
    return ()
