"""The model of the shared-memory caches in their protocol: single steps by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from mmcache_ref.model import shm_caches
from mmcache_ref.model.component import Content, Missed, Outcome, Raised, Refused, tag
from mmcache_ref.model.shm_accidents import (
    Abort,
    Clear,
    Die,
    Finish,
    Forge,
    Read,
    Reject,
    Replay,
    Resume,
    Strip,
    Submit,
    SubmitAgain,
)
from mmcache_ref.model.shm_caches import initial, observe, step, view
from mmcache_ref.model.shm_environment import ACCIDENTS, DEFAULT_PROTECTIONS, PROTECTIONS, Config, configure
from mmcache_ref.model.shm_requests import Feature, Item, Request, State, request
from mmcache_ref.model.shm_sending import Updated, break_off

RING = Config(capacity=6, limit=4, requests=(), depth=4, accidents=frozenset(ACCIDENTS))
STALE = Raised("ValueError", says="modified or is invalid")
FORGED = Raised("ValueError", says="SHM handle signature")


def ring(*protections: str, **options: Any) -> Config:
    """A ring of six units, every accident possible, with these protections."""
    return replace(RING, protections=frozenset(protections), **options)


def run(config: Config, *operations: Any, state: State | None = None) -> tuple[State, list[Outcome]]:
    """The state after the operations, and their outcomes."""
    after = initial(config) if state is None else state
    outcomes = []
    for operation in operations:
        after, outcome = step(config, after, operation)
        outcomes.append(outcome)
    return after, outcomes


def after(config: Config, *operations: Any, state: State | None = None) -> State:
    """The state after the operations, all of which are enabled."""
    state, outcomes = run(config, *operations, state=state)
    assert all(outcome.kind != "disabled" for outcome in outcomes)
    return state


def whole(*names: str) -> list[Any]:
    """A request from its check to its end."""
    return [Submit(request(*names)), Read(0, 0), Read(0, 1), Finish()]


def entries(state: State) -> list[tuple[str, int, int]]:
    """Key, references and reader count of each chunk, oldest first."""
    return [(entry.key, entry.references, entry.acknowledged) for entry in state.store.entries]


def how(outcome: Outcome) -> list[str]:
    """How each item travels."""
    return [carried.how for carried in outcome.result]


def contents(asked: Request) -> tuple[Any, ...]:
    """What a worker must get for a request."""
    return tuple([item.content for item in asked])


# Requests


@pytest.mark.clause("SC-25", "SC-28", "SC-29", "SC-31", "SC-34", "SC-35")
def test_a_request_is_handed_out_read_by_every_worker_and_runs() -> None:
    asked = request("a", "b:2")
    state, (sent, first, second, finished) = run(RING, Submit(asked), Read(0, 0), Read(0, 1), Finish())
    assert (sent.kind, how(sent)) == ("put", ["handle", "handle"])
    assert first == second == Outcome("acknowledged", contents(asked))
    assert finished.kind == "finished"
    assert entries(state) == [("a", 1, 2), ("b", 1, 2)]
    assert (state.channel, state.running) == ((), ())


@pytest.mark.clause("SC-28", "SC-34")
def test_a_hit_takes_one_more_reference_and_each_place_in_a_request_has_its_own() -> None:
    """[c, a, c] after a: two references of c, and a second one of a."""
    state = after(RING, *whole("a"), Submit(request("c", "a", "c")))
    assert entries(state) == [("a", 2, 2), ("c", 2, 0)]
    assert entries(after(RING, Read(0, 1), state=state)) == [("a", 2, 3), ("c", 2, 2)]
    assert (state.store.hits, state.store.total) == (2, 4)


@pytest.mark.clause("SC-26")
def test_an_item_neither_stored_nor_supplied_is_refused_before_anything_changes() -> None:
    state = after(RING, *whole("a"))
    refused, outcomes = run(RING, Submit((*request("c"), *request("b", "a", supplied=False))), state=state)
    assert outcomes == [Outcome("unsupplied", Refused(("b",)))]
    assert refused == state
    assert run(RING, Submit(request("a", supplied=False)), state=state)[1][0].kind == "hit"


@pytest.mark.clause("SC-36")
def test_one_pass_frees_up_to_twice_the_limit_and_then_what_is_needed() -> None:
    """Ring of 6, limit 1: six read chunks of 1; the next put frees two. A limit of 4 frees them all."""
    six = [operation for name in "abcdef" for operation in whole(name)]
    state = after(ring(limit=1), *six, Submit(request("g")))
    assert [key for key, *_ in entries(state)] == ["c", "d", "e", "f", "g"]
    assert [key for key, *_ in entries(after(RING, *six, Submit(request("g"))))] == ["g"]


@pytest.mark.clause("SC-36")
def test_a_chunk_may_begin_in_the_next_lap_and_leave_a_gap() -> None:
    """Ring of 5: a of 1 and b of 2 are read, c of 1 at 3 is not; d of 2 does not fit behind it."""
    config = ring(capacity=5, limit=2)
    state = after(config, *whole("a"), *whole("b:2"), Submit(request("c")), Submit(request("d:2")))
    assert entries(state) == [("c", 1, 0), ("d", 1, 0)]
    assert observe(config, state)["layout"] == ((3, 1), (0, 2))
    assert observe(config, state)["ring"] == (3, 7)


@pytest.mark.clause("SC-36")
def test_an_item_travels_with_its_data_only_when_an_unread_chunk_is_in_the_way() -> None:
    """Ring of 6: a of 2 unread, b of 4 read; c of 1 finds no room, and goes uncached; a read: it does."""
    config = ring()
    state = after(config, Submit(request("a:2")), *[Submit(request("b:4")), Read(1, 0), Read(1, 1)])
    full, outcomes = run(config, Submit(request("c")), state=state)
    assert (outcomes[0].kind, how(outcomes[0])) == ("no-room", ["item"])
    assert entries(full) == [("a", 1, 0), ("b", 1, 2)]
    assert run(config, Read(0, 0), Read(0, 1), Submit(request("c")), state=state)[1][2].kind == "put"


@pytest.mark.clause("SC-25", "SC-36")
def test_a_request_does_not_push_out_what_it_names_itself() -> None:
    """Ring of 6 with a of 4, read; [b of 4, a]: a is touched, so b goes uncached and a is a hit."""
    state, outcomes = run(RING, *whole("a:4"), Submit(request("b:4", "a:4")))
    assert (outcomes[4].kind, how(outcomes[4])) == ("no-room", ["item", "handle"])
    assert entries(state) == [("a", 2, 2)]


@pytest.mark.clause("SC-37")
@pytest.mark.parametrize("config", [ring(), ring(capacity=3)], ids=["over the limit", "over the ring"])
def test_what_can_never_be_stored_travels_with_its_data_and_frees_nothing(config: Config) -> None:
    large = request("d:5" if config.capacity == 6 else "d:4")
    state = after(config, *whole("a"), *whole("b"))
    sent, outcomes = run(config, Submit(large), Read(0, 0), state=state)
    assert (outcomes[0].kind, how(outcomes[0])) == ("too-large", ["item"])
    assert outcomes[1] == Outcome("passed", contents(large))
    assert (sent.store.ring, sent.store.entries) == (state.store.ring, state.store.entries)
    assert sent.store.total == state.store.total + 1


def test_after_wrong_counts_p0_may_lack_what_it_had_at_the_check() -> None:
    """a is read four times for one reference, so even its second reference is paid; [a, b of 6, a]."""
    config = ring(limit=6)
    state = after(config, Submit(request("a"), 2), Read(0, 0), Read(0, 0), Read(0, 1), Read(0, 1))
    after_assertion, outcomes = run(config, Submit(request("a", "b:6", "a")), state=state)
    assert outcomes[0][:2] == ("asserted", Raised("AssertionError", says="a"))
    assert after_assertion.channel == ()
    assert [key for key, *_ in entries(after_assertion)] == ["b"]


@pytest.mark.clause("SC-38")
@pytest.mark.parametrize("refused", [Submit, Reject])
def test_what_a_request_was_given_before_an_assertion_is_released(refused: Any) -> None:
    """As before; the first handle of a is gone by then, so the worker must live on."""
    config = ring("release-on-abort", "recoverable-miss", limit=6)
    read_twice = [Submit(request("a"), 2), Read(0, 0), Read(0, 0), Read(0, 1), Read(0, 1)]
    state, outcomes = run(
        config, refused(request("a", "b:6", "a")), Read(0, 1), Read(0, 0), state=after(config, *read_twice)
    )
    assert [outcome.kind for outcome in outcomes] == ["asserted", "dropped", "dropped"]
    assert (entries(state), state.channel) == ([("b", 1, 2)], ())


@pytest.mark.clause("SC-38")
def test_after_an_assertion_there_is_no_release_of_what_needs_none() -> None:
    """An item that is too large travels itself."""
    config = ring("release-on-abort")
    state = initial(config)
    inline = Feature(Item("b", Content(7, 1)), None)
    updated = Updated(state.store, (inline,), frozenset({"too-large", "asserted"}), None)
    assert break_off(config, state, updated, 1)[0] == state


# Accidents and protections


@pytest.mark.clause("SC-38")
@pytest.mark.parametrize("refuse", [[Reject(request("a"))], [Submit(request("a")), Abort()]])
def test_a_request_that_ends_early_strands_its_reference_or_is_released(refuse: list[Any]) -> None:
    state = after(ring(), *refuse)
    assert (entries(state), state.channel) == ([("a", 1, 0)], ())
    protected = ring("release-on-abort")
    state, outcomes = run(protected, *refuse, Read(0, 1), Read(0, 0))
    assert outcomes[-2:] == [Outcome("dropped", ())] * 2
    assert (entries(state), state.channel, state.running) == ([("a", 1, 2)], (), ())


@pytest.mark.clause("SC-38")
def test_a_worker_that_has_read_owes_nothing_of_an_aborted_request() -> None:
    config = ring("release-on-abort")
    state = after(config, Submit(request("a"), 2), Read(0, 0), Abort())
    assert (state.channel[0].left, state.channel[0].is_release) == ((0, 1), True)
    assert (
        after(config, Read(0, 1), Abort(0), state=after(config, Submit(request("a"), 2), Read(0, 0))).channel
        == ()
    )


@pytest.mark.clause("SC-39", "SC-34")
def test_the_children_of_a_request_acknowledge_once() -> None:
    state = after(ring(), Submit(request("a"), 2), Read(0, 0), Read(0, 0))
    assert entries(state) == [("a", 1, 2)]
    state, outcomes = run(ring("one-acknowledgement"), Submit(request("a"), 2), Read(0, 0), Read(0, 0))
    assert [outcome.kind for outcome in outcomes[1:]] == ["acknowledged", "kept"]
    assert outcomes[1].result == outcomes[2].result == contents(request("a"))
    assert entries(state) == [("a", 1, 1)]


@pytest.mark.clause("SC-40")
def test_a_request_that_resumes_is_served_from_what_was_kept() -> None:
    running = [Submit(request("a")), Read(0, 0), Read(0, 1)]
    again = (contents(request("a")),) * 2
    state, outcomes = run(ring(), *running, Resume())
    assert (outcomes[3], entries(state)) == (Outcome("acknowledged", again), [("a", 1, 4)])
    state, outcomes = run(ring("handle-until-done"), *running, Resume(), Resume())
    assert (outcomes[3], entries(state)) == (Outcome("kept", again), [("a", 1, 2)])
    assert outcomes[4].kind == "disabled"


@pytest.mark.clause("SC-40", "SC-42")
def test_without_what_was_kept_a_resumed_request_may_find_its_chunk_gone() -> None:
    gone = [Submit(request("a")), Read(0, 0), Read(0, 1), Clear()]
    assert run(ring(), *gone, Resume())[1][4] == Outcome("died", STALE)
    state, outcomes = run(ring("recoverable-miss"), *gone, Resume())
    assert outcomes[4] == Outcome("missed", Missed(("a",)))
    assert (state.running, [retry.request for retry in state.retries]) == ((), [request("a")])


@pytest.mark.clause("SC-41")
def test_a_clear_waits_for_the_handles_under_way() -> None:
    state = after(ring(), Submit(request("a")), Clear())
    assert (entries(state), state.store.total) == ([], 0)
    config = ring("drained-clear")
    sent = after(config, Submit(request("a")), Read(0, 0))
    assert run(config, Clear(), state=sent) == (sent, [Outcome("deferred", False)])
    assert entries(after(config, Read(0, 1), Clear(), state=sent)) == []
    uncached = after(config, Submit(request("d:5")))
    assert run(config, Clear(), state=uncached)[1][0].kind == "cleared"


@pytest.mark.clause("SC-33", "SC-42", "SC-45")
def test_a_chunk_that_is_gone_is_a_miss_that_one_retry_recovers() -> None:
    """[a, b, c] is cleared away, then b is put again, under another id: all three handles are gone."""
    config = ring("recoverable-miss")
    asked = request("a", "b", "c")
    state = after(config, Submit(asked), Clear(), Submit(request("b")), Read(1, 0))
    state, outcomes = run(config, Read(0, 1), Read(0, 0), state=state)
    assert outcomes == [Outcome("missed", Missed(("a", "b", "c")))] * 2
    assert entries(state) == [("b", 1, 1)]
    state, outcomes = run(config, SubmitAgain(), Read(1, 0), Read(1, 1), state=state)
    assert how(outcomes[0]) == ["item"] * 3
    assert [outcome.result for outcome in outcomes[1:]] == [contents(asked)] * 2
    assert entries(state) == [("b", 1, 1)]


@pytest.mark.clause("SC-33", "SC-42")
def test_what_is_in_place_is_acknowledged_although_something_else_is_gone() -> None:
    """The children of [a] pay for the reference of [a, b] too: a goes, b stays."""
    config = ring("recoverable-miss", capacity=3, limit=2)
    state = after(config, Submit(request("a"), 2), Read(0, 0), Submit(request("a", "b")), Read(0, 0))
    state = after(config, Read(0, 1), Read(0, 1), state=state)
    assert entries(state) == [("a", 2, 4), ("b", 1, 0)]
    state = after(config, Submit(request("c:2")), state=state)
    assert [key for key, *_ in entries(state)] == ["b"]
    state, outcomes = run(config, Read(0, 1), state=state)
    assert outcomes == [Outcome("missed", Missed(("a",)))]
    assert entries(state) == [("b", 1, 1)]


@pytest.mark.clause("SC-42")
def test_without_protection_a_worker_dies_of_a_chunk_that_is_gone_and_so_does_the_engine() -> None:
    state, outcomes = run(ring(), Submit(request("a")), Clear(), Read(0, 0), Submit(request("a")))
    assert outcomes[2:] == [Outcome("died", STALE), Outcome("disabled")]
    assert observe(RING, state)["dead"] is True
    assert shm_caches.operations(ring(), state) == []


@pytest.mark.clause("SC-30")
def test_payloads_are_stripped_and_handles_stay() -> None:
    """[a, d of 5]: d travels with its data. Stripped, d is None; unprotected, a loses its handle too."""
    asked = [Submit(request("a", "d:5")), Strip()]
    state, outcomes = run(ring("keep-handles"), *asked, Read(0, 0))
    assert outcomes[2] == Outcome("acknowledged", (contents(request("a"))[0], None))
    state, outcomes = run(ring(), *asked, Read(0, 0), Read(0, 1))
    assert outcomes[3] == Outcome("passed", (None, None))
    assert entries(state) == [("a", 1, 0)]
    assert run(ring("keep-handles"), Submit(request("a")), Strip())[1][1].kind == "handles-kept"
    assert run(ring(), Submit(request("a")), Read(0, 0), Strip())[1][2].kind == "disabled"


@pytest.mark.clause("SC-43")
def test_a_clients_handle_takes_a_reference_of_its_own() -> None:
    state, outcomes = run(ring(), *whole("a"), Replay("a"), Read(0, 0))
    assert (outcomes[4].kind, how(outcomes[4])) == ("accepted", ["handle"])
    assert entries(state) == [("a", 1, 3)]
    state, outcomes = run(ring("validated-handle"), *whole("a"), Replay("a"), Read(0, 0))
    assert (outcomes[4].kind, how(outcomes[4])) == ("referenced", ["handle"])
    assert entries(state) == [("a", 2, 3)]


@pytest.mark.clause("SC-27")
def test_a_handle_that_is_not_current_is_refused_and_so_is_a_forged_one() -> None:
    assert run(RING, *whole("a"), Replay("a", is_outdated=True))[1][4].kind == "disabled"
    cleared = after(RING, *whole("a"), Clear())
    for operations in ([], whole("a")):
        state = after(RING, *operations, state=cleared)
        assert run(RING, Replay("a", is_outdated=True), state=state) == (state, [Outcome("refused", FORGED)])
    assert run(RING, Forge("a"), state=cleared)[1][0].kind == "disabled"
    stored = after(RING, *whole("a"))
    assert run(RING, Forge("a", "unsigned"), state=stored) == (stored, [Outcome("refused", FORGED)])
    shown = Outcome("refused-by-worker", FORGED)
    assert run(RING, Forge("a", "out-of-range", "worker"), state=stored) == (stored, [shown])


@pytest.mark.clause("SC-44")
def test_a_dead_worker_takes_what_it_owed_with_it() -> None:
    """a is read by worker 0 alone, b by nobody, c by both; worker 1 dies."""
    begun = [Submit(request("a")), Read(0, 0), Submit(request("b")), *whole("c")[:1], Read(2, 0), Read(2, 1)]
    state, outcomes = run(ring(), *begun, Die(1), Read(0, 0))
    assert [outcome.kind for outcome in outcomes[-2:]] == ["restarted", "dropped"]
    assert entries(state) == [("a", 1, 1), ("b", 1, 1), ("c", 1, 2)]
    assert (state.channel, state.running, state.retries) == ((), (), ())
    config = ring("clear-on-death", "recoverable-miss")
    state = after(config, *begun, Die(1))
    assert (entries(state), state.running) == ([], ())
    assert [retry.request[0].key for retry in state.retries] == ["a", "b", "c"]
    assert run(config, Read(0, 0), state=state)[1] == [Outcome("dropped", ())]


@pytest.mark.clause("SC-42", "SC-44")
def test_a_survivor_may_find_chunks_gone_that_it_still_has_in_its_queue() -> None:
    died = [Submit(request("a")), Die(0), Read(0, 1)]
    assert run(ring("clear-on-death"), *died)[1][2] == Outcome("died", STALE)
    assert run(ring("clear-on-death", "recoverable-miss"), *died)[1][2] == Outcome("dropped", ())


# The alphabet, what is seen, and what identifies a state


def test_what_is_not_enabled_is_disabled_and_changes_nothing() -> None:
    config = configure("tiny", accidents=["all"])
    state = initial(config)
    enabled = shm_caches.operations(config, state)
    disabled = [letter for letter in shm_caches.alphabet(config) if letter not in enabled]
    assert {tag(letter) for letter in enabled} == {"submit", "reject", "clear", "worker-death"}
    assert all(step(config, state, letter) == (state, Outcome("disabled")) for letter in disabled)


@pytest.mark.parametrize("asked", [(), request("a:0"), request("a", "b:0")])
def test_no_request_is_empty_or_has_empty_items(asked: Request) -> None:
    assert run(RING, Submit(asked), Reject(asked))[1] == [Outcome("disabled")] * 2


def test_operations_survive_json() -> None:
    for letter in shm_caches.alphabet(configure("tiny", accidents=["all"])):
        assert msgspec.json.decode(msgspec.json.encode(letter), type=shm_caches.Operation) == letter


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ({"accidents": ["rejekt"]}, "unknown accident: rejekt. Known: abort, .*worker-death"),
        ({"protections": ["reject"]}, "unknown protection: reject. Known: .*release-on-abort"),
        ({"preset": "huge"}, "unknown preset: huge. Known: low-limit, small, tiny"),
        ({"clears": 2}, "counts no clears"),
        ({"depth": 0}, "at least 1"),
    ],
)
def test_a_wrong_configuration_is_an_error_that_says_what_is_right(options: Any, known: str) -> None:
    with pytest.raises(ValueError, match=known):
        configure(**options)


def test_every_accident_is_stopped_by_protections_that_there_are() -> None:
    assert {name for accident in ACCIDENTS.values() for name in accident.protections} == set(PROTECTIONS)
    assert set(PROTECTIONS) == DEFAULT_PROTECTIONS


def test_ids_laps_and_past_references_do_not_tell_states_apart() -> None:
    once, often = after(RING, *whole("a")), after(RING, *whole("a"), *whole("a"))
    again = after(RING, *whole("b"), Clear(), *whole("a"))
    assert once != often != again
    assert view(once) == view(often) == view(again)
    assert view(after(RING, Submit(request("a")), Read(0, 0))) == view(
        after(RING, Submit(request("a")), Read(0, 1))
    )
    assert view(once) != view(after(RING, Submit(request("a")), Read(0, 0)))


def test_what_is_seen_of_a_state() -> None:
    """Ring of 4, limit 1: a and c are stored; in [a, d of 2] a is a hit, and d is too large."""
    config = ring(capacity=4, limit=1)
    state = after(config, *whole("a"), Submit(request("c")), Submit(request("a", "d:2")), Read(1, 1))
    assert observe(config, state) == {
        "dead": False,
        "hits": 1,
        "total": 4,
        "length": 2,
        "keys": ("a", "c"),
        "references": (2, 1),
        "counts": (3, 0),
        "layout": ((0, 1), (1, 1)),
        "ring": (0, 2),
        "under-way": (2, 0, 0),
        "channel": (
            ((("c", "handle"),), (1, 1), False),
            ((("a", "handle"), ("d", "item")), (1, 0), False),
        ),
    }
