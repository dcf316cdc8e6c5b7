"""The model of the object store, clause by clause, with cases made by hand.

A chunk is 31 bytes and its content: 8 of header, 4 of reader count, 19 of metadata.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from mmcache_ref.model import object_store as store
from mmcache_ref.model.component import Content, OneOf, Raised
from mmcache_ref.model.explore import explore
from mmcache_ref.model.object_store import Config, State, observe, step
from mmcache_ref.model.object_store_alphabet import DAMAGED, TRAVELLED

ROOM_FOR_THREE = Config(capacity=100, max_object_size=33)
"""Chunks of 32 bytes at 0, 32 and 64, and 4 bytes to spare; the largest has 41, with 10 of content."""
SMALL = Content(1, 7)
SIGNATURE = Raised("ValueError", "SHM handle signature")
MODIFIED = Raised("ValueError", "has been modified or is invalid")


def put(key: str, content: Content = SMALL) -> Any:
    return store.Put(key, content)


def run(operations: Sequence[Any], config: Config = ROOM_FOR_THREE) -> tuple[State, list[Any]]:
    """The state after the operations, and what each gave."""
    state, outcomes = store.initial(config), []
    for operation in operations:
        state, outcome = step(config, state, operation)
        outcomes.append(outcome)
    return state, outcomes


def last(*operations: Any, config: Config = ROOM_FOR_THREE) -> Any:
    """What the last operation gave."""
    return run(operations, config)[1][-1].result


def keys(*operations: Any, config: Config = ROOM_FOR_THREE) -> str:
    """The stored keys after the operations, oldest first."""
    return "".join(each.key for each in run(operations, config)[0].objects)


THREE = (put("a"), put("b"), put("c"))
READ_ALL = tuple(store.Get(key) for key in "abc")


@pytest.mark.clause("OS-01")
def test_a_new_object_gets_a_chunk_one_reference_and_no_reads() -> None:
    state, outcomes = run(THREE)
    assert [outcome.result for outcome in outcomes] == [(0, 0), (32, 1), (64, 2)]
    assert {(each.references, each.reads) for each in state.objects} == {(1, 0)}


@pytest.mark.clause("OS-02", "OS-03", "OS-04", "OS-06", "OS-07")
@pytest.mark.parametrize(
    ("operation", "error", "says"),
    [
        (put("a"), "ValueError", "already exists"),
        # 4 + 19 + 10 = 33 is the limit.
        (put("x", Content(11, 1)), "ValueError", "exceeds max object size"),
        (put("x", Content(10, 1)), "MemoryError", "enough space"),
        (store.PutFailing("x", SMALL), "Exception", ""),
        (store.PutFailing("a", SMALL), "ValueError", "already exists"),
    ],
)
def test_a_put_that_is_refused_changes_nothing(operation: Any, error: str, says: str) -> None:
    before, _ = run(THREE)
    after, outcome = step(ROOM_FOR_THREE, before, operation)
    assert (after, outcome.result) == (before, Raised(error, says))


@pytest.mark.clause("OS-06")
def test_what_never_fits_evicts_nothing() -> None:
    """The limit allows a chunk of 108 bytes; the ring has 100."""
    config = Config(capacity=100, max_object_size=100)
    assert keys(*THREE, *READ_ALL, put("x", Content(70, 1)), config=config) == "abc"
    assert last(*THREE, *READ_ALL, put("x", Content(70, 1)), config=config) == Raised("MemoryError")
    assert keys(*THREE, *READ_ALL, put("x", Content(69, 1)), config=config) == "x"


@pytest.mark.clause("OS-04", "OS-27")
def test_one_attempt_frees_twice_the_largest_object() -> None:
    """66 bytes: two chunks of 32 are not enough, three are 96."""
    assert keys(*THREE, *READ_ALL, store.FreeUnused()) == ""
    assert keys(*THREE, *READ_ALL, store.FreeUnused(), config=Config(100, max_object_size=32)) == "c"
    assert keys(*THREE, *READ_ALL[:2], put("x")) == "cx"
    assert keys(*THREE, *READ_ALL[1:], put("x")) == "abc"


FILLED_TWICE = (
    *(put("a"), put("b"), store.Get("b"), store.Get("a"), put("c"), store.Get("c")),
    *(put("d"), put("b"), store.Get("d"), store.Get("b")),
)
"""In a ring of 96 bytes: c at 64, d at 0 and b at 32 of the next lap, all of them read."""


@pytest.mark.clause("OS-05")
def test_put_goes_on_freeing_until_there_is_a_place_or_a_chunk_is_held() -> None:
    """33 bytes do not fit behind b, and c and d are 64 bytes, more than twice 25; but b is in the way."""
    config = Config(96, max_object_size=25)
    _, outcomes = run((*FILLED_TWICE, put("a", Content(2, 1))), config)
    assert (outcomes[-1].kind, outcomes[-1].result) == ("made_more_room", (0, 5))
    held = (*FILLED_TWICE, store.Touch("b"), put("a", Content(2, 1)))
    assert last(*held, config=config) == Raised("MemoryError", "enough space")
    assert keys(*held, config=config) == "b"


@pytest.mark.clause("OS-07")
def test_a_put_that_fails_while_copying_leaves_what_was_freed_for_it_free() -> None:
    state, outcomes = run((*THREE, *READ_ALL, store.PutFailing("x", SMALL, while_copying=True)))
    assert outcomes[-1].result == Raised("Exception")
    assert (state.objects, state.ring.next_id) == ((), 3)


@pytest.mark.clause("OS-09", "OS-10", "OS-11", "OS-12", "OS-13", "OS-15")
@pytest.mark.parametrize(
    ("operation", "result"),
    [
        (store.IsCached("a"), True),
        (store.IsCached("x"), False),
        (store.GetCached("b"), (32, 1)),
        (store.GetCached("x"), Raised("KeyError")),
        (store.Signature("a"), True),
        (store.Signature("x"), Raised("KeyError")),
        (store.Touch("a"), None),
        (store.Touch("x"), None),
        (store.ReleaseTouches(), None),
    ],
)
def test_looking_up(operation: Any, result: Any) -> None:
    assert last(*THREE, operation) == result


@pytest.mark.clause("OS-12", "OS-13", "OS-14", "OS-25", "OS-10")
def test_a_touch_protects_until_the_lookup_or_the_release_and_is_no_reference() -> None:
    read = (put("a"), store.Get("a"))
    assert keys(*read, store.FreeUnused()) == ""
    assert keys(*read, store.Touch("a"), store.FreeUnused()) == "a"
    assert keys(*read, store.Touch("a"), store.ReleaseTouches(), store.FreeUnused()) == ""
    assert keys(*read, store.Touch("a"), store.Touch("a"), store.GetCached("a"), store.FreeUnused()) == "a"
    looked_up = (*read, store.Touch("a"), store.GetCached("a"), store.Get("a"), store.FreeUnused())
    assert keys(*looked_up) == ""


@pytest.mark.clause("OS-25", "OS-32")
def test_each_reader_acknowledges_each_reference() -> None:
    config = Config(100, 33, readers=2)
    operations = [put("a"), store.GetCached("a"), *[store.Get("a", reader=number) for number in (0, 1, 1)]]
    assert keys(*operations, store.FreeUnused(), config=config) == "a"
    assert keys(*operations, store.Get("a"), store.FreeUnused(), config=config) == ""


@pytest.mark.clause("OS-25", "OS-27")
def test_a_chunk_that_is_held_holds_back_what_is_behind_it() -> None:
    assert keys(*THREE, *READ_ALL[1:], store.FreeUnused()) == "abc"


@pytest.mark.clause("OS-33")
def test_when_all_is_acknowledged_the_whole_ring_can_be_reclaimed() -> None:
    state, outcomes = run((*THREE, *READ_ALL, store.FreeUnused()))
    assert (outcomes[-1].kind, state.ring.begin, state.ring.end) == ("reclaimed", 0, 0)


@pytest.mark.clause("OS-16", "OS-17", "OS-18", "OS-19")
@pytest.mark.parametrize("call", ["get", "touch", "verify", "reader_verify"])
@pytest.mark.parametrize("forgery", ["other key", "one bit", "huge address", "bool id", "no key"])
def test_a_forged_handle_is_refused_by_whatever_it_is_given_to(call: Any, forgery: Any) -> None:
    before, _ = run([put("a")])
    after, outcome = step(ROOM_FOR_THREE, before, store.Forge("a", forgery, call))
    assert (after, outcome.result) == (before, SIGNATURE)


@pytest.mark.clause("OS-19")
def test_a_bool_is_told_from_a_number_only_where_they_are_equal() -> None:
    assert last(*THREE, store.Forge("a", "bool address")) == SIGNATURE
    assert run((*THREE, store.Forge("b", "bool address")))[1][-1].kind == "disabled"
    assert last(*THREE, store.Forge("b", "bool id")) == SIGNATURE


@pytest.mark.clause("OS-16", "OS-17")
def test_the_writer_wants_the_current_handle_and_a_reader_a_signature() -> None:
    assert last(put("a"), store.Verify("a")) is None
    assert last(put("a"), store.Clear(), store.Verify("a")) == SIGNATURE
    assert last(put("a"), store.Clear(), put("a"), store.Verify("a", back=1)) == SIGNATURE
    assert last(put("a"), store.Clear(), store.Verify("a", on_reader=True)) is None
    assert last(put("a"), store.ReaderTouch("a")) is None
    assert last(put("a"), store.Clear(), store.ReaderTouch("a")) == OneOf((None, MODIFIED))


@pytest.mark.clause("OS-20")
def test_a_read_counts_and_a_read_of_the_writer_does_not() -> None:
    state, outcomes = run((put("a"), store.Get("a"), store.OwnGet("a"), store.Attach("a")))
    assert [outcome.result for outcome in outcomes[1:]] == [SMALL, SMALL, (33, 1, SMALL)]
    assert state.objects[0].reads == 2


@pytest.mark.clause("OS-21", "OS-22", "OS-28", "OS-29")
def test_an_old_handle_reads_its_own_object_or_nothing() -> None:
    """A new chunk at the same place has another id. Whatever now lies there, it is refused."""
    assert last(put("a"), store.Clear(), store.Get("a")) == OneOf((SMALL, MODIFIED))
    assert last(put("a"), store.Clear(), put("b"), store.Get("a")) == MODIFIED
    state, outcomes = run((put("a"), store.Clear(), put("b")))
    assert (outcomes[-1].result, state.ring.next_id) == ((0, 1), 2)
    assert run((*THREE, store.Clear(), put("x", Content(8, 1)), store.Get("b")))[1][-1].kind == "overwritten"


@pytest.mark.clause("OS-22")
def test_a_reader_count_may_look_like_the_id_of_an_old_handle() -> None:
    """b lies at 40, its id is 1; later a chunk begins at 32, whose reader count lies at 40: 1, once read."""
    operations = [put("a", Content(9, 1)), put("b"), store.Clear(), put("a"), put("c")]
    assert run([*operations, store.Get("b")])[1][-1].kind == "overwritten"
    assert run([*operations, store.Get("c"), store.Get("b")])[1][-1][:2] == ("looks_alike", MODIFIED)


@pytest.mark.clause("OS-42")
def test_planted_bytes_lie_where_an_old_handle_points() -> None:
    """The content of a chunk at 0 begins at 31; b lay at 32."""
    config = Config(100, 92)
    planted = store.Plant("x", Content(60, 1), "b", offset=1)
    assert last(*THREE, store.Clear(), planted, store.Get("b"), config=config) == MODIFIED
    assert run((*THREE, store.Clear(), planted, store.Get("b")), config)[1][-1].kind == "planted"
    for elsewhere in (planted, store.Plant("x", Content(60, 1), "b", offset=2)):
        assert run((*THREE, elsewhere), config)[1][-1].kind == "disabled"


@pytest.mark.clause("OS-23", "OS-41")
@pytest.mark.parametrize("is_late", [False, True])
def test_a_clear_overtakes_a_read_and_the_count_lands_nowhere(is_late: bool) -> None:
    state, outcomes = run((put("a"), store.GetOvertaken("a", "b", SMALL, is_late)))
    assert outcomes[-1].result == OneOf((SMALL, MODIFIED))
    assert [(each.key, each.reads) for each in state.objects] == [("b", 0)]


@pytest.mark.clause("OS-08", "OS-24", "OS-34", "OS-35", "OS-36", "OS-37")
def test_what_is_asked_of_a_store_as_a_whole() -> None:
    assert last(store.Put("a", SMALL, is_watched=True)) == (0, 0)
    assert last(store.Unpickle()) == Raised("ValueError")
    assert last(store.AttachWithoutLock()) == Raised("ValueError")
    assert last(store.ReaderWrites("put")) == Raised("Exception")
    assert last(store.ReaderWrites("clear")) == OneOf((None, Raised("Exception")))
    assert last(store.CloseAnother()) == (True, "AssertionError")


@pytest.mark.clause("OS-38", "OS-39", "OS-43", "OS-44", "OS-45")
def test_the_serde_and_another_store_are_asked_and_the_state_stays() -> None:
    asked = (*map(store.Travel, TRAVELLED), *map(store.Damage, DAMAGED))
    state, outcomes = run((put("a"), *asked))
    assert [each.result for each in outcomes[1:]] == [True] * len(asked)
    assert {each.kind for each in outcomes[1:]} == {
        "travelled",
        "foreign",
        "damaged",
        "miscounted",
        "checked",
    }
    assert state == run((put("a"),))[0]


@pytest.mark.clause("OS-10", "OS-30", "OS-31", "OS-26")
def test_what_can_be_observed_of_a_state() -> None:
    state, _ = run(
        (put("a"), put("b", Content(3, 2)), store.Get("a"), store.GetCached("b"), store.Touch("a"))
    )
    assert observe(ROOM_FOR_THREE, state) == {
        "length": 2,
        "reads": (("a", 1), ("b", 0)),
        "order": ("a", "b"),
        "references": (("a", 1), ("b", 2)),
        "touched": ("a",),
        "indexes": ((0, "a"), (1, "b")),
        "chunks": ((0, 0), (1, 32)),
        "headers": ((0, 32), (1, 34)),
        "bounds": (0, 66, 2),
        "contents": (("a", SMALL), ("b", Content(3, 2))),
        "seals": (("a", True), ("b", True)),
        "old_seals": (),
    }


def test_ids_wrap_and_a_handle_whose_id_is_given_again_says_nothing() -> None:
    config = Config(40, 33, id_max=3)
    again = [put("a"), store.Get("a"), store.FreeUnused()] * 3
    assert last(*again, put("b"), config=config) == (0, 0)
    assert run((*again, put("b"), store.Get("a", back=2)), config)[1][-1].kind == "disabled"
    with pytest.raises(ValueError, match="too few"):
        store.initial(Config(100, 33, id_max=3))
    with pytest.raises(ValueError, match="cannot begin with 3"):
        store.initial(Config(40, 33, id_max=3, first_id=3))
    with pytest.raises(ValueError, match="no object fits"):
        store.initial(Config(31, 33))


def test_every_outcome_of_the_tiny_graph_has_a_rule() -> None:
    """What only a ring of more chunks shows, fuzzing meets."""
    found = explore(store, store.PRESETS["tiny"], properties=store.PROPERTIES)
    met = {(operation, kind) for operation, kind in found.taken if kind != "disabled"}
    assert met <= store.RULES.keys()
    unseen = {case for case in store.RULES if not case[1].startswith("as ")} - met
    assert unseen == {("put", "made_more_room")}
    assert found.complete
    assert found.violated == ()
    assert all(verdict.checked for verdict in found.verdicts.values())


@pytest.mark.slow
def test_the_properties_hold_where_chunks_wrap_around() -> None:
    found = explore(store, store.PRESETS["small"], properties=store.PROPERTIES, max_states=10_000)
    assert found.violated == ()


def test_what_is_plainer() -> None:
    for operation, plainer in (
        (store.Put("a", SMALL, is_watched=True), put("a")),
        (store.Plant("a", SMALL, "b", 0), put("a")),
        (store.GetOvertaken("a", "b", SMALL), store.Get("a")),
        (store.Get("a", 1, reader=1), store.Get("a", 1)),
        (store.ReaderTouch("a", reader=1), store.ReaderTouch("a")),
    ):
        assert store.plainer(operation) == (plainer,)
    assert store.plainer(put("a")) == ()
