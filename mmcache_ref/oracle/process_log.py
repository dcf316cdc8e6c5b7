"""Each process of a deployment writes its own events, into a file of its own.   [EV-02, EV-03]"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from mmcache_ref.model.component import Missed, Refused
from mmcache_ref.model.events import AnyEvent, Asked, Brought, Did, Header, Item, Took
from mmcache_ref.model.shm_requests import Carried
from mmcache_ref.oracle.adapters.base import raised
from mmcache_ref.oracle.adapters.shm_handles import how_it_travels
from mmcache_ref.oracle.event_log import as_json
from mmcache_ref.protocol.processes import Occasion, unpack

SUFFIX: Final = ".ndjson"


class ProcessLog:
    """The events of one process; whoever takes its place goes on with its numbers.

    A line that was cut off, as its writer was killed, is no event: it is taken away.
    """

    def __init__(self, folder: str, process: str) -> None:
        self._process = process
        path = Path(folder) / f"{process}{SUFFIX}"
        written = path.read_bytes() if path.exists() else b""
        whole = written[: written.rfind(b"\n") + 1]
        self._file = path.open("r+b" if written else "wb", buffering=0)
        self._file.truncate(len(whole))
        self._file.seek(len(whole))
        self._number = whole.count(b"\n")

    def write(self, kind: type[AnyEvent], did: str, saw: Any, **more: Any) -> None:
        """Write one event; what is None is left out."""
        given = {name: value for name, value in more.items() if value is not None}
        event = kind(process=self._process, number=self._number, did=did, saw=as_json(saw), **given)  # type: ignore[arg-type]
        self._file.write(msgspec.json.encode(event) + b"\n")
        self._number += 1

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def gathered(header: Header, folder: Path) -> bytes:
    """The log of a run: its header, and what each process wrote."""
    files = sorted(folder.glob(f"*{SUFFIX}"))
    return msgspec.json.encode(header) + b"\n" + b"".join(path.read_bytes() for path in files)


def request_in_log(request: Iterable[Any]) -> tuple[Item, ...]:
    """A request as an event has it."""
    return tuple(
        [
            Item(item.mm_hash, item.data.nbytes, item.data.fill, item.is_supplied, item.modality)
            for item in request
        ]
    )


def what_was_raised(error: Exception) -> Any:
    """What a process saw of an error."""
    hashes = getattr(error, "mm_hashes", None)
    return Refused(tuple(hashes)) if isinstance(error, ValueError) and hashes is not None else raised(error)


class _Recorder:
    """Writes what one process did. Only its first event tells which it is, so the file is made then."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._log: ProcessLog | None = None

    def _open(self, process: str) -> ProcessLog:
        self._log = self._log or ProcessLog(self._folder, process)
        return self._log


class SharedRecorder(_Recorder):
    """What P0 and the workers of the shared-memory caches write down, each in its process.   [EV-04, EV-05]

    Args:
        folder: where the files are.
        sends_rejected: a request that P0 refuses is sent all the same, as a release.
        noted: gives the contents that the prompt updates of the last merge step name, once.
        keys: from P0's cache to the keys that it holds.
        number: gives the numbers of a lock that all processes share.
    """

    def __init__(
        self,
        folder: str,
        *,
        sends_rejected: bool,
        noted: Callable[[], Sequence[Any]],
        keys: Callable[[Any], tuple[str, ...] | None],
        number: Callable[[], int | None],
    ) -> None:
        super().__init__(folder)
        self._sends_rejected = sends_rejected
        self._noted, self._keys, self._number = noted, keys, number
        self._began: int | None = None

    def begins(self) -> None:
        """Something begins that will be written down.   [EV-07]"""
        self._began = self._number()

    def __call__(self, part: Any, occasion: Occasion, arguments: tuple[Any, ...], outcome: Any) -> None:
        """Write down what a side did, with a number of the lock from before and one from after it.

        What ends a worker ends the engine when the engine hears of it, and not at that number.
        """
        began, ended = self._began, self._number()
        is_end = occasion.did == "read" and isinstance(outcome, Exception)
        lock = None if began is None or ended is None or is_end else (began, ended)
        if occasion.did == "read":
            log = self._open(f"w{part.worker.number}")
            (message,) = arguments
            more = {"message": message.name, "keys": keys_of(message.request), "lock": lock}
            log.write(Took, "read", self._read(message, outcome), **more)
        else:
            self._of_front_end(self._open("p0"), part, occasion, arguments, outcome, lock)

    def _read(self, message: Any, outcome: Any) -> Any:
        if isinstance(outcome, Exception):
            return raised(outcome)
        if message.is_release:
            return ()
        return Missed(tuple(outcome.missing)) if outcome.items is None else outcome.items

    def _of_front_end(
        self,
        log: ProcessLog,
        part: Any,
        occasion: Occasion,
        arguments: tuple[Any, ...],
        outcome: Any,
        lock: tuple[int, int] | None,
    ) -> None:
        did, holds = occasion.did, self._keys(part.cache())
        if did == "clear":
            return log.write(Did, did, None, holds=holds, lock=lock)
        is_message = not isinstance(outcome, Exception)
        saw = self._carried(outcome) if is_message else what_was_raised(outcome)
        is_sent = is_message and (did != "reject" or self._sends_rejected)
        more = {"holds": holds, "made": outcome.name if is_sent else None, "lock": lock}
        if did == "retry":
            return log.write(Took, did, saw, message=occasion.about, keys=keys_of(arguments[0]), **more)
        if did in ("replay", "forge"):
            details = dict(occasion.details)
            key = details.pop("key", arguments[0].mm_hash)
            if did == "forge" and key not in (holds or ()):
                return None  # there is no handle that this could be a forgery of
            if did == "replay":
                details["is_outdated"] = not is_message
            return log.write(Brought, did, saw, key=key, **details, **more)
        request, children = arguments
        return log.write(Asked, did, saw, request=request_in_log(request), children=children, **more)

    def _carried(self, message: Any) -> tuple[Any, ...]:
        contents = self._noted() or [item.data for item in message.request]
        return tuple(
            [
                Carried(how_it_travels(packed), content)
                for packed, content in zip(message.items, contents, strict=True)
            ]
        )


