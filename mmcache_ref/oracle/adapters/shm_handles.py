"""The handles that clients have seen, what they make of them, and how items travel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from mmcache_ref.model.shm_accidents import Forgery
from mmcache_ref.model.shm_requests import How
from mmcache_ref.oracle.errors import NotOffered

ADDRESS: Final = "address"
ID: Final = "monotonic_id"
SIGNATURE: Final = "signature"
_BYTES: Final = 32
"""Of a signature."""
NO_ADDRESSES: Final = (-1, 2**64, True, 0.0, "0", None)
NO_IDS: Final = (-1, 2**32, False, 1.0, "0", None)


def fault_of(handle: Any) -> str:
    """What is wrong with the form of a handle that a target issued; nothing of one that is unsigned, as in
    early releases: that is seen where it is believed.   [SC-06]"""
    data: dict[str, Any] = {name: getattr(element, "data", None) for name, element in handle.items()}
    if SIGNATURE in data:
        signature = data.pop(SIGNATURE)
        is_list = isinstance(signature, list) and len(signature) == _BYTES
        if not is_list or not all(type(byte) is int and 0 <= byte < 256 for byte in signature):
            return f"a handle whose signature is no list of {_BYTES} bytes: {signature!r:.80}"
    if data.keys() != {ADDRESS, ID}:
        return f"a handle with the keys {', '.join(map(str, handle))}"
    wrong = [name for name, bits in ((ADDRESS, 64), (ID, 32)) if not _is_unsigned(data[name], bits)]
    return f"a handle whose {wrong[0]} is {data[wrong[0]]!r:.40}" if wrong else ""


def _is_unsigned(value: Any, bits: int) -> bool:
    return type(value) is int and 0 <= value < 2**bits


class SeenHandles:
    """Every handle that travelled, by key: the current one, and those that are not current any more."""

    def __init__(self, namespace: Any) -> None:
        self._namespace = namespace
        self._last: dict[str, Any] = {}
        self._before: dict[str, Any] = {}
        self._forgotten: set[str] = set()

    def note(self, key: str, handle: Any) -> None:
        """P0 sent this handle for this key."""
        last = self._last.get(key)
        if last is not None and _place(last) != _place(handle):
            self._before[key] = last
        self._last[key] = handle

    def forget(self, key: str) -> None:
        """Nobody knows what became of this key: P0 failed in the middle of a request for it."""
        self._last.pop(key, None)
        self._before.pop(key, None)
        self._forgotten.add(key)

    def current(self, key: str) -> Any:
        """The handle that was sent last for this key."""
        return self._signed(self._known(key))

    def outdated(self, key: str) -> Any:
        """A handle of this key that is not current; the last one, where the key has lost its chunk since."""
        if key in self._before:
            return self._signed(self._before[key])
        if key in self._forgotten:
            raise NotOffered("nobody knows whether the last handle of this key is the current one")
        return self._signed(self._known(key))

    def forged(self, key: str, how: Forgery) -> Iterator[tuple[str, Any]]:
        """Handles made from the current one, each with the key under which it is shown."""
        address, identifier = _place(self._known(key))
        if how == "unsigned":
            yield key, self._item(**{ADDRESS: address, ID: identifier})
            yield key, self._item(**{ADDRESS: address})
        handle = self.current(key)
        signature = list(handle[SIGNATURE].data)
        match how:
            case "wrong-key":
                others = [other for other in self._last if other != key]
                yield from ((other, handle) for other in (*others, f"{key}'", ""))
            case "unsigned":
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


def how_it_travels(carried: Any) -> How:
    """How an item travels."""
    if carried is None:
        return "nothing"
    return "handle" if ADDRESS in carried else "item"


def travelling(message: Any) -> tuple[tuple[str, How], ...]:
    """The items of a message, and how each travels."""
    pairs = zip(message.request, message.items, strict=True)
    return tuple([(item.mm_hash, how_it_travels(carried)) for item, carried in pairs])


def handle_in_words(handle: Any) -> str:
    """What is in a forged handle."""
    return ", ".join(f"{name} {element.data!r:.40}" for name, element in handle.items())
