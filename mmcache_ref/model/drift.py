"""What users of the pair rely on, as properties of a search.   [spec/05-drift.md]

Each property is judged from what can be seen: the state before and after, the operation, what was returned.
None of them asks the step functions what should have happened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any

from . import entries as moves
from .accident_steps import AWAITS_CLEAR, DEFERRED, HELD_BACK
from .accidents import Update
from .component import Missed, Outcome, Raised
from .entries import Entries, is_sound
from .environment import Config
from .explore import Property
from .key_replicated import Deliver, HandleReport, SubmitAgain
from .pair import MEMO, Feature, State
from .recovery import always_one_retry, back_in_step, is_quiet, is_recoverable, one_retry

UPDATES = frozenset({"submit", "retry", "update"})
REFUSALS = frozenset({"reject", "dry-run"})
SECONDS = frozenset({"second-front-end", "second-engine"})
DELIVER = frozenset({"deliver"})

StepProperty = Callable[[Config, State, Any, Outcome, State], bool | None]


def of_ingested(holds: StepProperty) -> StepProperty:
    """The property, asked only of messages that P1 took."""

    @wraps(holds)
    def asked(config: Config, before: State, operation: Any, outcome: Outcome, after: State) -> bool | None:
        if outcome is HELD_BACK or outcome is AWAITS_CLEAR:
            return None
        return holds(config, before, operation, outcome, after)

    return asked


def counted(config: Config, state: State) -> tuple[Entries, Entries]:
    """The entries of both sides that count: with `epoch`, none of a side whose number is older.   [DR-15]"""
    if config.by_epoch and state.p0_number != state.p1_number:
        if state.p0_number < state.p1_number:
            return (), state.receiver
        return state.sender, ()
    return state.sender, state.receiver


def same_order(config: Config, state: State) -> bool | None:
    """Whenever nothing is under way, both sides hold the same keys in the same order.   [DR-06]"""
    if not is_quiet(state):
        return None
    sender, receiver = counted(config, state)
    return moves.keys(sender) == moves.keys(receiver)


@of_ingested
def no_miss(config: Config, before: State, operation: Deliver, outcome: Outcome, after: State) -> bool:
    """P1 never misses.   [DR-07]"""
    return type(outcome.result) is not Missed


@of_ingested
def exact_miss(
    config: Config, before: State, operation: Deliver, outcome: Outcome, after: State
) -> bool | None:
    """A miss names exactly the items that P1 could not serve, in order.   [DR-08]

    What P1 could serve is worked out from the state before: a dictionary of ages, no entries moved.
    """
    message = before.channel[operation.position]
    if config.by_epoch and message.number < before.p1_number:
        expected = unbrought(message.features)
    else:
        held = () if config.by_epoch and message.number > before.p1_number else before.receiver
        expected = unserved(config.budget, config.keep_touched, held, message.features)
    missed = outcome.result.hashes if type(outcome.result) is Missed else ()
    return missed == expected if expected or missed else None


@lru_cache(MEMO)
def unbrought(features: tuple[Feature, ...]) -> tuple[str, ...]:
    """The keys that come without data, not even earlier in the same message, in order.   [DR-08]"""
    named = [(feature.item.key, feature.sent) for feature in features]
    return tuple(
        [key for place, (key, sent) in enumerate(named) if not sent and (key, True) not in named[:place]]
    )


@lru_cache(MEMO)
def unserved(
    budget: int, keep_touched: bool, held: Entries, features: tuple[Feature, ...]
) -> tuple[str, ...]:
    """The keys that come without data and cannot be served, in order.   [DR-08]"""
    sizes = {key: content.nbytes for key, content in held}
    age = {key: place - len(held) for place, (key, _) in enumerate(held)}
    named = [feature.item.key for feature in features]
    age.update({key: place for place, key in enumerate(named) if key in age})
    promised = {key: sizes[key] for key in named if key in sizes} if keep_touched else {}
    missing = []
    for place, feature in enumerate(features, len(features)):
        key = feature.item.key
        if feature.sent:
            promised.pop(key, None)
            age.pop(key, None)
            sizes[key] = feature.item.content.nbytes
        elif key not in age and key not in promised:
            missing.append(key)
            continue
        else:
            sizes[key] = sizes[key] if key in age else promised[key]
        if key not in age and sizes[key] <= budget:
            while age and sum(sizes[other] for other in age) + sizes[key] > budget:
                del age[min(age, key=age.__getitem__)]
            age[key] = place
        elif key in age:
            age[key] = place
    return tuple(missing)


@of_ingested
def as_requested(
    config: Config, before: State, operation: Deliver, outcome: Outcome, after: State
) -> bool | None:
    """What is served has the content that was requested.   [DR-10]"""
    if type(outcome.result) is not tuple:
        return None
    for content, feature in zip(outcome.result, before.channel[operation.position].features, strict=True):
        if content != feature.item.content:
            return False
    return True


@of_ingested
def as_accounted(
    config: Config, before: State, operation: Deliver, outcome: Outcome, after: State
) -> bool | None:
    """What is served has the content that P0 accounted for when it sent the request.   [DR-20]"""
    if type(outcome.result) is not tuple:
        return None
    for content, feature in zip(outcome.result, before.channel[operation.position].features, strict=True):
        if content != feature.accounted:
            return False
    return True


def sound_caches(config: Config, state: State) -> bool:
    """Neither side holds more than its budget, or a key twice.   [DR-11]"""
    return is_sound(config.budget, state.sender) and is_sound(config.budget, state.receiver)


def refused_first(
    config: Config, before: State, operation: Any, outcome: Outcome, after: State
) -> bool | None:
    """A request with an item that is neither cached nor supplied changes nothing.   [DR-02]"""
    held = moves.keys(before.sender)
    if all(item.supplied or item.key in held for item in operation.request):
        return None
    return after == before


@of_ingested
def in_order(config: Config, before: State, operation: Deliver, outcome: Outcome, after: State) -> bool:
    """What P1 ingests is the oldest that was sent.   [DR-04]"""
    return after.channel == before.channel[1:]


def all_invalidated(
    config: Config, before: State, operation: HandleReport, outcome: Outcome, after: State
) -> bool | None:
    """After a report P0 claims none of the hashes that it names.   [DR-05]

    With `epoch`, a report of a message from before P0's last clear says nothing of what P0 holds now.
    """
    report = before.reports[operation.position]
    if outcome is DEFERRED or (config.by_epoch and report.sent_under < before.p0_number):
        return None
    held = moves.keys(after.sender)
    return not any(key in held for key in report.missing)


def no_assertion(config: Config, before: State, operation: Any, outcome: Outcome, after: State) -> bool:
    """No insertion of a request takes away what the request itself was promised.   [DR-12]"""
    return outcome.kind != "asserted"


def undisturbed(config: Config, before: State, operation: Update, outcome: Outcome, after: State) -> bool:
    """No request fails because a hash was invalidated between its check and its update.   [DR-18]"""
    return (
        type(outcome.result) is not Raised
        or before.checked is None
        or all(
            item.key in moves.keys(before.sender)
            for item, cached in zip(before.checked.request, before.checked.cached, strict=True)
            if cached
        )
    )


def only_what_was_sent(config: Config, before: State, operation: Any, outcome: Outcome, after: State) -> bool:
    """What is new in P0 was handed to the channel with its data; a refusal leaves P0 as it was.   [DR-13]"""
    if after.sender == before.sender:
        return True
    if len(after.channel) == len(before.channel):
        return False
    held = moves.keys(before.sender)
    sent = [feature.item.key for feature in after.channel[-1].features if feature.sent]
    return all(key in held or key in sent for key, _ in after.sender)


@of_ingested
def no_overtaking(
    config: Config, before: State, operation: Deliver, outcome: Outcome, after: State
) -> bool | None:
    """No claim arrives before the data it relies on.   [DR-14]"""
    place = operation.position
    if not place:
        return None
    claimed = {feature.item.key for feature in before.channel[place].features if not feature.sent}
    return not any(
        feature.sent and feature.item.key in claimed
        for message in before.channel[:place]
        for feature in message.features
    )


@of_ingested
def clears_are_seen(
    config: Config, before: State, operation: Deliver, outcome: Outcome, after: State
) -> bool | None:
    """Once both sides know of the same clear, nothing from before it is claimed.   [DR-15]

    It can tell only when no other accident makes P1 miss.
    """
    message = before.channel[operation.position]
    if not message.number:
        return None
    return type(outcome.result) is not Missed or message.number < before.p1_number


def one_order(config: Config, before: State, operation: Any, outcome: Outcome, after: State) -> bool | None:
    """P0 leaves the items of a request in the order of the message.   [DR-16]"""
    if len(after.channel) == len(before.channel):
        return None
    return is_left_in_order(after.sender, after.channel[-1].features)


@lru_cache(MEMO)
def is_left_in_order(sender: Entries, features: tuple[Feature, ...]) -> bool:
    """Whether the keys that P0 holds of a request are in the order of their last place in it.   [DR-16]"""
    named = [feature.item.key for feature in features]
    last = [key for place, key in enumerate(named) if key not in named[place + 1 :]]
    held = moves.keys(sender)
    return [key for key in held if key in last] == [key for key in last if key in held]


@of_ingested
def stores_recorded(
    config: Config, before: State, operation: Deliver, outcome: Outcome, after: State
) -> bool | None:
    """A message that P0 did not record stores nothing in P1.   [DR-17]"""
    message = before.channel[operation.position]
    if message.recorded:
        return None
    return after.receiver in (before.receiver, ())


def one_peer(config: Config, before: State, operation: Any, outcome: Outcome, after: State) -> bool:
    """What goes to another P1, or comes from another P0, changes nothing in this pair.   [DR-21]"""
    return after.sender == before.sender and after.receiver == before.receiver


def still_under_way(config: Config, before: State, operation: Any, outcome: Outcome, after: State) -> bool:
    """What is in the channel stays there until P1 takes it.   [DR-22, DR-24]"""
    return after.channel == before.channel


def told_first(config: Config, before: State, operation: SubmitAgain, outcome: Outcome, after: State) -> bool:
    """P0 has handled the miss before the retry.   [DR-19]"""
    return before.retries[operation.position].told


PROPERTIES: Mapping[str, Property] = {
    "refused-first": Property("DR-02", "step", refused_first, frozenset({"submit", "check", *REFUSALS})),
    "in-order": Property("DR-04", "step", in_order, DELIVER),
    "all-invalidated": Property("DR-05", "step", all_invalidated, frozenset({"handle-report"})),
    "same-order": Property("DR-06", "state", same_order),
    "no-miss": Property("DR-07", "step", no_miss, DELIVER),
    "exact-miss": Property("DR-08", "step", exact_miss, DELIVER),
    "one-retry": Property("DR-09", "recovery", one_retry, tried=is_quiet),
    "as-requested": Property("DR-10", "step", as_requested, DELIVER),
    "sound-caches": Property("DR-11", "state", sound_caches),
    "no-assertion": Property("DR-12", "step", no_assertion, UPDATES | REFUSALS | SECONDS),
    "only-what-was-sent": Property("DR-13", "step", only_what_was_sent, UPDATES | REFUSALS),
    "no-overtaking": Property("DR-14", "step", no_overtaking, DELIVER),
    "clears-are-seen": Property("DR-15", "step", clears_are_seen, DELIVER),
    "one-order": Property("DR-16", "step", one_order, UPDATES),
    "stores-recorded": Property("DR-17", "step", stores_recorded, DELIVER),
    "undisturbed": Property("DR-18", "step", undisturbed, frozenset({"update"})),
    "told-first": Property("DR-19", "step", told_first, frozenset({"retry"})),
    "as-accounted": Property("DR-20", "step", as_accounted, DELIVER),
    "one-peer": Property("DR-21", "step", one_peer, SECONDS),
    "aborted-arrive": Property("DR-22", "step", still_under_way, frozenset({"abort"})),
    "always-one-retry": Property("DR-23", "recovery", always_one_retry, tried=is_recoverable),
    "lost-arrive": Property("DR-24", "step", still_under_way, frozenset({"drop"})),
    "back-in-step": Property("DR-25", "recovery", back_in_step, tried=is_quiet),
}
