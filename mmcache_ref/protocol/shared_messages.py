"""What travels where the payload lies in shared memory: messages that every worker reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .messages import Request


def is_handle(item: Any) -> bool:
    """Whether an item names a place in the shared memory instead of carrying its payload.   [SC-06]"""
    return item is not None and "address" in item


@dataclass(eq=False)
class SharedMessage:
    """A request on its way to the workers, and while it runs.

    Attributes:
        request: what the client asked for.
        items: for each item of it a handle, the item itself, or None where its payload was stripped.
        sizes: bytes of each item's payload.
        owed: how many times each worker has yet to read it.
        children: how often each worker reads it: once for each child of the request.
        is_release: it is read for the sake of its references only; nobody waits for an answer.
        missing: the hashes that some worker could not read, in order.
        name: what P0 calls it; no other message of this deployment has that name.
    """

    request: Request
    items: tuple[Any, ...]
    sizes: tuple[int, ...]
    owed: list[int]
    children: int = 1
    is_release: bool = False
    missing: list[str] = field(default_factory=list)
    name: int = 0

    @property
    def has_handles(self) -> bool:
        """Whether it carries a handle."""
        return any(is_handle(item) for item in self.items)

    @property
    def is_read(self) -> bool:
        """Whether every worker has read it for every child."""
        return not any(self.owed)

    def is_untouched_by(self, worker: int) -> bool:
        """Whether this worker has not read it at all."""
        return self.owed[worker] == self.children

    @property
    def is_awaited(self) -> bool:
        """Whether some worker will read it for the first time."""
        return any(owed > 0 and self.is_untouched_by(worker) for worker, owed in enumerate(self.owed))


class Retry(NamedTuple):
    """A request that its client sends again, how many children it has, and the message that was in vain."""

    request: Request
    children: int = 1
    name: int = 0


@dataclass(frozen=True)
class Reading:
    """What a worker made of a message: its items in order, or the hashes that it could not read."""

    items: tuple[Any, ...] | None
    missing: tuple[str, ...] = ()
