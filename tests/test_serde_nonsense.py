"""The default serde: bytes that make no sense are one error, and nothing is unpickled."""

from __future__ import annotations

import contextlib
import pickle
import struct
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mmcache_ref.reference import MultiModalBatchedField, MultiModalFieldElem, MultiModalKwargsItem
from mmcache_ref.reference.serde import MsgpackSerde, SerdeError

pytestmark = pytest.mark.timeout(60)

SEAL = 16


def payload(value: Any) -> memoryview:
    """Metadata and data of `value`, one behind the other, as a store lays them out."""
    data, _, metadata, _ = MsgpackSerde().serialize(value)
    return memoryview(bytearray(metadata + b"".join(data)))


def item() -> MultiModalKwargsItem:
    tensor = torch.arange(12).to(torch.bfloat16).reshape(3, 4)
    return MultiModalKwargsItem({"pixel_values": MultiModalFieldElem(tensor, MultiModalBatchedField())})


def structured(structure: bytes, data: bytes = b"") -> memoryview:
    """What the serde would read if somebody wrote this structure."""
    return memoryview(bytearray(bytes(SEAL) + struct.pack("<I", len(structure)) + structure + data))


def noded(node: Any, data: bytes = b"") -> memoryview:
    return structured(msgspec.msgpack.encode(node), data)


LARGE = 2**40

UNREADABLE = {
    "nothing": memoryview(b""),
    "no length": memoryview(bytes(SEAL + 3)),
    "a structure longer than the chunk": memoryview(bytes(SEAL) + b"\xff\xff\xff\xff\xc0"),
    "half a structure": structured(b"\x92\x00"),
    "a byte too many": noded(None, b"x"),
    "a byte too few": noded([3, "uint8", 3], b"ab"),
    "huge tensor": noded([3, "uint8", LARGE, LARGE]),
    "huge array": noded([4, "<f8", LARGE, LARGE]),
    "huge and empty": noded([4, "<f8", 0, 2**63]),
    "huge and empty tensor": noded([3, "float64", 0, 2**63]),
    "many dimensions": noded([4, "|u1", *[1] * 99], b"a"),
    "long bytes": noded([6, LARGE]),
    "negative length": noded([6, -1], b"x"),
    "negative dimension": noded([4, "|u1", -1, -1], b"x"),
    "a fraction of a dimension": noded([4, "|u1", 1.0], b"x"),
    "true as a dimension": noded([3, "uint8", True], b"x"),
    "an array of objects": noded([4, "|O", 1], bytes(8)),
    "an array of records": noded([4, "i4,i4", 1], bytes(8)),
    "an unknown dtype": noded([4, "<f5", 1], bytes(5)),
    "a name that is no dtype": noded([3, "ones", 1], bytes(4)),
    "a module of PyTorch": noded([3, "_inductor", 1], bytes(4)),
    "quantised": noded([3, "qint8", 4], bytes(4)),
    "bits": noded([3, "bits8", 4], bytes(4)),
    "another name of a dtype": noded([3, "float", 1], bytes(4)),
    "many texts without room": noded([4, "<U0", 2**60]),
    "many strings without room": noded([4, "|S0", 2**60]),
    "many records without room": noded([4, "|V0", 2**60]),
    "a text without room": noded([5, "<U0"]),
    "a dtype that is no name": noded([4, [0], 1], bytes(4)),
    "no tag": noded([]),
    "an unknown tag": noded([14]),
    "a negative tag": noded([-1]),
    "true as a tag": noded([True]),
    "a map": noded({"a": 1}),
    "bytes": noded(b"abc"),
    "an extension": structured(b"\xd4\x05\x00"),
    "half a pair": noded([2, 1]),
    "a list as a key": noded([2, [0], 1]),
    "no field": noded([12, None, 1]),
    "a list as a field": noded([12, [0], 1]),
    "an item without data": noded([13, "a", [9, False]]),
    "an item with a number as a key": noded([13, 1, [9, False], 1]),
    "an integer that is none": noded([7, "one"]),
    "an integer that is a float": noded([7, 1.5]),
    "a slice of two": noded([8, 1, 2]),
    "a batched field with more": noded([9, False, 1]),
    "a text that is none": structured(b"\xa1\xff"),
    "deep": structured(b"\x92\x00" * 100_000 + b"\xc0"),
    "a pickle": structured(pickle.dumps([1])),
}


@pytest.mark.clause("OS-24")
@pytest.mark.parametrize("view", UNREADABLE.values(), ids=UNREADABLE)
def test_bytes_that_make_no_sense_are_one_error(view: memoryview) -> None:
    with pytest.raises(SerdeError):
        MsgpackSerde().deserialize(view)


@pytest.mark.clause("OS-24")
@given(st.binary(max_size=60), st.binary(max_size=20))
def test_any_structure_is_a_value_or_that_error(structure: bytes, data: bytes) -> None:
    with contextlib.suppress(SerdeError):
        MsgpackSerde().deserialize(structured(structure, data))


@pytest.mark.clause("OS-24")
@given(st.data())
def test_a_changed_byte_is_a_value_or_that_error(data: st.DataObject) -> None:
    bytes_ = payload([item(), {"a": np.arange(3), "b": (b"x", slice(2))}])
    place = data.draw(st.integers(SEAL, len(bytes_) - 1))
    bytes_[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(SerdeError):
        MsgpackSerde().deserialize(bytes_)


@pytest.mark.clause("OS-24")
def test_nothing_is_unpickled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle, "loads", None)
    monkeypatch.setattr(pickle, "Unpickler", None)
    assert MsgpackSerde().deserialize(payload([item(), "x"])) == [item(), "x"]


@pytest.mark.clause("OS-24")
@pytest.mark.parametrize("name", ["_inductor", "onnx", "ones", "__name__"])
def test_pytorch_is_not_asked_for_a_name_from_the_segment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(torch, "__getattr__", asked.append)
    with pytest.raises(SerdeError, match="not the dtype of a tensor"):
        MsgpackSerde().deserialize(noded([3, name, 1], bytes(4)))
    assert asked == []


@pytest.mark.clause("OS-24")
def test_a_tensor_without_pytorch_is_that_error(monkeypatch: pytest.MonkeyPatch) -> None:
    from mmcache_ref.reference import structure_reader

    monkeypatch.setattr(structure_reader, "torch_if_installed", lambda: None)
    structure_reader.tensor_form.cache_clear()
    with pytest.raises(SerdeError, match="PyTorch is not installed"):
        MsgpackSerde().deserialize(payload(torch.zeros(1)))
    structure_reader.tensor_form.cache_clear()
