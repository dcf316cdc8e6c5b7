"""Runs as JSON: there and back, and what is said of JSON that is no run."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from mmcache_ref.model import factories, items, lru, processor_cache, receiver
from mmcache_ref.model.component import Content, Op
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Run, Step
from mmcache_ref.oracle.stored import decode_verdict, encode_run, read_run, typed
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.verdict import ComponentVerdict, clause_verdict

A = Content(2, 7)
REQUEST = (processor_cache.Item("a", A), processor_cache.Item("b", A, "video"))
P0_OPERATIONS: tuple[Op, ...] = (
    processor_cache.IsCached(("a", "b")),
    processor_cache.Touch("a"),
    processor_cache.Release(),
    processor_cache.Update("a", A),
    processor_cache.Update("b"),
    processor_cache.UpdateAll((A, None), ("a", "a")),
    processor_cache.Invalidate("a"),
    processor_cache.Merge(REQUEST),
    processor_cache.Clear(),
    processor_cache.Stats(delta=True),
)
OPERATIONS: dict[str, tuple[object, tuple[Op, ...]]] = {
    "lru": (
        lru.Config(6),
        (
            lru.Put("a", A),
            lru.Pin("a"),
            lru.RemoveOldest(remove_pinned=True),
            lru.PopItem(),
            lru.Stat(delta=True),
            lru.Usage(),
        ),
    ),
    "processor-only": (processor_cache.Config(6), P0_OPERATIONS),
    "sender": (processor_cache.Config(6), P0_OPERATIONS),
    "receiver": (
        receiver.Config(6),
        (
            receiver.Touch("a"),
            receiver.Update("a", A),
            receiver.Features((receiver.Feature("a"), receiver.Feature("b", A, has_mm_hash=False))),
            receiver.Clear(),
        ),
    ),
    "items": (
        items.Config(),
        (
            items.Size(items.Items((("image", (items.Item((("a", items.Tensor((2, 3), "float32")),)),)),))),
            items.Complexity(items.Sequence((items.Plain(None), items.Plain("x")), is_tuple=True)),
            items.CachedSize(items.Item(), is_metadata=True),
            items.Kept(items.Array((4,), is_view=True), "receiver"),
        ),
    ),
    "factories": (factories.Config(), (factories.Make("worker", factories.Configuration(), has_lock=False),)),
}
TOUCH_RUN = Run(
    "lru",
    lru.Config(2),
    "safe",
    tuple(Step(each) for each in (lru.Put("a", Content(1, 1)), lru.Put("b", Content(1, 1)), lru.Touch("a"))),
)


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_run_goes_to_json_and_back(name: str) -> None:
    config, operations = OPERATIONS[name]
    run = Run(name, config, "upstream", tuple(Step(each) for each in operations))
    back = read_run(encode_run(run))
    assert (back.component, back.config, back.profile) == (name, config, "upstream")
    assert back.operations == operations
    assert [type(each) for each in back.operations] == [type(each) for each in operations]


@pytest.mark.parametrize("name", [*OPERATIONS])
def test_a_verdict_goes_to_json_and_back_with_typed_operations(name: str) -> None:
    config, operations = OPERATIONS[name]
    run = Run(name, config, "safe", tuple(Step(each) for each in operations))
    verdict = ComponentVerdict(name, "violates", clauses=(clause_verdict("LRU-01", 1, run, "fuzz", 3),))
    back = decode_verdict(msgspec.json.encode(verdict))
    assert back.clauses[0].run is not None
    assert back.clauses[0].run.operations == operations
    assert back.clauses[0].run.config == config
    assert back == verdict


def test_a_run_is_read_from_a_file_in_either_form(tmp_path: Path) -> None:
    bare, whole = tmp_path / "bare.json", tmp_path / "whole.json"
    bare.write_text(encode_run(TOUCH_RUN), encoding="utf-8")
    whole.write_bytes(msgspec.json.encode(TOUCH_RUN))
    for path in (bare, whole):
        assert read_run(str(path)).operations == TOUCH_RUN.operations


def test_a_stored_run_mismatches_where_it_did() -> None:
    trial = Trial(COMPONENTS["lru"], resolve("py:broken.lru_touch_keeps_order"))
    first = trial.run(TOUCH_RUN.config, TOUCH_RUN.operations)
    stored = read_run(encode_run(first))
    assert trial.run(stored.config, stored.operations) == first
    assert first.mismatch is not None
    assert first.mismatch.clause == "LRU-09"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a run"),
        ("{}", "component"),
        ('{"component": "lru"}', "config"),
        (
            '{"component": "ring", "config": {}, "operations": [{"op": "len"}]}',
            "no component 'ring': take one of items",
        ),
        (
            '{"component": "lru", "config": {"budget": "much"}, "operations": [{"op": "len"}]}',
            "not the configuration of a run of lru.*budget",
        ),
        (
            '{"component": "lru", "config": {"budget": 1}, "operations": [{"op": "fly"}]}',
            "not operation 1 of lru.*fly",
        ),
        (
            '{"component": "lru", "config": {"budget": 1}, "operations": [{"op": "get"}]}',
            "not operation 1 of lru.*key",
        ),
        ('{"component": "lru", "config": {"budget": 1}, "operations": [null]}', "not operation 1 of lru"),
        ('{"component": "lru", "config": {"budget": 1}, "operations": 7}', "not a run"),
        ('{"component": "lru", "config": {"budget": 1}, "steps": [7]}', "not operation 1 of lru"),
        ('{"component": "lru", "config": {"budget": 1}, "operations": []}', "no operations"),
        ('{"component": "lru", "config": {}, "profile": "bogus", "operations": [1]}', "not a run.*bogus"),
        (
            '{"component": "lru", "config": {"budget": 1}, '
            '"operations": [{"op": "len"}, {"op": "get", "key": "a", "default": 1}]}',
            "not operation 2 of lru: it has no field 'default'; it has has_default, key",
        ),
        (
            '{"component": "lru", "config": {"budget": 1, "bugdet": 2}, "operations": [{"op": "len"}]}',
            "it has no field 'bugdet'; it has budget, keys, sizes",
        ),
        ("[]", "not a run: Expected `object`"),
        (" ", "the text is empty"),
        ("no/such/file.json", "cannot read the run.*no/such/file.json"),
    ],
)
def test_what_is_no_run_says_why(text: str, says: str) -> None:
    with pytest.raises(BadRun, match=says):
        read_run(text)


def test_a_run_of_an_unknown_component_has_no_types() -> None:
    with pytest.raises(BadRun, match="no component"):
        typed(Run("ring", {}, "safe", ()))
