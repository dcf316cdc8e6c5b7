"""Where Python and TLC part is told with the run in words, and with the names of the fields that differ."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Any

import pytest
from rich.console import Console

from mmcache_ref.report.models import steps_text
from mmcache_ref.tlc.bindings import BINDINGS, RING_BUFFER
from mmcache_ref.tlc.graph import Graph, difference
from mmcache_ref.tlc.manifest import models_directory
from mmcache_ref.tlc.output import TraceStep
from mmcache_ref.tlc.parting import Parting, changes, in_words, named, parting, trace_in_words
from mmcache_ref.tlc.sources import extended
from mmcache_ref.tlc.values import Mapped, canonical, parse

CONFIG = RING_BUFFER.config("tiny")
MODULES = {
    "lru": "Lru",
    "ring-buffer": "RingBuffer",
    "object-store": "ObjectStore",
    "ring-publication": "RingPublication",
    "key-replicated": "KeyReplicated",
    "shm-caches": "ShmCaches",
}
UNDER_WAY = ("channel", "running", "retries", "outdated", "is_dead")
VIEW = re.compile(r"^(?:exactView|view) ==\s+<<([^>]*)>>", re.MULTILINE)
VARIABLES = re.compile(r"^VARIABLES\n((?:    .*\n)+)", re.MULTILINE)


@cache
def ring_graph() -> Graph:
    return RING_BUFFER.graph(RING_BUFFER.explore(CONFIG, exact=True))


def other_graph(change: Any) -> Graph:
    """The graph of the ring with what leaves each state changed."""
    graph = ring_graph()
    return Graph(graph.initial, {state: change(state, each) for state, each in graph.leaving.items()})


def told(tlc: Graph) -> Parting:
    where = difference(ring_graph(), tlc)
    assert where is not None
    return parting(RING_BUFFER, CONFIG, where)


def with_call(call: Mapped, **fields: Any) -> Mapped:
    return canonical({**dict(call.pairs), **fields})


def test_the_same_step_with_another_end_is_told_by_the_fields_that_differ() -> None:
    def stays(state: Any, leaving: Counter[Any]) -> Counter[Any]:
        changed = {
            (call, (after[0], after[1], state[2], after[3]) if call["op"] == "free" else after): count
            for (call, after), count in leaving.items()
        }
        return Counter(changed)

    found = told(other_graph(stays))
    assert found.what == "Python and TLC make different things of step 2"
    (first,) = found.way
    assert first.words == "allocate 4 B of 1: allocated"
    assert first.fields == (
        "chunks[1], new: [begin |-> 0, id |-> 0, size |-> 12]",
        "end: 0 -> 12",
        "nextId: 0 -> 1",
    )
    assert found.last.words == "free"
    assert found.last.fields == (
        "chunks[1], gone: [begin |-> 0, id |-> 0, size |-> 12]",
        "end: 12 before, 0 in Python, 12 with TLC",
    )


def test_the_same_step_that_is_answered_otherwise_is_told_by_the_answer() -> None:
    def forgets(state: Any, leaving: Counter[Any]) -> Counter[Any]:
        changed = {
            (with_call(call, kind="forgotten") if call["op"] == "clear" else call, after): count
            for (call, after), count in leaving.items()
        }
        return Counter(changed)

    found = told(other_graph(forgets))
    assert found.what == "Python and TLC make different things of step 1"
    assert (found.way, found.last.words) == ((), "clear")
    assert found.last.fields == ('kind: "cleared" in Python, "forgotten" with TLC',)


def test_a_step_that_one_side_makes_is_told_by_what_it_changes() -> None:
    def never_clears(state: Any, leaving: Counter[Any]) -> Counter[Any]:
        return Counter({each: count for each, count in leaving.items() if each[0]["op"] != "clear"})

    found = told(other_graph(never_clears))
    assert found.what == "Python alone makes step 1"
    assert (found.last.words, found.last.fields) == ("clear: cleared", ("nothing changes",))


def test_a_step_that_python_cannot_make_is_told_by_its_record() -> None:
    call = canonical({"op": "shrink", "nbytes": 4, "kind": "shrunk"})

    def shrinks(state: Any, leaving: Counter[Any]) -> Counter[Any]:
        return leaving + Counter({(call, ((), 9, 9, 0)): 1})

    found = told(other_graph(shrinks))
    assert found.what == "TLC alone makes step 1, to a state that the other never has"
    assert found.last.words == "shrink nbytes 4: shrunk"
    assert found.last.fields == ("begin: 0 -> 9", "end: 0 -> 9")


def test_a_step_that_python_could_make_before_is_told_in_the_same_words() -> None:
    binding = BINDINGS["shm-caches"]
    config = binding.config("tiny", accidents=["clear-in-flight"], protections=[], depth=1)
    python = binding.graph(binding.explore(config, exact=True))
    reading, dead = next(each for leaving in python.leaving.values() for each in leaving if each[1][-1])
    tlc = Graph(python.initial, {**python.leaving, dead: Counter({(reading, dead): 1})})
    where = difference(python, tlc)
    assert where is not None
    found = parting(binding, config, where)
    assert found.way[-1].words == found.last.words == "read message 0 by worker 0: died"
    assert found.way[-1].fields[-1] == "is_dead: FALSE -> TRUE"
    assert found.what == f"TLC alone makes step {len(found.way) + 1}"


def test_a_step_that_is_made_unequally_often_is_told() -> None:
    found = told(other_graph(lambda state, leaving: leaving + Counter(list(leaving)[:1])))
    assert found.what == "Python and TLC make step 1 unequally often"


def test_other_first_states_are_told_side_by_side() -> None:
    found = told(Graph(((), 0, 0, 1), {}))
    assert found.what == "Python and TLC begin in different states"
    assert (found.way, found.last.fields) == ((), ("nextId: 0 in Python, 1 with TLC",))


def test_what_one_call_becomes_comes_before_steps_of_one_side() -> None:
    def is_changed(state: Any, leaving: Counter[Any]) -> Counter[Any]:
        changed = [(call, ("gone",) if call["op"] == "free" else after) for call, after in leaving]
        return Counter([each for each in changed if each[0]["op"] != "allocate"])

    where = difference(ring_graph(), other_graph(is_changed))
    assert where is not None
    assert in_words(where) == "Python and TLC make different things of step 1"
    assert [each.call["op"] for each in where.run] == ["free"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("[a |-> 1, b |-> <<1, 2>>]", "[a |-> 1, b |-> <<1, 3>>]", [("b[2]", 2, 3)]),
        ("[a |-> <<1, 2, 3>>]", "[a |-> <<1, 3>>]", [("a[2]", 2, None)]),
        ("[a |-> <<>>]", "[a |-> <<7>>]", [("a[1]", None, 7)]),
        ("[a |-> <<1, 2>>]", "[a |-> <<2, 1>>]", [("a", (1, 2), (2, 1))]),
        ("[a |-> <<1, 2>>]", "[a |-> <<3>>]", [("a", (1, 2), (3,))]),
        ("[a |-> {1, 2}]", "[a |-> {2, 3}]", [("a", 1, None), ("a", None, 3)]),
        ("(0 :> TRUE @@ 5 :> TRUE)", "(0 :> TRUE @@ 5 :> FALSE)", [("[5]", True, False)]),
        ('<<"dead">>', "7", [("", ("dead",), 7)]),
    ],
)
def test_only_what_differs_is_named(one: str, other: str, expected: list[tuple[str, Any, Any]]) -> None:
    assert [tuple(each) for each in changes(parse(one), parse(other))] == expected


@pytest.mark.parametrize("name", BINDINGS)
def test_each_field_has_the_name_that_it_has_in_tla(name: str) -> None:
    binding = BINDINGS[name]
    config = binding.config("tiny")
    assert len(binding.names) == len(binding.state(config, binding.model.initial(config)))
    module = models_directory() / f"{MODULES[name]}.tla"
    text = "\n".join(path.read_text(encoding="utf-8") for path in extended(module))
    views = [re.findall(r"\w+", view) for view in VIEW.findall(text)]
    if views:
        assert list(binding.names) in views
    else:  # the view of the shared caches is made of the store's parts and of variables
        variables = VARIABLES.search(text)
        assert variables is not None
        assert {*UNDER_WAY} < set(re.findall(r"\w+", variables[1]))
        assert binding.names[4:] == UNDER_WAY
        assert re.search(
            r"SeenStore == <<store\.ring\.begin, store\.ring\.end, SeenChunks, SeenEntries>>", text
        )


def test_tuples_that_stand_for_records_are_told_with_names() -> None:
    content = canonical({"nbytes": 1, "fill": 1})
    item = canonical({"key": "a", "content": content, "supplied": True})
    message = canonical({"features": ((item, 1, False, True),), "children": 1})
    value = (0, 1, (0,), (("a", content, 2),), (message,), (), (), frozenset(), False)
    state = named(BINDINGS["shm-caches"], value)
    assert state["entries"] == (canonical({"key": "a", "content": content, "owed": 2}),)
    assert state["channel"][0]["features"][0]["place"] == 1
    assert named(BINDINGS["shm-caches"], ("dead",)) == ("dead",)


def test_a_trace_of_tlc_is_told_by_what_each_step_changes() -> None:
    trace = [
        TraceStep("Init", {"pins": frozenset(), "entries": (), "call": canonical({"op": "initial"})}),
        TraceStep(
            "Pin",
            {
                "pins": frozenset("a"),
                "entries": (),
                "call": canonical({"op": "pin", "key": "a", "kind": "miss"}),
            },
        ),
    ]
    steps = trace_in_words(trace, BINDINGS["lru"])
    assert [step.words for step in steps] == ["Init", 'Pin: pin key "a": miss']
    assert [step.fields for step in steps] == [("entries = <<>>", "pins = {}"), ('pins, new: "a"',)]
    console = Console(width=60, record=True, file=None, quiet=False)
    with console.capture() as captured:
        for part in steps_text(steps):
            console.print(part)
    assert [line.rstrip() for line in captured.get().splitlines()] == [
        "    1  Init",
        "         entries = <<>>",
        "         pins = {}",
        '    2  Pin: pin key "a": miss',
        '         pins, new: "a"',
    ]
