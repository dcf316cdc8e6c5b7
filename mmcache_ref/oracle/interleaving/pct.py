"""Random schedules by priorities: the highest goes on, and at a few random steps it becomes the lowest.

With d such steps a bug that needs d + 1 orderings is found with a probability that is known: at least
1 / (threads * steps ** d) for each run.
"""

from __future__ import annotations

import random

from mmcache_ref.oracle.interleaving.scheduler import Execution


class RandomPriorities:
    """Chooses by priorities that a seed decides; `steps` is about how many decisions a run has."""

    def __init__(self, seed: int, threads: int, steps: int, changes: int) -> None:
        source = random.Random(seed)
        self._priorities = list(range(changes, changes + threads))
        source.shuffle(self._priorities)
        places = source.sample(range(1, max(steps, changes + 1) + 1), changes)
        self._changes = {place: number for number, place in enumerate(sorted(places))}

    def __call__(self, execution: Execution, arrived: int, enabled: tuple[int, ...]) -> int:
        lowered = self._changes.get(len(execution.steps))
        if lowered is not None and arrived >= 0:
            self._priorities[arrived] = lowered
        return max(enabled, key=self._priorities.__getitem__)
