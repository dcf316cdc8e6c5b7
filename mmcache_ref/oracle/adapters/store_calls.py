"""Calls of an object store that not every release takes alike, or at all."""

from __future__ import annotations

from typing import Any

from mmcache_ref.oracle.adapters.fixed_serde import Parcel
from mmcache_ref.oracle.adapters.forgeries import Shown
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.namespace import call_with


def close(store: Any) -> None:
    """Close a store; those of old releases leave when they are dropped."""
    if hasattr(store, "close"):
        store.close()


def write(reader: Any, call: str) -> Any:
    """A reader does what only the writer may."""
    match call:
        case "put":
            return reader.put("x", Parcel(0, b"x"))
        case "free_unused":
            return reader.free_unused()
        case _:
            return reader.clear()


def closed_twice(store: Any) -> Any:
    """Close a store two times; the error of a put then, or what it gave."""
    store.close()
    store.close()
    try:
        return store.put("x", Parcel(0, b"x"))
    except Exception as error:
        return type(error).__name__


def offered(store: Any, name: str) -> Any:
    """A method that not every release has."""
    if not hasattr(store, name):
        raise NotOffered(f"the target's store has no {name}()")
    return getattr(store, name)


def put(store: Any, key: str, parcel: Parcel) -> Shown:
    """`put`, and the handle of the object; releases before 0.32 sign none."""
    address, identifier = store.put(key, parcel)
    signature = store.get_signature(key) if hasattr(store, "get_signature") else None
    return Shown(address, identifier, signature, key)


def show(method: Any, shown: Shown) -> Any:
    """Call a method with a handle; releases before 0.32 sign none."""
    if not hasattr(method.__self__, "get_signature"):
        return call_with(method, {"key": shown.key, "address": shown.address, "monotonic_id": shown.id})
    return method(shown.key, shown.address, shown.id, shown.signature)


def get(store: Any, shown: Shown) -> Any:
    """`get` with a handle; releases before 0.32 sign none."""
    if not hasattr(store, "get_signature"):
        return store.get(shown.address, shown.id)
    return store.get(shown.address, shown.id, shown.signature, shown.key)
