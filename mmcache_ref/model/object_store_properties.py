"""What must hold of every state and step of the object store.   [spec/07-object-store.md]"""

from __future__ import annotations

from collections.abc import Mapping

from . import ring_moves
from .component import Outcome
from .explore import Property
from .object_store_alphabet import Operation
from .object_store_state import Config, State, freed, is_free


def _without_unused(config: Config, state: State) -> State:
    """The state after everything was freed that can be."""
    return freed(config, state, config.capacity + 1)


def _is_kept(config: Config, before: State, operation: Operation, outcome: Outcome, after: State) -> bool:
    """Is what is not free still there?"""
    held = {
        (chunk.id, each.key)
        for chunk, each in zip(before.ring.chunks, before.objects, strict=True)
        if not is_free(config, each)
    }
    left = {(chunk.id, each.key) for chunk, each in zip(after.ring.chunks, after.objects, strict=True)}
    return held <= left


def _frees_a_prefix(
    config: Config, before: State, operation: Operation, outcome: Outcome, after: State
) -> bool:
    """Are the chunks that are left the youngest ones, in their order?"""
    left = [chunk.id for chunk in after.ring.chunks]
    were = [chunk.id for chunk in before.ring.chunks]
    kept = [each for each in were if each in left]
    return kept == were[len(were) - len(kept) :] and left[: len(kept)] == kept


def _is_blocked(
    config: Config, before: State, operation: Operation, outcome: Outcome, after: State
) -> bool | None:
    """Is a put refused for lack of room only if the oldest chunk is not free?"""
    if outcome.kind != "blocked":
        return None
    return bool(after.objects) and not is_free(config, after.objects[0])


CHANGING = frozenset({"put", "put_failing", "plant", "free_unused"})
"""Operations that free."""

PROPERTIES: Mapping[str, Property] = {
    "sound": Property(
        "OS-30",
        "state",
        lambda config, state: (
            ring_moves.is_sound(config.capacity, state.ring) and len(state.objects) == len(state.ring.chunks)
        ),
    ),
    "promise-kept": Property("OS-31", "step", _is_kept, CHANGING | {"get", "get_cached", "touch"}),
    "order-kept": Property("OS-27", "step", _frees_a_prefix, CHANGING),
    "refused-rightly": Property("OS-05", "step", _is_blocked, CHANGING),
    "reclaimable": Property(
        "OS-33",
        "state",
        lambda config, state: (
            not _without_unused(config, state).objects
            if all(is_free(config, each) for each in state.objects)
            else None
        ),
    ),
    "touch-is-no-reference": Property(
        "OS-14",
        "step",
        lambda config, before, operation, outcome, after: (
            [each._replace(is_touched=False) for each in before.objects]
            == [each._replace(is_touched=False) for each in after.objects]
        ),
        frozenset({"touch", "release_touches"}),
    ),
    "ids-go-on": Property(
        "OS-29",
        "step",
        lambda config, before, operation, outcome, after: after.ring.next_id == before.ring.next_id,
        frozenset({"clear", "free_unused", "put_failing"}),
    ),
}
