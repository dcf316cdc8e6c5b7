"""Operations, results and states of the ring buffer in words."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mmcache_ref.model import ring_buffer as ring
from mmcache_ref.model.ring_moves import Chunk, Ring
from mmcache_ref.oracle.run import Mismatch, Run, Step
from mmcache_ref.oracle.sentence import sentence
from mmcache_ref.oracle.wording import operation_in_words, outcome_in_words, state_in_words


@pytest.mark.parametrize(
    ("operation", "words"),
    [
        (ring.Allocate(4, 7), "allocate 4 B of 7"),
        (ring.Allocate(0), "allocate 0 B"),
        (ring.Access(12), "access 12"),
        (ring.Access(12, by_reader=True), "access 12 by a reader"),
        (ring.Fill(12, 7), "fill 12 with 7"),
        (ring.Free(), "free"),
        (ring.Free(12, refuses=(1, 2)), "free at least 12 B but not 1 2"),
        (ring.Free(raises=1), "free failing at 1"),
        (ring.ByReader("clear"), "clear by a reader"),
        (ring.Attach("nothing"), "attach to no segment"),
        (ring.Attach("too-short"), "attach to a segment that is too short"),
        (ring.Attach("longer"), "attach to a segment that is longer"),
        (ring.Create(), "create under a name in use"),
        (ring.Another(), "make another ring"),
        (ring.Claimed(), "make a ring of 64 KiB"),
        (ring.Owned(), "make another ring, and read whose it is"),
        (ring.Largest(), "allocate the largest chunk, and one byte more"),
        (ring.Close(), "close"),
        (ring.Number(-1), "number -1"),
    ],
)
def test_operations(operation: Any, words: str) -> None:
    assert operation_in_words(operation) == words


@pytest.mark.parametrize(
    ("operation", "result", "words"),
    [
        (ring.Allocate(4), [12, 1], "address 12, id 1"),
        (ring.Access(0), [0, 12, 4, 7], "id 0, size 12, 4 B of 7"),
        (ring.Free(), [[0, 1], [[0, 4, 7], [1, 4, 8]]], "freed 0 1, asked about 0 1"),
        (ring.Free(), [[], []], "freed none, asked about none"),
        (ring.Allocate(4), {"result": "raised", "error": "MemoryError", "says": ""}, "MemoryError"),
        (ring.Claimed(), False, "not all of its memory is taken"),
        (ring.Owned(), True, "it is said to be this process's"),
        (
            ring.Largest(),
            [12, "MemoryError", True],
            "a chunk to 12; one byte more: MemoryError, nothing changed",
        ),
        (ring.Largest(), [12, [12, 0], False], "a chunk to 12; one byte more: [12, 0], the ring changed"),
        (ring.Close(), True, "True"),
    ],
)
def test_outcomes(operation: Any, result: Any, words: str) -> None:
    assert outcome_in_words(operation, result) == words


def test_states() -> None:
    state = ring.State(Ring((Chunk(0, 0, 12), Chunk(1, 12, 20)), 0, 32, 2), (7, 7))
    seen = msgspec.to_builtins(ring.observe(ring.Config(60), state))
    assert state_in_words(seen) == "0@0 1@12, 0 to 32, next id 2"
    seen = msgspec.to_builtins(ring.observe(ring.Config(60), ring.State()))
    assert state_in_words(seen) == "empty, 0 to 0, next id 0"


def test_the_headline_of_a_mismatch_uses_the_same_words() -> None:
    mismatch = Mismatch("RB-16", "outcome", "freed", 0, [[], []], [[0], [[0, 4, 1]]])
    run = Run("ring-buffer", ring.Config(24), "safe", (Step(ring.Free(refuses=(0,))),), mismatch)
    assert sentence(run).startswith(
        "Operation 1, free but not 0, gave: freed 0, asked about 0; "
        "it must give: freed none, asked about none"
    )
