"""P0: checks requests, has the missing items processed, updates its cache, and sends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .channel import Channel
from .implementation import Implementation
from .messages import Message, Report, Request, RequestItem
from .work import Work

WHOLE_REQUEST = "all"
"""The one group of a request that is updated in prompt order."""


class UnsuppliedError(ValueError):
    """A client left out the data of items that are not cached.   [DR-02]

    Attributes:
        mm_hashes: those items, in order.
    """

    def __init__(self, mm_hashes: list[str]) -> None:
        super().__init__(
            f"the items {mm_hashes} are not cached, and the request brings no data for them: send it with "
            "their data"
        )
        self.mm_hashes = mm_hashes


def refuse_unsupplied(request: Request, is_cached: Sequence[bool]) -> None:
    """Raise `UnsuppliedError` when an item is neither cached nor supplied.   [DR-02, SC-26]"""
    unsupplied = [
        item.mm_hash for item, hit in zip(request, is_cached, strict=True) if not hit and not item.is_supplied
    ]
    if unsupplied:
        raise UnsuppliedError(unsupplied)


class Checked(NamedTuple):
    """A request after its check: for each item whether it is cached."""

    request: Request
    is_cached: tuple[bool, ...]


class FrontEnd:
    """The front-end process, as far as the cache is concerned. It handles one request at a time.   [DR-01]

    Args:
        protections: of them `rollback`, `one-order`, `epoch`, `resend-all` and `serialised-invalidation` live
            here.
    """

    def __init__(
        self, implementation: Implementation, channel: Channel, protections: frozenset[str], work: Work
    ) -> None:
        self._implementation = implementation
        self._channel = channel
        self._protections = protections
        self._work = work
        self.sender = implementation.make_sender()
        self.number = 0
        """The number of the last clear that this side knows of."""
        self.checked: Checked | None = None
        """The request between its check and its update, if there is one."""
        self.made = 0
        """How many messages were made: the name of the next one."""

    def check(self, request: Request) -> tuple[bool, ...]:
        """Begin a request, or a retry of one; whether each item is cached.   [DR-01, DR-02]

        Raises `UnsuppliedError`, and nothing changes, when an item is neither cached nor supplied.
        """
        is_cached = tuple(self.sender.is_cached([item.mm_hash for item in request]))
        refuse_unsupplied(request, is_cached)
        self.checked = Checked(request, is_cached)
        return is_cached

    def update(self) -> Message:
        """Finish the request that was checked: process, merge, send.   [DR-01, DR-03]"""
        return self._channel.send(self.merge())

    def submit(self, request: Request) -> Message:
        """A request from its check to the channel.   [DR-01]"""
        self.check(request)
        return self.update()

    def retry(self, request: Request) -> Message:
        """A request once more after a miss, with all its data.   [DR-09, DR-23]"""
        self._work.retries += 1
        supplied = tuple([item._replace(is_supplied=True) for item in request])
        if "resend-all" in self._protections:
            for item in supplied:
                self.sender.invalidate(item.mm_hash)
        self.check(supplied)
        return self.update()

    def refuse(self, request: Request) -> Message | None:
        """A request that is refused at the last moment, as too long for example.   [DR-13]

        P0 updates as it sends, so nothing is recorded. Without `rollback` it has updated already: the message
        that was made, and is not sent, is returned.
        """
        return self._unsent(request)

    def dry_run(self, request: Request) -> Message | None:
        """A request whose result is thrown away; as `refuse`.   [DR-13]"""
        return self._unsent(request)

    def send_unrecorded(self, request: Request) -> Message:
        """Send a request with all its data, past the cache.   [DR-17]"""
        return self._channel.send(self.unrecorded(request))

    def handle_report(self, report: Report) -> bool:
        """Hear of a miss: nothing that P1 lacks is claimed any more.   [DR-05, DR-15]

        Returns False when the report has to wait for the request that was checked (see `must_wait`).
        """
        if self.must_wait():
            return False
        if "epoch" in self._protections and report.number > self.number:
            self.sender.clear_cache()
        elif "epoch" not in self._protections or report.sent_under >= self.number:
            for mm_hash in report.missing:
                self.sender.invalidate(mm_hash)
        self.number = max(self.number, report.number)
        return True

    def clear(self) -> bool:
        """Empty the cache and take a new number; False when that has to wait.   [DR-15, DR-18]"""
        if self.must_wait():
            return False
        self.sender.clear_cache()
        self.number += 1
        return True

    def restart(self, number: int) -> None:
        """Start again, empty, under a number that neither side ever had.   [DR-15]"""
        self.sender = self._implementation.make_sender()
        self.checked = None
        self.number = number

    def must_wait(self) -> bool:
        """Whether a report or a clear would come between a check and its update.   [DR-18]"""
        return "serialised-invalidation" in self._protections and self.checked is not None

    def merge(self) -> Message:
        """Update the cache with the request that was checked; what to send.   [IF-10, IF-11, DR-03, DR-16]

        One group of items in prompt order, or without `one-order` one for each modality.
        """
        assert self.checked is not None
        request, is_cached = self.checked
        self.checked = None
        groups = self._groups(request)
        hashes = {name: [request[place].mm_hash for place in places] for name, places in groups.items()}
        hits = {name: [is_cached[place] for place in places] for name, places in groups.items()}
        items: dict[str, list[Any]] = {}
        updates: dict[str, list[Any]] = {}
        for name, places in groups.items():
            missing = [request[place] for place in places if not is_cached[place]]
            made = [self._process(item, index) for index, item in enumerate(missing)]
            items[name] = [item for item, _ in made]
            updates[name] = [prompt_updates for _, prompt_updates in made]
        merged, _ = self._implementation.merge(self.sender, hashes, hits, items, updates)
        sent = {
            place: data
            for name, places in groups.items()
            for place, data in zip(places, merged[name], strict=True)
        }
        return self._message(request, [sent[place] for place in range(len(request))], is_recorded=True)

    def unrecorded(self, request: Request) -> Message:
        """A message with all the data of a request, which the cache never sees.   [DR-17, DR-21]"""
        items = [self._process(item, index)[0] for index, item in enumerate(request)]
        return self._message(request, items, is_recorded=False)

    def _unsent(self, request: Request) -> Message | None:
        """All of a request but its sending.   [DR-13]"""
        self.check(request)
        if "rollback" not in self._protections:
            return self.merge()
        self.checked = None
        return None

    def payload_bytes(self, message: Message) -> int:
        """Bytes of the items that a message carries."""
        carried = [feature.data for feature in message.features if feature.data is not None]
        return sum(self._implementation.size(item) for item in carried)

    def unshared(self, request: Request) -> Message:
        """A request outside the pair of P0 and its P1, with all its data.   [DR-02, DR-21]

        Raises `UnsuppliedError` when the client left any of it out.
        """
        unsupplied = [item.mm_hash for item in request if not item.is_supplied]
        if unsupplied:
            raise UnsuppliedError(unsupplied)
        return self.unrecorded(request)

    def _groups(self, request: Request) -> dict[str, list[int]]:
        """The places of the items in each group, in the order of P0's updates.   [DR-16]"""
        if "one-order" in self._protections:
            return {WHOLE_REQUEST: list(range(len(request)))} if request else {}
        groups: dict[str, list[int]] = {}
        for place in sorted(range(len(request)), key=lambda place: request[place].modality):
            groups.setdefault(request[place].modality, []).append(place)
        return groups

    def _process(self, item: RequestItem, index: int) -> tuple[Any, Any]:
        self._work.processed += 1
        return self._implementation.process(item.data, item.modality, index)

    def _message(self, request: Request, items: list[Any], *, is_recorded: bool) -> Message:
        features = [
            self._implementation.make_feature(data, item.modality, item.mm_hash, place)
            for place, (item, data) in enumerate(zip(request, items, strict=True))
        ]
        message = Message(request, features, self.number, is_recorded, self.made)
        self.made += 1
        self._work.messages += 1
        self._work.claims += sum(item is None for item in items)
        self._work.payload_bytes += self.payload_bytes(message)
        return message
