"""Before a cache is judged: does a new one begin with what another one was given?   [IF-19]"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any, Final

from mmcache_ref.model import lru, processor_cache, receiver, shm_pair_alphabet
from mmcache_ref.oracle.component import NOT_EMPTY_CLAUSE
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.errors import NotOffered
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.tally import Tally

ALONE: Final = "its caches share state, so nothing else was asked: judge again without this fault"
"""Whatever else is asked of such a target, the answer depends on what was asked before."""
KEYS: Final = ("a", "b")
QUESTIONS: Final[Mapping[str, Any]] = {
    "lru": lru.Fresh(),
    "processor-only": processor_cache.Fresh(KEYS),
    "sender": processor_cache.Fresh(KEYS),
    "receiver": receiver.Fresh(KEYS),
    "shm-pair": shm_pair_alphabet.Fresh(KEYS),
}
"""For each component that is a cache, what is asked of it."""


def shared_state(trial: Trial) -> Run | None:
    """The run of one operation in which a new cache shows what another was given; None if none does."""
    component = trial.component
    for name in component.caches or (component.name,):
        if name not in QUESTIONS:
            continue
        cache = COMPONENTS[name]
        asked = dataclasses.replace(trial, component=cache, tally=Tally())
        with contextlib.suppress(NotOffered):
            run = asked.run(cache.executed_config, (QUESTIONS[name],))
            if run.mismatch is not None and run.mismatch.clause == NOT_EMPTY_CLAUSE:
                return run
    return None
