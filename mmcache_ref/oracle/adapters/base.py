"""What adapters share: canonical results of foreign calls, and payloads made of descriptions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
import numpy

from mmcache_ref.model.component import Content, Missed, OneOf, Raised
from mmcache_ref.oracle.errors import NotOffered

ANY_CASE = frozenset({"MemoryError"})
"""Errors whose message says it in any case of letters."""
DOCUMENTED_ERRORS = (KeyError, ValueError, TypeError, AssertionError, NotImplementedError, RuntimeError)
"""The types that clauses name, the more special ones first."""


class Adapter(Protocol):
    """A component of a target, driven by canonical operations."""

    def perform(self, operation: Any) -> Any:
        """Perform one operation; what the caller saw, in canonical form. Exceptions of the target pass."""

    def observe(self) -> Mapping[str, Any]:
        """The aspects of the state that this target lets one see (see `ASPECTS` of the model)."""


class Unexpected(msgspec.Struct, frozen=True, tag_field="result", tag="unexpected"):
    """A result that no outcome of the model can equal; `what` says in words what came instead."""

    what: str


def raised(error: Exception | SystemExit) -> Raised | Missed | Unexpected:
    """An exception of the target as a canonical result."""
    if type(error).__name__ == "SystemExit":  # be it one that another process told of
        return Unexpected(f"the target called sys.exit({', '.join(map(repr, error.args))})")
    hashes = getattr(error, "mm_hashes", None)
    if isinstance(error, RuntimeError) and isinstance(hashes, list | tuple):
        return Missed(tuple(str(key) for key in hashes))
    for documented in DOCUMENTED_ERRORS:
        if isinstance(error, documented):
            return Raised(documented.__name__, _message(error))
    return Raised(type(error).__name__, _message(error))


def _message(error: BaseException) -> str:
    """What an exception says, in characters that JSON can carry."""
    try:
        return str(error).encode("utf-8", "backslashreplace").decode()
    except Exception as another:
        return f"(its message cannot be read: {type(another).__name__})"


def agrees(expected: Any, actual: Any) -> bool:
    """Is the target's result the model's? An expected exception fixes its type and what its message says."""
    if isinstance(expected, OneOf):
        return any(agrees(each, actual) for each in expected.results)
    if isinstance(expected, Raised) and isinstance(actual, Raised):
        return expected.error in ("Exception", actual.error) and _says(actual, expected.says)
    return same(expected, actual)


def _says(actual: Raised, phrase: str) -> bool:
    """Is the phrase in the message? How a lack of memory is written is free.   [OS-05]"""
    if actual.error in ANY_CASE:
        return phrase.casefold() in actual.says.casefold()
    return phrase in actual.says


def same(expected: Any, actual: Any) -> bool:
    """Equality in which a foreign object has no say: its type is compared before it is asked anything."""
    if expected is None or isinstance(expected, bool):
        return actual is expected
    if isinstance(expected, int | float):
        return type(actual) in (int, float) and bool(expected == actual)
    if isinstance(expected, tuple):
        return (
            isinstance(actual, tuple)
            and len(actual) == len(expected)
            and all(same(mine, theirs) for mine, theirs in zip(expected, actual, strict=True))
        )
    return type(actual) is type(expected) and bool(expected == actual)


def need(namespace: Any, *names: str) -> None:
    """`NotOffered` unless the namespace has all these names, and something under them."""
    lacking = [name for name in names if getattr(namespace, name, None) is None]
    if lacking:
        raise NotOffered(f"the target offers no {', '.join(lacking)}")


def offered_of(namespace: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """What a target offers of these names, with something under it, by what each is called here."""
    found = {called: getattr(namespace, name, None) for called, name in names.items()}
    return {called: part for called, part in found.items() if part is not None}


def read(look: Callable[[], Any]) -> Any:
    """What `look` sees; or, where it raises, that in canonical form."""
    try:
        return look()
    except (Exception, SystemExit) as error:
        return raised(error)


def counted(info: Any) -> Any:
    """Hits and total of a `CacheInfo`, which has them by name and by place."""
    try:
        hits, total = info
        if (info.hits, info.total) != (hits, total):
            return Unexpected(f"not a CacheInfo: {info!r:.80}")
        info.hit_ratio  # noqa: B018 - that it can be asked
    except (TypeError, ValueError, AttributeError) as error:
        return Unexpected(f"not a CacheInfo: {info!r:.80} ({error})")
    return hits, total


def observe_inner(cache: Any) -> dict[str, Any]:
    """Order, bytes and budget of the LRU inside a cache; nothing when it has none."""
    inner: Any = getattr(cache, "_cache", None)
    if hasattr(inner, "order") and hasattr(inner, "currsize"):
        return {
            "order": read(lambda: tuple(inner.order)),
            "bytes": inner.currsize,
            **({"budget": inner.maxsize} if hasattr(inner, "maxsize") else {}),
        }
    return {}


def observe_values(cache: Any, content: Callable[[Any], Any]) -> dict[str, Any]:
    """What is in each entry of the LRU inside a cache, by key; nothing where `content` gives None for one, as
    it does for what is no item."""
    try:
        entries = {str(key): content(entry) for key, entry in cache._cache.cache.items()}
    except Exception:
        return {}
    return {} if None in entries.values() else {"values": tuple(sorted(entries.items(), key=repr))}


class Payloads:
    """Items, features and prompt updates of one target, made of descriptions and read back.

    `full` makes the bytes of a description; `byte_maker` says how, unless it is given.
    """

    KEY = "data"
    MORE = "more"

    def __init__(self, namespace: Any, full: Callable[[Content], Any] | None = None) -> None:
        self._namespace = namespace
        self._full = full or byte_maker()

    def item(self, content: Content) -> Any:
        """A fresh item of `nbytes` bytes, each `fill`, in one `uint8` payload, or halved into two."""
        half = content.nbytes // 2 if updates_of(content) > 1 else 0
        if not half:
            return self._namespace.make_item({self.KEY: self._full(content)})
        parts = Content(half, content.fill), Content(content.nbytes - half, content.fill)
        named = zip((self.KEY, self.MORE), map(self._full, parts), strict=True)
        return self._namespace.make_item(dict(named))

    def content(self, item: Any) -> Content | Unexpected | None:
        """The description of an item that came out of the target."""
        if item is None:
            return None
        try:
            flat = item[self.KEY].data.reshape(-1).tolist()
            if self.MORE in item:
                flat += item[self.MORE].data.reshape(-1).tolist()
        except (TypeError, KeyError, AttributeError) as error:
            return Unexpected(f"not an item with a payload: {item!r:.80} ({error})")
        fills = set(flat)
        if len(fills) > 1:
            return Unexpected(f"a payload of mixed bytes {sorted(fills)}")
        return Content(len(flat), fills.pop() if fills else EMPTY_FILL)

    def prompt_updates(self, content: Content, modality: str = "image", index: int = 0) -> list[Any]:
        """Prompt updates that name their content, in tokens; the last of several also which it is."""
        return [
            self._namespace.make_prompt_update(modality, index, [content.nbytes, content.fill, number])
            for number in range(updates_of(content))
        ]

    def processed(self, content: Content, modality: str = "image", index: int = 0) -> tuple[Any, list[Any]]:
        """What P0 makes of data: an item and its prompt updates."""
        return self.item(content), self.prompt_updates(content, modality, index)

    def updates_content(self, updates: Any) -> Content | Unexpected:
        """The content that these prompt updates name, if all of its updates are there, in order."""
        try:
            named = [tuple(update.content.full) for update in updates]
            nbytes, fill, _ = named[0]
            content = Content(nbytes, fill)
            if named == [(nbytes, fill, number) for number in range(updates_of(content))]:
                return content
        except (TypeError, ValueError, LookupError, AttributeError):
            pass
        return Unexpected(f"not the prompt updates of an item: {updates!r:.80}")


def updates_of(content: Content) -> int:
    """How many prompt updates an item with this content has: one or two."""
    return 2 - content.fill % 2


EMPTY_FILL = 0
"""How an item without bytes is described: it has nothing to fill."""


def array_of(content: Content) -> Any:
    """The bytes of a description as an array."""
    return numpy.full((content.nbytes,), content.fill, dtype=numpy.uint8)


def byte_maker() -> Callable[[Content], Any]:
    """A function from a description to its bytes: a torch tensor when torch is installed, else an array."""
    try:
        import torch
    except ImportError:
        return array_of
    return lambda content: torch.full((content.nbytes,), content.fill, dtype=torch.uint8)


def warm_up() -> None:
    """Import what the first operation would import: that takes longer than an operation may."""
    with contextlib.suppress(ImportError):
        import torch  # noqa: F401


def tensor_of() -> Callable[[numpy.ndarray[Any, Any]], Any]:
    """A function from an array to a tensor with its content; without torch, to the array itself."""
    try:
        import torch
    except ImportError:
        return lambda array: array
    return torch.from_numpy


def tensor_maker() -> Callable[[tuple[int, ...], str, bool, int], Any]:
    """A function from shape, dtype, whether it is a view, and what fills it to a tensor.

    Without torch it makes arrays, whose dtypes lack only `bfloat16`: `float16` is as wide.
    """

    def view(whole: Any, is_view: bool) -> Any:
        return whole[0, ...] if is_view else whole

    try:
        import torch
    except ImportError:

        def array(shape: tuple[int, ...], dtype: str, is_view: bool, fill: int) -> Any:
            known = "float16" if dtype == "bfloat16" else dtype
            return view(numpy.full((2, *shape) if is_view else shape, fill, known), is_view)

        return array

    def tensor(shape: tuple[int, ...], dtype: str, is_view: bool, fill: int) -> Any:
        size = (2, *shape) if is_view else shape
        return view(torch.full(size, fill, dtype=getattr(torch, dtype)), is_view)

    return tensor
