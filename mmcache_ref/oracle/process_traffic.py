"""What clients and the environment do to deployments whose processes all work at once, of either family."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from mmcache_ref import protocol
from mmcache_ref.model.events import Did, Took
from mmcache_ref.oracle.draws import Draw
from mmcache_ref.oracle.families import FAMILIES
from mmcache_ref.oracle.process_log import ProcessLog, keys_of
from mmcache_ref.protocol.processes import Died
from mmcache_ref.protocol.processes.course import MEANWHILE

TRIES: Final = 100
"""So many requests are made up until one needs no accident that is switched off."""
RARE: Final = 6
"""One step in so many brings an accident."""
DEATHS: Final = {"worker-death", "restart-p1"}
"""They are rarer still: a process takes a second or more to come up."""


class Traffic:
    """Random requests and accidents; what is served is compared with what was asked for.

    Attributes:
        wrong: what was served and must not have been, in words; the first one.
        error: what ended the engine, in words.
        peak: the most bytes that a P1 held which is gone.
        killed: the parts that somebody else killed: what they did last, no event tells of.
    """

    def __init__(self, cache: str, config: Any, draw: Draw, folder: str) -> None:
        self._config, self._draw, self._folder = config, draw, folder
        self._model = FAMILIES[cache].model
        self._channel = ProcessLog(folder, "channel")
        self.operations: Counter[str] = Counter()
        self.requests = self.refused = self.peak = 0
        self.wrong = self.error = ""
        self.killed: list[str] = []
        self._is_ours = ""

    def meddle(self) -> None:
        """Now and then an accident, of those that are switched on and can happen now."""
        possible = {name: each for name, each in self._accidents().items() if name in self._config.accidents}
        if not possible or not self._draw.is_one_in(RARE):
            return
        name = self._draw.of(list(possible))
        if name not in DEATHS or self._draw.is_one_in(RARE):
            possible[name]()

    def _accidents(self) -> dict[str, Callable[[], None]]:
        """By the name of each accident that is no request how it is brought about."""
        raise NotImplementedError

    def _request(self, choose: Callable[..., Any]) -> protocol.Request:
        """A request that needs no accident that is switched off."""
        initial = self._model.initial(self._config)
        for _ in range(TRIES):
            chosen = choose(self._config, initial, self._draw)
            if self._config.needs(chosen) <= self._config.accidents:
                break
        return tuple(
            [
                protocol.RequestItem(
                    item.key, item.content, getattr(item, "modality", "image"), item.supplied
                )
                for item in chosen
            ]
        )

    def _note(self, did: str, message: Any, saw: Any = None) -> None:
        """What happened to a message between the processes."""
        self.operations[did] += 1
        self._channel.write(Took, did, saw, message=message.name, keys=keys_of(message.request))

    def _note_for(self, part: str, did: str, **more: Any) -> None:
        """What happened to a process, which cannot write it down itself."""
        self.operations[did] += 1
        log = ProcessLog(self._folder, part)
        log.write(Did, did, None, **more)
        log.close()

    def _hear_of_death(self, died: Died) -> None:
        """A process ended: as it had to here, killed by somebody else, or of itself."""
        if died.was_killed:
            self.killed.append(died.part)
        elif died.part == self._is_ours:
            self._is_ours = ""
        elif died.reason != MEANWHILE and not self.error:
            self.error = f"{died.part} was lost, to which nothing was done: {died.reason}"

    def _end(self, part: str, error: Exception) -> None:
        """Nothing is served any more."""
        self.error = f"{part}: {type(error).__name__}: {error}"

    def _compare(self, request: protocol.Request, due: Iterable[Any], served: Iterable[Any]) -> None:
        due, served = tuple(due), tuple(served)
        if due != served and not self.wrong:
            self.wrong = f"[{' '.join(keys_of(request))}] was served {served}, must be {due}"

    def close(self) -> None:
        """Give the file of the channel back."""
        self._channel.close()
