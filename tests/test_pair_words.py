"""The shared-memory caches in words, call by call."""

from __future__ import annotations

from typing import Any

import pytest

from mmcache_ref.model import shm_pair_alphabet as pair
from mmcache_ref.model.component import Content, Outcome
from mmcache_ref.model.shm_pair import Config
from mmcache_ref.model.shm_pair_alphabet import Feature
from mmcache_ref.model.shm_pair_results import Handed, Served
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import plain
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.wording import operation_in_words, outcome_in_words

ONE, TWO = Content(1, 1), Content(2, 2)


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (pair.Update("a", TWO), "update a 2 units/2"),
        (pair.Update("a"), "update a without data"),
        (pair.UpdateAll((ONE, None), ("a", "b")), "update_all [1 unit/1, without data] for [a, b]"),
        (pair.Touch("a"), "touch a"),
        (pair.Release(), "release"),
        (pair.Stats(delta=True), "stats delta=True"),
        (pair.Validate("a"), "validate the newest handle for a"),
        (pair.Validate("a", back=1), "validate the handle before the newest for a"),
        (pair.Validate("a", is_plain=True), "validate an item for a"),
        (pair.Odd("a", "more elements"), "validate the newest handle for a, with more elements"),
        (
            pair.Forge("a", "no id", "receive"),
            "receive the newest handle of a with another form: no id",
        ),
        (pair.Receive(Feature("a"), 1), "receive the newest handle for a, by worker 1"),
        (
            pair.Verify(Feature("a", "forged")),
            "verify the newest handle with one bit changed for a, by worker 0",
        ),
        (
            pair.Features((Feature("a", has_mm_hash=False), Feature("b", "item", content=TWO))),
            "features [the newest handle for a (by identifier), the item 2 units/2 for b], by worker 0",
        ),
        (
            pair.ReceiveAll((Feature("a", "nothing"),), 0, is_unequal=True),
            "receive_all [nothing for a] with a hash too few, by worker 0",
        ),
        (pair.ClearReceiver(1), "clear the receiver of worker 1"),
        (pair.Attach("lock"), "attach a receiver without a lock"),
        (pair.CloseAnother(), "close another sender, twice"),
    ],
)
def test_an_operation_says_what_it_names(operation: Any, words: str) -> None:
    assert operation_in_words(operation) == words


def test_results_are_in_units() -> None:
    def words(result: Any) -> str:
        return outcome_in_words(pair.Update("a", ONE), plain(Outcome("put", result).result))

    assert words(Handed(ONE)) == "a handle with the updates of 1 unit/1"
    assert words(Served(TWO, TWO)) == "the input 2 units/2"
    assert words(Served(TWO, ONE)) == "the input 2 units/2 with the updates of 1 unit/1"


def told(target: str, *operations: Any) -> str:
    trial = Trial(COMPONENTS["shm-pair"], resolve(f"py:broken.{target}"))
    return sentence(trial.run(Config(2, 2), operations))


def test_a_sentence_names_the_side_that_was_called() -> None:
    wrong = told("shm_pair_invalidate_drops_the_updates", pair.Update("a", ONE), pair.Invalidate("a"))
    assert "prompt updates are on record for none, must be for a" in wrong
    assert "IF-08" in wrong
    shorter = told("shm_pair_updates_the_shorter", pair.UpdateAll((ONE,), ("a", "b")))
    assert "Look at: ShmObjectStoreSenderCache.get_and_update" in shorter
    lists = told("shm_pair_worker_returns_another_list", pair.Features(()))
    assert "Look at: ShmObjectStoreReceiverCache.get_and_update_features" in lists
