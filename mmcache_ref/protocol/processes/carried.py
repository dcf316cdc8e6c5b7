"""Items on their way through a process that knows nothing of their classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from . import wire


class PackedItem(Mapping[str, Any]):
    """An item as bytes. Whoever looks inside unpacks it; whoever hands it on need not.

    Attributes:
        data: the bytes.
    """

    __slots__ = ("_is_handle", "_item", "data")

    def __init__(self, item: Any, *, is_handle: bool | None = None) -> None:
        self.data = wire.packed(item)
        self._is_handle = "address" in item if is_handle is None else is_handle
        self._item: Any = None

    def __getstate__(self) -> tuple[bytes, bool]:
        return self.data, self._is_handle

    def __setstate__(self, state: tuple[bytes, bool]) -> None:
        self.data, self._is_handle = state
        self._item = None

    def unpacked(self) -> Any:
        """The item. Its classes have to be known here."""
        if self._item is None:
            self._item = wire.unpacked(self.data)
        return self._item

    def __contains__(self, name: object) -> bool:
        return self._is_handle if name == "address" else name in self.unpacked()

    def __getitem__(self, name: str) -> Any:
        return self.unpacked()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.unpacked())

    def __len__(self) -> int:
        return len(self.unpacked())


def pack(item: Any) -> PackedItem | None:
    """An item for the way; None stays None."""
    return item if item is None or isinstance(item, PackedItem) else PackedItem(item)


def unpack(item: Any) -> Any:
    """The item that came; one that was never packed is itself."""
    return item.unpacked() if isinstance(item, PackedItem) else item


def packed_all(items: Iterable[Any]) -> tuple[PackedItem | None, ...]:
    """Items for the way."""
    return tuple([pack(item) for item in items])
