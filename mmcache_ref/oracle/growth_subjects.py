"""The caches whose operations are measured: filled with so many keys, and what is done with them.

Operations are done in the order in which they stand; each but clearing leaves as many keys as it found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from mmcache_ref.model.component import Content
from mmcache_ref.oracle.adapters.base import Payloads
from mmcache_ref.oracle.adapters.shm_units import Segment, UnitPayloads

CALLS: Final = 100
FEW_CALLS: Final = 5
"""Of operations that are known to take long."""
LEAST_KEYS: Final = 10
"""Fewer would leave no room for what is done."""
MOST_TO_CLEAR: Final = 10_000
"""Keys up to which clearing is measured: 0.32.0 takes time in proportion to their square."""
CONTENT: Final = Content(8, 1)


def _nothing() -> None:
    return


class Operation(NamedTuple):
    """`run(number)` is done `calls` times to be timed and as often to have its lines counted, with one number
    after the other; `before()` once before each of the two."""

    name: str
    run: Callable[[int], object]
    calls: int = CALLS
    before: Callable[[], object] = _nothing
    is_offered: bool = True


class Subject(NamedTuple):
    """A filled cache."""

    operations: Sequence[Operation]
    close: Callable[[], object] = _nothing


def _clearing(name: str, clear: Callable[[], object], fill: Callable[[], object], keys: int) -> Operation:
    """Clearing a full cache, which is filled again where it was cleared before."""
    is_cleared = False

    def run(number: int) -> None:
        nonlocal is_cleared
        clear()
        is_cleared = True

    def before() -> None:
        if is_cleared:
            fill()

    return Operation(name, run, 1, before, is_offered=keys <= MOST_TO_CLEAR)


def _touching(cache: Any, key: Callable[[int], str]) -> Operation:
    """A touch by P0, whose end not every release has."""
    has_release = hasattr(cache, "release_sender_touches")

    def run(number: int) -> None:
        cache.touch_sender_cache_item(key(number))
        if has_release:
            cache.release_sender_touches()

    return Operation("touch, and end of touches", run)


def lru(namespace: Any, keys: int) -> Subject:
    """The byte-budgeted LRU, full."""
    item = Payloads(namespace).item(CONTENT)
    budget = keys * CONTENT.nbytes / 2**30
    cache = namespace.MultiModalCache.get_lru_cache(budget, namespace.MultiModalKwargsItem)

    def fill() -> None:
        for each in range(keys):
            cache[f"key {each}"] = item

    fill()

    def key(number: int) -> str:
        return f"key {number % keys}"

    def put_again(number: int) -> None:
        cache.pop(key(number))
        cache[key(number)] = item

    def pin_and_put_again(number: int) -> None:
        cache.pin(key(number))
        del cache[key(number)]
        cache[key(number)] = item

    def pop_and_put(number: int) -> None:
        cache.popitem()
        cache[f"another {number}"] = item

    def pin_half() -> None:
        for each in list(cache)[: keys // 2]:
            cache.pin(each)

    return Subject(
        (
            Operation("key in cache", lambda number: key(number) in cache),
            Operation("cache[key]", lambda number: cache[key(number)]),
            Operation("get of an absent key", lambda number: cache.get("absent")),
            Operation("touch", lambda number: cache.touch(key(number))),
            Operation("len, usage and stat", lambda number: (len(cache), cache.usage, cache.stat())),
            Operation("put in place of a value", lambda number: cache.put(key(number), item)),
            Operation("pop and put", put_again),
            Operation("pin, delete and put", pin_and_put_again),
            Operation("put with an eviction", lambda number: cache.put(f"new {number}", item)),
            Operation("popitem and put", pop_and_put),
            Operation(
                "put with an eviction, the older half pinned",
                lambda number: cache.put(f"last {number}", item),
                FEW_CALLS,
                pin_half,
            ),
            _clearing("clear", cache.clear, fill, keys),
        )
    )


def processor_only(namespace: Any, keys: int) -> Subject:
    """The processor-only cache, full."""
    made = Payloads(namespace).processed(CONTENT)
    cache = namespace.MultiModalProcessorOnlyCache(namespace.make_model_config(keys * CONTENT.nbytes))
    return Subject(_of_a_sender(cache, made, keys))


def sender(namespace: Any, keys: int) -> Subject:
    """The sender of the key-replicated pair, full."""
    made = Payloads(namespace).processed(CONTENT)
    cache = namespace.LruKeyReplicatedSenderCache(namespace.make_model_config(keys * CONTENT.nbytes))
    return Subject(_of_a_sender(cache, made, keys))


def _of_a_sender(cache: Any, made: Any, keys: int) -> tuple[Operation, ...]:
    """What P0 does with a cache whose budget is so many keys."""

    def fill() -> None:
        for each in range(keys):
            cache.get_and_update_item(made, f"key {each}")

    fill()

    def key(number: int) -> str:
        return f"key {number % keys}"

    def invalidate(number: int) -> None:
        cache.invalidate(key(number))
        cache.get_and_update_item(made, key(number))

    return (
        Operation("is_cached_item", lambda number: cache.is_cached_item(key(number))),
        _touching(cache, key),
        Operation("update of a cached key", lambda number: cache.get_and_update_item(None, key(number))),
        Operation("make_stats", lambda number: cache.make_stats(delta=True)),
        Operation("invalidate, and update with data", invalidate, is_offered=hasattr(cache, "invalidate")),
        Operation(
            "update of a new key, with an eviction",
            lambda number: cache.get_and_update_item(made, f"new {number}"),
        ),
        _clearing("clear_cache", cache.clear_cache, fill, keys),
    )


def receiver(namespace: Any, keys: int) -> Subject:
    """The receiver of the key-replicated pair, full."""
    item = Payloads(namespace).item(CONTENT)
    cache = namespace.LruKeyReplicatedReceiverCache(namespace.make_model_config(keys * CONTENT.nbytes))

    def fill() -> None:
        for each in range(keys):
            cache.get_and_update_item(item, f"key {each}")

    fill()

    def key(number: int) -> str:
        return f"key {number % keys}"

    def features(number: int) -> Any:
        return cache.get_and_update_features([namespace.make_feature(None, "image", key(number), 0)])

    return Subject(
        (
            Operation("touch", lambda number: cache.touch_receiver_cache_item(key(number))),
            Operation("update without data", lambda number: cache.get_and_update_item(None, key(number))),
            Operation("features of a request", features),
            Operation("update with data", lambda number: cache.get_and_update_item(item, key(number))),
            Operation(
                "update of a new key, with an eviction",
                lambda number: cache.get_and_update_item(item, f"new {number}"),
            ),
            _clearing("clear_cache", cache.clear_cache, fill, keys),
        )
    )


def shared_memory(namespace: Any, keys: int) -> Subject:
    """The caches in shared memory: the ring is full, and one worker has read what will be evicted."""
    units = UnitPayloads(namespace)
    made = units.payloads.processed(CONTENT)
    chunk = units.chunk_bytes(CONTENT)
    segment = Segment(namespace, capacity=keys * chunk, limit=chunk, workers=1)
    cache = segment.make_sender()
    worker = segment.make_receiver(0)
    handles: dict[str, Any] = {}
    worn = keys // 10
    age = 0

    def fill() -> None:
        for each in range(keys):
            handle, _ = cache.get_and_update_item(made, f"key {each}")
            if each < 2 * worn + 10 * CALLS:  # so many will be evicted at most
                handles[f"key {each}"] = handle
                worker.get_and_update_item(handle, f"key {each}")

    fill()

    def key(number: int) -> str:
        """One of a few, whatever the number of keys: a worker remembers what it has verified."""
        return f"key {number % LEAST_KEYS}"

    def update(number: int) -> None:
        handle, _ = cache.get_and_update_item(None, key(number))
        worker.get_and_update_item(handle, key(number))

    def new(number: int | str) -> None:
        handle, _ = cache.get_and_update_item(made, f"new {number}")
        worker.get_and_update_item(handle, f"new {number}")

    def wear() -> None:
        """Evict many: the next one must not be looked for behind all that are gone."""
        nonlocal age
        age += 1
        for each in range(worn):
            new(f"{each} of age {age}")

    return Subject(
        (
            Operation("is_cached_item", lambda number: cache.is_cached_item(key(number))),
            _touching(cache, key),
            Operation("make_stats", lambda number: cache.make_stats(delta=True)),
            Operation(
                "check of a client's handle",
                lambda number: cache.validate_input_item(handles[key(number)], key(number)),
                is_offered=hasattr(cache, "validate_input_item"),
            ),
            Operation(
                "touch by a worker",
                lambda number: worker.touch_receiver_cache_item(key(number), handles[key(number)]),
            ),
            Operation("update of a stored key, and a reading", update),
            Operation("update of a new key, with an eviction, and a reading", new, before=wear),
            Operation(
                "remove_dangling_items",
                lambda number: cache.remove_dangling_items(),
                FEW_CALLS,
                is_offered=hasattr(cache, "remove_dangling_items"),
            ),
            _clearing("clear_cache", cache.clear_cache, fill, keys),
        ),
        lambda: segment.close(),  # keeps the segment, which closes what it made as it goes
    )


SUBJECTS: Final[dict[str, Callable[[Any, int], Subject]]] = {
    "LRU": lru,
    "processor-only": processor_only,
    "LRU sender": sender,
    "LRU receiver": receiver,
    "shared memory": shared_memory,
}
