"""Handles, and the example of the specification byte by byte."""

from __future__ import annotations

import hmac
import re
import struct
from hashlib import sha256
from typing import Any
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcache_ref.oracle.clauses import spec_directory
from mmcache_ref.reference import seals
from mmcache_ref.reference.handles import HandleSignatureError, check_handle, key_digest, sign, verified
from mmcache_ref.reference.seals import barrier, is_marked, marked, seal
from mmcache_ref.reference.serde import MsgpackSerde

SECRET = bytes(range(32))
SIGNATURE = list(sign(SECRET, key_digest("a"), 5, 6))


@pytest.mark.clause("OS-15")
def test_a_signature_binds_key_address_and_id() -> None:
    message = sha256(b"a").digest() + (5).to_bytes(8, "little") + (6).to_bytes(4, "little")
    assert bytes(SIGNATURE) == hmac.new(SECRET, message, "sha256").digest()
    others = [("b", 5, 6), ("a", 6, 6), ("a", 5, 5), ("a", 6, 5)]
    assert bytes(SIGNATURE) not in [sign(SECRET, key_digest(key), place, id_) for key, place, id_ in others]


@pytest.mark.clause("OS-18", "OS-17")
def test_the_handle_that_was_signed_is_accepted() -> None:
    assert verified(SECRET, "a", 5, 6, SIGNATURE) == bytes(SIGNATURE)


@pytest.mark.clause("OS-18", "OS-17", "OS-19")
@pytest.mark.parametrize(
    "handle",
    [
        ("b", 5, 6, SIGNATURE),
        ("a", 6, 6, SIGNATURE),
        ("a", 5, 7, SIGNATURE),
        ("a", 5, 6, [SIGNATURE[0] ^ 1, *SIGNATURE[1:]]),
        ("a", 5, 6, [*SIGNATURE[:-1], SIGNATURE[-1] ^ 128]),
        ("\ud800", 5, 6, SIGNATURE),
        (None, 5, 6, SIGNATURE),
        (5, 5, 6, SIGNATURE),
        (b"a", 5, 6, SIGNATURE),
        ("a", 5, 6, None),
    ],
    ids=str,
)
def test_any_other_handle_is_refused(handle: tuple[Any, ...]) -> None:
    with pytest.raises(HandleSignatureError, match="SHM handle signature"):
        verified(SECRET, *handle)


@pytest.mark.clause("OS-19")
@pytest.mark.parametrize("address", [-1, 2**64, True, False, 1.0, None, "1", [1]], ids=repr)
def test_an_address_is_an_integer_of_64_bits(address: Any) -> None:
    check_handle(0, 0, SIGNATURE)
    check_handle(2**64 - 1, 0, SIGNATURE)
    with pytest.raises(HandleSignatureError, match="SHM handle signature"):
        check_handle(address, 0, SIGNATURE)


@pytest.mark.clause("OS-19")
@pytest.mark.parametrize("identifier", [-1, 2**32, True, False, 1.0, None, "1", [1]], ids=repr)
def test_an_id_is_an_integer_of_32_bits(identifier: Any) -> None:
    check_handle(0, 2**32 - 1, SIGNATURE)
    with pytest.raises(HandleSignatureError, match="SHM handle signature"):
        check_handle(0, identifier, SIGNATURE)


@pytest.mark.clause("OS-19")
@pytest.mark.parametrize(
    "signature",
    [
        None,
        [],
        [0] * 31,
        [0] * 33,
        [*[0] * 31, 256],
        [*[0] * 31, -1],
        [*[0] * 31, True],
        [*[0] * 31, 1.0],
        [*[0] * 31, None],
        tuple([0] * 32),
        bytes(32),
        "0" * 32,
        32,
    ],
    ids=repr,
)
def test_a_signature_is_a_list_of_32_bytes(signature: Any) -> None:
    check_handle(0, 0, [0] * 31 + [255])
    with pytest.raises(HandleSignatureError, match="SHM handle signature"):
        check_handle(0, 0, signature)


@pytest.mark.clause("OS-22")
def test_a_seal_binds_signature_and_size() -> None:
    sealed = seal(SECRET, bytes(SIGNATURE), 100)
    assert sealed == sha256(SECRET + bytes(SIGNATURE) + b"\x64\0\0\0").digest()[:16]
    assert sealed != seal(SECRET, bytes(SIGNATURE), 101)
    assert sealed != seal(SECRET, bytes(32), 100)
    assert sealed != seal(bytes(32), bytes(SIGNATURE), 100)


@pytest.mark.clause("OS-22")
def test_only_the_secret_of_a_writer_that_seals_is_marked() -> None:
    assert not is_marked(SECRET)
    assert is_marked(marked(SECRET))
    assert marked(SECRET)[:24] == SECRET[:24]
    assert marked(marked(SECRET)) == marked(SECRET)


@pytest.mark.clause("OS-08")
@pytest.mark.parametrize(("keeps_order", "times"), [(False, 2), (True, 0)])
def test_a_barrier_takes_its_lock_twice_where_the_machine_keeps_no_order(
    monkeypatch: pytest.MonkeyPatch, keeps_order: bool, times: int
) -> None:
    lock = MagicMock()
    monkeypatch.setattr(seals, "KEEPS_ORDER", keeps_order)
    monkeypatch.setattr(seals, "_BARRIER", lock)
    barrier()
    assert [call[0] for call in lock.mock_calls] == ["__enter__", "__exit__"] * times


@pytest.mark.clause("OS-08")
def test_a_barrier_can_be_passed_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seals, "KEEPS_ORDER", False)
    barrier()
    barrier()


def spelled(name: str) -> bytes:
    """What the example of the specification gives in hexadecimal after `name`."""
    text = (spec_directory() / "07-object-store.md").read_text(encoding="utf-8")
    match = re.search(rf"^{name} +((?:[0-9a-f]{{2}} ?)+)$", text, re.MULTILINE)
    assert match, name
    return bytes.fromhex(match[1])


@pytest.mark.clause("OS-15", "OS-22", "OS-38")
def test_the_example_of_the_specification_is_right() -> None:
    secret = marked(SECRET)
    assert spelled("secret") == secret
    signature = sign(secret, key_digest("a"), 0, 0)
    assert spelled("signature") == signature
    (leaf,), data_bytes, metadata, md_bytes = MsgpackSerde().serialize([1, b"xyz"])
    size = 8 + 4 + md_bytes + data_bytes
    assert spelled("header") == struct.pack("<ii", 0, size)
    assert spelled("count") == bytes(4)
    assert spelled("seal") == seal(secret, signature, size)
    assert spelled("length") + spelled("structure") == metadata[16:]
    assert spelled("data") == leaf == b"xyz"


@pytest.mark.clause("OS-15")
@given(st.binary(min_size=32, max_size=32), st.text(max_size=9), st.integers(0, 2**64 - 1))
def test_signatures_are_those_of_the_library(secret: bytes, key: str, address: int) -> None:
    digest = sha256(key.encode("utf-8", "replace")).digest()
    message = digest + struct.pack("<QI", address, 7)
    assert sign(secret, digest, address, 7) == hmac.digest(secret, message, "sha256")
