"""The suite as tests of another project: a class of tests for one target, under plain pytest.

from mmcache_ref.testing import suite

TestMyCache = suite("py:my_package.my_module:namespace")
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NoReturn

import hypothesis
import msgspec
import pytest
from rich.console import Console

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.deciding import deciding, is_stronger
from mmcache_ref.oracle.lockstep import BEST_LEVEL
from mmcache_ref.oracle.regressions import regressions
from mmcache_ref.oracle.run import Profile, Run
from mmcache_ref.oracle.scratch import scratch
from mmcache_ref.oracle.sharing import judge_sharing, open_database
from mmcache_ref.oracle.stored import encode_run
from mmcache_ref.oracle.suite import Options, Stage
from mmcache_ref.oracle.targets import check_target
from mmcache_ref.oracle.verdict import TargetVerdict
from mmcache_ref.oracle.worker import Message, Ready
from mmcache_ref.report.text import violation

WIDTH: Final = 110
"""Columns of a failure's message."""
LONGEST_SECONDS: Final = 86_400.0
"""Ends a fuzz stage that is told a number of examples, and no time."""


NOTES = pytest.StashKey[Path]()
CLEAN = pytest.StashKey[dict["Wishes", frozenset[str]]]()


Check = Callable[[pytest.Item], None]
"""Fails the test that it is given."""


class Wishes(msgspec.Struct, frozen=True):
    """What is asked of the judgement of one target; `seconds` of fuzzing are shared by the components evenly.

    Without `seconds`, each component is fuzzed with as many examples as the Hypothesis profile in force says.
    `examples` is the place of the shared example database, or empty.
    """

    target: str
    components: tuple[str, ...] = tuple(COMPONENTS)
    profile: Profile = "safe"
    level: int = BEST_LEVEL
    seconds: float | None = None
    seed: int = 0
    examples: str = ""

    def options(self, component: str, stage: Stage) -> Options:
        """The options of one stage of one component."""
        seconds = LONGEST_SECONDS if self.seconds is None else self.seconds / len(self.components)
        examples = hypothesis.settings().max_examples if self.seconds is None else None
        return Options((component,), self.profile, self.level, seconds, self.seed, (stage,), examples)

    def of_components(self, components: tuple[str, ...]) -> Wishes:
        """The same of these components alone."""
        return msgspec.structs.replace(self, components=components)

    def stages(self) -> tuple[Stage, ...]:
        """The stages that there is time for."""
        return ("exhaustive",) if self.seconds == 0 else ("exhaustive", "fuzz")


def checked(wishes: Wishes) -> Wishes:
    """The same; `ValueError` says why it cannot be granted."""
    check_target(wishes.target)
    for name in wishes.components:
        if name not in COMPONENTS:
            raise ValueError(f"no component {name!r}: take one of {', '.join(COMPONENTS)}")
    if not wishes.components:
        raise ValueError("no component to judge")
    if not 0 <= wishes.level <= BEST_LEVEL:
        raise ValueError(f"no level {wishes.level}: take one from 0 to {BEST_LEVEL}")
    if wishes.seconds is not None and not 0 <= wishes.seconds <= LONGEST_SECONDS:
        raise ValueError(f"cannot fuzz for {wishes.seconds} seconds: take 0 to {LONGEST_SECONDS:.0f}")
    if wishes.seed < 0:
        raise ValueError(f"no seed {wishes.seed}: take 0 or more")
    if wishes.examples:
        open_database(wishes.examples)
    return wishes


def stored_runs(components: Sequence[str]) -> Iterator[tuple[str, Run]]:
    """The runs of `spec/runs/` on these components, by the fault of the field that each shows."""
    for name, (_, run) in regressions().items():
        if run.component in components:
            yield name, run


def _needs_stronger(run: Run) -> bool:
    """Does a stronger clause decide one of its operations?"""
    model = COMPONENTS[run.component].model
    state = model.initial(run.config)
    for operation in run.operations:
        state, outcome = model.step(run.config, state, operation)
        if is_stronger(deciding(model, operation, outcome)):
            return True
    return False


