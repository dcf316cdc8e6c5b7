"""Single accesses to one place of the segment: which orders are safe, and what falls in the others."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from itertools import permutations
from types import SimpleNamespace
from typing import Any

import pytest

from mmcache_ref.model import ring_publication
from mmcache_ref.model.component import Outcome
from mmcache_ref.model.explore import Exploration, explore
from mmcache_ref.model.publication_accesses import BARRIER, Access, program
from mmcache_ref.model.publication_environment import (
    ACCIDENTS,
    BY_PROTOCOL,
    DEFAULT_PROTECTIONS,
    WITHOUT_WRITERS_LOCK,
    Config,
    configure,
)
from mmcache_ref.model.publication_programs import PIECES
from mmcache_ref.model.publication_properties import PROPERTIES
from mmcache_ref.model.ring_publication import WRITER, Begin, Count, Do, State, initial, operations, step
from mmcache_ref.oracle.clauses import spec_directory

SECTION = (
    (spec_directory() / "07-object-store.md")
    .read_text(encoding="utf-8")
    .split("## Which orders are safe\n")[1]
)
UPSTREAM = frozenset({"handle-last", "count-last", "count-under-lock"})
ONE_READER = ("ab",)
TWO_READERS = ("b", "ab")
NOT_EARLY = frozenset(ACCIDENTS) - {"early-handle"}
COUNTS = {"OS-23", "OS-32"}


@cache
def found_by(config: Config) -> Exploration:
    found = explore(ring_publication, config, properties=PROPERTIES)
    assert found.complete
    return found


def search(
    accidents: Iterable[str], protections: Iterable[str], reads: tuple[str, ...] = ONE_READER, **others: Any
) -> Exploration:
    """Every interleaving of one reader of both objects, or of several."""
    config = configure("tiny", accidents=accidents, protections=protections)
    return found_by(replace(config, reads=reads, **others))


def falls(found: Exploration) -> dict[str, int]:
    """Each clause that falls, with the steps of the shortest run."""
    verdicts = found.verdicts.values()
    return {each.property.clause: len(each.run) - 1 for each in verdicts if each.run is not None}


def table(first_heading: str) -> dict[str, list[str]]:
    """The rows of a table of the section by their first cell."""
    lines = SECTION.split(f"| {first_heading} |", 1)[1].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first: rest for first, *rest in cells}


RULES = table("rule left out")


# Orders


@pytest.mark.clause("OS-08", "OS-22", "OS-23", "OS-32", "OS-41")
def test_what_is_written_behind_the_seal_decides_what_falls() -> None:
    rows = table("behind the seal")
    seen = set()
    for order in permutations(PIECES[:4]):
        later = order[order.index("seal") + 1 :]
        row = ", ".join(piece for piece in PIECES if piece in later) or "nothing"
        found = search(["early-handle", "store-reordering"], DEFAULT_PROTECTIONS, order=(*order, "handle"))
        assert (order, ", ".join(sorted(falls(found))) or "nothing") == (order, *rows[row])
        seen.add(row)
    assert seen == set(rows)


@pytest.mark.clause("OS-08", "RB-29")
def test_six_of_120_orders_are_safe() -> None:
    """Header, count and payload in any order, then the seal, then the handle."""
    safe = {
        order
        for order in permutations(PIECES)
        if not search(["early-handle"], DEFAULT_PROTECTIONS, order=order).violated
    }
    assert safe == {(*order, "seal", "handle") for order in permutations(PIECES[:3])}


@pytest.mark.clause("OS-08", "OS-22", "OS-41")
@pytest.mark.parametrize("order", [(*order, "seal", "handle") for order in permutations(PIECES[:3])])
def test_the_six_stay_safe_when_stores_are_reordered(order: tuple[str, ...]) -> None:
    accidents = ["early-handle", "store-reordering", "clear-meanwhile", "look-alike"]
    assert search(accidents, DEFAULT_PROTECTIONS, order=order).violated == ()


@pytest.mark.clause("RB-29")
@pytest.mark.parametrize("piece", ["seal", "header", "payload", "count"])
def test_a_handle_given_out_too_early_is_found_without_any_accident(piece: str) -> None:
    order = (*(each for each in PIECES if each not in (piece, "handle")), "handle", piece)
    assert set(falls(search([], DEFAULT_PROTECTIONS, order=order))) >= (
        {"OS-23", "OS-32"} if piece == "count" else {"RB-29"}
    )


# Rules


@pytest.mark.clause("OS-08", "OS-22", "OS-23", "OS-26", "OS-31", "OS-32", "OS-41", "OS-42", "RB-29")
@pytest.mark.parametrize(
    ("protections", "fallen"),
    [
        (DEFAULT_PROTECTIONS, set()),
        (WITHOUT_WRITERS_LOCK | BY_PROTOCOL, set()),
        (WITHOUT_WRITERS_LOCK, COUNTS),
    ],
    ids=["lock", "protocol", "neither"],
)
def test_with_all_accidents_at_once(protections: frozenset[str], fallen: set[str]) -> None:
    assert set(falls(search(ACCIDENTS, protections))) == fallen


@pytest.mark.slow
@pytest.mark.clause("OS-08", "OS-22", "OS-23", "OS-26", "OS-32", "OS-41", "OS-42", "RB-29")
def test_with_all_accidents_at_once_two_readers_find_nothing_either() -> None:
    assert search(ACCIDENTS, DEFAULT_PROTECTIONS, TWO_READERS).violated == ()
    assert falls(search(ACCIDENTS, WITHOUT_WRITERS_LOCK, TWO_READERS)) == {"OS-23": 15, "OS-32": 15}


@pytest.mark.clause("OS-23", "OS-32")
def test_without_a_lock_of_the_writer_a_count_lands_in_another_chunk_by_so_short_a_run() -> None:
    found = search(ACCIDENTS, WITHOUT_WRITERS_LOCK)
    steps = re.findall(r"a count lands in another chunk, in (\d+) steps", SECTION)
    assert [falls(found)["OS-23"]] == [int(each) for each in steps]


@pytest.mark.clause("OS-08", "OS-20", "OS-22", "OS-23", "OS-26", "OS-32", "OS-41", "OS-42", "RB-29")
@pytest.mark.parametrize("rule", sorted(DEFAULT_PROTECTIONS))
def test_each_rule_is_needed_as_the_chapter_says(rule: str) -> None:
    accidents, *expected = RULES[f"`{rule}`"]
    reads = TWO_READERS if rule == "count-under-lock" else ONE_READER
    named = re.findall(r"`([a-z-]+)`", accidents)
    found = [
        falls(search(named, protections - {rule}, reads))
        for protections in (DEFAULT_PROTECTIONS, WITHOUT_WRITERS_LOCK)
    ]
    words = [
        ", ".join(f"{clause} in {steps}" for clause, steps in sorted(each.items())) or "nothing"
        for each in found
    ]
    assert words == expected != ["nothing", "nothing"]


def test_the_chapter_has_a_row_for_each_rule_and_each_accident() -> None:
    assert sorted(RULES) == sorted(f"`{name}`" for name in DEFAULT_PROTECTIONS)
    assert sorted(table("accident")) == sorted(f"`{name}`" for name in ACCIDENTS)


@pytest.mark.clause("OS-22", "OS-23", "OS-32", "OS-41")
@pytest.mark.parametrize("accident", ["clear-meanwhile", "stale-handle", "early-handle"])
def test_the_rules_of_0_32_alone_are_too_few_on_any_machine(accident: str) -> None:
    assert set(falls(search([accident], UPSTREAM, TWO_READERS))) == {"OS-22", "OS-23", "OS-32", "OS-41"}


@pytest.mark.clause("OS-31", "RB-29")
def test_inside_the_protocol_the_rules_of_0_32_are_enough() -> None:
    assert search(NOT_EARLY, UPSTREAM | BY_PROTOCOL, TWO_READERS).violated == ()


@pytest.mark.clause("OS-31")
def test_who_counts_before_it_has_copied_loses_what_it_was_promised() -> None:
    found = search([], UPSTREAM - {"count-last"})
    assert set(falls(found)) == {"OS-22", "OS-31", "OS-41"}


# Machines


STORES = [Access("store", "id", "b"), Access("store", "seal", "b")]
LOADS = [Access("load", "id"), Access("load", "seal")]
ONCE = [Access("acquire"), Access("release")]


def is_kept(lines: list[Access | None]) -> bool:
    """Whether the last access waits, if through others, for the first on a machine that reorders."""
    made = program(lines, stores_reorder=True, loads_reorder=True)
    waits = list(made.waits_for)
    for place, needed in enumerate(waits):
        for earlier in range(place):
            if needed >> earlier & 1:
                waits[place] |= waits[earlier]
    return bool(waits[-1] & 1)


@pytest.mark.clause("OS-08")
@pytest.mark.parametrize("pair", [STORES, LOADS], ids=["stores", "loads"])
def test_a_barrier_keeps_two_accesses_in_order_and_a_lock_only_when_taken_twice(pair: list[Access]) -> None:
    first, second = pair
    assert not is_kept([first, second])
    assert is_kept([first, BARRIER, second])
    assert not is_kept([first, *ONCE, second])
    assert is_kept([first, *ONCE, *ONCE, second])


def test_what_a_machine_never_reorders() -> None:
    load, store = LOADS[0], STORES[1]
    assert is_kept([load, store])
    assert is_kept([STORES[0], Access("store", "id", "a")])
    assert is_kept([load, load])
    assert is_kept([STORES[0], Access("send")])
    assert is_kept([Access("acquire"), store])
    assert is_kept([store, Access("release")])


def test_without_reordering_only_the_parts_of_one_copy_have_no_order() -> None:
    parts = [Access("store", "first", "b", copy=1), Access("store", "last", "b", copy=1)]
    made = program([STORES[0], *parts, STORES[1]], stores_reorder=False, loads_reorder=False)
    assert made.waits_for == (0b000, 0b001, 0b001, 0b111)


# Steps by hand


def words(operation: Any) -> str:
    """An operation in short."""
    if isinstance(operation, Begin):
        return f"{operation.reader} gets {operation.handle}"
    who = "w" if operation.process == WRITER else operation.process
    return f"{who} {operation.kind} {operation.word}".strip()


def run(config: Config, *steps: str) -> State:
    """The state after these operations, each the first enabled one of these words."""
    state = initial(config)
    for each in steps:
        operation = next(enabled for enabled in operations(config, state) if words(enabled) == each)
        state, outcome = step(config, state, operation)
        assert outcome.kind != "disabled"
    return state


@pytest.mark.clause("OS-20", "OS-32")
def test_two_readers_without_a_lock_count_one() -> None:
    """Both load 0, both store 1."""
    config = Config(reads=("a", "a"), protections=frozenset({"count-last"}))
    copied = ["load id", "load size", "load first", "load last", "load reader_count"]
    steps = [f"{reader} {each}" for reader in (0, 1) for each in ("gets a", *copied)]
    state = run(config, *steps, "0 store reader_count", "1 store reader_count")
    assert (state.memory.reader_count, state.acknowledged) == (Count("a", 1), (2, 0))


@pytest.mark.clause("OS-21", "OS-22")
def test_a_reader_whose_second_comparison_fails_leaves_the_lock_and_counts_nothing() -> None:
    config = replace(
        configure("tiny", accidents=["clear-meanwhile"], protections=DEFAULT_PROTECTIONS), reads=ONE_READER
    )
    compared = ["0 load id", "0 load size", "0 load seal"]
    wiped = ["w acquire", "w store seal", "w release"]
    state = run(config, "0 gets a", *compared, "0 load first", "0 load last", *wiped, "0 acquire", *compared)
    assert (state.gets, state.lock, state.acknowledged) == ((None,), None, (0, 0))


@pytest.mark.clause("OS-25")
def test_the_writer_waits_until_every_reference_is_counted() -> None:
    config = configure("tiny", protections=DEFAULT_PROTECTIONS)
    state = initial(config)
    waiting = next(each for each in operations(config, state) if isinstance(each, Do))
    assert step(config, state, waiting) == (state, Outcome("disabled"))
    paid = state._replace(memory=state.memory._replace(reader_count=Count("a", 1)))
    assert step(config, paid, waiting)[1] == Outcome("written")


@pytest.mark.parametrize("options", [{"accidents": ["rain"]}, {"protections": ["umbrella"]}, {"depth": 2}])
def test_a_name_or_a_bound_that_the_model_does_not_know_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"unknown|has no bounds"):
        configure("tiny", **options)
    with pytest.raises(ValueError, match="each of header"):
        Config(order=("seal", "seal"))


# Each property can fail


def returns_the_other(state: State, outcome: Outcome) -> tuple[State, Outcome]:
    return state, outcome._replace(result="b" if outcome.result == "a" else "a")


def returns_both(state: State, outcome: Outcome) -> tuple[State, Outcome]:
    return state, outcome._replace(result="ab")


@pytest.mark.parametrize(
    ("breaks", "accidents", "fallen"),
    [
        (returns_the_other, [], {"as-handed-out", "its-own", "referenced-reads"}),
        (returns_the_other, ["look-alike"], {"as-handed-out", "its-own", "not-planted", "referenced-reads"}),
        (returns_both, [], {"as-handed-out", "never-torn", "referenced-reads"}),
    ],
)
def test_a_reader_that_returns_something_else_is_found(
    breaks: Any, accidents: list[str], fallen: set[str]
) -> None:
    def broken(config: Config, state: State, operation: Any) -> tuple[State, Outcome]:
        after, outcome = step(config, state, operation)
        return breaks(after, outcome) if outcome.kind == "returned" else (after, outcome)

    model = SimpleNamespace(**vars(ring_publication) | {"step": broken})
    config = configure("tiny", accidents=accidents, protections=DEFAULT_PROTECTIONS)
    assert set(explore(model, config, properties=PROPERTIES).violated) == fallen
