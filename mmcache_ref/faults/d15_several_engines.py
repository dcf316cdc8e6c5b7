"""Keys are replicated although there are several engines.   [FA-02, DR-21]

One API process serves two engines. It sends a's data to the first; the next request with a goes to the
second engine without data, since P0 believes that a is in P1. Each engine has a cache of its own: the second
one misses. Keys can be replicated only where one P0 feeds exactly one P1.
"""

from __future__ import annotations

from typing import Any

from .fault import Fault


def count_api_processes_only(parallel_config: Any) -> bool:
    """How many engines there are plays no part."""
    return bool(parallel_config._api_process_count == 1)


FAULT = Fault(
    name="D15",
    title="one P0 feeds several P1",
    replaces="reference.factories:_is_ipc_possible",
    rule=count_api_processes_only,
    component="factories",
    clauses=("FA-02", "DR-21"),
    upstream=("#17284", "#22198"),
    accidents=("second-engine",),
    without=("paired",),
)