class PairRecorder(_Recorder):
    """What P0 and P1 of a key-replicated pair write down, each in its process.   [EV-04, EV-05]"""

    def __init__(
        self,
        folder: str,
        *,
        keys: Callable[[Any], tuple[str, ...] | None],
        content: Callable[[Any], Any],
    ) -> None:
        super().__init__(folder)
        self._keys, self._content = keys, content

    def __call__(self, part: Any, occasion: Occasion, arguments: tuple[Any, ...], outcome: Any) -> None:
        """Write down what a side did; what had to wait is no event."""
        did, holds = occasion.did, self._keys(part.cache())
        if outcome is False:
            return None
        if did in ("deliver", "clear-p1", "finish-clear"):
            log = self._open("p1")
            if did != "deliver":
                return log.write(Did, did, None, holds=holds)
            (message,) = arguments
            saw = self._answered(outcome)
            keys = keys_of(message.request)
            return log.write(Took, did, saw, message=message.name, keys=keys, holds=holds)
        return self._of_front_end(self._open("p0"), occasion, arguments, outcome, holds)

    def _of_front_end(
        self, log: ProcessLog, occasion: Occasion, arguments: tuple[Any, ...], outcome: Any, holds: Any
    ) -> None:
        did = occasion.did
        if did in ("clear-p0", "clear-both"):
            return log.write(Did, did, None, holds=holds)
        if did in ("handle-report", "lose-report"):
            keys = keys_of(arguments[0].request)
            return log.write(Took, did, None, message=occasion.about, keys=keys, holds=holds)
        if did in ("second-front-end", "second-engine"):
            (made,) = occasion.details["made"] or (None,)
            saw = self._answered(outcome)
            request = request_in_log(arguments[0])
            return log.write(Asked, did, saw, request=request, made=made, holds=holds)
        is_message = not isinstance(outcome, Exception)
        saw = self._sent(did, outcome) if is_message else what_was_raised(outcome)
        is_sent = is_message and did in ("submit", "retry", "bypass", "update")
        more = {"holds": holds, "made": outcome.name if is_sent else None}
        if did == "update":
            return log.write(Did, did, saw, **more)
        if did == "retry":
            return log.write(Took, did, saw, message=occasion.about, keys=keys_of(arguments[0]), **more)
        return log.write(Asked, did, saw, request=request_in_log(arguments[0]), **more)

    def _sent(self, did: str, message: Any) -> Any:
        if message is None or did == "bypass":
            return None
        if did == "check":
            return message
        return tuple([self._content(unpack(feature.data)) for feature in message.features])

    def _answered(self, outcome: Any) -> Any:
        if isinstance(outcome, Exception):
            return what_was_raised(outcome)
        return Missed(tuple(outcome.missing)) if outcome.items is None else outcome.items


def keys_of(request: Iterable[Any]) -> tuple[str, ...]:
    """The hashes of its items, in order."""
    return tuple([item.mm_hash for item in request])
