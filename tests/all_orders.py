"""Every order of the events of a log, tried one by one: slow, and so simple that it is surely right."""

from __future__ import annotations

from mmcache_ref.oracle.event_log import Log
from mmcache_ref.oracle.trace_lanes import Lanes
from mmcache_ref.oracle.trace_step import Partial, Steps


def is_explained(log: Log, most: int = 20_000) -> bool | None:
    """Whether some order of all events is a behaviour of the model; None where there are too many."""
    steps, lanes = Steps(log.header), Lanes(log.header, log.entries)
    whole = len(log.entries)
    first = steps.first(len(lanes.events))
    waiting, seen = [first], {first}
    while waiting:
        partial = waiting.pop()
        if partial.length == whole:
            return True
        if len(seen) > most:
            return None
        for lane, events in enumerate(lanes.events):
            if partial.places[lane] < len(events):
                after = steps.step(partial, lane, events[partial.places[lane]])
                if isinstance(after, Partial) and after not in seen:
                    seen.add(after)
                    waiting.append(after)
    return False
