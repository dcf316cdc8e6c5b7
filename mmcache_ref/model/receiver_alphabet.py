"""The operations of the receiver of the key-replicated pair, each one call of the API, and its answers."""

from __future__ import annotations

import msgspec

from .component import Content, Op


class Feature(msgspec.Struct, frozen=True, order=True):
    """One feature of a request; without an `mm_hash` its key is its identifier.   [IT-10]"""

    key: str
    content: Content | None = None
    has_mm_hash: bool = True


class Touch(Op, frozen=True, tag="touch"):
    """`touch_receiver_cache_item(hash, item or None)`"""

    key: str
    content: Content | None = None


class Update(Op, frozen=True, tag="update"):
    """`get_and_update_item(item or None, hash)`"""

    key: str
    content: Content | None = None


class UpdateAll(Op, frozen=True, tag="update_all"):
    """`get_and_update(items, hashes)`"""

    contents: tuple[Content | None, ...]
    hashes: tuple[str, ...]


class Features(Op, frozen=True, tag="features"):
    """`get_and_update_features(features)`"""

    features: tuple[Feature, ...]


class Clear(Op, frozen=True, tag="clear"):
    """`clear_cache()`"""


class Fresh(Op, frozen=True, tag="fresh"):
    """Another cache, made now with the same budget: what it has under these hashes"""

    hashes: tuple[str, ...]


class MissError(Op, frozen=True, tag="miss_error"):
    """`MultiModalCacheMissError(hashes)`"""

    hashes: tuple[str, ...]


Operation = Touch | Update | UpdateAll | Features | Clear | Fresh | MissError


def plainer(operation: Operation) -> tuple[Operation, ...]:
    """What does the same with less."""
    match operation:
        case Features((Feature(key, content),)) | UpdateAll((content,), (key,)):
            return (Update(key, content), Touch(key, content))
        case Features(features):
            return tuple([Touch(each.key, each.content) for each in features if each.content is not None])
        case Touch(key, content) if content is not None:
            return (Touch(key),)
        case Update(key, content) if content is not None:
            return (Update(key),)
    return ()


class Received(msgspec.Struct, frozen=True, tag_field="result", tag="received"):
    """What an update in P1 returned; `is_input` says that the caller got its own object back."""

    item: Content
    is_input: bool = False


class Ingested(msgspec.Struct, frozen=True, tag_field="result", tag="ingested"):
    """The data of each feature afterwards (None: missing), and the missing hashes that were raised."""

    items: tuple[Received | None, ...]
    missed: tuple[str, ...] = ()
