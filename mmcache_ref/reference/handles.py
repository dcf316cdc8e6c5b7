"""Handles: what names an object of the store to a reader, and how it is checked before anything is read."""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from multiprocessing.synchronize import Lock
from typing import Any, Final

from .serde import ObjectSerde

ADDRESS_END: Final = 2**64
ID_END: Final = 2**32
SIGNATURE_BYTES: Final = 32

_PLACE: Final = struct.Struct("<QI")
"""Address and id, as they are signed."""

_BLOCK_BYTES: Final = 64
"""SHA-256 works in blocks of that many bytes."""

_TYPES: Final = [int] * SIGNATURE_BYTES


class HandleSignatureError(ValueError):
    """A handle that the writer did not give for this key."""


class StaleHandleError(ValueError):
    """A handle whose object is not in its place any more."""


@dataclass
class ShmObjectStorageHandle:
    """What another process needs to read the store.   [OS-34]"""

    max_object_size: int
    n_readers: int
    ring_buffer_handle: tuple[int, str]
    serde_class: type[ObjectSerde]
    reader_lock: Lock | None


def plain_key(key: Any) -> str:
    """The plain string that a key of a kind of string equals; `TypeError` for what is none.   [OS-19]"""
    if not isinstance(key, str):
        raise TypeError(f"a key of the storage is a string, not {key!r:.80}")
    return str.__str__(key)


def key_digest(key: str) -> bytes:
    """What stands for the key in its signatures. A key without a UTF-8 form raises `UnicodeEncodeError`."""
    return sha256(key.encode()).digest()


def sign(secret: bytes, digest: bytes, address: int, monotonic_id: int) -> bytes:
    """The signature of the handle `(address, monotonic_id)` of the key with that digest.   [OS-15]

    It is the HMAC of RFC 2104 in its two hashes, without what the library sets up for each.
    """
    inner, outer = _begun(secret)
    inner, outer = inner.copy(), outer.copy()
    inner.update(digest + _PLACE.pack(address, monotonic_id))
    outer.update(inner.digest())
    signature: bytes = outer.digest()
    return signature


@lru_cache(maxsize=16)
def _begun(secret: bytes) -> tuple[Any, Any]:
    """Both hashes after the block that the HMAC makes of the secret; only copies of them go on."""
    block = secret.ljust(_BLOCK_BYTES, b"\0")
    return sha256(bytes(byte ^ 0x36 for byte in block)), sha256(bytes(byte ^ 0x5C for byte in block))


def check_handle(address: Any, monotonic_id: Any, signature: Any) -> bytes:
    """The signature as bytes, if all parts of the handle have their types and ranges.   [OS-19]

    Otherwise raises `HandleSignatureError`. Types are exact: a `bool` is not an address.
    """
    if signature is None:
        raise HandleSignatureError("Missing SHM handle signature")
    if (
        type(address) is int
        and 0 <= address < ADDRESS_END
        and type(monotonic_id) is int
        and 0 <= monotonic_id < ID_END
        and type(signature) is list
        and list(map(type, signature)) == _TYPES
    ):
        try:
            return bytes(signature)
        except ValueError:
            pass  # a number that is no byte
    raise HandleSignatureError("Invalid SHM handle signature: a part of the handle has a wrong type or range")


def verified(secret: bytes, key: Any, address: Any, monotonic_id: Any, signature: Any) -> bytes:
    """The signature of a handle that the writer gave for this key.   [OS-17, OS-18, OS-19]

    Raises `HandleSignatureError` for every other. Looks at no byte of the data area.
    """
    given = check_handle(address, monotonic_id, signature)
    if key is None:
        raise HandleSignatureError("Missing SHM handle signature: a handle comes with its key")
    try:
        expected = _expected(secret, key if type(key) is str else plain_key(key), address, monotonic_id)
    except TypeError:
        raise HandleSignatureError("Invalid SHM handle signature: a key is a string") from None
    except UnicodeEncodeError:
        raise HandleSignatureError("Invalid SHM handle signature: the key has no UTF-8 form") from None
    if not hmac.compare_digest(given, expected):
        raise HandleSignatureError("Invalid SHM handle signature: it is not that of this key and place")
    return expected


@lru_cache(maxsize=1024)
def _expected(secret: bytes, key: str, address: int, monotonic_id: int) -> bytes:
    """The signature of a handle: of one that is verified several times, made once."""
    return sign(secret, key_digest(key), address, monotonic_id)
