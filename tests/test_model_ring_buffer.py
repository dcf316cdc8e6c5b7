"""The model of the ring buffer, clause by clause, with cases made by hand."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console

from mmcache_ref.model import ring_buffer as model
from mmcache_ref.model import ring_moves as moves
from mmcache_ref.model.component import Outcome, Raised, tag
from mmcache_ref.model.explore import explore
from mmcache_ref.model.ring_buffer import Config, State, step
from mmcache_ref.model.ring_buffer_search import BEFORE_ID
from mmcache_ref.model.ring_moves import Chunk, Ring
from mmcache_ref.report.exploration import run_table

OF_60 = Config(60)
EMPTY = State()
TWO = State(Ring((Chunk(0, 0, 12), Chunk(1, 12, 20)), 0, 32, 2), (7, 8))
"""12 bytes from 0, 20 from 12; 28 are free behind them."""
WRAPPED = State(Ring((Chunk(1, 28, 28), Chunk(2, 60, 28)), 28, 88, 3), (7, 8))
"""28 bytes from 28, a gap of 4, and 28 from 60, which lie at 0: full."""


def run(state: State, *operations: Any, config: Config = OF_60) -> tuple[State, Any]:
    """The state after the operations, and the outcome of the last one."""
    outcome = None
    for operation in operations:
        state, outcome = step(config, state, operation)
    return state, outcome


def places(state: State) -> tuple[int, int]:
    return state.ring.begin, state.ring.end


def ids(state: State) -> list[int]:
    return [chunk.id for chunk in state.ring.chunks]


@pytest.mark.clause("RB-07", "RB-10", "RB-03")
def test_chunks_lie_one_behind_the_other_with_ids_from_zero() -> None:
    state, outcome = run(EMPTY, model.Allocate(4))
    assert outcome.result == (0, 0)
    state, outcome = run(state, model.Allocate(12))
    assert outcome.result == (12, 1)
    assert state.ring.chunks == (Chunk(0, 0, 12), Chunk(1, 12, 20))
    assert places(state) == (0, 32)
    assert model.observe(OF_60, state)["headers"] == ((0, 12), (1, 20))


@pytest.mark.clause("RB-05", "RB-23")
@pytest.mark.parametrize(
    ("nbytes", "address"), [(20, 32), (21, None), (1, 32)], ids=["exact fit", "one over", "small"]
)
def test_a_chunk_does_not_straddle_the_end_of_the_area(nbytes: int, address: int | None) -> None:
    """28 bytes are free behind the chunks; in front of them there is nothing."""
    _, outcome = run(TWO, model.Allocate(nbytes))
    assert (outcome.kind, outcome.result) == (
        ("no-room", Raised("MemoryError")) if address is None else ("allocated", (address, 2))
    )


@pytest.mark.clause("RB-05", "RB-23")
@pytest.mark.parametrize("gap", [0, 7, 8, 9])
def test_what_is_left_at_the_end_of_the_area_is_wasted(gap: int) -> None:
    """The first chunk of 40 bytes is gone: a chunk of ten more than are left goes to the next lap."""
    first = State(Ring((Chunk(0, 0, 40), Chunk(1, 40, 20 - gap)), 0, 60 - gap, 2), (7, 8))
    state, outcome = run(first, model.Free(nbytes=1), model.Allocate(gap + 2))
    assert outcome.result == (60, 2)
    assert outcome.kind == ("after-gap" if gap else "allocated")
    assert list(moves.held(60, state.ring.chunks)) == [20, gap + 10]
    assert moves.is_sound(60, state.ring)


@pytest.mark.clause("RB-06")
def test_no_chunk_may_end_more_than_the_capacity_behind_begin() -> None:
    assert run(WRAPPED, model.Allocate(1))[1].result == Raised("MemoryError")
    assert run(EMPTY, model.Allocate(52))[1].result == (0, 0)
    assert run(EMPTY, model.Allocate(53)) == (EMPTY, ("no-room", Raised("MemoryError"), ()))


@pytest.mark.clause("RB-08")
@pytest.mark.parametrize("nbytes", [0, -1])
def test_a_chunk_has_a_payload(nbytes: int) -> None:
    assert run(TWO, model.Allocate(nbytes)) == (TWO, ("no-bytes", Raised("AssertionError"), ()))


@pytest.mark.clause("RB-10", "RB-12")
def test_ids_wrap() -> None:
    config = Config(60, id_max=3)
    state, outcome = run(TWO, model.Allocate(1), config=config)
    assert (outcome.result, state.ring.next_id) == ((32, 2), 0)
    state, outcome = run(state, model.Free(refuses=(2,)), model.Allocate(1), config=config)
    assert outcome.result == (41, 0)
    seen = model.observe(config, state)
    assert (seen["first_id"], seen["next_id"], seen["ids"]) == (2, 1, (2, 0))


@pytest.mark.clause("RB-11")
def test_the_id_of_a_live_chunk_is_not_given_again() -> None:
    config = Config(60, id_max=2)
    state = State(TWO.ring._replace(next_id=0), TWO.fills)
    assert run(state, model.Allocate(1), config=config) == (state, ("id-live", Raised("MemoryError"), ()))
    state, outcome = run(state, model.Free(nbytes=1), model.Allocate(1), config=config)
    assert outcome.result == (32, 0)
    assert ids(state) == [1, 0]


@pytest.mark.clause("RB-13")
def test_an_address_stays_as_it_was_handed_out() -> None:
    state, _ = run(WRAPPED, model.Free(nbytes=1))
    assert places(state) == (0, 28)
    assert model.observe(OF_60, state)["addresses"] == ((2, 60),)


@pytest.mark.clause("RB-14")
def test_a_payload_is_read_and_written_at_every_lap_of_its_address() -> None:
    for address in (12, 72, 132):
        assert run(TWO, model.Access(address))[1].result == (1, 20, 12, 8)
    state, outcome = run(TWO, model.Fill(72, 9), model.Access(12, by_reader=True))
    assert outcome.result == (1, 20, 12, 9)
    assert state.ring == TWO.ring


@pytest.mark.clause("RB-15")
@pytest.mark.parametrize("address", [53, 59, 20, 24])
def test_where_no_chunk_can_begin_there_is_nothing(address: int) -> None:
    """No room for a header; the middle of a payload of eights, which are no size."""
    expected = Raised("ValueError", "has been modified or is invalid")
    assert run(TWO, model.Access(address))[1] == ("not-a-chunk", expected, ())


@pytest.mark.clause("RB-15")
def test_of_memory_that_is_not_known_nothing_is_asked() -> None:
    assert run(TWO, model.Access(40))[1].kind == "disabled"
    assert run(TWO, model.Access(28))[1].kind == "disabled"
    assert run(TWO, model.Access(26))[1].kind == "disabled"
    assert run(TWO, model.Fill(13, 1)) == (TWO, ("disabled", None, ()))


@pytest.mark.clause("RB-15")
@pytest.mark.parametrize(
    ("fill", "kind"),
    [(0, "not-a-chunk"), (8, "not-a-chunk"), (9, "disabled"), (37, "disabled"), (38, "not-a-chunk")],
)
def test_bytes_that_look_like_a_size(fill: int, kind: str) -> None:
    """The last byte of a payload and three of the id 0 behind it, where there is room for 37 bytes."""
    state = State(Ring((Chunk(1, 8, 20), Chunk(0, 28, 12)), 8, 40, 1), (fill, 1))
    assert run(state, model.Access(28 - BEFORE_ID))[1].kind == kind


@pytest.mark.clause("RB-16", "RB-18", "RB-25", "RB-20")
def test_everything_that_is_free_is_freed_in_order() -> None:
    state, outcome = run(TWO, model.Free())
    assert outcome == ("all", ((0, 1), ((0, 4, 7), (1, 12, 8))), ())
    assert (places(state), state.fills, state.ring.next_id) == ((0, 0), (), 2)
    assert run(EMPTY, model.Free())[1] == ("nothing", ((), ()), ())


@pytest.mark.clause("RB-16", "RB-24")
def test_the_first_chunk_that_is_not_free_ends_the_call() -> None:
    state, outcome = run(TWO, model.Free(refuses=(0,)))
    assert (state, outcome) == (TWO, ("held", ((), ((0, 4, 7),)), ()))
    state, outcome = run(TWO, model.Free(refuses=(1,)))
    assert outcome == ("freed", ((0,), ((0, 4, 7), (1, 12, 8))), ())
    assert (places(state), state.fills) == ((12, 32), (8,))


@pytest.mark.clause("RB-17")
@pytest.mark.parametrize(
    ("nbytes", "freed"), [(-1, ()), (0, ()), (1, (0,)), (12, (0,)), (13, (0, 1)), (99, (0, 1))]
)
def test_freeing_ends_when_enough_is_freed(nbytes: int, freed: tuple[int, ...]) -> None:
    _, outcome = run(TWO, model.Free(nbytes))
    assert outcome.result[0] == freed
    assert [asked[0] for asked in outcome.result[1]] == list(freed)


@pytest.mark.clause("RB-18")
def test_ids_come_back_in_order_across_the_wrap() -> None:
    state = State(Ring((Chunk(2, 0, 12), Chunk(0, 12, 12)), 0, 24, 1), (7, 8))
    assert run(state, model.Free(), config=Config(60, id_max=3))[1].result[0] == (2, 0)


@pytest.mark.clause("RB-19")
def test_a_question_that_fails_frees_nothing() -> None:
    expected = Raised("RuntimeError", "is_free failed")
    assert run(TWO, model.Free(raises=1)) == (TWO, ("raised", expected, ()))
    assert run(TWO, model.Free(nbytes=1, raises=1))[1].kind == "limited"
    assert run(TWO, model.Free(refuses=(0,), raises=1))[1].kind == "held"
    assert run(TWO, model.Free(refuses=(1,), raises=1))[1].kind == "freed"


@pytest.mark.clause("RB-20")
def test_begin_and_end_go_down_by_a_lap_when_begin_has_reached_it() -> None:
    assert places(run(WRAPPED, model.Free(nbytes=1))[0]) == (0, 28)
    state = State(Ring((Chunk(1, 28, 28), Chunk(2, 60, 12), Chunk(3, 72, 12)), 28, 84, 4), (1, 2, 3))
    state, _ = run(state, model.Free(nbytes=1))
    assert places(state) == (0, 24)
    state, _ = run(state, model.Free(nbytes=1))
    assert places(state) == (12, 24)
    assert model.observe(OF_60, state)["addresses"] == ((3, 72),)


@pytest.mark.clause("RB-21")
def test_clearing_forgets_all_but_the_next_id() -> None:
    assert run(WRAPPED, model.Clear()) == (State(Ring(next_id=3)), ("cleared", None, ()))


@pytest.mark.clause("RB-22", "RB-20", "RB-23")
@pytest.mark.parametrize(
    "ring",
    [
        Ring((Chunk(0, 0, 12), Chunk(1, 8, 12)), 0, 20, 2),
        Ring((Chunk(0, 50, 12),), 50, 62, 1),
        Ring((Chunk(0, 28, 28), Chunk(1, 60, 30)), 28, 90, 2),
        Ring((Chunk(0, 0, 12),), 12, 24, 1),
        Ring((Chunk(0, 0, 12), Chunk(0, 12, 12)), 0, 24, 1),
        Ring((), 12, 12, 1),
        Ring((Chunk(0, 0, 12), Chunk(1, 24, 9), Chunk(2, 45, 15)), 0, 60, 3),
    ],
    ids=[
        "over another",
        "across the end",
        "over the oldest",
        "begin elsewhere",
        "an id twice",
        "empty",
        "two gaps",
    ],
)
def test_what_is_unsound_is_seen(ring: Ring) -> None:
    assert moves.is_sound(60, TWO.ring)
    assert moves.is_sound(60, WRAPPED.ring)
    assert not moves.is_sound(60, ring)


@pytest.mark.clause("RB-01", "RB-02", "RB-04", "RB-26", "RB-27", "RB-28", "RB-32", "RB-35", "RB-36", "RB-10")
@pytest.mark.parametrize(
    ("operation", "result"),
    [
        (model.Constants(), (32, 32, 4, 4, 8, 2**31)),
        (model.Secret(), (32, True, True, True)),
        (model.Number(-2), ((254, 255, 255, 255), -2)),
        (model.Number(258), ((2, 1, 0, 0), 258)),
        (model.Handle(), (60, True)),
        (model.Attach("nothing"), Raised("FileNotFoundError")),
        (model.Attach("too-short"), Raised("Exception")),
        (model.Attach("longer"), "attached"),
        (model.ByReader("allocate"), Raised("AssertionError")),
        (model.Roles(), ((60, True), (60, False))),
        (model.Unnamed(), (True, True)),
        (model.Create(), Raised("FileExistsError")),
        (model.ReaderLeaves(), True),
        (model.CloseAgain(), True),
        (model.Another(), (0, 0, 0, 0, 0)),
    ],
    ids=lambda value: tag(value) if hasattr(value, "__struct_config__") and hasattr(value, "op") else None,
)
def test_looking_changes_nothing(operation: Any, result: Any) -> None:
    after, outcome = run(TWO, operation)
    assert (after, outcome.result) == (TWO, result)


@pytest.mark.clause("RB-30", "RB-31")
def test_a_closed_ring_refuses_every_use_but_closing() -> None:
    closed, outcome = run(TWO, model.Close())
    assert (closed.is_closed, outcome.result) == (True, True)
    refused = Raised("AssertionError", "has been closed")
    for operation in (model.Allocate(1), model.Access(0), model.Free()):
        assert run(closed, operation) == (closed, ("closed", refused, ()))
    assert run(closed, model.Close()) == (closed, ("closed", True, ()))
    # What no clause speaks of is not asked.
    assert run(closed, model.Clear())[1].kind == "disabled"
    assert run(closed, model.Allocate(0))[1].kind == "disabled"
    assert run(run(EMPTY, model.Close())[0], model.Free())[1].kind == "disabled"


@pytest.mark.clause("RB-06", "RB-10", "RB-11", "RB-20", "RB-22", "RB-23", "RB-24", "RB-25")
def test_every_property_holds_of_every_state_of_the_tiny_graph() -> None:
    found = explore(model, model.PRESETS["tiny"], properties=model.PROPERTIES)
    assert found.complete
    assert found.violated == ()
    assert all(verdict.checked for verdict in found.verdicts.values())
    assert 100 < found.distinct < 1000
    assert {kind for kind in found.taken if kind[1] != "disabled"} == model.RULES.keys()


@pytest.mark.parametrize("config", [Config(9, 2, (1,)), Config(40, 9, (1, 2, 3, 32)), Config(41, 5, (5, 9))])
def test_every_property_holds_with_other_sizes(config: Config) -> None:
    found = explore(model, config, properties=model.PROPERTIES, max_states=2000)
    assert found.violated == ()


class Wrong:
    """The model with one thing wrong with the ring after one kind of outcome."""

    NAME = model.NAME
    initial = staticmethod(model.initial)
    operations = staticmethod(model.operations)
    view = staticmethod(model.view)
    observe = staticmethod(model.observe)

    def __init__(self, kind: str, spoil: Callable[[Ring, Ring], Ring]) -> None:
        self.kind, self.spoil = kind, spoil

    def step(self, config: Config, state: State, operation: Any) -> tuple[State, Any]:
        after, outcome = model.step(config, state, operation)
        if outcome.kind == self.kind:
            spoiled = self.spoil(state.ring, after.ring)
            after = after._replace(ring=spoiled, fills=(0,) * len(spoiled.chunks))
        return after, outcome


def last_moved(before: Ring, after: Ring) -> Ring:
    *older, last = after.chunks
    return after._replace(chunks=(*older, last._replace(begin=before.end)))


@pytest.mark.parametrize(
    ("kind", "spoil", "violated"),
    [
        ("after-gap", last_moved, "apart"),
        ("allocated", lambda before, after: after._replace(end=after.end + 4), "all-accounted"),
        ("freed", lambda before, after: after._replace(begin=before.begin), "begin-in-first-lap"),
        (
            "id-live",
            lambda before, after: after._replace(chunks=(*after.chunks[1:], after.chunks[-1])),
            "ids-differ",
        ),
        ("no-room", lambda before, after: after._replace(next_id=after.next_id + 1), "ids-in-order"),
        ("freed", lambda before, after: after._replace(chunks=before.chunks[:-1]), "oldest-first"),
        ("all", lambda before, after: before, "all-reclaimed"),
        ("limited", lambda before, after: after._replace(begin=before.end), "begin-in-first-lap"),
    ],
)
def test_the_properties_can_fail(kind: str, spoil: Any, violated: str) -> None:
    asked = {violated: model.PROPERTIES[violated]}
    found = explore(Wrong(kind, spoil), model.PRESETS["tiny"], properties=asked, max_states=2000)
    assert found.violated == (violated,)


def test_a_run_to_a_violation_shows_chunks_begin_and_end() -> None:
    asked = {"begin-in-first-lap": model.PROPERTIES["begin-in-first-lap"]}
    wrong = Wrong("freed", lambda before, after: after._replace(begin=before.begin))
    found = explore(wrong, model.PRESETS["tiny"], properties=asked)
    console = Console(width=120, file=io.StringIO())
    console.print(run_table(found, found.verdicts["begin-in-first-lap"]))
    rows = console.file.getvalue()  # type: ignore[attr-defined]
    for cells in (
        ("operation", "chunks", "begin", "end", "next id", "outcome"),
        ("allocate 4 B of 20", "0@0+4 1@12+4", "address 12, id 1"),
        ("free but not 1", "1@12+4", "freed 0, asked about 0 1"),
    ):
        assert any(all(cell in row for cell in cells) for row in rows.splitlines()), cells


def test_a_refusal_that_is_not_due_is_seen() -> None:
    asked = model.PROPERTIES["refused-rightly"].holds
    refused = Outcome("no-room", Raised("MemoryError"))
    assert asked(OF_60, TWO, model.Allocate(21), refused, TWO)
    assert not asked(OF_60, TWO, model.Allocate(20), refused, TWO)
    assert not asked(OF_60, EMPTY, model.Allocate(52), refused, EMPTY)


def test_plainer_operations_do_the_same_with_less() -> None:
    assert model.plainer(model.Free()) == (model.Clear(),)
    assert model.plainer(model.Free(3, (1,))) == (model.Free(),)
    assert model.plainer(model.Handle()) == ()
    assert model.bare(model.PRESETS["tiny"]) == Config(60, 4)
