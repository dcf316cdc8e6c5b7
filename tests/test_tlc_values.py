"""TLA+ values and Python values are the same values."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmcache_ref.tlc.values import Mapped, ModelValue, NoValue, canonical, parse, text


def record(**fields: Any) -> Mapped:
    return Mapped(frozenset(fields.items()))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("7", 7),
        ("-3", -3),
        ("TRUE", True),
        ('"a b"', "a b"),
        (r'"say \"no\""', 'say "no"'),
        ("Nobody", ModelValue("Nobody")),
        ("<<>>", ()),
        ("<< >>", ()),
        ("{}", frozenset()),
        ("1..3", frozenset({1, 2, 3})),
        ('<<1, {"a"}>>', (1, frozenset({"a"}))),
        ('[key |-> "a", size |-> 2]', record(key="a", size=2)),
        ('("a" :> 1 @@ "b" :> 2)', record(a=1, b=2)),
        ("(0 :> 4)", Mapped(frozenset({(0, 4)}))),
        ("(1 :> 7 @@ 2 :> 8)", (7, 8)),
        ("<<\n  1,\n  2 >>", (1, 2)),
    ],
)
def test_what_tlc_writes_is_read(written: str, value: object) -> None:
    assert parse(written) == value


@pytest.mark.parametrize("written", ["", "<<1", "[a |-> ]", "1 2", "<<1; 2>>"])
def test_what_is_no_value_is_refused(written: str) -> None:
    with pytest.raises(NoValue):
        parse(written)


VALUES = st.recursive(
    st.booleans() | st.integers(2, 99) | st.text('ab\\"é ', max_size=4) | st.builds(ModelValue, st.just("m")),
    lambda inner: (
        st.lists(inner, max_size=3).map(tuple)
        | st.frozensets(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["x", "y", "zz"]), inner, max_size=3).map(canonical)
        | st.dictionaries(st.integers(5, 9), inner, max_size=3).map(canonical)
    ),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_written_is_read_again(value: object) -> None:
    assert parse(text(value)) == value


def test_a_named_tuple_is_a_record() -> None:
    class Place(NamedTuple):
        begin: int
        keys: list[str]

    assert canonical(Place(4, ["a"])) == record(begin=4, keys=("a",))


def test_what_has_no_form_is_refused() -> None:
    with pytest.raises(TypeError):
        canonical(1.5)
