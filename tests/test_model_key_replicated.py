"""The model of the whole pair: single steps by hand, and what a search finds, protected or not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from mmcache_ref.model import accidents as may
from mmcache_ref.model import drift, key_replicated
from mmcache_ref.model.component import Content, Missed, Op, Outcome, Raised, Refused, tag
from mmcache_ref.model.environment import (
    ACCIDENTS,
    DEFAULT_PROTECTIONS,
    PRESETS,
    PROTECTIONS,
    Config,
    configure,
    request,
)
from mmcache_ref.model.explore import Exploration, explore
from mmcache_ref.model.key_replicated import Deliver, HandleReport, Submit, SubmitAgain, initial, step
from mmcache_ref.model.pair import Feature, Item, State, ingest

PAIR = Config(budget=6, requests=(), depth=4, clears=2, accidents=frozenset(ACCIDENTS))
UNAVOIDABLE = {"clear-p1": {"no-miss"}, "restart-p1": {"no-miss"}}
"""P0 cannot know in time that P1 alone forgot: its next claim is a miss."""
SECONDS = {"second-engine", "second-front-end"}
"""Accidents with a third cache, which multiplies the states."""


def protected(*names: str, budget: int = 6) -> Config:
    return replace(PAIR, budget=budget, protections=frozenset(names))


def run(config: Config, *operations: Any, state: State | None = None) -> tuple[State, list[Outcome]]:
    """The state after the operations, and their outcomes."""
    after = initial(config) if state is None else state
    outcomes = []
    for operation in operations:
        after, outcome = step(config, after, operation)
        outcomes.append(outcome)
    return after, outcomes


def exchange(*names: str) -> list[Op]:
    """A request that is sent and ingested at once."""
    return [Submit(request(*names)), Deliver()]


def keys(state: State) -> tuple[str, str]:
    """The keys of P0 and of P1, least recent first."""
    return "".join(key for key, _ in state.sender), "".join(key for key, _ in state.receiver)


def nbytes(outcome: Outcome) -> list[int | None]:
    """The bytes of each item of a result."""
    return [None if content is None else content.nbytes for content in outcome.result]


def search(
    *names: str, protections: Iterable[str] = (), model: Any = key_replicated, **options: Any
) -> Exploration:
    """The tiny preset with these accidents, searched completely."""
    config = configure("tiny", accidents=names, protections=protections, **options)
    found = explore(model, config, properties=drift.PROPERTIES)
    assert found.complete
    return found


@pytest.fixture(scope="module")
def everything() -> Exploration:
    """Every accident within the pair at once and no protection, one request under way at a time."""
    return search(*set(ACCIDENTS) - SECONDS, depth=1)


# Single steps


@pytest.mark.clause("KR-02", "KR-03", "KR-08", "KR-10", "IF-12")
def test_a_hit_sends_no_payload() -> None:
    state, (sent, stored, claimed, served) = run(PAIR, *exchange("a:2"), *exchange("a:2"))
    assert (sent.kind, nbytes(sent), stored.kind) == ("sent", [2], "sent")
    assert (claimed.kind, nbytes(claimed), served.kind) == ("claimed", [None], "claimed")
    assert nbytes(served) == [2]
    assert keys(state) == ("a", "a")


@pytest.mark.clause("IF-10", "IF-11", "IF-13", "DR-06")
def test_a_request_does_not_push_out_what_it_names_itself() -> None:
    """Budget 6 with a, b, c of 2 bytes; then d, e of one byte, a, c."""
    state, outcomes = run(PAIR, *exchange("a:2", "b:2", "c:2"), *exchange("d", "e", "a:2", "c:2"))
    assert nbytes(outcomes[2]) == [1, 1, None, None]
    assert nbytes(outcomes[3]) == [1, 1, 2, 2]
    assert keys(state) == ("deac", "deac")


@pytest.mark.clause("IF-15", "IF-16", "KR-11", "DR-05", "DR-08")
def test_one_error_names_every_missing_item_and_the_others_are_ingested() -> None:
    """P1 lacks b, d and e when [a data, b, c data, d, e] arrives."""
    lost = [may.Reject(request("b", "d", "e"))]
    state, outcomes = run(PAIR, *lost, *exchange("a", "b", "c", "d", "e"))
    assert nbytes(outcomes[1]) == [1, None, 1, None, None]
    assert outcomes[2][:2] == ("missed", Missed(("b", "d", "e")))
    assert keys(state)[1] == "ac"
    state, outcomes = run(PAIR, HandleReport(), SubmitAgain(), Deliver(), state=state)
    assert nbytes(outcomes[1]) == [None, 1, None, 1, 1]
    assert nbytes(outcomes[2]) == [1, 1, 1, 1, 1]
    assert keys(state) == ("abcde", "abcde")


@pytest.mark.clause("KR-05", "KR-09")
def test_an_item_larger_than_the_budget_is_sent_every_time_and_kept_nowhere() -> None:
    state, outcomes = run(PAIR, *exchange("a"), *exchange("b:7"), *exchange("b:7"))
    assert [outcome.kind for outcome in outcomes[2:]] == ["too-large"] * 4
    assert keys(state) == ("a", "a")


@pytest.mark.clause("KR-04", "DR-12")
def test_without_protection_a_request_that_pushes_out_its_own_member_asserts() -> None:
    state, outcomes = run(protected(budget=10), *exchange("a:4"), Submit(request("b:7", "a:4")))
    assert outcomes[2][:2] == ("asserted", Raised("AssertionError", says="a"))
    assert (keys(state), state.channel) == (("b", "a"), ())


@pytest.mark.clause("KR-13", "KR-14", "DR-12")
def test_a_request_larger_than_the_budget_succeeds_and_leaves_both_sides_in_step() -> None:
    config = protected("keep-touched", budget=10)
    state, outcomes = run(config, *exchange("a:4"), *exchange("b:7", "a:4"))
    assert (outcomes[2].kind, nbytes(outcomes[2])) == ("kept", [7, None])
    assert (outcomes[3].kind, nbytes(outcomes[3])) == ("kept", [7, 4])
    assert keys(state) == ("a", "a")


@pytest.mark.clause("KR-15", "DR-03")
def test_what_a_request_pushed_out_is_not_kept_for_the_next_one() -> None:
    """a is pushed out by b and recorded again, c pushes it out for good: then its data travels."""
    config = protected("keep-touched", budget=10)
    requests = [*exchange("a:4"), *exchange("b:7", "a:4"), *exchange("c:7"), *exchange("a:4")]
    state, outcomes = run(config, *requests)
    assert (outcomes[6].kind, nbytes(outcomes[6])) == ("sent", [4])
    assert keys(state) == ("a", "a")


@pytest.mark.clause("KR-15")
def test_new_data_ends_the_promise_of_the_old() -> None:
    """P1 holds a; new data for a comes, b of the whole budget pushes it out, then a is claimed."""
    new, big, claim = [Item("a", Content(1, 7)), Item("b", Content(2)), Item("a", Content(1))]
    features = (
        Feature(new, True, new.content),
        Feature(big, True, big.content),
        Feature(claim, False, claim.content),
    )
    entries, outcome = ingest(2, True, (("a", Content(1)),), features)
    assert (entries, outcome.result) == ((("b", Content(2)),), Missed(("a",)))


@pytest.mark.clause("DR-02")
def test_an_item_neither_cached_nor_supplied_is_refused_before_anything_changes() -> None:
    absent = request("a", supplied=False)
    state, outcomes = run(PAIR, *exchange("b"), Submit((*request("c"), *absent)))
    assert outcomes[2] == ("unsupplied", Refused(("a",)), ())
    assert (keys(state), state.channel) == (("b", "b"), ())
    state, outcomes = run(PAIR, *exchange("a"), Submit(absent), Deliver())
    assert nbytes(outcomes[3]) == [1]


@pytest.mark.clause("DR-01")
def test_a_request_in_two_halves_is_the_request_in_one() -> None:
    before, _ = run(PAIR, *exchange("a", "b"))
    whole, _ = run(PAIR, Submit(request("c", "a")), state=before)
    halves, _ = run(PAIR, may.Check(request("c", "a")), may.Update(), state=before)
    assert whole == halves


@pytest.mark.clause("DR-04")
def test_only_an_accident_lets_a_message_overtake() -> None:
    both, _ = run(PAIR, Submit(request("a")), Submit(request("b")))
    assert keys(run(PAIR, Deliver(1), Deliver(), state=both)[0])[1] == "ba"
    assert run(replace(PAIR, accidents=frozenset()), Deliver(1), state=both) == (both, [Outcome("disabled")])
    assert run(protected("ordered-delivery"), Deliver(1), state=both) == (both, [Outcome("held-back", False)])


@pytest.mark.clause("DR-13")
def test_a_rollback_brings_back_what_the_refused_request_pushed_out() -> None:
    full, _ = run(PAIR, *exchange("a:2", "b:2", "c:2"))
    for refuse in (may.Reject(request("d:3")), may.DryRun(request("d:3"))):
        assert keys(run(PAIR, refuse, state=full)[0]) == ("cd", "abc")
        assert run(protected("rollback"), refuse, state=full)[0] == full


@pytest.mark.clause("DR-15")
def test_an_old_message_is_served_from_what_it_brings_and_changes_nothing() -> None:
    """[d, a, d] brings d once: the second d is served too; a claim on what P1 forgot is a miss."""
    config = protected("epoch")
    state, _ = run(config, Submit(request("d", "a", "d")), Submit(request("a")), may.ClearP1())
    state, outcomes = run(config, Deliver(), Deliver(), state=state)
    assert (outcomes[0].kind, nbytes(outcomes[0])) == ("set-aside", [1, 1, 1])
    assert outcomes[1].result == Missed(("a",))
    assert keys(state) == ("da", "")
    state, outcomes = run(config, HandleReport(), SubmitAgain(), Deliver(), state=state)
    assert [outcome.kind for outcome in outcomes] == ["cleared", "sent", "sent"]
    assert keys(state) == ("a", "a")


@pytest.mark.clause("DR-15")
def test_a_message_of_a_newer_clear_clears_first_and_the_late_order_is_ignored() -> None:
    config = protected("epoch")
    state, _ = run(config, *exchange("a"), may.ClearBoth(), *exchange("b"))
    assert keys(state) == ("b", "b")
    assert run(config, may.FinishClear(), state=state)[1] == [Outcome("ignored")]
    assert keys(run(config, may.FinishClear(), state=state)[0]) == ("b", "b")


@pytest.mark.clause("DR-16")
def test_p0_groups_by_modality_only_with_the_accident() -> None:
    mixed = request("c", "b", modality={"c": "video"})
    assert keys(run(PAIR, Submit(mixed), Deliver())[0]) == ("bc", "cb")
    assert keys(run(protected("one-order"), Submit(mixed), Deliver())[0]) == ("cb", "cb")


@pytest.mark.clause("DR-17")
def test_what_p0_did_not_record_is_served_and_not_stored() -> None:
    past = [may.Bypass(request("a")), Deliver()]
    assert keys(run(PAIR, *past)[0]) == ("", "a")
    state, outcomes = run(protected("recorded-only"), *past)
    assert (outcomes[1].kind, nbytes(outcomes[1]), keys(state)) == ("unrecorded", [1], ("", ""))


@pytest.mark.clause("DR-18")
def test_nothing_comes_between_check_and_update_when_invalidation_is_serialised() -> None:
    missed = [may.Reject(request("a")), *exchange("a"), may.Check(request("a"))]
    state, _ = run(PAIR, *missed)
    _, outcomes = run(PAIR, HandleReport(), may.Update(), state=state)
    assert outcomes[1][:2] == ("invalidated", Raised("AssertionError", says="a"))
    for operation in (HandleReport(), may.ClearP0(), may.ClearBoth()):
        _, outcomes = run(protected("serialised-invalidation"), operation, state=state)
        assert outcomes == [Outcome("deferred", False)]


@pytest.mark.clause("DR-19")
def test_a_report_is_lost_only_without_protection() -> None:
    state, _ = run(PAIR, may.Reject(request("a")), *exchange("a"))
    after, _ = run(PAIR, may.LoseReport(0), state=state)
    assert (keys(after), after.retries[0].told) == (("a", ""), False)
    told, outcomes = run(protected("report-always"), may.LoseReport(0), state=state)
    assert (keys(told), told.retries[0].told, outcomes) == (("", ""), True, [Outcome("invalidated")])


@pytest.mark.clause("DR-09", "DR-23")
def test_a_retry_that_resends_all_claims_nothing() -> None:
    state, _ = run(PAIR, *exchange("b"), may.Reject(request("a")), *exchange("a", "b"), HandleReport())
    assert nbytes(run(PAIR, SubmitAgain(), state=state)[1][0]) == [1, None]
    assert nbytes(run(protected("resend-all"), SubmitAgain(), state=state)[1][0]) == [1, 1]


@pytest.mark.clause("DR-22")
def test_an_aborted_request_is_ingested_all_the_same_when_protected() -> None:
    sent, _ = run(PAIR, Submit(request("a")))
    assert run(PAIR, may.Abort(0), state=sent)[0].channel == ()
    assert run(protected("ingest-aborted"), may.Abort(0), state=sent) == (sent, [Outcome("still-ingested")])


def test_a_restart_takes_a_number_that_neither_side_had() -> None:
    state, _ = run(PAIR, may.ClearP0(), may.RestartP1())
    assert (state.p0_number, state.p1_number) == (1, 2)


# The alphabet


def test_what_is_not_enabled_is_disabled_and_changes_nothing() -> None:
    config = configure("tiny", accidents=ACCIDENTS)
    letters = key_replicated.alphabet(config)
    state = initial(config)
    enabled = key_replicated.operations(config, state)
    disabled = [letter for letter in letters if letter not in enabled]
    assert {tag(letter) for letter in disabled} >= {"deliver", "retry", "handle-report", "update", "abort"}
    assert all(step(config, state, letter) == (state, Outcome("disabled")) for letter in disabled)


def test_without_accidents_only_ordinary_operations_are_tried() -> None:
    assert {operation for operation, _ in search().taken} == {"submit", "deliver"}


def test_every_outcome_has_its_clauses(everything: Exploration) -> None:
    cases = set(everything.taken)
    for accident, (_, protections) in ACCIDENTS.items():
        for more in ((), ("epoch", "resend-all"), ("recorded-only", "keep-touched")):
            cases |= set(search(accident, "reject", protections=more or protections, depth=1).taken)
    assert cases <= set(key_replicated.RULES)
    assert {kind for _, kind in cases} >= {"outdated", "set-aside", "ignored", "unrecorded", "rolled-back"}


def test_operations_survive_json() -> None:
    for letter in key_replicated.alphabet(configure("tiny", accidents=ACCIDENTS)):
        assert msgspec.json.decode(msgspec.json.encode(letter), type=key_replicated.Operation) == letter


@pytest.mark.parametrize(
    ("options", "known"),
    [
        ({"accidents": ["rejekt"]}, "reject"),
        ({"protections": ["reject"]}, "rollback"),
        ({"preset": "huge"}, "small, tiny"),
    ],
)
def test_an_unknown_name_is_an_error_that_lists_the_known_ones(options: dict[str, Any], known: str) -> None:
    with pytest.raises(ValueError, match=f"unknown .*Known: .*{known}"):
        configure(**options)


def test_a_request_is_tried_only_with_the_accidents_that_it_needs() -> None:
    config = PRESETS["tiny"]
    needs = {tuple(item.key for item in each): config.needs(each) for each in config.requests}
    assert needs["a",] == {"new-content"}
    assert needs["b", "c"] == frozenset()
    assert needs["b", "c", "a"] == {"oversize"}
    assert needs["d",] == {"oversize"}
    assert needs["c", "b"] == {"mixed-modality"}
    assert len(config.possible_requests) == 4
    allowed = replace(config, accidents=frozenset({"new-content"}))
    assert len(allowed.possible_requests) == 5


# What the search finds


@pytest.mark.clause("DR-02", "DR-04", "DR-05", "DR-06", "DR-07", "DR-08", "DR-09", "DR-10", "DR-11", "DR-12")
def test_without_accidents_everything_holds() -> None:
    found = search()
    assert found.violated == ()
    assert found.verdicts["no-miss"].checked > 50


@pytest.mark.parametrize(
    ("accidents", "name", "steps"),
    [
        pytest.param(["reorder"], "in-order", 3, marks=pytest.mark.clause("DR-04")),
        pytest.param(["reject"], "same-order", 1, marks=pytest.mark.clause("DR-06")),
        pytest.param(["reject"], "no-miss", 3, marks=pytest.mark.clause("DR-07")),
        pytest.param(["new-content"], "as-requested", 4, marks=pytest.mark.clause("DR-10")),
        pytest.param(["oversize"], "no-assertion", 2, marks=pytest.mark.clause("DR-12")),
        pytest.param(["reject"], "only-what-was-sent", 1, marks=pytest.mark.clause("DR-13")),
        pytest.param(["dry-run"], "only-what-was-sent", 1, marks=pytest.mark.clause("DR-13")),
        pytest.param(["reorder"], "no-overtaking", 3, marks=pytest.mark.clause("DR-14")),
        pytest.param(["clear-both"], "clears-are-seen", 6, marks=pytest.mark.clause("DR-15")),
        pytest.param(["clear-p0"], "same-order", 3, marks=pytest.mark.clause("DR-15")),
        pytest.param(["mixed-modality"], "one-order", 1, marks=pytest.mark.clause("DR-16")),
        pytest.param(["bypass"], "stores-recorded", 2, marks=pytest.mark.clause("DR-17")),
        pytest.param(["reject", "invalidate-race"], "undisturbed", 6, marks=pytest.mark.clause("DR-18")),
        pytest.param(["reject", "lost-report"], "told-first", 5, marks=pytest.mark.clause("DR-19")),
        pytest.param(["reject", "new-content"], "as-accounted", 6, marks=pytest.mark.clause("DR-20")),
        pytest.param(["second-engine"], "one-peer", 1, marks=pytest.mark.clause("DR-21")),
        pytest.param(["second-engine"], "no-miss", 3, marks=pytest.mark.clause("DR-21")),
        pytest.param(["second-front-end"], "no-miss", 5, marks=pytest.mark.clause("DR-21")),
        pytest.param(["abort"], "aborted-arrive", 2, marks=pytest.mark.clause("DR-22")),
        pytest.param(["abort"], "no-miss", 4, marks=pytest.mark.clause("DR-22")),
        pytest.param(["drop"], "lost-arrive", 2, marks=pytest.mark.clause("DR-24")),
        pytest.param(["drop"], "no-miss", 4, marks=pytest.mark.clause("DR-24")),
        pytest.param(["reject"], "back-in-step", 6, marks=pytest.mark.clause("DR-25")),
        pytest.param(["reject", "lost-report"], "always-one-retry", 6, marks=pytest.mark.clause("DR-23")),
    ],
)
def test_an_accident_breaks_its_clause_by_a_shortest_run(
    accidents: Sequence[str], name: str, steps: int
) -> None:
    found = search(*accidents)
    assert name in found.violated
    assert len(found.verdicts[name].run or ()) - 1 == steps


@pytest.mark.clause(*(f"DR-{number:02}" for number in (6, 7, 10, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 24)))
@pytest.mark.parametrize("accident", sorted(ACCIDENTS))
def test_with_its_protection_an_accident_does_no_harm(accident: str) -> None:
    found = search(accident, protections=ACCIDENTS[accident].protections)
    assert set(found.violated) == UNAVOIDABLE.get(accident, set())


@pytest.mark.parametrize(
    ("accidents", "protections", "name"),
    [
        (["reject", "invalidate-race"], ["serialised-invalidation"], "undisturbed"),
        (["reject", "lost-report"], ["report-always"], "told-first"),
        (["reject", "new-content"], ["rollback"], "as-accounted"),
        (["reject"], ["resend-all"], "always-one-retry"),
        (["abort"], ["resend-all"], "always-one-retry"),
        (["oversize"], ["resend-all"], "always-one-retry"),
        (["reject", "lost-report"], ["resend-all"], "always-one-retry"),
        (["clear-both"], ["epoch"], "same-order"),
        (["clear-both"], ["epoch"], "clears-are-seen"),
    ],
)
def test_a_protection_restores_its_property_whatever_else_is_broken(
    accidents: Sequence[str], protections: Sequence[str], name: str
) -> None:
    assert name in search(*accidents).violated or name == "same-order"
    assert search(*accidents, protections=protections).verdicts[name].verdict == "holds"


@pytest.mark.clause("DR-22")
def test_a_rollback_is_no_protection_against_an_abort() -> None:
    """What was sent after the aborted request may already rely on it."""
    assert "no-miss" in search("abort", protections=["rollback"]).violated


@pytest.mark.clause("DR-14")
def test_that_no_claim_overtakes_its_data_is_not_enough() -> None:
    """[a] and [b, c] swapped, no claim among them: P0 holds b c, P1 c a; the next b is a miss."""
    config = protected(budget=2)
    swapped = [Submit(request("a")), Submit(request("b", "c")), Deliver(1), Deliver()]
    _, outcomes = run(config, *swapped, *exchange("b", "c"))
    assert all(outcome.kind == "sent" for outcome in outcomes[:4])
    assert outcomes[5].result == Missed(("b",))


@pytest.mark.clause("DR-09", "DR-23")
def test_one_retry_may_fail_when_other_requests_are_under_way() -> None:
    """Nothing goes wrong after the first report, and still its retry is missed again."""
    found = search("reject")
    assert "one-retry" not in found.violated
    run_to_failure = found.verdicts["always-one-retry"].run or ()
    names = [tag(each.operation) for each in run_to_failure[1:]]
    reported = next(place for place, each in enumerate(run_to_failure) if each.state.reports)
    assert "reject" not in names[reported:]
    assert run_to_failure[-1].outcome is not None
    assert isinstance(run_to_failure[-1].outcome.result, Missed)


@pytest.mark.clause("DR-08", "DR-09", "DR-11")
def test_with_every_accident_the_unconditional_clauses_hold(everything: Exploration) -> None:
    assert {"refused-first", "exact-miss", "one-retry", "sound-caches"}.isdisjoint(everything.violated)
    assert min(everything.verdicts[name].checked for name in ("exact-miss", "one-retry")) > 100


@pytest.mark.slow
@pytest.mark.clause("DR-06", "DR-07", "DR-09", "DR-10", "DR-15", "DR-20", "DR-23")
def test_with_every_protection_every_accident_that_can_be_stopped_does_no_harm() -> None:
    assert search(*set(ACCIDENTS) - set(UNAVOIDABLE), protections=PROTECTIONS, clears=2).violated == ()
    assert search(*ACCIDENTS, protections=PROTECTIONS).violated == ("no-miss",)


@pytest.mark.clause("DR-25")
@pytest.mark.parametrize(
    ("protection", "accidents", "clause", "steps"),
    [
        ("rollback", ["reject"], "DR-13", 1),
        ("one-order", ["mixed-modality"], "DR-16", 1),
        ("paired", ["second-engine"], "DR-21", 1),
        ("ingest-aborted", ["abort"], "DR-22", 2),
        ("keep-data-until-sent", ["drop"], "DR-24", 2),
        ("ordered-delivery", ["reorder"], "DR-04", 3),
        ("recorded-only", ["bypass"], "DR-17", 2),
        ("epoch", ["clear-p0"], "DR-06", 3),
        ("serialised-invalidation", ["invalidate-race", "restart-p1"], "DR-18", 7),
        ("report-always", ["lost-report", "restart-p1"], "DR-19", 6),
        ("keep-touched", ["oversize"], "DR-12", 2),
        ("resend-all", ["clear-p1"], "DR-23", 14),
    ],
)
def test_each_default_protection_is_needed(
    protection: str, accidents: list[str], clause: str, steps: int
) -> None:
    """The table of spec/05: what falls without it, though all the others are kept, and by how short a run."""
    found = search(*accidents, protections=DEFAULT_PROTECTIONS - {protection}, clears=2)
    runs = {
        verdict.property.clause: verdict.run for verdict in found.verdicts.values() if verdict.run is not None
    }
    assert len(runs[clause]) - 1 == steps
    complete = search(*accidents, protections=["default"], clears=2)
    assert set(complete.violated) <= {"no-miss"}


@pytest.mark.slow
@pytest.mark.clause("DR-06", "DR-09", "DR-12", "DR-20", "DR-23", "DR-25")
def test_with_the_default_protections_every_accident_costs_one_miss_and_one_retry() -> None:
    """`as-requested` is a client's own lie (DR-10); `no-miss` is P1 that forgot on its own."""
    assert search("all", protections=["default"]).violated == ("no-miss", "as-requested")


