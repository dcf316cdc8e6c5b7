"""Operations, results and states of the shared-memory caches in words: sizes are in units."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from mmcache_ref.model import shm_accidents as operations
from mmcache_ref.model.component import Op
from mmcache_ref.model.shm_requests import Request

FORGERIES: Final = {
    "wrong-key": "shown for another key",
    "wrong-signature": "with a wrong signature",
    "out-of-range": "with values out of range",
    "unsigned": "without a signature",
}
CARRIED: Final = {"handle": "a handle of", "item": "the item itself,", "nothing": "nothing of"}
UNDER_WAY: Final = ("messages", "running requests", "retries")
_CONTENT: Final = re.compile(r"\b(\d+) B/(\d+)")


def shm_operation_in_words(operation: Op) -> str | None:
    """An operation on the shared-memory caches; None for any other."""
    match operation:
        case operations.Submit(request, children) | operations.Reject(request, children):
            name = "submit" if isinstance(operation, operations.Submit) else "reject"
            return f"{name} {_request(request)}" + (f" for {children} children" if children > 1 else "")
        case operations.Read(position, worker):
            return f"read message {position} by worker {worker}"
        case operations.Abort(position):
            return f"abort message {position}"
        case operations.Strip(position):
            return f"strip message {position}"
        case operations.Finish(position):
            return f"finish request {position}"
        case operations.Resume(position):
            return f"resume request {position}"
        case operations.SubmitAgain(position):
            return f"retry request {position}"
        case operations.Die(worker):
            return f"worker-death of worker {worker}"
        case operations.Forge(key, how, at):
            whom = "P0" if at == "p0" else "a worker"
            return f"forge a handle of {key} {FORGERIES[how]}, for {whom}"
        case operations.Replay(key, is_outdated):
            return f"replay {'an outdated' if is_outdated else 'the current'} handle of {key}"
    return None


def _request(request: Request) -> str:
    named = [
        f"{item.key} {in_units(f'{item.content.nbytes} B/{item.content.fill}')}"
        f"{'' if item.supplied else ', data left out'}"
        for item in request
    ]
    return f"[{', '.join(named)}]"


def in_units(words: str) -> str:
    """The words with contents in units instead of bytes."""
    return _CONTENT.sub(lambda found: f"{units(int(found[1]))}/{found[2]}", words)


def units(number: float) -> str:
    """So many units."""
    return f"{number} unit" if number == 1 else f"{number} units"


def carried_in_words(result: Mapping[str, Any]) -> str:
    """How an item travels."""
    content = result["content"]
    return f"{CARRIED[result['how']]} {units(content['nbytes'])}/{content['fill']}"


def shm_state_in_words(state: Mapping[str, Any]) -> str:
    """The chunks, oldest first, each with its place, its references and how often it was read."""
    if state.get("dead"):
        return "the engine is dead"
    columns = [state.get(name) for name in ("keys", "layout", "references", "counts")]
    if not all(isinstance(column, list | tuple) for column in columns):
        return ""
    chunks = [
        f"{key}@{place[0]} (handed out {references}, read {count})"
        for key, place, references, count in zip(*columns, strict=True)
    ]
    return ", ".join(chunks) or "empty"


def shm_aspect_in_words(name: str, expected: Any, actual: Any, keys: Sequence[str]) -> str | None:
    """An observed part of the state that is not the model's; None where its name says enough."""
    whose = f" of {', '.join(keys)}" if keys else ""
    match name:
        case "counts":
            return f"the reader counts{whose} are {_list(actual)}, must be {_list(expected)}"
        case "references":
            return f"the references handed out{whose} are {_list(actual)}, must be {_list(expected)}"
        case "keys":
            return f"the keys in the ring, oldest first, are {_list(actual)}, must be {_list(expected)}"
        case "ring":
            return f"the ring begins and ends at {_list(actual)} units, must at {_list(expected)}"
        case "layout":
            mine, theirs = (
                [f"{place[0]} ({units(place[1])})" for place in places] for places in (expected, actual)
            )
            return f"the chunks{whose} lie at {_list(theirs)}, must lie at {_list(mine)}"
        case "under-way":
            differing = [
                f"{theirs} {what}, must be {mine}"
                for what, mine, theirs in zip(UNDER_WAY, expected, actual, strict=False)
                if mine != theirs
            ]
            return f"under way are {'; '.join(differing)}"
        case "dead":
            return f"the engine is {'dead' if actual else 'alive'}, must be {'dead' if expected else 'alive'}"
    return None


def _list(values: Any) -> str:
    return " ".join(map(str, values)) or "none"
