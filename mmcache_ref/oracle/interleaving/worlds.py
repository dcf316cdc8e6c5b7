"""What the targets of all kinds of scenarios share: their memory, their calls, their set-up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from mmcache_ref.model.component import Outcome
from mmcache_ref.oracle.adapters.base import Adapter, agrees, raised
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.interleaving.subject import SetUpWrong, World

AnyWorld = TypeVar("AnyWorld", bound=World)


def memory_of(ring: Any) -> Callable[[], bytes] | None:
    """The bytes of the segment; None where the ring does not show its memory."""
    segment: Any = getattr(ring, "shared_memory", None)
    if not isinstance(getattr(segment, "buf", None), memoryview):
        return None
    return lambda: bytes(segment.buf)


def performed(adapter: Adapter, operation: Any) -> Any:
    """What the caller of an operation saw, be it an exception of the target."""
    try:
        return adapter.perform(operation)
    except NotOffered:
        raise
    except (Exception, SystemExit) as error:
        return raised(error)


def prepared(world: AnyWorld, set_up: Callable[[AnyWorld], object]) -> AnyWorld:
    """The world after its set-up; nothing of it is left when that fails."""
    try:
        set_up(world)
    except BaseException:
        world.tidy_up()
        raise
    return world


def check_set_up(operation: Any, outcome: Outcome, result: Any) -> None:
    """`SetUpWrong` unless an operation of the set-up gave what the model says."""
    if not agrees(outcome.result, result):
        raise SetUpWrong(f"{operation} gave {result}, not {outcome.result}: judge it with conform first")
