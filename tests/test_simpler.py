"""What is simpler than a value: smaller numbers, defaults, earlier keys, fewer members; and less in all."""

from __future__ import annotations

from mmcache_ref.model import items, lru, processor_cache, receiver
from mmcache_ref.model.component import Content
from mmcache_ref.oracle.simpler import canonical, renamed, simpler, weight, without_members

FOUR = Content(4, 2)


def test_a_content_becomes_smaller_and_one_byte_is_simpler_than_none() -> None:
    smaller = {Content(0), Content(1, 3), Content(2, 3), Content(3, 3), Content(4, 1), Content(4, 2)}
    assert set(simpler(Content(4, 3))) == smaller
    assert weight(Content(1, 1)) < weight(Content(0))
    assert list(simpler(Content(0))) == [Content(1, 0)]


def test_what_has_no_bytes_has_nothing_to_fill() -> None:
    odd = processor_cache.UpdateAll((Content(0, 3), Content(1, 3)), ("a", "b"))
    assert canonical(odd) == processor_cache.UpdateAll((Content(0), Content(1, 3)), ("a", "b"))


def test_a_field_takes_its_default_and_a_key_an_earlier_letter() -> None:
    assert lru.Stat() in simpler(lru.Stat(delta=True))
    assert list(simpler(lru.Touch("c"))) == [lru.Touch("a"), lru.Touch("b")]
    assert list(simpler(lru.Touch("a"))) == []


def test_a_large_number_is_not_counted_down() -> None:
    assert [each.budget for each in simpler(lru.Config(2**40))] == [0, 1, 2**39, 2**40 - 1]


def test_a_nested_value_may_be_replaced_by_what_it_holds() -> None:
    inner = items.Tensor((2,))
    assert items.Size(inner) in simpler(items.Size(items.Mapped((("a", inner),))))


def test_members_go_one_by_one_and_those_of_lists_that_belong_together_at_once() -> None:
    both = processor_cache.UpdateAll((FOUR, None), ("a", "b"))
    fewer = list(without_members(both))
    assert fewer[:2] == [
        processor_cache.UpdateAll((None,), ("b",)),
        processor_cache.UpdateAll((FOUR,), ("a",)),
    ]
    assert processor_cache.UpdateAll((FOUR, None), ("a",)) in fewer


def test_a_pair_of_a_name_and_a_value_stays_a_pair() -> None:
    item = items.Item((("a", items.Tensor((2,))), ("b", items.Tensor(()))))
    fewer = [each.value for each in without_members(items.Size(item))]
    assert items.Item((("b", items.Tensor(())),)) in fewer
    assert all(len(pair) == 2 for each in fewer for pair in each.members)


def test_keys_are_named_in_order_of_appearance() -> None:
    operations = (
        receiver.Update("d", FOUR),
        receiver.Features((receiver.Feature("b"), receiver.Feature("d"))),
    )
    assert renamed(operations) == (
        receiver.Update("a", FOUR),
        receiver.Features((receiver.Feature("b"), receiver.Feature("a"))),
    )
