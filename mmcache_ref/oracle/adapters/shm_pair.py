"""A sender and its receivers of a target on one real segment, driven by `model/shm_pair.py`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from mmcache_ref.model import shm_pair_alphabet as operations
from mmcache_ref.model.component import Content, Raised
from mmcache_ref.model.receiver import Received
from mmcache_ref.model.shm_pair_alphabet import Feature
from mmcache_ref.model.shm_pair_results import ANOTHER, Handed, Served
from mmcache_ref.model.shm_pair_state import KEPT, Config
from mmcache_ref.oracle import segments
from mmcache_ref.oracle.adapters import shm_forms
from mmcache_ref.oracle.adapters.base import Unexpected, counted, need, read
from mmcache_ref.oracle.adapters.common_calls import (
    CHANGED_LIST,
    OTHER_LIST,
    counters,
    get_and_update,
    has_two_answers,
    is_cached,
)
from mmcache_ref.oracle.adapters.ring_ids import begin_at
from mmcache_ref.oracle.adapters.shm_chunks import observe_chunks
from mmcache_ref.oracle.adapters.shm_handles import ADDRESS, ID, fault_of
from mmcache_ref.oracle.adapters.shm_others import OtherCaches, offered
from mmcache_ref.oracle.adapters.shm_units import HEADER, RECEIVER, SENDER, UNIT, Segment, UnitPayloads
from mmcache_ref.oracle.adapters.watched_lock import WatchedLock
from mmcache_ref.oracle.errors import NotOffered

UNLOCKED: Final = Unexpected("an item, without having taken the lock")
SHARED: Final = Unexpected("an item that shares memory with the segment")


class ShmPairAdapter:
    """P0's cache and those of its workers, which attach when they are needed."""

    CERTAIN = frozenset({"SC-18"})
    """What `blamed` names by an assertion that nothing else makes."""

    def __init__(self, namespace: Any, config: Config) -> None:
        need(namespace, SENDER, RECEIVER)
        self._namespace = namespace
        self._config = config
        self._lock = WatchedLock()
        self.payloads = UnitPayloads(namespace)
        # Nothing in it refers to the adapter, so that the segment is closed as soon as the adapter is gone.
        new_segment = partial(
            Segment,
            namespace,
            capacity=config.capacity * UNIT,
            limit=config.limit * UNIT - HEADER,
            workers=config.workers,
            lock=self._lock,
        )
        self._segment = new_segment()
        self._others = OtherCaches(new_segment, self._segment, self.payloads)
        self._receivers: dict[int, Any] = {}
        self._issued: dict[str, list[Any]] = {}
        self._wrong: str | None = None
        self.sender = self._segment.make_sender()
        if config.first_id:
            store = offered(self.sender, "_shm_cache")
            begin_at(store.ring_buffer, config.first_id)

    def _receiver(self, worker: int) -> Any:
        """The receiver of a worker."""
        if worker not in self._receivers:
            self._receivers[worker] = self._segment.make_receiver(worker)
        return self._receivers[worker]

    def perform(self, operation: operations.Operation) -> Any:
        """One call of a cache; of what it returns only what a clause speaks of."""
        self._wrong = None
        sender = self.sender
        match operation:
            case operations.IsCached(hashes):
                return is_cached(sender, hashes)
            case operations.Touch(key):
                return offered(sender, "touch_sender_cache_item")(key)
            case operations.Release():
                return offered(sender, "release_sender_touches")()
            case operations.Invalidate(key):
                return offered(sender, "invalidate")(key)
            case operations.Update(key, content):
                given = self._input(content)
                return self._updated(key, given, sender.get_and_update_item(given, key))
            case operations.UpdateAll(contents, hashes):
                return self._update_all(contents, list(hashes))
            case operations.Stats(delta):
                stats = offered(sender, "make_stats")
                return counted(stats(delta=True) if delta else stats())
            case operations.Clear():
                return sender.clear_cache()
            case operations.Fresh(hashes):
                return self._others.fresh(hashes)
            case operations.TooLarge(items):
                return self._others.warnings(self._config.limit + 1, items)
            case operations.Attach(lacking):
                return self._others.attach(lacking)
            case operations.CloseAnother():
                return self._others.close_another()
            case operations.Validate() | operations.Odd() | operations.Forge():
                return self._show(operation)
        return self._of_worker(operation)

    def _of_worker(self, operation: Any) -> Any:
        """One call of a receiver."""
        receiver = self._receiver(operation.worker)
        match operation:
            case operations.Receive(feature):
                item = self._item(feature)
                return self._received(item, lambda: receiver.get_and_update_item(item, feature.key))
            case operations.Verify(feature):
                return offered(receiver, "touch_receiver_cache_item")(feature.key, self._item(feature))
            case operations.Features(features):
                return self._features(receiver, features)
            case operations.ReceiveAll(features, _, is_unequal):
                return self._receive_all(receiver, features, is_unequal)
            case _:
                return receiver.clear_cache()

    def observe(self) -> Mapping[str, Any]:
        """Counters, records, chunks and layout, as far as the target has upstream's attributes."""
        sender = self.sender
        seen: dict[str, Any] = {}
        if hasattr(sender, "make_stats"):
            seen |= counters(sender.make_stats)
        store: Any = getattr(sender, "_shm_cache", None)
        seen |= observe_chunks(store)
        records = getattr(sender, "_p0_cache", None)
        if isinstance(records, dict):
            seen["records"] = tuple(sorted(records))
            stored = getattr(store, "key_index", ())
            told = [
                self.payloads.payloads.updates_content(records[key])
                for key in sorted(records)
                if key in stored
            ]
            # Early releases keep more in them.
            if all(isinstance(each, Content) for each in told):
                seen["updates"] = tuple(told)
        if hasattr(store, "_touched") and hasattr(store, "id_index"):
            seen["touched"] = read(lambda: tuple(sorted(store.id_index[each] for each in store._touched)))
        return seen

    def blamed(self, operation: operations.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """What a result tells besides the operation's own rule.

        Two answers to one question (IF-06), a handle that is none (SC-06), prompt updates of another item
        (SC-10), a feature without data that is not passed over (SC-18), what a read must not do (SC-19),
        another list (IF-14).
        """
        if aspect != "outcome":
            return None
        if has_two_answers(actual):
            return "IF-06"
        if actual in (UNLOCKED, SHARED):
            return "SC-19"
        if isinstance(operation, operations.Features):
            if actual == OTHER_LIST:
                return "IF-14"
            is_asserted = isinstance(actual, Raised) and actual.error == "AssertionError"
            if is_asserted and any(feature.source == "nothing" for feature in operation.features):
                return "SC-18"
        if self._wrong is not None:
            return self._wrong
        pairs = [(expected, actual)]
        if isinstance(expected, tuple) and isinstance(actual, tuple) and len(expected) == len(actual):
            pairs = list(zip(expected, actual, strict=True))
        if any(
            isinstance(mine, Handed) and isinstance(theirs, Handed) and mine != theirs
            for mine, theirs in pairs
        ):
            return "SC-10"
        return None

    def close(self) -> None:
        """Give the segment back."""
        self._segment.close()

    def _input(self, content: Content | None) -> Any:
        if content is None:
            return None
        return self.payloads.processed(content)

    def _update_all(self, contents: Sequence[Content | None], hashes: list[str]) -> Any:
        """`get_and_update`; the lists that it is given stay as they are."""
        inputs = [self._input(content) for content in contents]
        outputs = get_and_update(self.sender, inputs, hashes)
        if outputs is CHANGED_LIST:
            return outputs
        return tuple([self._updated(*each) for each in zip(hashes, inputs, outputs, strict=True)])

    def _updated(self, key: str, given: Any, out: Any) -> Any:
        """What an update returned: a handle, which is kept, or the very input."""
        try:
            item, updates = out
        except (TypeError, ValueError):
            return Unexpected(f"not a pair of item and prompt updates: {out!r:.80}")
        named = self.payloads.payloads.updates_content(updates)
        if given is not None and item is given[0] and updates is given[1]:
            content = self.payloads.content(item)
            if isinstance(content, Content) and isinstance(named, Content):
                return Served(content, named)
            return named if isinstance(content, Content) else content
        if isinstance(named, Unexpected):
            self._wrong = "SC-10"
            return named
        try:
            is_handle = ADDRESS in item
        except TypeError:
            is_handle = False
        if not is_handle:
            return Unexpected(f"neither a handle nor the input: {item!r:.80}")
        if (fault := fault_of(item)) or (fault := self._form_of(item)):
            self._wrong = "SC-06"
            return Unexpected(fault)
        self._note(key, item)
        return Handed(named)

    def _form_of(self, handle: Any) -> str:
        """What is wrong with the type of a handle, or of its elements.   [SC-06]"""
        if not isinstance(handle, self._namespace.MultiModalKwargsItem):
            return f"a handle that is a {type(handle).__name__}"
        batched = getattr(self._namespace, "MultiModalBatchedField", None)
        fields = [getattr(element, "field", None) for element in handle.values()]
        if batched is not None and not all(isinstance(field, batched) for field in fields):
            return "a handle whose elements are not all batched"
        return ""

    def _note(self, key: str, handle: Any) -> None:
        """A handle was issued: a new one, or one that is known."""
        known = self._issued.setdefault(key, [])
        if not known or _place(known[0]) != _place(handle):
            known.insert(0, handle)
            del known[KEPT:]

    def _handle(self, key: str, back: int = 0) -> Any:
        try:
            return self._issued[key][back]
        except LookupError:
            raise NotOffered(f"no such handle was issued for {key!r}") from None

    def _item(self, feature: Feature) -> Any:
        """What a worker is given."""
        match feature.source:
            case "item":
                return self.payloads.item(feature.content)
            case "nothing":
                return None
            case "forged":
                return shm_forms.changed(self._namespace, self._handle(feature.key), feature.key, "one bit")[
                    1
                ]
            case "handle":
                return self._handle(feature.key, feature.back)

    def _show(self, operation: operations.Validate | operations.Odd | operations.Forge) -> Any:
        """Show P0 or a worker a handle, or P0 an item."""
        key, namespace = operation.key, self._namespace
        if isinstance(operation, operations.Forge) and operation.call != "validate":
            shown_for, item = shm_forms.changed(namespace, self._handle(key), key, operation.form)
            receiver = self._receiver(0)
            if operation.call == "verify":
                return offered(receiver, "touch_receiver_cache_item")(shown_for, item)
            return self._received(item, lambda: receiver.get_and_update_item(item, shown_for))
        validate = offered(self.sender, "validate_input_item")
        match operation:
            case operations.Validate(_, back, is_plain):
                return validate(self.payloads.item(ANOTHER) if is_plain else self._handle(key, back), key)
            case operations.Odd(_, unusual):
                return validate(shm_forms.unusual(namespace, self._handle(key), unusual), key)
            case operations.Forge(_, form):
                shown_for, item = shm_forms.changed(namespace, self._handle(key), key, form)
                return validate(item, shown_for)

    def _received(self, given: Any, receive: Any) -> Any:
        """What a receiver returned for an item; of a handle, whether it was read as it must be."""
        taken = self._lock.taken
        out = receive()
        return self._told(given, out, is_locked=self._lock.taken > taken)

    def _told(self, given: Any, out: Any, *, is_locked: bool) -> Any:
        """An item that came out of a receiver, in canonical form.   [SC-19, SC-20]"""
        content = self.payloads.content(out)
        if not isinstance(content, Content):
            return content
        is_input = out is given
        if ADDRESS in given and not is_input:
            if not is_locked:
                return UNLOCKED
            if self._is_shared(out):
                return SHARED
        return Received(content, is_input=is_input)

    def _is_shared(self, item: Any) -> bool:
        """Does writing into an item change the segment?"""
        if not segments.exists(self._segment.name):
            return False
        before = segments.content(self._segment.name)
        payload = item[self.payloads.payloads.KEY].data
        with contextlib.suppress(Exception):
            payload[0] = int(payload[0]) ^ 0xFF
        after = segments.content(self._segment.name)
        with contextlib.suppress(Exception):
            payload[0] = int(payload[0]) ^ 0xFF
        return before != after

    def _features(self, receiver: Any, features: Sequence[Feature]) -> Any:
        """`get_and_update_features`; what each feature holds afterwards."""
        given = [self._item(feature) for feature in features]
        built = []
        for index, (item, feature) in enumerate(zip(given, features, strict=True)):
            made = self._namespace.make_feature(item, "image", feature.key, index)
            if feature.has_mm_hash:
                made.identifier = f"adapter:{feature.key}"
            else:
                made.mm_hash = None
            built.append(made)
        before, taken = list(built), self._lock.taken
        returned = receiver.get_and_update_features(built)
        if returned is not built or list(map(id, built)) != list(map(id, before)):
            return OTHER_LIST
        return self._all_told(given, [feature.data for feature in built], taken)

    def _receive_all(self, receiver: Any, features: Sequence[Feature], is_unequal: bool) -> Any:
        """`get_and_update` of a receiver; the lists that it is given stay as they are."""
        items = [self._item(feature) for feature in features]
        hashes = [feature.key for feature in features][: -1 if is_unequal else None]
        taken = self._lock.taken
        returned = get_and_update(receiver, items, hashes)
        if returned is CHANGED_LIST:
            return returned
        return self._all_told(items, returned, taken)

    def _all_told(self, given: Sequence[Any], out: Sequence[Any], taken: int) -> Any:
        """Several items that came out, in canonical form, or what is wrong with one; each reading needs the
        lock once."""
        is_locked = self._lock.taken - taken >= sum(
            out[place] is not each for place, each in enumerate(given)
        )
        told = [self._told(*each, is_locked=is_locked) for each in zip(given, out, strict=True)]
        return next((each for each in told if isinstance(each, Unexpected)), tuple(told))


def _place(handle: Any) -> tuple[Any, Any]:
    """Address and id of a handle."""
    return handle[ADDRESS].data, handle[ID].data
