"""The names of messages that are under way, beside a state of the model, which only knows their places."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from mmcache_ref.model.component import Op, tag
from mmcache_ref.model.shm_accident_steps import as_release
from mmcache_ref.model.shm_accidents import Die

QUEUES: Final = ("channel", "reports", "retries", "running")
SOURCES: Final = {
    "deliver": "channel",
    "read": "channel",
    "abort": "channel",
    "drop": "channel",
    "strip": "channel",
    "handle-report": "reports",
    "lose-report": "reports",
    "retry": "retries",
    "finish": "running",
    "resume": "running",
}
"""Where an operation finds its message."""


class Names(NamedTuple):
    """The names of what is in each queue of a state, in its order."""

    channel: tuple[int, ...] = ()
    reports: tuple[int, ...] = ()
    retries: tuple[int, ...] = ()
    running: tuple[int, ...] = ()

    def at(self, operation: Op) -> int | None:
        """The name of the message that an operation is about; None when it is about none."""
        source = SOURCES.get(tag(operation))
        return None if source is None else getattr(self, source)[operation.position]  # type: ignore[attr-defined]

    def place(self, did: str, message: int) -> int | None:
        """Where such an operation finds this message; None when it is not there."""
        queue: tuple[int, ...] = getattr(self, SOURCES[did])
        return queue.index(message) if message in queue else None


def keys_at(state: Any, did: str, place: int) -> tuple[str, ...]:
    """The identities of the items of the message that such an operation finds at this place."""
    found = getattr(state, SOURCES[did])[place]
    request = found.request if hasattr(found, "request") else [each.item for each in found.features]
    return tuple([item.key for item in request])


def makes(operation: Op, before: Any, after: Any) -> bool:
    """Whether an operation made a message: it is in the channel, or its miss is on the way back."""
    if tag(operation) == "second-engine":
        return len(after.reports) > len(before.reports)
    return len(after.channel) > len(before.channel) or tag(operation) == "retry"


def follow(names: Names, operation: Op, before: Any, after: Any, made: int | None) -> Names:
    """The names after an operation that made the message `made`."""
    if isinstance(operation, Die):
        return _after_death(names, operation.worker, before, after)
    left = {queue: getattr(names, queue) for queue in QUEUES}
    source = SOURCES.get(tag(operation))
    subject = names.at(operation)
    for queue in QUEUES:
        was, now = len(getattr(before, queue, ())), len(getattr(after, queue, ()))
        if queue == source:
            if now < was:
                place = operation.position  # type: ignore[attr-defined]
                left[queue] = left[queue][:place] + left[queue][place + 1 :]
        elif now > was:
            left[queue] = (*left[queue], made if subject is None or queue == "channel" else subject)
        elif not now:
            left[queue] = ()
    return Names(**left)


def _after_death(names: Names, worker: int, before: Any, after: Any) -> Names:
    """What a dead worker leaves: releases for the others, and perhaps retries of what was under way."""
    kept = [
        name
        for name, message in zip(names.channel, before.channel, strict=True)
        if as_release(
            message._replace(left=tuple([0 if at == worker else n for at, n in enumerate(message.left)]))
        )
        is not None
    ]
    ended = [
        name for name, message in zip(names.channel, before.channel, strict=True) if not message.is_release
    ]
    is_retried = len(after.retries) > len(before.retries)
    retries = (*names.retries, *ended, *names.running) if is_retried else names.retries
    return Names(tuple(kept), (), retries, ())
