"""`pytest --mmcache-target=TARGET` judges a target: a test for each component and stage, without a test file.

Without its options the plugin does nothing; it imports the oracle and Hypothesis only when they are needed.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from mmcache_ref.testing import Wishes

PREFIX: Final = "mmcache("
"""How the node ids of the suite begin. Brackets would hide the rest of the id from JUnit's class names."""
VARIABLE: Final = "MMCACHE_EXAMPLES"
"""The environment variable that names the shared example database, where no option does."""
NIGHTLY_EXAMPLES: Final = 10_000
"""Examples for each component, or for each state machine, in the profile `nightly`."""

WISHES = pytest.StashKey["Wishes"]()
CHOSEN = pytest.StashKey[tuple[str, ...]]()
"""Node ids of the suite that the command line names: only they are run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the group `mmcache-ref` to `pytest --help`."""
    group = parser.getgroup("mmcache-ref", "mmcache-ref: judge a multi-modal cache by its specification")
    group.addoption(
        "--mmcache-target",
        metavar="TARGET",
        help="What to judge: py:package.module:name, reference, vllm, or vllm@VERSION.",
    )
    group.addoption(
        "--mmcache-component",
        action="append",
        metavar="NAME",
        help="Judge only this component. May be repeated.",
    )
    group.addoption(
        "--mmcache-profile",
        choices=("upstream", "safe"),
        help="upstream: as vLLM 0.32 documents. safe (default): also the stronger clauses.",
    )
    group.addoption("--mmcache-level", type=int, metavar="N", help="Observe no more than this level.")
    group.addoption(
        "--mmcache-seconds",
        type=float,
        metavar="S",
        help="Time to fuzz the target, shared by its components evenly; 0: none. Without it, each component "
        "is fuzzed with as many examples as the Hypothesis profile says.",
    )
    group.addoption(
        "--mmcache-seed",
        type=int,
        metavar="N",
        help="Every random choice follows from it. Default: 0; with --hypothesis-profile=nightly a new one.",
    )
    group.addoption(
        "--mmcache-examples",
        metavar="DIR",
        default=os.environ.get(VARIABLE),
        help="Share the runs that break a clause with all who use this folder, or redis:// address. "
        f"Default: the environment variable {VARIABLE}.",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register Hypothesis's profiles before its own plugin loads one, and check what is asked."""
    profile = config.getoption("--hypothesis-profile", None)
    if profile in ("ci", "nightly"):
        _register_profiles(config.option.mmcache_examples)
    _choose(config)
    if config.option.mmcache_target is None:
        return
    from mmcache_ref import testing

    given = testing.options_of(config)
    if config.option.mmcache_component:
        given["components"] = tuple(dict.fromkeys(config.option.mmcache_component))
    by_parent = _given_to_worker(config)
    if by_parent is not None:
        config.stash[testing.NOTES] = Path(by_parent["mmcache_notes"])
        given["seed"] = by_parent["mmcache_seed"]
    elif profile == "nightly":
        given.setdefault("seed", random.SystemRandom().randrange(2**32))
    try:
        wishes = testing.checked(testing.Wishes(config.option.mmcache_target, **given))
    except ValueError as error:
        raise pytest.UsageError(f"--mmcache: {error}") from None
    config.stash[WISHES] = wishes
    ids = [node_id(wishes, component, name) for component, name, _ in testing.tests(wishes)]
    for each in config.stash[CHOSEN]:
        if not any(_is_within(node, each) for node in ids):
            raise pytest.UsageError(f"--mmcache: not in the suite of {wishes.target}: {each}")
    if chosen := config.stash[CHOSEN]:
        config.stash[WISHES] = of_chosen(wishes, chosen)


def of_chosen(wishes: Wishes, chosen: tuple[str, ...]) -> Wishes:
    """The wishes for the components of the chosen tests, which alone share the seconds."""
    parts = {name: node_id(wishes, name) for name in wishes.components}
    names = tuple(
        name
        for name, node in parts.items()
        if any(_is_within(node, each) or _is_within(each, node) for each in chosen)
    )
    return wishes.of_components(names)


def _register_profiles(examples: str | None) -> None:
    """The profiles `ci` and `nightly`, unless Hypothesis or the project have their own."""
    from hypothesis import settings
    from hypothesis.errors import InvalidArgument

    default = settings.get_profile("default")
    nightly: dict[str, Any] = {"max_examples": NIGHTLY_EXAMPLES, "deadline": None, "print_blob": True}
    if examples:
        from mmcache_ref.oracle.sharing import DatabaseUnavailable, open_database

        try:
            nightly["database"] = open_database(examples)
        except DatabaseUnavailable as error:
            raise pytest.UsageError(f"--mmcache-examples: {error}") from None
    ci = {"max_examples": 100, "deadline": None, "derandomize": True, "database": None, "print_blob": True}
    for name, values in (("ci", ci), ("nightly", nightly)):
        try:
            settings.get_profile(name)
        except InvalidArgument:
            settings.register_profile(name, default, **values)


def _choose(config: pytest.Config) -> None:
    """Take the node ids of the suite out of the command line: pytest would look for files of that name."""
    chosen = tuple(each for each in config.args if each.startswith(PREFIX))
    others = [each for each in config.args if not each.startswith(PREFIX)]
    config.stash[CHOSEN] = chosen
    if chosen:
        config.args[:] = others
        named = chosen[0].removeprefix(PREFIX).partition(")")[0]
        config.option.mmcache_target = config.option.mmcache_target or named


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of xdist what its command line does not say."""
    if WISHES in node.config.stash:
        from mmcache_ref.testing import notes

        node.workerinput["mmcache_notes"] = str(notes(node.config))
        node.workerinput["mmcache_seed"] = node.config.stash[WISHES].seed


def _given_to_worker(config: pytest.Config) -> dict[str, Any] | None:
    """What this process was given, if it is a worker of xdist."""
    given: dict[str, Any] | None = getattr(config, "workerinput", None)
    return given


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what is judged, and with which seed."""
    wishes = config.stash.get(WISHES, None)
    if wishes is None:
        return None
    amount = "as many examples as the Hypothesis profile says"
    if wishes.seconds is not None:
        amount = f"{wishes.seconds:g} s of fuzzing"
    return f"mmcache-ref: {wishes.target}, profile {wishes.profile}, seed {wishes.seed}, {amount}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the suite to whatever else was collected."""
    wishes = config.stash.get(WISHES, None)
    if wishes is None:
        return
    name = node_id(wishes)
    collector = TargetCollector.from_parent(session, name=name, nodeid=name, wishes=wishes)
    chosen = config.stash[CHOSEN]
    for item in session.genitems(collector):
        if not chosen or any(_is_within(item.nodeid, each) for each in chosen):
            items.append(item)


def node_id(wishes: Wishes, *inside: str) -> str:
    """The node id of the suite, or of a part of it."""
    return "::".join([f"{PREFIX}{wishes.target})", *inside])


def _is_within(node: str, chosen: str) -> bool:
    return node == chosen or node.startswith(f"{chosen}::")


class TargetCollector(pytest.Collector):
    """`mmcache(TARGET)`: a collector for each component."""

    def __init__(self, *, wishes: Wishes, **others: Any) -> None:
        super().__init__(**others)
        self.wishes = wishes

    def collect(self) -> Iterator[pytest.Collector]:
        """The components, in order."""
        for component in self.wishes.components:
            yield ComponentCollector.from_parent(self, name=component, wishes=self.wishes)


class ComponentCollector(pytest.Collector):
    """`::COMPONENT`: a test for each stored run and each stage."""

    def __init__(self, *, wishes: Wishes, **others: Any) -> None:
        super().__init__(**others)
        self.wishes = wishes

    def collect(self) -> Iterator[pytest.Item]:
        """The tests of this component."""
        from mmcache_ref.testing import tests

        for component, name, check in tests(self.wishes):
            if component == self.name:
                yield SuiteItem.from_parent(self, name=name, check=check)


class SuiteItem(pytest.Item):
    """One test of the suite; `check` fails it."""

    def __init__(self, *, check: Any, **others: Any) -> None:
        super().__init__(**others)
        self.check = check

    def runtest(self) -> None:
        """Judge, in a process of its own."""
        self.check(self)

    def reportinfo(self) -> tuple[os.PathLike[str], None, str]:
        """There is no file: the target stands in its place."""
        target, _, test = self.nodeid.partition("::")
        return self.config.rootpath / target, None, test.replace("::", ".")