# Each property can fail


def spoiled(breaks: Any) -> Any:
    """The model with one rule broken: `breaks` is given each step and returns another."""

    def broken_step(config: Config, state: State, operation: Any) -> tuple[State, Outcome]:
        return breaks(config, state, operation, *step(config, state, operation))  # type: ignore[no-any-return]

    return SimpleNamespace(
        NAME=key_replicated.NAME,
        initial=initial,
        operations=key_replicated.operations,
        step=broken_step,
        view=key_replicated.view,
    )


Stepped = tuple[State, Outcome]


def sends_what_it_lacks(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    if outcome.kind != "unsupplied":
        return after, outcome
    return before._replace(sender=(*before.sender, ("a", Content(1)))), outcome


def stops_at_the_first_miss(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    if not isinstance(outcome.result, Missed):
        return after, outcome
    first = outcome.result.hashes[:1]
    report = after.reports[-1]._replace(missing=first)
    return after._replace(reports=(*after.reports[:-1], report)), Outcome("missed", Missed(first))


def invalidates_nothing(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    return (after._replace(sender=before.sender) if isinstance(operation, HandleReport) else after), outcome


def stores_twice(config: Config, before: State, operation: Any, after: State, outcome: Outcome) -> Stepped:
    if not isinstance(operation, Deliver):
        return after, outcome
    return after._replace(receiver=(*after.receiver, *after.receiver)[:4]), outcome


@pytest.mark.parametrize(
    ("breaks", "name"),
    [
        pytest.param(sends_what_it_lacks, "refused-first", marks=pytest.mark.clause("DR-02")),
        pytest.param(invalidates_nothing, "all-invalidated", marks=pytest.mark.clause("DR-05")),
        pytest.param(invalidates_nothing, "one-retry", marks=pytest.mark.clause("DR-09")),
        pytest.param(stops_at_the_first_miss, "exact-miss", marks=pytest.mark.clause("DR-08")),
        pytest.param(stops_at_the_first_miss, "one-retry", marks=pytest.mark.clause("DR-09")),
        pytest.param(stores_twice, "sound-caches", marks=pytest.mark.clause("DR-11")),
    ],
)
def test_a_broken_rule_is_found(breaks: Any, name: str) -> None:
    config = configure("tiny", accidents=["reject"])
    found = explore(spoiled(breaks), config, properties=drift.PROPERTIES, max_states=2000)
    assert name in found.violated
    assert name not in search("reject").violated


def unprotected(config: Config, state: State, operation: Any) -> Stepped:
    return step(replace(config, protections=config.protections - {"epoch"}), state, operation)


def stores_what_is_old(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    return unprotected(config, before, operation) if outcome.kind == "set-aside" else (after, outcome)


def invalidates_by_old_reports(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    return unprotected(config, before, operation) if outcome.kind == "outdated" else (after, outcome)


def restarts_with_its_own_next_number(
    config: Config, before: State, operation: Any, after: State, outcome: Outcome
) -> Stepped:
    if outcome.kind != "restarted":
        return after, outcome
    return after._replace(p1_number=before.p1_number + 1), outcome


@pytest.mark.clause("DR-15")
@pytest.mark.parametrize(
    ("breaks", "accidents", "name"),
    [
        (stores_what_is_old, ["clear-p1"], "same-order"),
        (invalidates_by_old_reports, ["clear-p0", "clear-p1"], "clears-are-seen"),
        (restarts_with_its_own_next_number, ["clear-p0", "restart-p1"], "clears-are-seen"),
    ],
)
def test_each_rule_of_the_epoch_is_needed(breaks: Any, accidents: Sequence[str], name: str) -> None:
    assert name not in search(*accidents, protections=["epoch"], clears=2).violated
    found = search(*accidents, protections=["epoch"], clears=2, model=spoiled(breaks))
    assert name in found.violated
