"""`model/shm_caches.py` and `ShmCaches.tla`: the numbers of states, of steps and of levels."""

from __future__ import annotations

from typing import Any, Final

from mmcache_ref.model import shm_caches
from mmcache_ref.model.component import Outcome
from mmcache_ref.tlc.bindings.base import Binding, described


def state(config: shm_caches.Config, state: shm_caches.State) -> Any:
    """What identifies a state in Python: the module's `view` has bags where this has sorted tuples."""
    return shm_caches.view(state)


def call(operation: shm_caches.Operation, outcome: Outcome) -> Any:
    """The operation's tag and its kind."""
    return described(operation, outcome)


SHM_CACHES: Final = Binding(shm_caches, state, call)
