"""P0 and the workers of the shared-memory caches as they live in their processes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..messages import Request, RequestItem
from ..shared_front_end import SharedFrontEnd
from ..shared_implementation import SharedImplementation
from ..shared_messages import Reading, SharedMessage
from ..shared_work import SharedWork
from ..shared_worker import SharedWorker
from .carried import pack, packed_all, unpack
from .parts import Part, Recipe, Recorder, nothing_to_see


@dataclass(frozen=True)
class SharedParts:
    """What a recipe of the shared-memory caches makes.

    Attributes:
        implementation: the caches, and the functions around them.
        front_end, worker: the classes of P0 and of a worker.
        describe: from an item that a worker read to what the parent hears of it. As it stands, the item.
        observe: from a cache to what others may see of it.
        recorder: writes down what each side does.
        begins: hears of each call that will be written down, before it is made.
    """

    implementation: SharedImplementation
    front_end: Callable[..., SharedFrontEnd] = SharedFrontEnd
    worker: Callable[..., SharedWorker] = SharedWorker
    describe: Callable[[Any], Any] = pack
    observe: Callable[[Any], Mapping[str, Any]] = nothing_to_see
    recorder: Recorder | None = None
    begins: Callable[[], object] = lambda: None


class SharedFrontEndPart(Part):
    """P0: the very `SharedFrontEnd`, with its messages packed for the way."""

    def __init__(self, lock: Any, recipe: Recipe, segment: str, protections: frozenset[str]) -> None:
        made: SharedParts = recipe.made_in(lock, segment)
        self.work = SharedWork()
        self.observe = made.observe
        self.recorder = made.recorder
        self.begins = made.begins
        self.front_end = made.front_end(made.implementation, protections, self.work)

    def cache(self) -> Any:
        """P0's cache."""
        return self.front_end.sender

    def state(self) -> SharedMessage | None:
        """What the last request was given before it failed, if it did."""
        message = self.front_end.broken_off
        return None if message is None else _packed(message)

    def handle(self, request: Request, children: int) -> SharedMessage:
        """See `SharedFrontEnd`."""
        return _packed(self.front_end.handle(request, children))

    def unrecorded(self, request: Request, children: int) -> SharedMessage:
        """See `SharedFrontEnd`."""
        return _packed(self.front_end.unrecorded(request, children))

    def bring(self, item: RequestItem, handle: Any) -> SharedMessage:
        """See `SharedFrontEnd`."""
        return _packed(self.front_end.bring(item, unpack(handle)))

    def clear(self) -> None:
        """See `SharedFrontEnd`."""
        self.front_end.clear()

    def close(self) -> None:
        """Give the segment back."""
        self.front_end.sender.close()


class SharedWorkerPart(Part):
    """A worker: the very `SharedWorker`; what it reads is described to the parent."""

    def __init__(
        self, lock: Any, recipe: Recipe, segment: str, number: int, protections: frozenset[str]
    ) -> None:
        made: SharedParts = recipe.made_in(lock, segment)
        self.work = SharedWork()
        self.observe = made.observe
        self.recorder = made.recorder
        self.begins = made.begins
        self.worker = made.worker(made.implementation, number, protections, self.work)
        self._describe = made.describe

    def cache(self) -> Any:
        """The worker's cache."""
        return self.worker.receiver

    def read(self, message: SharedMessage) -> Reading:
        """See `SharedWorker`."""
        return self._described(self.worker.read(_unpacked(message)))

    def read_again(self, message: SharedMessage) -> Reading:
        """See `SharedWorker`."""
        return self._described(self.worker.read_again(_unpacked(message)))

    def finish_reading(self, message: SharedMessage) -> None:
        """See `SharedWorker`."""
        self.worker.finish_reading(message)

    def forget(self, message: SharedMessage) -> None:
        """See `SharedWorker`."""
        self.worker.forget(message)

    def _described(self, reading: Reading) -> Reading:
        if reading.items is None:
            return reading
        return Reading(tuple([self._describe(item) for item in reading.items]))

    def close(self) -> None:
        """Detach from the segment."""
        close = getattr(self.worker.receiver, "close", None)
        if close is not None:
            close()


def _packed(message: SharedMessage) -> SharedMessage:
    return dataclasses.replace(message, items=packed_all(message.items))


def _unpacked(message: SharedMessage) -> SharedMessage:
    return dataclasses.replace(message, items=tuple([unpack(item) for item in message.items]))
