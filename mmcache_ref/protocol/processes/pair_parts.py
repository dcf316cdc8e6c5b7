"""P0 and P1 of a key-replicated pair as they live in their processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..channel import Channel
from ..engine import Engine
from ..front_end import Checked, FrontEnd
from ..implementation import Implementation
from ..messages import Answer, Message, Report, Request
from ..work import Work
from .carried import PackedItem, pack, unpack
from .parts import Part, Recipe, Recorder, nothing_to_see


@dataclass(frozen=True)
class PairParts:
    """What a recipe of a key-replicated pair makes.

    Attributes:
        implementation: the caches, and the functions around them.
        front_end, engine: the classes of P0 and of P1.
        describe: from an item that P1 serves to what the parent hears of it. As it stands, the item.
        observe: from a cache to what others may see of it.
        recorder: writes down what each side does.
    """

    implementation: Implementation
    front_end: Callable[..., FrontEnd] = FrontEnd
    engine: Callable[..., Engine] = Engine
    describe: Callable[[Any], Any] = pack
    observe: Callable[[Any], Mapping[str, Any]] = nothing_to_see
    recorder: Recorder | None = None


class PackedFeature(NamedTuple):
    """A feature on its way: as bytes, and beside it its item, or None where it is claimed."""

    data: PackedItem | None
    feature: PackedItem


class SideState(NamedTuple):
    """What the stand-in of a side shows without asking."""

    number: int
    checked: Checked | None = None


class FrontEndPart(Part):
    """P0: the very `FrontEnd`, whose messages go to the parent, packed for the way."""

    def __init__(self, lock: Any, recipe: Recipe, protections: frozenset[str]) -> None:
        made: PairParts = recipe.made_in(lock, "")
        self.work = Work()
        self.observe = made.observe
        self.recorder = made.recorder
        self._channel = Channel(protections)
        self.front_end = made.front_end(made.implementation, self._channel, protections, self.work)

    def cache(self) -> Any:
        """P0's cache."""
        return self.front_end.sender

    def state(self) -> SideState:
        """See `Part`."""
        return SideState(self.front_end.number, self.front_end.checked)

    def check(self, request: Request) -> tuple[bool, ...]:
        """See `FrontEnd`."""
        return self.front_end.check(request)

    def submit(self, request: Request) -> Message:
        """See `FrontEnd`."""
        return self._sent(self.front_end.submit(request))

    def update(self) -> Message:
        """See `FrontEnd`."""
        return self._sent(self.front_end.update())

    def retry(self, request: Request) -> Message:
        """See `FrontEnd`."""
        return self._sent(self.front_end.retry(request))

    def send_unrecorded(self, request: Request) -> Message:
        """See `FrontEnd`."""
        return self._sent(self.front_end.send_unrecorded(request))

    def refuse(self, request: Request) -> Message | None:
        """See `FrontEnd`."""
        return _packed(self.front_end.refuse(request))

    def dry_run(self, request: Request) -> Message | None:
        """See `FrontEnd`."""
        return _packed(self.front_end.dry_run(request))

    def merge(self) -> Message:
        """See `FrontEnd`."""
        return _whole(self.front_end.merge())

    def unshared(self, request: Request) -> Message:
        """See `FrontEnd`."""
        return _whole(self.front_end.unshared(request))

    def handle_report(self, report: Report) -> bool:
        """See `FrontEnd`."""
        return self.front_end.handle_report(report)

    def clear(self) -> bool:
        """See `FrontEnd`."""
        return self.front_end.clear()

    def restart(self, number: int) -> None:
        """See `FrontEnd`."""
        self.front_end.restart(number)

    def payload_bytes(self, message: Message) -> int:
        """See `FrontEnd`."""
        return self.front_end.payload_bytes(_unpacked(message))

    def _sent(self, message: Message) -> Message:
        """A message that was sent: the real channel is the parent's."""
        self._channel.break_off()
        return _whole(message)


class EnginePart(Part):
    """P1: the very `Engine`; what it serves is described to the parent."""

    def __init__(self, lock: Any, recipe: Recipe, protections: frozenset[str]) -> None:
        made: PairParts = recipe.made_in(lock, "")
        self.work = Work()
        self.observe = made.observe
        self.recorder = made.recorder
        self._describe = made.describe
        self.engine = made.engine(made.implementation, protections, self.work)

    def cache(self) -> Any:
        """P1's cache."""
        return self.engine.receiver

    def state(self) -> SideState:
        """See `Part`."""
        return SideState(self.engine.number)

    def ingest(self, message: Message) -> Answer:
        """See `Engine`."""
        return self._described(self.engine.ingest(_unpacked(message)))

    def look_up(self, message: Message) -> Answer:
        """See `Engine`."""
        return self._described(self.engine.look_up(_unpacked(message)))

    def serve_without_cache(self, message: Message) -> Answer:
        """See `Engine`."""
        return self._described(self.engine.serve_without_cache(_unpacked(message)))

    def clear(self) -> None:
        """See `Engine`."""
        self.engine.clear()

    def finish_clear(self, number: int) -> None:
        """See `Engine`."""
        self.engine.finish_clear(number)

    def restart(self, number: int) -> None:
        """See `Engine`."""
        self.engine.restart(number)

    def _described(self, answer: Answer) -> Answer:
        if answer.items is None:
            return answer
        return Answer(tuple([self._describe(item) for item in answer.items]))


def _whole(message: Message) -> Message:
    features = [
        PackedFeature(pack(feature.data), PackedItem(feature, is_handle=False))
        for feature in message.features
    ]
    return message._replace(features=features)


def _packed(message: Message | None) -> Message | None:
    return None if message is None else _whole(message)


def _unpacked(message: Message) -> Message:
    return message._replace(features=[unpack(each.feature) for each in message.features])
