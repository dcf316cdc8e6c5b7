"""A whole run: what each component executes, then every mutant, with results that survive an interruption."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from mmcache_ref.oracle.components import COMPONENTS
from mutants.forked import Ended, run_forked
from mutants.generate import Mutant, Name, mutants_of, mutated_modules
from mutants.judge import MUTATED, Executed, Kill, executed, import_everything, judge


class NotJudged(Exception):  # noqa: N818 - reads as what it is
    """Nothing can be said of the mutants: the reference itself is not judged to conform."""


class _Result(msgspec.Struct):
    """One line of the file of results: of a mutant by the digest of its source, or of a component."""

    digest: str = ""
    kill: Kill | None = None
    component: str = ""
    executed: Executed | None = None


class Results:
    """What is known already, in a file that begins with a digest of everything that decides a result."""

    def __init__(self, path: Path, basis: str) -> None:
        self.kills: dict[str, Kill | None] = {}
        self.executed: dict[str, Executed] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_bytes().splitlines() if path.exists() else []
        if before[:1] != [basis.encode()]:
            path.write_text(f"{basis}\n")
            before = []
        for line in before[1:]:
            try:
                self._take(msgspec.json.decode(line, type=_Result))
            except msgspec.MsgspecError:
                continue  # the last line of a run that was interrupted
        self._file = path.open("ab")

    def add(self, result: _Result) -> None:
        """Keep a result, in the file at once."""
        self._take(result)
        self._file.write(msgspec.json.encode(result) + b"\n")
        self._file.flush()

    def _take(self, result: _Result) -> None:
        if result.executed is not None:
            self.executed[result.component] = result.executed
        else:
            self.kills[result.digest] = result.kill


class Session:
    """The mutants below `root`, each judged by the components that execute the statement that changed."""

    def __init__(
        self, root: Path, results: Results, *, examples: int, processes: int, say: Callable[[str], None]
    ) -> None:
        files = mutated_modules(root, MUTATED)
        self._sources = {module: path.read_text(encoding="utf-8") for module, path in files.items()}
        self._results = results
        self._examples = examples
        self._processes = processes
        self._say = say

    def mutants(self, wanted: Sequence[str]) -> dict[Name, Mutant]:
        """Those whose `module:function` contains one of the texts; all when there is none."""
        found: dict[Name, Mutant] = {}
        for module, source in self._sources.items():
            # A text without a colon may be of the function's name alone.
            if not wanted or any(":" not in text or text.split(":")[0] in module for text in wanted):
                found |= {mutant.name: mutant for mutant in mutants_of(module, source)}
        return {name: each for name, each in found.items() if is_wanted(name, wanted)}

    def measure(self) -> None:
        """Judge the reference as it is, and note what each component executes.

        Raises `NotJudged` when it does not conform, also as a mutant in which nothing is changed.
        """
        import_everything()
        missing = [name for name in COMPONENTS if name not in self._results.executed]
        jobs: list[Callable[[], Any]]
        jobs = [partial(executed, self._sources, name, self._examples) for name in missing]
        if missing:
            module, source = next(iter(self._sources.items()))
            jobs.append(partial(judge, module, source, list(COMPONENTS), list(COMPONENTS), self._examples))
        for number, answer in run_forked(jobs, processes=self._processes):
            name = missing[number] if number < len(missing) else "a mutant without a change"
            if isinstance(answer, Ended):
                raise NotJudged(f"{name}: {answer.why}")
            if number == len(missing):
                if answer is not None:
                    raise NotJudged(f"{name}: {answer}")
                continue
            self._results.add(_Result(component=name, executed=msgspec.convert(answer, Executed)))
            self._say(f"{name}: conforms")

    def executed_by(self, mutant: Mutant) -> list[str]:
        """The components that can tell a mutant: those that its module is for first, then quick ones.

        Before the statement that changed, a mutant does what the reference does: a component that never comes
        there judges it as the reference. What is executed by an import concerns all.
        """
        module = mutant.name.module
        executed = self._results.executed
        order = sorted(executed, key=lambda name: (name not in judges(module), _size(executed[name])))
        if any(mutant.statement in each.at_import[module] for each in executed.values()):
            return order
        return [name for name in order if mutant.statement in executed[name].later[module]]

    def _plan(self, mutant: Mutant) -> tuple[list[str], list[str]]:
        """The components whose graphs are executed, and those that are fuzzed."""
        able = self.executed_by(mutant)
        return [name for name in able if name in judges(mutant.name.module)], able

    def run(self, mutants: Mapping[Name, Mutant]) -> dict[Name, Kill | None]:
        """Judge each mutant that is not judged yet; what killed each."""
        import_everything()
        digests = {name: digest(name.module, mutant.source) for name, mutant in mutants.items()}
        waiting = [mutant for name, mutant in mutants.items() if digests[name] not in self._results.kills]
        jobs = [
            partial(judge, mutant.name.module, mutant.source, *self._plan(mutant), self._examples)
            for mutant in waiting
        ]
        started, survived = time.monotonic(), 0
        for done, (number, answer) in enumerate(run_forked(jobs, processes=self._processes), 1):
            kill = _kill(answer)
            survived += kill is None
            self._results.add(_Result(digests[waiting[number].name], kill))
            minutes = (time.monotonic() - started) / 60
            self._say(f"{done:,} of {len(jobs):,} mutants, {survived} survived, {minutes:.1f} minutes")
        return {name: self._results.kills[each] for name, each in digests.items()}


_PAIR: Final = ("key-replicated", "drift")
_SHARED: Final = ("shm-caches",)
_STORED: Final = ("object-store",)
_JUDGES: Final[Mapping[str, tuple[str, ...]]] = {
    "reference.base": ("receiver", "sender"),
    "reference.config": ("factories",),
    "reference.factories": ("factories",),
    "reference.features": ("items", "receiver"),
    "reference.fields": ("items",),
    "reference.handles": _STORED,
    "reference.items": ("items",),
    "reference.key_replicated": ("receiver", "sender", "key-replicated"),
    "reference.lru": ("lru",),
    "reference.merge": ("sender",),
    "reference.object_chunks": _STORED,
    "reference.object_store": _STORED,
    "reference.processor_only": ("processor-only",),
    "reference.promises": ("receiver", "sender"),
    "reference.ring_buffer": ("ring-buffer",),
    "reference.ring_placement": ("ring-buffer",),
    "reference.seals": _STORED,
    "reference.segment_owners": ("ring-buffer",),
    "reference.segments": ("ring-buffer",),
    "reference.serde": _STORED,
    "reference.shm_caches": ("factories", "shm-pair", *_SHARED),
    "reference.sizes": ("items", "receiver"),
    "reference.structure_plans": _STORED,
    "reference.structure_reader": _STORED,
    "reference.structures": _STORED,
    "reference.tensors": ("items",),
}


def judges(module: str) -> tuple[str, ...]:
    """The components that a module is for: their graphs are executed. The protocol is for a pair."""
    if module.startswith("protocol."):
        return _SHARED if module.startswith("protocol.shared_") else _PAIR
    return _JUDGES.get(module, tuple(COMPONENTS))


def _size(executed: Executed) -> int:
    return sum(map(len, executed.later.values()))


def _kill(answer: Any) -> Kill | None:
    if isinstance(answer, Ended):
        return Kill("time" if "CPU time" in answer.why else "exit", says=answer.why)
    return None if answer is None else msgspec.convert(answer, Kill)


def is_wanted(name: Name, wanted: Sequence[str]) -> bool:
    """Does `module:function` contain one of the texts? All do when there is none."""
    return not wanted or any(text in f"{name.module}:{name.function}" for text in wanted)


def digest(*parts: str) -> str:
    """A short name for texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def basis_of(root: Path, examples: int) -> str:
    """A digest of everything below `root` that decides what becomes of a mutant."""
    files = sorted(path for path in root.rglob("*") if path.suffix in (".py", ".md") and path.is_file())
    texts = [f"{path.relative_to(root)}\n{path.read_text(encoding='utf-8')}" for path in files]
    return digest(sys.version, str(examples), *texts)
