"""Operations, results and observed parts of the object store in words."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from mmcache_ref.model import object_store_alphabet as store
from mmcache_ref.model.component import Content, OneOf, Raised
from mmcache_ref.oracle.interleaving.findings import Finding, in_words
from mmcache_ref.oracle.interleaving.linearize import Unexplained
from mmcache_ref.oracle.interleaving.scenario import Call
from mmcache_ref.oracle.interleaving.scenarios import SCENARIOS
from mmcache_ref.oracle.interleaving.subject import Done
from mmcache_ref.oracle.interleaving.verdicts import Interleaved, ScenarioVerdict
from mmcache_ref.oracle.store_words import store_aspect_in_words
from mmcache_ref.oracle.wording import operation_in_words, outcome_in_words
from mmcache_ref.report.interleaving import interleaved_text


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (store.Put("a", Content(9, 2)), "put a 9 B/2"),
        (store.Put("a", Content(9, 2), is_watched=True), "put a 9 B/2, watched while it is copied"),
        (store.PutFailing("a", Content(1, 1)), "put a 1 B/1, failing while it is serialised"),
        (store.PutFailing("a", Content(1, 1), True), "put a 1 B/1, failing while it is copied"),
        (
            store.Plant("b", Content(60, 2), "a", 4, 1),
            "put b 60 B/2, which looks like the chunk of the handle before the newest of a from byte 4 on",
        ),
        (store.GetCached("a"), "get_cached a"),
        (store.Signature("a"), "get_signature a"),
        (store.Get("a"), "get a"),
        (store.Get("a", 1), "get a by the handle before the newest"),
        (store.Get("a", 2, 1), "get a by the handle 2 before the newest on reader 1"),
        (store.GetLocked("a"), "get a under a lock that is never free"),
        (
            store.GetOvertaken("a", "b", Content(9, 2), is_late=True),
            "get a, overtaken before it is counted by clear and put b 9 B/2",
        ),
        (store.OwnGet("a"), "get a on the writer"),
        (store.ReaderTouch("a"), "touch a on reader 0"),
        (store.Verify("a", on_reader=True), "verify_signature of a on a reader"),
        (
            store.Forge("a", "one bit", "touch"),
            "touch by a reader of the newest handle of a, forged (one bit)",
        ),
        (store.FreeUnused(), "free_unused"),
        (store.Attach("a"), "attach a reader, and get a"),
        (store.AttachWithoutLock(), "attach a reader without a lock"),
        (store.ReaderWrites("clear"), "clear on a reader"),
        (store.CloseAnother(), "close another store, twice"),
        (store.Damage("last count"), "damage in another store a reader count, by nearly the largest"),
        (store.Unpickle("sized"), "give the serde a pickle behind its length"),
    ],
)
def test_operations(operation: Any, words: str) -> None:
    assert operation_in_words(operation) == words


@pytest.mark.parametrize("part", store.DAMAGED)
def test_every_damage_has_words(part: store.Damaged) -> None:
    assert operation_in_words(store.Damage(part)).startswith("damage in another store ")


@pytest.mark.parametrize("layout", store.LAYOUTS)
def test_every_pickle_has_words(layout: store.Layout) -> None:
    assert operation_in_words(store.Unpickle(layout)).startswith("give the serde a pickle ")


@pytest.mark.parametrize("values", store.TRAVELLED)
def test_what_the_serde_writes_and_reads_has_words(values: store.Travelled) -> None:
    assert operation_in_words(store.Travel(values)) == f"write {values} with the serde, and read them"


@pytest.mark.parametrize("call", store.CALLS)
def test_every_call_of_a_forged_handle_has_words(call: store.Call) -> None:
    assert " of the newest handle of a, forged (" in operation_in_words(store.Forge("a", "unsigned", call))


@pytest.mark.parametrize(
    ("operation", "result", "words"),
    [
        (store.Put("a", Content(9, 2)), [0, 1], "address 0, id 1"),
        (store.GetCached("a"), (12, 3), "address 12, id 3"),
        (store.Get("a"), {"nbytes": 9, "fill": 2}, "9 B/2"),
        (store.Signature("a"), False, "the signature is wrong"),
        (store.Damage("seal"), True, "no harm is done"),
        (
            store.CloseAnother(),
            [False, "AssertionError"],
            "the segment is still there; a put: AssertionError",
        ),
        (store.IsCached("a"), True, "True"),
    ],
)
def test_outcomes(operation: Any, result: Any, words: str) -> None:
    assert outcome_in_words(operation, result) == words


@pytest.mark.parametrize(
    ("name", "expected", "actual", "words"),
    [
        (
            "indexes",
            [],
            [["ring", [0]], ["id_index", []]],
            "the ring names chunk 0, id_index no chunk, must name the same chunks",
        ),
        ("indexes", [[0, "a"]], [], "the chunks are none, must be 0 of a"),
        ("old_seals", [], ["a"], "the seal of an old handle of a is still there, must be wiped"),
        ("reads", [["a", 1]], [["a", 2]], "the reader counts are a 2, must be a 1"),
        ("references", [["a", 1]], [["a", 2]], "the references handed out are a 2, must be a 1"),
        ("touched", ["a"], [], "the touched keys are none, must be a"),
        ("chunks", [[0, 0]], [[0, 12]], "the chunks lie at 0@12, must lie at 0@0"),
        ("headers", [[0, 12]], [[0, 13]], "the headers say id 0 of 13 B, must say id 0 of 12 B"),
        (
            "bounds",
            [0, 24, 2],
            [0, 12, 1],
            "the bounds of the ring are 0 to 12, next id 1, must be 0 to 24, next id 2",
        ),
        ("seals", [["a", True]], [["a", False]], "the chunks are a not sealed, must be a sealed"),
        ("length", 1, 2, None),
    ],
)
def test_observed_parts(name: str, expected: Any, actual: Any, words: str | None) -> None:
    assert store_aspect_in_words(name, expected, actual) == words


def done(result: Any) -> Done:
    return Done("reader-0", 0, Call(store.ReaderTouch("a")), 0, 1, result)


def test_what_a_call_must_give_in_each_order_is_said() -> None:
    call = done(Raised("ValueError", "modified"))
    told = in_words(
        Unexplained("OS-28", "outcome", call, None, call.result, (), (Raised("ValueError", "signature"),))
    )
    assert told.endswith(
        "at first it gives nothing, in another order it raises ValueError that says 'signature'"
    )
    told = in_words(Unexplained("OS-28", "outcome", call, OneOf((None, Raised("KeyError"))), call.result, ()))
    assert told.endswith("at first it gives nothing or KeyError")


def test_a_verdict_is_never_cut() -> None:
    findings = tuple(
        [
            Finding(f"OS-{number}", "a rule", "a sentence", 1, SCENARIOS["get-get"], (), (), True)
            for number in range(10, 20)
        ]
    )
    scenario = ScenarioVerdict("get-clear-put-again", "a title", "undetermined", findings=findings)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(interleaved_text(Interleaved("reference", None, (scenario, scenario))))
    assert console.export_text().count(" undetermined ") >= 2
