"""The shared-memory caches in words."""

from __future__ import annotations

from typing import Any

import pytest

from mmcache_ref.model import shm_accidents as shm
from mmcache_ref.model.component import Content
from mmcache_ref.model.shm_environment import Config
from mmcache_ref.model.shm_requests import Carried, request
from mmcache_ref.oracle.run import Mismatch, Run, Step, plain
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.oracle.shm_words import shm_aspect_in_words
from mmcache_ref.oracle.wording import operation_in_words, outcome_in_words, state_in_words


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (shm.Submit(request("a", "b:2")), "submit [a 1 unit/1, b 2 units/2]"),
        (shm.Reject(request("a", supplied=False), 2), "reject [a 1 unit/1, data left out] for 2 children"),
        (shm.Read(1, 2), "read message 1 by worker 2"),
        (shm.Finish(), "finish request 0"),
        (shm.SubmitAgain(3), "retry request 3"),
        (shm.Abort(), "abort message 0"),
        (shm.Strip(), "strip message 0"),
        (shm.Resume(), "resume request 0"),
        (shm.Clear(), "clear"),
        (shm.Die(1), "worker-death of worker 1"),
        (shm.Forge("a"), "forge a handle of a shown for another key, for P0"),
        (
            shm.Forge("a", "unsigned", "worker"),
            "forge a handle of a without a signature, for a worker",
        ),
        (shm.Replay("a"), "replay the current handle of a"),
        (shm.Replay("a", is_outdated=True), "replay an outdated handle of a"),
    ],
)
def test_an_operation_says_what_it_names(operation: Any, words: str) -> None:
    assert operation_in_words(operation) == words


def test_results_are_in_units() -> None:
    carried = (
        Carried("handle", Content(1, 1)),
        Carried("item", Content(2, 2)),
        Carried("nothing", Content(1)),
    )
    sent = outcome_in_words(shm.Submit(request("a")), plain(carried))
    assert sent == "a handle of 1 unit/1; the item itself, 2 units/2; nothing of 1 unit/0"
    assert outcome_in_words(shm.Read(), plain((Content(2, 7), None))) == "2 units/7; nothing"


def test_a_state_shows_each_chunk() -> None:
    state = {"keys": ["a", "b"], "layout": [[0, 1], [1, 2]], "references": [1, 2], "counts": [2, 0]}
    assert state_in_words(state) == "a@0 (handed out 1, read 2), b@1 (handed out 2, read 0)"
    assert state_in_words({name: [] for name in state}) == "empty"
    assert state_in_words({"dead": True, "keys": None}) == "the engine is dead"


@pytest.mark.parametrize(
    ("aspect", "expected", "actual", "words"),
    [
        ("counts", [2], [4], "the reader counts of a are 4, must be 2"),
        ("references", [1], [2], "the references handed out of a are 2, must be 1"),
        ("keys", ["a"], [], "the keys in the ring, oldest first, are none, must be a"),
        ("ring", [0, 1], [1, 1], "the ring begins and ends at 1 1 units, must at 0 1"),
        ("layout", [[0, 1]], [[2, 1]], "the chunks of a lie at 2 (1 unit), must lie at 0 (1 unit)"),
        (
            "under-way",
            [1, 0, 0],
            [0, 1, 0],
            "under way are 0 messages, must be 1; 1 running requests, must be 0",
        ),
        ("dead", False, True, "the engine is dead, must be alive"),
        ("hits", 1, 2, None),
    ],
)
def test_what_differs_is_named(aspect: str, expected: Any, actual: Any, words: str | None) -> None:
    assert shm_aspect_in_words(aspect, expected, actual, ["a"]) == words


def test_a_sentence_says_what_happened_and_what_was_in_the_ring() -> None:
    before = {"keys": ["a"], "layout": [[0, 1]], "references": [1], "counts": [0]}
    after = {**before, "counts": [1]}
    steps = (Step(shm.Submit(request("a")), state=before), Step(shm.Read(), state=after))
    config = Config(3, 2, requests=())
    mismatch = Mismatch("SC-19", "counts", "acknowledged", 2, [1], [2])
    told = sentence(Run("shm-caches", config, "safe", steps, mismatch))
    assert told.startswith(
        "After operation 2, read message 0 by worker 0, the reader counts of a are 2, must be 1;"
    )
    assert "The ring before: a@0 (handed out 1, read 0); it has 3 units." in told
    wrong = Mismatch("SC-31", "outcome", "acknowledged", 0, [plain(Content(1, 1))], [plain(Content(1, 2))])
    told = sentence(Run("shm-caches", config, "safe", steps, wrong))
    assert "read message 0 by worker 0, gave 1 unit/2 for item 1, must give 1 unit/1;" in told
