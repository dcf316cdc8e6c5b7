"""The handles that clients have seen, and what they make of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mmcache_ref.model.shm_accidents import Forgery
from mmcache_ref.oracle.errors import NotOffered

ADDRESS: Final = "address"
ID: Final = "monotonic_id"
SIGNATURE: Final = "signature"
_BYTES: Final = 32
"""Of a signature."""
NO_ADDRESSES: Final = (-1, 2**64, True, 0.0, "0", None)
NO_IDS: Final = (-1, 2**32, False, 1.0, "0", None)


class SeenHandles:
    """Every handle that travelled, by key: the current one, and those that are not current any more."""

    def __init__(self, namespace: Any) -> None:
        self._namespace = namespace
        self._last: dict[str, Any] = {}
        self._before: dict[str, Any] = {}

    def note(self, key: str, handle: Any) -> None:
        """P0 sent this handle for this key."""
        last = self._last.get(key)
        if last is not None and _place(last) != _place(handle):
            self._before[key] = last
        self._last[key] = handle

    def current(self, key: str) -> Any:
        """The handle that was sent last for this key."""
        return self._signed(self._known(key))

    def outdated(self, key: str) -> Any:
        """A handle of this key that is not current; the last one, where the key has lost its chunk since."""
        return self._signed(self._before.get(key) or self._known(key))

    def forged(self, key: str, how: Forgery) -> Iterator[tuple[str, Any]]:
        """Handles made from the current one, each with the key under which it is shown."""
        handle = self.current(key)
        address, identifier = _place(handle)
        signature = list(handle[SIGNATURE].data)
        match how:
            case "wrong-key":
                others = [other for other in self._last if other != key]
                yield from ((other, handle) for other in (*others, f"{key}'", ""))
            case "unsigned":
                yield key, self._item(**{ADDRESS: address, ID: identifier})
                yield key, self._item(**{ADDRESS: address})
                yield key, self._item(**{ADDRESS: address, SIGNATURE: signature})
                yield key, self._item(**{ADDRESS: address, ID: identifier, SIGNATURE: None})
            case "wrong-signature":
                for place in (0, _BYTES - 1):
                    wrong = [byte ^ (spot == place) for spot, byte in enumerate(signature)]
                    yield key, self._whole(address, identifier, wrong)
                yield key, self._whole(address, identifier + 1, signature)
                yield key, self._whole(address + 1, identifier, signature)
                yield key, self._whole(address, identifier, [0] * _BYTES)
            case "out-of-range":
                yield from ((key, self._whole(wrong, identifier, signature)) for wrong in NO_ADDRESSES)
                yield from ((key, self._whole(address, wrong, signature)) for wrong in NO_IDS)
                for wrong in (signature[:-1], [*signature, 0], [256, *signature[1:]], [-1, *signature[1:]]):
                    yield key, self._whole(address, identifier, wrong)
                yield key, self._whole(address, identifier, tuple(signature))
                yield key, self._whole(address, identifier, [float(byte) for byte in signature])

    def _known(self, key: str) -> Any:
        """The last handle; there is none if P0 failed before it sent what it had stored."""
        if key not in self._last:
            raise NotOffered("nobody has seen a handle of this key")
        return self._last[key]

    def _signed(self, handle: Any) -> Any:
        """The handle, which early releases do not sign, and which P0 then cannot validate."""
        if SIGNATURE not in handle:
            raise NotOffered("the target does not sign its handles")
        return handle

    def _whole(self, address: Any, identifier: Any, signature: Any) -> Any:
        return self._item(**{ADDRESS: address, ID: identifier, SIGNATURE: signature})

    def _item(self, **data: Any) -> Any:
        return self._namespace.make_item(data)


def _place(handle: Any) -> tuple[Any, Any]:
    """Address and id of a handle."""
    return handle[ADDRESS].data, handle[ID].data
