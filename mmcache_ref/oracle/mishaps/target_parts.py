"""The caches of a target as its processes make them, with what is read told by its content only.

Parts of a pair have places where they can be made to die or to stop (`TrappedLock.reach`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

from mmcache_ref.oracle.adapters.base import need
from mmcache_ref.oracle.adapters.shm_units import RECEIVER, SENDER
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.process_parts import Store, made_pair, made_shared, store_recipe
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol.processes import PairParts, Recipe, SharedParts

PAIR: Final = "LruKeyReplicatedSenderCache", "LruKeyReplicatedReceiverCache"
CHECKED_SERDE: Final = "CheckedMsgpackSerde"
"""What a target may offer against damaged payloads (OS-44)."""


def checked(namespace: Namespace) -> Namespace:
    """The target with a checksum over every payload, where it offers one."""
    serde = getattr(namespace, CHECKED_SERDE, None)
    if serde is not None:
        for name in (SENDER, RECEIVER):
            plain = getattr(namespace, name)
            setattr(namespace, name, type(plain.__name__, (plain,), {"serde_class": serde}))
    return namespace


def told_recipe(target: str, capacity: int, limit: int, workers: int, *, has_checksum: bool = True) -> Recipe:
    """The caches in shared memory of a target; capacity and limit in units.

    Raises `NotOffered` for a target that has none.
    """
    namespace = resolve(target)
    need(namespace, SENDER, RECEIVER, "MultiModalKwargsItem", "merge_mm_kwargs")
    if has_checksum:
        namespace = checked(namespace)
    return store_recipe(told_parts, namespace, capacity, limit, workers, has_checksum)


def told_parts(lock: Any, segment_name: str, target: str, store: Store, has_checksum: bool) -> SharedParts:
    """In its process: the caches of a target, from which the parent hears the content of what was read."""
    namespace = resolve(target)
    if has_checksum:
        namespace = checked(namespace)
    made = made_shared(lock, segment_name, namespace, store)
    return replace(made.parts, describe=made.payloads.content)


def told_pair_recipe(target: str, budget: int) -> Recipe:
    """The key-replicated pair of a target; the budget in bytes.

    Raises `NotOffered` for a target that has none.
    """
    need(resolve(target), *PAIR, "MultiModalKwargsItem", "merge_mm_kwargs")
    return Recipe(told_pair_parts, (target, budget))


def told_pair_parts(lock: Any, segment_name: str, target: str, budget: int) -> PairParts:
    """In its process: the pair of a target, from which the parent hears the content of what P1 serves."""
    made = made_pair(resolve(target), budget)
    parts, pair = made.parts, made.parts.implementation
    inside = (lock, "get_and_update_item", "inside a message", None)
    around = "before a message", "after a message"
    return replace(
        parts,
        implementation=replace(
            pair,
            make_sender=partial(_trapped, pair.make_sender, *inside),
            make_receiver=partial(_trapped, pair.make_receiver, *inside),
        ),
        front_end=partial(_trapped, parts.front_end, lock, "merge", *around),
        engine=partial(_trapped, parts.engine, lock, "ingest", *around),
        describe=made.payloads.content,
    )


def _trapped(
    make: Callable[..., Any], lock: Any, method: str, before: str, after: str | None, *arguments: Any
) -> Any:
    """What `make` makes, one method of which comes to these places of the lock."""
    made = make(*arguments)
    whole = getattr(made, method)

    def trapped(*given: Any, **named: Any) -> Any:
        lock.reach(before)
        result = whole(*given, **named)
        if after is not None:
            lock.reach(after)
        return result

    setattr(made, method, trapped)
    return made
