"""P0 of the shared-memory caches: takes requests, stores their items, and says where they lie."""

from __future__ import annotations

from typing import Any

from .front_end import WHOLE_REQUEST, refuse_unsupplied
from .messages import Request, RequestItem
from .shared_implementation import SharedImplementation
from .shared_messages import SharedMessage, is_handle
from .shared_work import SharedWork


class SharedFrontEnd:
    """The front-end process, as far as the cache is concerned. It handles one request at a time.   [SC-25]

    Args:
        protections: of them `validated-handle` lives here.

    Attributes:
        broken_off: of the last request, what it was given before an update failed, if one did.
    """

    def __init__(
        self, implementation: SharedImplementation, protections: frozenset[str], work: SharedWork
    ) -> None:
        self._implementation = implementation
        self._protections = protections
        self._work = work
        self.made = 0
        """How many messages were made: the name of the next one."""
        self.sender = implementation.make_sender()
        self.broken_off: SharedMessage | None = None
        self._given: list[Any] = []

    def handle(self, request: Request, children: int = 1) -> SharedMessage:
        """A request from its check to a message: process, merge.   [SC-25, SC-26, SC-28]

        Raises `UnsuppliedError`, and nothing changes, when an item is neither cached nor supplied. What an
        update raises comes through.
        """
        self.broken_off = None
        is_cached = list(self.sender.is_cached([item.mm_hash for item in request]))
        refuse_unsupplied(request, is_cached)
        made = [
            self._process(item, index)
            for index, item in enumerate(
                [item for item, hit in zip(request, is_cached, strict=True) if not hit]
            )
        ]
        self._given.clear()
        try:
            items = self._merge(request, is_cached, made)
        except Exception:
            updated = len(self._given)
            self.broken_off = self._message(request[:updated], self._given, children, is_cached[:updated])
            raise
        return self._message(request, items, children, is_cached)

    def bring(self, item: RequestItem, handle: Any) -> SharedMessage:
        """A client brings a handle instead of data: it is validated first.   [SC-27, SC-43]

        Raises `ValueError`, and nothing changes, unless it is the current handle of this hash.
        """
        self.sender.validate_input_item(handle, item.mm_hash)
        if "validated-handle" in self._protections:
            handle = self.reference(item.mm_hash)
        return self._message((item,), [handle], 1, [True])

    def reference(self, mm_hash: str) -> Any:
        """Another handle of a cached hash, with a reference of its own.   [SC-43]"""
        handle, _ = self.sender.get_and_update_item(None, mm_hash)
        return handle

    def unrecorded(self, request: Request, children: int = 1) -> SharedMessage:
        """A message with all the data of a request, past the cache.   [SC-45]"""
        items = [self._process(item, index)[0] for index, item in enumerate(request)]
        return self._message(request, items, children, [True] * len(request))

    def is_current(self, handle: Any, mm_hash: str) -> bool:
        """Whether this is the handle that an update of this hash would give out now.   [SC-50]"""
        try:
            self.sender.validate_input_item(handle, mm_hash)
        except (ValueError, AttributeError):  # early releases do not validate
            return False
        return True

    def clear(self) -> None:
        """Forget everything that is stored."""
        self.sender.clear_cache()

    def _merge(self, request: Request, is_cached: list[bool], made: list[tuple[Any, Any]]) -> list[Any]:
        """Update the cache, in prompt order; what travels for each item.   [SC-25, SC-28]"""
        if not request:
            return []
        merged, _ = self._implementation.merge(
            Recorded(self.sender, self._given),
            {WHOLE_REQUEST: [item.mm_hash for item in request]},
            {WHOLE_REQUEST: is_cached},
            {WHOLE_REQUEST: [item for item, _ in made]},
            {WHOLE_REQUEST: [updates for _, updates in made]},
        )
        return list(merged[WHOLE_REQUEST])

    def _process(self, item: RequestItem, index: int) -> tuple[Any, Any]:
        self._work.processed += 1
        return self._implementation.process(item.data, item.modality, index)

    def _message(
        self, request: Request, items: list[Any], children: int, is_cached: list[bool]
    ) -> SharedMessage:
        sizes = tuple([self._implementation.size(item.data) for item in request])
        owed = [children] * self._implementation.workers
        message = SharedMessage(request, tuple(items), sizes, owed, children, name=self.made)
        self.made += 1
        for item, size, hit in zip(items, sizes, is_cached, strict=True):
            if not is_handle(item):
                self._work.inline_bytes += size
                continue
            self._work.references += 1
            self._work.stored_bytes += 0 if hit else size
        return message


class Recorded:
    """A sender that notes in `given` what each update of one request has given."""

    def __init__(self, sender: Any, given: list[Any]) -> None:
        self._sender = sender
        self._given = given

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sender, name)

    def get_and_update_item(self, mm_item: Any, mm_hash: str) -> Any:
        """Update one item.   [SC-38]"""
        updated = self._sender.get_and_update_item(mm_item, mm_hash)
        self._given.append(updated[0])
        return updated
