"""What TLC says in its tool mode, read message by message."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Final, Literal, NamedTuple

from mmcache_ref.tlc.values import parse

Result = Literal["success", "safety failure", "liveness failure", "deadlock failure", "error", "undetermined"]

START: Final = re.compile(r"@!@!@STARTMSG (\d+):(\d+) @!@!@$")
END: Final = re.compile(r"@!@!@ENDMSG (\d+) @!@!@$")
NUMBERS: Final = re.compile(
    r"([\d,]+) states generated.*?, ([\d,]+) distinct states found.*?, ([\d,]+) states left"
)
LEVEL: Final = re.compile(r"Progress\((\d+)\)")
DEPTH: Final = re.compile(r"state graph search is (\d+)")
ACTION: Final = re.compile(r"<(\w+) line \d+, .* of module (\w+)(?: \([\d ]+\))?>: ([\d,]+):([\d,]+)")
STEP: Final = re.compile(r"(\d+): <(\w+)[^>]*>(.*)", re.DOTALL)
BACK: Final = re.compile(r"(\d+): Back to state")
NAMED: Final = re.compile(r"(?:Invariant|Action property|Temporal property) (\w+) is violated")
COLLISION: Final = re.compile(r"calculated \(optimistic\):\s+val = (\S+)")
VARIABLE: Final = re.compile(r"^(?:/\\ )?(\w+) = ", re.MULTILINE)

MOST_CHARACTERS: Final = 1500
"""Of an error that is kept: the beginning says what it is, and the rest may be a stack of Java."""
ERRORS_TOLD: Final = 3
"""Of those that TLC gave, where they are told in one line."""

INITIAL: Final = "Init"
"""What TLC counts among the actions, and is none; also the first step of a trace."""


class Code(IntEnum):
    """The messages that are read."""

    SUCCESS = 2193
    STATISTICS = 2199
    PROGRESS = 2200
    COMPLETE_DEPTH = 2194
    INITIALLY_VIOLATED = 2107
    INVARIANT = 2110
    ACTION_PROPERTY = 2112
    DEADLOCK = 2114
    TEMPORAL = 2116
    BEHAVIOUR = 2121
    BACK_TO = 2122
    COUNTEREXAMPLE = 2264
    STATE = 2217
    STUTTERING = 2218
    TAKEN = 2772
    INITIALLY_TAKEN = 2773


QUIET: Final = frozenset({Code.BEHAVIOUR, Code.COUNTEREXAMPLE})
"""Errors that say only that a trace follows."""


class TraceStep(NamedTuple):
    """One state of an error trace: the action that led to it, and the value of each variable."""

    action: str
    state: dict[str, Any]


@dataclass
class Checked:
    """What TLC found. `actions`: for each action how many new states and how many steps it gave;
    `processor_seconds`: what the processors worked for it, on whatever else they worked meanwhile;
    `loop`: the number of the state that a liveness counterexample returns to (its last: it stutters)."""

    result: Result = "undetermined"
    property: str | None = None
    distinct: int = 0
    generated: int = 0
    queued: int = 0
    depth: int = 0
    collision: str = ""
    seconds: float = 0.0
    processor_seconds: float = 0.0
    actions: dict[str, tuple[int, int]] = field(default_factory=dict)
    trace: list[TraceStep] = field(default_factory=list)
    loop: int | None = None
    errors: list[str] = field(default_factory=list)

    def went_wrong(self) -> str:
        """Another result than success, with the first errors; of a model that only tells, why it did not."""
        return "" if self.result == "success" else "; ".join([self.result, *self.errors[:ERRORS_TOLD]])


class Reader:
    """Reads the output of a run, line by line. What models print goes to `printed`."""

    def __init__(
        self,
        printed: Callable[[str], None] = lambda line: None,
        progress: Callable[[Checked], None] = lambda so_far: None,
    ) -> None:
        self.found = Checked()
        self.printed, self.progress = printed, progress
        self.code: int | None = None
        self.is_error = False
        self.lines: list[str] = []
        self.is_finished = False

    def read(self, lines: Iterable[str]) -> Checked:
        """Read to the end."""
        for line in lines:
            self.line(line.rstrip("\n"))
        return self.found

    def line(self, line: str) -> None:
        """One line: the start or the end of a message, a part of one, or what the model printed."""
        if line.startswith("@!@!@"):
            start = START.match(line)
            if start:
                self.code, self.is_error, self.lines = int(start[1]), start[2] == "1", []
            elif END.match(line) and self.code is not None:
                self._message(self.code, "\n".join(self.lines))
                self.code = None
        elif self.code is not None:
            self.lines.append(line)
        else:
            self.printed(line)

    def _message(self, code: int, said: str) -> None:
        found = self.found
        match code:
            case Code.SUCCESS:
                found.result = "success"
                probability = COLLISION.search(said)
                found.collision = probability[1] if probability else ""
            case Code.STATISTICS | Code.PROGRESS:
                self._numbers(said)
                self.is_finished = self.is_finished or code == Code.STATISTICS
                self.progress(found)
            case Code.COMPLETE_DEPTH:
                self._depth(DEPTH.search(said))
            case Code.INITIALLY_VIOLATED | Code.INVARIANT | Code.ACTION_PROPERTY:
                self._violated("safety failure", said)
                if code == Code.INITIALLY_VIOLATED:
                    self._initial_state(said)
            case Code.DEADLOCK:
                self._violated("deadlock failure", said)
            case Code.TEMPORAL:
                self._violated("liveness failure", said)
            case Code.STATE:
                self._state(said)
            case Code.BACK_TO | Code.STUTTERING:
                back = BACK.search(said)
                found.loop = int(back[1]) if back else len(found.trace)
            case Code.TAKEN | Code.INITIALLY_TAKEN:
                self._taken(said)
            case _ if self.is_error and code not in QUIET:
                if found.result != "success" and not found.property:
                    found.result = "error"
                found.errors.append(said.strip()[:MOST_CHARACTERS])

    def _numbers(self, said: str) -> None:
        numbers = NUMBERS.search(said)
        if numbers:
            found = self.found
            found.generated, found.distinct, found.queued = (
                int(each.replace(",", "")) for each in numbers.groups()
            )
        self._depth(LEVEL.search(said))

    def _depth(self, depth: re.Match[str] | None) -> None:
        if depth:
            self.found.depth = int(depth[1])

    def _violated(self, result: Result, said: str) -> None:
        named = NAMED.search(said)
        self.found.result = result
        self.found.property = named[1] if named else None

    def _initial_state(self, said: str) -> None:
        _, _, state = said.partition("\n")
        self.found.trace.append(TraceStep(INITIAL, variables(state)))

    def _state(self, said: str) -> None:
        step = STEP.match(said)
        if step:
            action = INITIAL if step[2] == "Initial" else step[2]
            self.found.trace.append(TraceStep(action, variables(step[3])))
        elif "Stuttering" in said:
            self.found.loop = len(self.found.trace)

    def _taken(self, said: str) -> None:
        action = ACTION.search(said)
        if action:
            new, steps = (int(each.replace(",", "")) for each in action.groups()[2:])
            before = self.found.actions.get(action[1], (0, 0))
            self.found.actions[action[1]] = (before[0] + new, before[1] + steps)


def variables(state: str) -> dict[str, Any]:
    r"""The value of each variable in a state that TLC printed: `/\ name = value`, over several lines each."""
    places = list(VARIABLE.finditer(state))
    ends = [place.start() for place in places[1:]] + [len(state)]
    return {place[1]: parse(state[place.end() : end]) for place, end in zip(places, ends, strict=True)}
