"""The operations of the caches of P0: each is one call of the API, or one merge step."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from .component import Content, Op


class Item(msgspec.Struct, frozen=True, order=True):
    """One item of a request, with the content that the client supplies."""

    key: str
    content: Content
    modality: str = "image"


class IsCached(Op, frozen=True, tag="is_cached"):
    """`is_cached(hashes)`, and `is_cached_item` of each"""

    hashes: tuple[str, ...]


class Touch(Op, frozen=True, tag="touch"):
    """`touch_sender_cache_item(hash)`"""

    key: str


class Release(Op, frozen=True, tag="release"):
    """`release_sender_touches()`"""


class Update(Op, frozen=True, tag="update"):
    """`get_and_update_item((item, prompt_updates) or None, hash)`"""

    key: str
    content: Content | None = None


class UpdateAll(Op, frozen=True, tag="update_all"):
    """`get_and_update(items, hashes)`"""

    contents: tuple[Content | None, ...]
    hashes: tuple[str, ...]


class Invalidate(Op, frozen=True, tag="invalidate"):
    """`invalidate(hash)`"""

    key: str


class Merge(Op, frozen=True, tag="merge"):
    """Check every hash, then the merge step with data for those that are missing.

    The check is taken to have found the `stale` keys cached, whether or not they are: one that is gone is
    given no data. Of what the last missing item needs, one part may be `withheld` from the merge step.
    """

    request: tuple[Item, ...]
    stale: tuple[str, ...] = ()
    withheld: Literal["", "item", "updates"] = ""


class Clear(Op, frozen=True, tag="clear"):
    """`clear_cache()`"""


class Validate(Op, frozen=True, tag="validate"):
    """`validate_input_item(item, hash)`"""

    key: str
    content: Content


class Close(Op, frozen=True, tag="close"):
    """`close()`"""


class Defaults(Op, frozen=True, tag="defaults"):
    """What the base class's own `release_sender_touches`, `invalidate`, `validate_input_item` and `close`
    call of the methods that it leaves to others"""


class Fresh(Op, frozen=True, tag="fresh"):
    """Another cache, made now with the same budget: its counters, and what it has under these hashes"""

    hashes: tuple[str, ...]


class TooLarge(Op, frozen=True, tag="too_large"):
    """The warnings that another cache repeats while so many items are inserted that do not fit its budget

    Whether there is a first one cannot be asked of it: a logger may keep quiet about what another cache of
    the process has reported.
    """

    items: Annotated[int, msgspec.Meta(ge=0, le=3)]


class Stats(Op, frozen=True, tag="stats"):
    """`make_stats(delta=...)`"""

    delta: bool = False


Operation = (
    IsCached
    | Touch
    | Release
    | Update
    | UpdateAll
    | Invalidate
    | Validate
    | Merge
    | Clear
    | Stats
    | Close
    | Defaults
    | Fresh
    | TooLarge
)


def plainer(operation: Operation) -> tuple[Operation, ...]:
    """What does the same with less."""
    match operation:
        case Merge((Item(key, content),), withheld=""):
            return (Update(key, content), Update(key))
        case UpdateAll((content,), (key,)):
            return (Update(key, content),)
        case Update(key, content) if content is not None:
            return (Update(key),)
    return ()
