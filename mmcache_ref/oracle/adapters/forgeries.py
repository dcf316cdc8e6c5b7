"""Handles as a client could change them."""

from __future__ import annotations

from typing import Any, NamedTuple

from mmcache_ref.model.object_store_alphabet import Forged, Untyped
from mmcache_ref.oracle.errors import NotOffered

ADDRESS_END = 2**64
ID_END = 2**32


class Shown(NamedTuple):
    """A handle as it is given to a store, and the key that it is shown for."""

    address: Any
    id: Any
    signature: Any
    key: Any


def forged(forgery: Forged | Untyped, handle: Shown) -> Shown:
    """The handle, changed."""
    needs_signature = forgery in ("unsigned", "one bit", "too short") or "signature" in forgery
    if handle.signature is None and needs_signature:
        raise NotOffered("the target's handles have no signature")
    address, identifier, signature, key = handle
    match forgery:
        case "other key":
            return handle._replace(key=f"{key}'")
        case "no key":
            return handle._replace(key=None)
        case "unsigned":
            return handle._replace(signature=None)
        case "one bit":
            return handle._replace(signature=[signature[0] ^ 1, *signature[1:]])
        case "too short":
            return handle._replace(signature=signature[:-1])
        case "long signature":
            return handle._replace(signature=[*signature, 0])
        case "tuple signature":
            return handle._replace(signature=tuple(signature))
        case "bytes signature":
            return handle._replace(signature=bytes(signature))
        case "bools in signature":
            return handle._replace(signature=[bool(each) for each in signature])
        case "floats in signature":
            return handle._replace(signature=[float(each) for each in signature])
        case "next address":
            return handle._replace(address=address + 1)
        case "next id":
            return handle._replace(id=identifier + 1)
        case "bool address":
            return handle._replace(address=bool(address))
        case "bool id":
            return handle._replace(id=bool(identifier))
        case "negative address":
            return handle._replace(address=address - ADDRESS_END)
        case "negative id":
            return handle._replace(id=identifier - ID_END)
        case "huge address":
            return handle._replace(address=address + ADDRESS_END)
        case "huge id":
            return handle._replace(id=identifier + ID_END)
        case "float address":
            return handle._replace(address=float(address))
        case "float id":
            return handle._replace(id=float(identifier))
        case "no address":
            return handle._replace(address=None)
        case "no id":
            return handle._replace(id=None)
