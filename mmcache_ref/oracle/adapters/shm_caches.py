"""A sender and its receivers of a target inside the protocol, driven by `model/shm_caches.py`.

The segment is real. The protocol is that of `mmcache_ref.protocol`, but for what the target offers of it
itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mmcache_ref import protocol
from mmcache_ref.model import shm_accidents as operations
from mmcache_ref.model.component import Content, Missed, Raised, Refused
from mmcache_ref.model.shm_environment import Config
from mmcache_ref.model.shm_requests import Carried, Request
from mmcache_ref.oracle.adapters.base import Unexpected, need, offered_of, raised, same
from mmcache_ref.oracle.adapters.shm_chunks import observe_chunks
from mmcache_ref.oracle.adapters.shm_differences import Differences
from mmcache_ref.oracle.adapters.shm_handles import (
    SeenHandles,
    fault_of,
    handle_in_words,
    how_it_travels,
    travelling,
)
from mmcache_ref.oracle.adapters.shm_units import HEADER, RECEIVER, SENDER, UNIT, Segment, UnitPayloads
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.namespace import call_with
from mmcache_ref.oracle.process_parts import CHUNKS, NOTED, payloads_of, shared_implementation, shared_recipe
from mmcache_ref.protocol.processes import Hosts, RemoteCache, SharedProcesses, unpack

PARTS = {"deployment": "SharedDeployment", "front_end": "SharedFrontEnd", "worker": "SharedWorker"}
"""What a target may offer of the protocol."""
UPDATES = operations.Submit | operations.Reject
READINGS = operations.Read | operations.Resume
REFUSALS = {"p0": "SC-15", "worker": "SC-22"}
"""By which clause a forged handle is refused where it is shown."""


class ShmCachesAdapter:
    """P0, its workers, and what lies between, over one segment of its own."""

    def __init__(
        self,
        namespace: Any,
        config: Config,
        hosts: Hosts | None = None,
        *,
        lock: Any = None,
        payloads: UnitPayloads | None = None,
    ) -> None:
        """The workers share the lock, or one of the segment's own; `payloads` may know lengths already."""
        need(namespace, SENDER, RECEIVER, "merge_mm_kwargs")
        usual = UnitPayloads if hosts is None else payloads_of
        self.payloads = payloads or usual(namespace)
        self.handles = SeenHandles(namespace)
        self._namespace = namespace
        self._updates: list[Any] = []
        self._contents: dict[str, Content] = {}
        self._own: tuple[Any, ...] = ()
        self._wrong: str | None = None
        self._is_stripped = False
        self._read_last: Any = None
        self._differences = Differences()
        offered = offered_of(namespace, PARTS)
        self.has_own_protocol = bool(offered)
        made: Any
        if hosts is None:
            made = segment = Segment(
                namespace,
                capacity=config.capacity * UNIT,
                limit=config.limit * UNIT - HEADER,
                workers=config.workers,
                lock=lock,
            )
            offered["implementation"] = shared_implementation(
                namespace, self.payloads, segment, config.workers, self._updates
            )
        else:
            recipe = shared_recipe(namespace, config.capacity, config.limit, config.workers)
            made = processes = SharedProcesses(hosts, recipe, config.workers, kills=False)
            offered |= processes.parts()
        self.close: Callable[[], object] = made.close
        """Give the segment back."""
        self.deployment: Any = call_with(
            offered.pop("deployment", protocol.SharedDeployment),
            {"protections": config.protections, **offered},
        )

    def perform(self, operation: operations.Operation) -> Any:
        """One step of P0, of a worker, or of the environment; then P0 is asked what it counted meanwhile."""
        try:
            return self._performed(operation)
        finally:
            sender = self.deployment.front_end.sender
            if hasattr(sender, "make_stats"):
                self._differences.ask(sender)

    def _performed(self, operation: operations.Operation) -> Any:
        self._own, self._wrong, self._is_stripped = (), None, False
        deployment = self.deployment
        match operation:
            case operations.Submit(request, children):
                return self._sent(deployment.submit, request, children)
            case operations.Reject(request, children):
                return self._sent(deployment.reject, request, children)
            case operations.SubmitAgain(position):
                self._updates.clear()
                return self._carried(deployment.retry(position))
            case operations.Read(position, worker):
                message = deployment.channel[position]
                self._own = () if message.is_release else self._own_of(message)
                self._read_last = message
                self._is_stripped = None in message.items
                return self._read(deployment.read(position, worker))
            case operations.Resume(position):
                self._read_last = deployment.running[position]
                self._own = (self._own_of(self._read_last),) * len(deployment.workers)
                readings = [self._read(reading) for reading in deployment.resume(position)]
                missed = [each for each in readings if isinstance(each, Missed)]
                return missed[-1] if missed else tuple(readings)
            case operations.Replay(key, is_outdated):
                handle = self.handles.outdated(key) if is_outdated else self.handles.current(key)
                return self._brought(deployment.replay, key, handle)
            case operations.Forge(key, how, at):
                return self._forge(key, how, at)
            case operations.Clear():
                return False if deployment.clear() is False else None
        steps = {
            operations.Finish: deployment.finish,
            operations.Abort: deployment.abort,
            operations.Strip: deployment.strip,
        }
        if isinstance(operation, operations.Die):
            deployment.die(operation.worker)
        else:
            steps[type(operation)](operation.position)
        return None

    def also_decided_by(self, operation: operations.Operation) -> list[str]:
        """The clauses that `blamed` may name for this operation, besides those that it is decided by."""
        if isinstance(operation, operations.Forge):
            return [REFUSALS[operation.at]]
        decisive = {
            "SC-18": self._is_stripped,
            "SC-25": isinstance(operation, UPDATES) and self.has_own_protocol,
            "SC-29": isinstance(operation, operations.Read) and self.has_own_protocol,
            "SC-32": isinstance(operation, READINGS),
            "SC-42": isinstance(operation, READINGS),
        }
        return [clause for clause, decides in decisive.items() if decides]

    def blamed(self, operation: operations.Operation, aspect: str, expected: Any, actual: Any) -> str | None:
        """What a result tells besides the operation's own rule.

        Who did not refuse a forged handle (SC-15, SC-22); a handle that is none (SC-06); prompt updates of
        another item (SC-10); a difference of the counters (SC-13); an item without data that was not passed
        over (SC-18); a chunk that is gone and must not be (SC-32), or that ends a worker which must live on
        (SC-42). Of the target's own protocol: a key that was stored at the check and is gone at the update
        (SC-25); what a worker still has to read after a reading (SC-29).
        """
        if isinstance(operation, operations.Forge):
            return REFUSALS[operation.at]
        if aspect == "total" and isinstance(actual, Unexpected):
            return "SC-13" if self._differences.total == expected else None
        if aspect != "outcome":
            is_left = aspect in ("channel", "under-way") and isinstance(operation, operations.Read)
            return "SC-29" if is_left and self.has_own_protocol else None
        if isinstance(operation, READINGS):
            if _is_gone(actual) and (isinstance(expected, Missed) or expected == ()):
                return "SC-42"
            if isinstance(expected, tuple) and (isinstance(actual, Missed) or _is_gone(actual)):
                return "SC-32"
            return "SC-18" if isinstance(actual, Raised) and self._is_stripped else None
        is_asserted = isinstance(actual, Raised) and actual.error == "AssertionError"
        if is_asserted and isinstance(expected, tuple) and self.has_own_protocol:
            return "SC-25"
        return self._wrong

    def observe(self) -> Mapping[str, Any]:
        """Counters, chunks and layout as far as the target has upstream's attributes; what is under way."""
        deployment = self.deployment
        if deployment.is_dead:
            return {"dead": True}
        seen: dict[str, Any] = {"dead": False}
        sender = deployment.front_end.sender
        if hasattr(sender, "make_stats"):
            hits, total = sender.make_stats()
            seen |= {"hits": hits, "total": self._differences.fault or total}
        seen |= self._chunks(sender)
        seen["under-way"] = tuple(map(len, (deployment.channel, deployment.running, deployment.retries)))
        seen["channel"] = tuple(
            [(travelling(each), tuple(each.owed), each.is_release) for each in deployment.channel]
        )
        return seen

    def _chunks(self, sender: Any) -> Mapping[str, Any]:
        """What is to be seen of P0's store, wherever it is."""
        if isinstance(sender, RemoteCache):
            chunks: Mapping[str, Any] = sender.observed()[CHUNKS]
            return chunks
        return observe_chunks(getattr(sender, "_shm_cache", None))

    def _noted(self) -> Sequence[Any]:
        """The contents that the prompt updates of the last merge step name, if there was one."""
        sender = self.deployment.front_end.sender
        if isinstance(sender, RemoteCache):
            noted: Sequence[Any] = sender.observed()[NOTED]
            return noted
        return [self.payloads.payloads.updates_content(each) for each in self._updates]

    def is_legal_too(self, operation: operations.Operation, expected: Any, actual: Any) -> bool:
        """Whether handles whose chunk is gone have read their own object, in a place not reused.   [SC-23]

        What the target then counts, and who is told what, no clause says.
        """
        if not isinstance(operation, READINGS) or not isinstance(expected, Missed | Raised):
            return False
        if isinstance(expected, Missed) and isinstance(actual, Missed):
            served = [mm_hash for mm_hash in expected.hashes if mm_hash not in actual.hashes]
            is_rest = actual.hashes == tuple([each for each in expected.hashes if each in actual.hashes])
            return bool(served) and is_rest and all(map(self._is_in_place, served))
        return same(self._own, actual)

    def _is_in_place(self, mm_hash: str) -> bool:
        """Whether a worker finds the handle of this hash in the message that was read last to be valid."""
        pairs = zip(self._read_last.request, self._read_last.items, strict=True)
        handles = [
            carried
            for item, carried in pairs
            if item.mm_hash == mm_hash and how_it_travels(carried) == "handle"
        ]
        try:
            for handle in handles:
                self.deployment.workers[0].receiver.touch_receiver_cache_item(mm_hash, handle)
        except ValueError:
            return False
        return True

    def _own_of(self, message: Any) -> tuple[Content | None, ...]:
        """What a worker must get of a message: for a handle what is stored under its key."""
        pairs = zip(message.request, message.items, strict=True)
        return tuple(
            [
                None
                if carried is None
                else self._contents.get(item.mm_hash, item.data)
                if how_it_travels(carried) == "handle"
                else item.data
                for item, carried in pairs
            ]
        )

    def _sent(self, operate: Any, request: Request, children: int) -> Any:
        """What P0 made of a request, or the hashes for the lack of which it was refused.   [SC-26]"""
        self._updates.clear()
        try:
            return self._carried(operate(self._request(request), children))
        except ValueError as error:
            if type(error).__name__ != protocol.UnsuppliedError.__name__:
                raise
            return Refused(tuple(error.mm_hashes))  # type: ignore[attr-defined]
        except AssertionError:
            for item in request:
                self.handles.forget(item.key)
            raise

    def _carried(self, message: Any) -> tuple[Any, ...]:
        """How each item of a message travels, and what its prompt updates, or it, belong to."""
        contents = self._noted() or [item.data for item in message.request]
        carried: list[Any] = []
        for item, packed, content in zip(message.request, message.items, contents, strict=True):
            travels = unpack(packed)
            how = how_it_travels(travels)
            carried.append(Carried(how, content) if isinstance(content, Content) else content)
            if how == "handle":
                self.handles.note(item.mm_hash, travels)
                self._contents[item.mm_hash] = content if isinstance(content, Content) else item.data
                if fault := fault_of(travels):
                    carried[-1], self._wrong = Unexpected(fault), "SC-06"
            elif how == "item" and (own := self.payloads.content(travels)) != content:
                carried[-1] = Unexpected(f"{own} with the prompt updates of {content}")
            if carried[-1] != Carried(how, item.data):
                self._wrong = self._wrong or "SC-10"
        return tuple(carried)

    def _read(self, reading: Any) -> Any:
        if reading.items is None:
            return Missed(tuple(map(str, reading.missing)))
        return tuple([self.payloads.content(item) for item in reading.items])

    def _brought(self, bring: Any, key: str, handle: Any) -> Any:
        """A client brings a handle instead of data."""
        if not hasattr(self.deployment.front_end.sender, "validate_input_item"):
            raise NotOffered("the target does not validate what clients send")
        self._updates.clear()
        content = self._contents.get(key, Content(1))
        return self._carried(bring(protocol.RequestItem(key, content), handle))

    def _request(self, request: Request) -> protocol.Request:
        if any(item.content.nbytes < 1 for item in request):
            raise NotOffered("no chunk is smaller than a unit")
        return tuple(
            [protocol.RequestItem(item.key, item.content, is_supplied=item.supplied) for item in request]
        )

    def _forge(self, key: str, how: operations.Forgery, at: str) -> Any:
        """Show forged handles to P0 or to a worker, each of a kind; what came of the first that passed."""
        refusal: Any = None
        for name, handle in self.handles.forged(key, how):
            try:
                if at == "p0":
                    self._brought(self.deployment.forge, name, handle)
                else:
                    feature = self._namespace.make_feature(handle, "image", name, 0)
                    self.deployment.workers[0].receiver.get_and_update_features([feature])
            except ValueError as error:
                refusal = raised(error)
                if "SHM handle signature" not in refusal.says:
                    return refusal
            else:
                return Unexpected(f"a forged handle ({how}) was accepted: {handle_in_words(handle)}")
        return refusal


def _is_gone(actual: Any) -> bool:
    """Whether a target says that the chunk of a handle is gone.   [SC-23]"""
    return isinstance(actual, Raised) and "modified or is invalid" in actual.says
