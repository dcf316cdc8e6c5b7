"""A handle, changed in every way in which a client could change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy

from mmcache_ref.model.shm_pair_alphabet import Form, Unusual
from mmcache_ref.oracle.adapters.base import tensor_of
from mmcache_ref.oracle.adapters.shm_handles import ADDRESS, ID, SIGNATURE
from mmcache_ref.oracle.errors import NotOffered

Data = dict[str, Any]


def _scalar(value: int) -> Any:
    return tensor_of()(numpy.array(value))


def _of_number(name: str) -> dict[str, Callable[[Data], Data]]:
    """What may be wrong with an address or an id."""
    bits = 64 if name == ADDRESS else 32

    def changed(change: Callable[[int], Any]) -> Callable[[Data], Data]:
        return lambda data: {**data, name: change(data[name])}

    return {
        "bool": changed(bool),
        "float": changed(float),
        "text": changed(str),
        "no": changed(lambda value: None),
        "tensor": changed(_scalar),
        "negative": changed(lambda value: value - 2**bits),
        "minus one": changed(lambda value: -1),
        "huge": changed(lambda value: value + 2**bits),
        "vast": changed(lambda value: value + 2 ** (bits + 1)),
        "next": changed(lambda value: value + 1),
    }


def _signed(change: Callable[[list[int]], Any]) -> Callable[[Data], Data]:
    return lambda data: {**data, SIGNATURE: change(list(data[SIGNATURE]))}


def _without(*names: str) -> Callable[[Data], Data]:
    return lambda data: {name: value for name, value in data.items() if name not in names}


_CHANGES: Final[Mapping[str, Callable[[Data], Data]]] = {
    **{f"{what} address": change for what, change in _of_number(ADDRESS).items()},
    **{f"{what} id": change for what, change in _of_number(ID).items()},
    "no id": _without(ID),
    "no signature": _without(SIGNATURE),
    "address alone": _without(ID, SIGNATURE),
    "one bit": _signed(lambda old: [old[0] ^ 1, *old[1:]]),
    "zeros": _signed(lambda old: [0] * len(old)),
    "tuple signature": _signed(tuple),
    "bytes signature": _signed(bytes),
    "tensor signature": _signed(lambda old: tensor_of()(numpy.array(old, dtype=numpy.uint8))),
    "short signature": _signed(lambda old: old[:-1]),
    "long signature": _signed(lambda old: [*old, 0]),
    "wrapped signature": _signed(lambda old: [old[0] + 256, *old[1:]]),
    "bools in signature": _signed(lambda old: [bool(each) if each < 2 else each for each in (*old[:-1], 1)]),
    "floats in signature": _signed(lambda old: [float(each) for each in old]),
}
_UNSIGNED: Final = {"no signature", "address alone"}
"""Forms that need no signature."""


def changed(namespace: Any, handle: Any, key: str, form: Form) -> tuple[str, Any]:
    """The key under which a changed handle is shown, and the item that is shown."""
    data = {name: element.data for name, element in handle.items()}
    if SIGNATURE not in data and form not in _UNSIGNED:
        raise NotOffered("the target does not sign its handles")
    if form == "other key":
        return f"{key}'", handle
    return key, namespace.make_item(_CHANGES[form](data))


def unusual(namespace: Any, handle: Any, form: Unusual) -> Any:
    """The same handle in a form that is legal all the same."""
    if SIGNATURE not in handle:
        raise NotOffered("the target does not sign its handles")
    data = {name: element.data for name, element in handle.items()}
    if form == "more elements":
        return namespace.make_item({**data, "more": 1})
    return namespace.MultiModalKwargsItem(
        {name: namespace.make_element(name, value, "shared") for name, value in data.items()}
    )