def tests(wishes: Wishes) -> Iterator[tuple[str, str, Check]]:
    """Component, name and check of each test; of a component, the quick ones first."""
    runs = list(stored_runs(wishes.components))
    for component in wishes.components:
        for name, run in runs:
            if run.component == component:
                yield component, f"stored-run[{name}]", partial(check_run, wishes=wishes, run=run)
        for stage in wishes.stages():
            yield component, stage, partial(check_stage, wishes=wishes, component=component, stage=stage)


def check_run(node: pytest.Item, wishes: Wishes, run: Run) -> None:
    """Fail the test unless the target keeps every clause on a stored run."""
    if wishes.profile == "upstream" and _needs_stronger(run):
        pytest.skip("the profile upstream says nothing of this run")
    if run.component in _clean_components(node, wishes):
        return
    options = Options((run.component,), wishes.profile, wishes.level, stages=(), runs=(encode_run(run),))
    verdict = _judged(node, wishes.target, options)
    if verdict.status != "conforms":
        pytest.fail(failure(verdict), pytrace=False)


def _clean_components(node: pytest.Item, wishes: Wishes) -> frozenset[str]:
    """The components on which all stored runs conform: found out once, in one process, which is quicker."""
    known = node.config.stash.setdefault(CLEAN, {})
    asked = msgspec.structs.replace(wishes, seconds=None, seed=0, examples="")
    if asked not in known:
        runs = [run for _, run in stored_runs(wishes.components)]
        if wishes.profile == "upstream":
            runs = [run for run in runs if not _needs_stronger(run)]
        components = tuple(dict.fromkeys(run.component for run in runs))
        texts = tuple(map(encode_run, runs))
        options = Options(components, wishes.profile, wishes.level, stages=(), runs=texts)
        verdict = _judged(node, wishes.target, options)
        known[asked] = frozenset(
            each.component for each in verdict.components if each.status == "conforms" and not each.reason
        )
    return known[asked]


def check_stage(node: pytest.Item, wishes: Wishes, component: str, stage: Stage) -> None:
    """Fail the test unless this stage finds that the target conforms."""
    if stage not in wishes.stages():
        pytest.skip("there is no time to fuzz")
    verdict = _judged(node, wishes.target, wishes.options(component, stage), wishes.examples)
    (judged,) = verdict.components
    done = judged.coverage
    node.user_properties.append(("level", f"L{judged.level}"))
    if stage == "exhaustive":
        node.user_properties += [("states", done.states), ("edges", done.edges)]
    else:
        node.user_properties += [("seed", wishes.seed), ("examples", done.fuzz_examples)]
        node.user_properties.append(("operations", done.fuzz_operations))
    node.user_properties.append(("cases", f"{done.cases} of {done.all_cases}"))
    if judged.status != "conforms":
        pytest.fail(failure(verdict), pytrace=False)


def _judged(node: pytest.Item, target: str, options: Options, examples: str = "") -> TargetVerdict:
    """The verdict, reached in a process of its own; the test ends here where the target cannot be loaded."""
    is_loaded = False

    def observer(target: str, message: Message) -> None:
        nonlocal is_loaded
        is_loaded = is_loaded or isinstance(message, Ready)

    _skip_unloadable(node, target)
    with _import_path_for_workers():
        verdict = judge_sharing(target, options, examples, observer=observer)
    if not is_loaded:
        _fail_unloadable(node, target, verdict.components[0].reason)
    return verdict


def failure(verdict: TargetVerdict) -> str:
    """What `mmcache-ref conform` says of the target's violations, or why nothing could be determined."""
    printed = io.StringIO()
    console = Console(file=printed, width=WIDTH, highlight=False, no_color=True)
    for component in verdict.components:
        if len(component.broken) > 1:
            names = ", ".join(each.id for each in component.broken)
            console.print(f"{names} broken by {verdict.target}, {component.component}\n", markup=False)
        for number, broken in enumerate(component.broken):
            if number:
                console.print()
            console.print(violation(verdict, component, broken), crop=False)
        if not component.broken:
            console.print(f"undetermined: {verdict.target}, {component.component}", markup=False)
            console.print(component.reason, markup=False, soft_wrap=True)
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines())


