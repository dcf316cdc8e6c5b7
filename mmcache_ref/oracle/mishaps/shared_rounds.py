"""Rounds with the caches in shared memory, on a segment of its own each."""

from __future__ import annotations

from random import Random
from typing import Final

from mmcache_ref.oracle.mishaps.mishaps import MISHAPS
from mmcache_ref.oracle.mishaps.rounds import CAPACITY, Rounds
from mmcache_ref.oracle.mishaps.session import Session
from mmcache_ref.oracle.mishaps.target_parts import told_recipe
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol import SHARED_DEFAULT, SharedDeployment
from mmcache_ref.protocol.processes import SharedProcesses

LIMIT: Final = 4
"""Units that one item may have."""


class SharedRounds(Rounds):
    """One writer and its readers."""

    mishaps = MISHAPS
    tidy = Session.tidy

    def prepare(self) -> None:
        """See `Rounds`."""
        self._recipe = told_recipe(
            self.target, CAPACITY, LIMIT, self.options.workers, has_checksum=self.options.has_checksum
        )
        self._deployment = getattr(resolve(self.target), "SharedDeployment", SharedDeployment)

    def make(self) -> SharedProcesses:
        """See `Rounds`."""
        return SharedProcesses(self._hosts, self._recipe, self.options.workers, kills=False)

    def ask(self, processes: SharedProcesses, random: Random, prefix: str) -> Session:
        """See `Rounds`."""
        protections = SHARED_DEFAULT if self.options.protections is None else self.options.protections
        return Session(processes, random, prefix, protections, self._deployment)
