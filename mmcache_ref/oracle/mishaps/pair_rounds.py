"""Rounds with a key-replicated pair, empty at first each."""

from __future__ import annotations

from random import Random

from mmcache_ref.oracle.mishaps.pair_mishaps import PAIR_MISHAPS
from mmcache_ref.oracle.mishaps.pair_session import PairSession
from mmcache_ref.oracle.mishaps.rounds import CAPACITY, Rounds
from mmcache_ref.oracle.mishaps.target_parts import told_pair_recipe
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.protocol import DEFAULT, Deployment
from mmcache_ref.protocol.processes import PairProcesses


class PairRounds(Rounds):
    """One P0 and one P1."""

    mishaps = PAIR_MISHAPS
    tidy = PairSession.tidy

    def prepare(self) -> None:
        """See `Rounds`."""
        self._recipe = told_pair_recipe(self.target, CAPACITY)
        self._deployment = getattr(resolve(self.target), "Deployment", Deployment)

    def make(self) -> PairProcesses:
        """See `Rounds`."""
        return PairProcesses(self._hosts, self._recipe, kills=False)

    def ask(self, processes: PairProcesses, random: Random, prefix: str) -> PairSession:
        """See `Rounds`."""
        protections = DEFAULT if self.options.protections is None else self.options.protections
        return PairSession(processes, random, prefix, protections, self._deployment)