@contextmanager
def _import_path_for_workers() -> Iterator[None]:
    """What pytest can import here (`pythonpath`, folders of tests), the process that judges can, too."""
    with pytest.MonkeyPatch.context() as patch:
        given = filter(None, [os.environ.get("PYTHONPATH")])
        patch.setenv("PYTHONPATH", os.pathsep.join([*map(os.path.abspath, sys.path), *given]))
        yield


def notes(config: pytest.Config) -> Path:
    """A folder for this run of pytest, gone at its end; the plugin lets the workers of xdist share one."""
    if NOTES not in config.stash:
        cleanup = ExitStack()
        config.add_cleanup(cleanup.close)
        config.stash[NOTES] = cleanup.enter_context(scratch("notes"))
    return config.stash[NOTES]


def _fail_unloadable(node: pytest.Item, target: str, reason: str) -> NoReturn:
    """Fail, and leave a note of it; but skip the test if another one was faster."""
    note = _note(node, target)
    with tempfile.NamedTemporaryFile("w", dir=note.parent, encoding="utf-8") as written:
        written.write(node.nodeid)
        written.flush()
        with suppress(FileExistsError):
            os.link(written.name, note)
    _skip_unloadable(node, target)
    pytest.fail(f"undetermined: {reason}", pytrace=False)


def _skip_unloadable(node: pytest.Item, target: str) -> None:
    """One failure says that a target cannot be loaded; the other tests that need it have nothing to add."""
    note = _note(node, target)
    failed = note.read_text(encoding="utf-8") if note.exists() else node.nodeid
    if failed != node.nodeid:
        pytest.skip(f"{target} cannot be loaded, see the failure of {failed}")


def _note(node: pytest.Item, target: str) -> Path:
    return notes(node.config) / hashlib.sha256(target.encode()).hexdigest()


def suite(
    target: str,
    *,
    components: Sequence[str] = tuple(COMPONENTS),
    profile: Profile | None = None,
    level: int | None = None,
    seconds: float | None = None,
    seed: int | None = None,
    examples: str | Path | None = None,
) -> type[Any]:
    """A class of tests that judges a target: one for each component and stage, and one for each stored run.

    What is left out is taken from the options of the command line (`--mmcache-profile` …); `ValueError` for a
    target or a component that there is not.
    """
    place = None if examples is None else str(examples)
    given = {"profile": profile, "level": level, "seconds": seconds, "seed": seed, "examples": place}
    asked = checked(Wishes(target, tuple(components), seconds=seconds))
    runs = {f"{run.component}-{name}": run for name, run in stored_runs(asked.components)}

    def wishes(config: pytest.Config) -> Wishes:
        own = {name: value for name, value in given.items() if value is not None}
        return msgspec.structs.replace(asked, **(options_of(config) | own))

    class Suite:
        @pytest.mark.parametrize("component", asked.components)
        def test_exhaustive(self, component: str, request: pytest.FixtureRequest) -> None:
            check_stage(request.node, wishes(request.config), component, "exhaustive")

        @pytest.mark.parametrize("component", asked.components)
        def test_fuzz(self, component: str, request: pytest.FixtureRequest) -> None:
            check_stage(request.node, wishes(request.config), component, "fuzz")

        @pytest.mark.parametrize("run", runs.values(), ids=runs)
        def test_stored_run(self, run: Run, request: pytest.FixtureRequest) -> None:
            check_run(request.node, wishes(request.config), run)

    Suite.__doc__ = f"What the specification asks of {target}."
    if "fuzz" not in asked.stages():
        del Suite.test_fuzz
    if not runs:
        del Suite.test_stored_run
    return Suite


def options_of(config: pytest.Config) -> dict[str, Any]:
    """What the command line says of wishes, where it says anything."""
    names = ("profile", "level", "seconds", "seed", "examples")
    found = {name: config.getoption(f"mmcache_{name}", None) for name in names}
    return {name: value for name, value in found.items() if value is not None}
