"""P0 is never told of a miss.   [DR-19]

The client that runs the engine in its own process lets the error of a miss escape to its caller, past the
code that would invalidate the item in P0. P0 goes on claiming that P1 has it: every retry of that hash
fails, until somebody resets the caches. Every miss has to reach P0 before the retry does.
"""

from __future__ import annotations

from mmcache_ref.protocol import Deployment

from .fault import Fault


def retry_untold(self: Deployment, position: int = 0) -> bool:
    """The client will retry, and P0 is not told why."""
    self.retries.append(self.reports.pop(position).request)
    return True


FAULT = Fault(
    name="D13",
    title="P0 is never told of a miss",
    replaces="protocol.deployment:Deployment.lose_report",
    rule=retry_untold,
    component="drift",
    clauses=("DR-19",),
    accidents=("lost-report", "clear-p1"),
    without=("report-always",),
)
