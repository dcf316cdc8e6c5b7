"""How far a target is to be tried, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from mmcache_ref.oracle.interleaving.findings import Finding
from mmcache_ref.oracle.verdict import Status, worst

OUT_OF_TIME: Final = "the time ran out"
"""Why a scenario is undetermined of which not every schedule was run."""
ScenarioStatus = Literal["conforms", "violates", "undetermined", "not offered"]


class Options(msgspec.Struct, frozen=True):
    """How far to look: every schedule up to so many `preemptions`, and then so many random `schedules` from
    `seed`. With `bytecodes` every line is stopped within. After so many `seconds` what was not run is
    undetermined."""

    preemptions: int = 2
    schedules: int = 0
    seed: int = 0
    bytecodes: bool = False
    seconds: float | None = None


class ScenarioVerdict(msgspec.Struct, frozen=True):
    """One scenario: how many schedules were run, with how many yield points at most, and what they showed.

    `not offered` is no verdict: the target lacks what the scenario needs. `bound`: every schedule with up to
    so many preemptions was run; None where not even those without one were. It took so many `seconds`.
    """

    name: str
    title: str
    status: ScenarioStatus
    schedules: int = 0
    steps: int = 0
    findings: tuple[Finding, ...] = ()
    reason: str = ""
    bound: int | None = None
    seconds: float = 0.0


class Interleaved(msgspec.Struct, frozen=True):
    """A target under all scenarios; without `options` one schedule was repeated."""

    target: str
    options: Options | None
    scenarios: tuple[ScenarioVerdict, ...]

    @property
    def status(self) -> Status:
        """Violates, if any scenario does; else undetermined, if any is, or none could be run."""
        return worst(each.status for each in self.scenarios if each.status != "not offered")

    @property
    def broken(self) -> list[str]:
        """The clauses that are broken, in order."""
        found = {
            finding.clause
            for each in self.scenarios
            for finding in each.findings
            if not finding.is_left_to_protocol
        }
        return sorted(found)


def status_of(findings: Sequence[Finding], reason: str, is_offered: bool = True) -> ScenarioStatus:
    """What findings, and a reason why more is not known, come to."""
    if any(not each.is_left_to_protocol for each in findings):
        return "violates"
    if not is_offered:
        return "not offered"
    return "undetermined" if reason else "conforms"
