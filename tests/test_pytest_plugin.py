"""The pytest plugin and the class factory as another project uses them: each test is a pytest of its own."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import settings

from mmcache_ref import testing
from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.pytest_plugin import of_chosen
from mmcache_ref.testing import Wishes

pytest_plugins = ["pytester"]

TESTS = Path(__file__).parent
PLAIN = ("-p", "no:cacheprovider", "-p", "no:timeout", "-p", "no:randomly")
EXAMPLE = TESTS.parent / ".github" / "examples" / "conformance.yml"
TARGET = "py:my_package.my_cache:namespace"
BROKEN = "py:broken.factories_replicate_to_two"
FACTORIES = ("--mmcache-component", "factories")
EXHAUSTIVE = (*FACTORIES, "--mmcache-seconds", "0")
FEW = 5
"""Examples of the profile in force here."""


IMPORTED = testing
"""Here, so that a pytest inside this process does not import it, and NumPy, anew."""


class Project:
    """An empty project somewhere else."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.folder = pytester.path

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def quick(self, *arguments: str) -> pytest.RunResult:
        """The project's pytest, inside this process."""
        return self.pytester.runpytest_inprocess(*PLAIN, *arguments)

    def pytest(self, *arguments: str) -> pytest.RunResult:
        """The project's pytest, in a process of its own."""
        return self.pytester.runpytest_subprocess(*PLAIN, *arguments)

    def junit(self, *arguments: str) -> tuple[pytest.RunResult, ElementTree.Element]:
        """The result of `quick`, and the suite in its JUnit file."""
        return self.quick("--junitxml=junit.xml", *arguments), self.suite()

    def suite(self) -> ElementTree.Element:
        """What `--junitxml=junit.xml` left."""
        (suite,) = ElementTree.parse(self.folder / "junit.xml").getroot()
        return suite


def properties(suite: Iterable[ElementTree.Element]) -> dict[str, dict[str, str]]:
    """What each test of a JUnit suite says of itself, by its name."""
    return {
        str(case.get("name")): {
            str(each.get("name")): str(each.get("value")) for each in case.iter("property")
        }
        for case in suite
    }


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """A project without torch, so that its processes start sooner, and with few examples."""
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("CI", "MMCACHE_EXAMPLES", "PYTEST_ADDOPTS"):
        monkeypatch.delenv(name, raising=False)
    project = Project(pytester)
    project.write("torch.py", "raise ImportError('there is no torch here')\n")
    current = settings.get_current_profile_name()
    settings.register_profile("few", max_examples=FEW)
    settings.load_profile("few")
    yield project
    settings.load_profile(current)


def printed(result: pytest.RunResult) -> str:
    return result.stdout.str()


def test_an_empty_folder_and_a_target_are_enough(project: Project) -> None:
    project.write("my_package/my_cache.py", "import mmcache_ref.reference as namespace\n")
    result = project.quick("-v", f"--mmcache-target={TARGET}", *FACTORIES)
    assert result.ret == 0, printed(result)
    assert f"mmcache({TARGET})::factories::exhaustive PASSED" in printed(result)
    assert f"mmcache({TARGET})::factories::fuzz PASSED" in printed(result)
    assert f"mmcache-ref: {TARGET}, profile safe, seed 0, as many examples as" in printed(result)


def test_a_failure_is_the_verdict_and_no_traceback(project: Project) -> None:
    result, suite = project.junit(f"--mmcache-target={BROKEN}", *EXHAUSTIVE)
    assert result.ret == 1
    said = printed(result)
    assert f"FA-02 broken by {BROKEN}, factories, 1 operation" in said
    assert "“The type is *processor-only* unless caching across processes is possible" in said
    assert f"repeat: mmcache-ref replay {BROKEN} '{{" in said
    assert "Traceback" not in said
    assert ".py:" not in said.replace(BROKEN, "")
    (failed,) = [
        case for case in suite if case.find("failure") is not None and case.get("name") == "exhaustive"
    ]
    assert failed.get("classname") == f"mmcache({BROKEN}).factories"
    assert "FA-02" in failed.findtext("failure", "")
    assert int(suite.get("failures", 0)) == len(suite.findall("testcase/failure"))
    assert suite.get("errors") == "0"


def test_a_test_says_what_it_covered(project: Project) -> None:
    _, suite = project.junit("--mmcache-target=reference", *FACTORIES)
    covered = properties(suite)
    assert int(covered["exhaustive"]["edges"]) > 500
    assert FEW <= int(covered["fuzz"]["examples"]) < 10 * FEW
    assert int(covered["fuzz"]["operations"]) > 0
    assert covered["fuzz"]["seed"] == "0"


def test_xdist_spreads_the_suite(project: Project) -> None:
    result, suite = project.junit("-n", "2", f"--mmcache-target={BROKEN}", *EXHAUSTIVE)
    assert result.ret == 1
    assert "2 workers [" in printed(result)
    assert "FA-02 broken by" in printed(result)
    assert "exhaustive" in {case.get("name") for case in suite if case.find("failure") is not None}
    assert len(suite) > 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--mmcache-target=torch",), "no such target: 'torch'"),
        (("--mmcache-target=reference", "--mmcache-component=ring"), "no component 'ring'"),
        (("--mmcache-target=reference", "--mmcache-level=9"), "no level 9"),
        (
            ("--mmcache-target=reference", "--mmcache-examples=file/inside"),
            "examples cannot be kept in file/inside",
        ),
        (("mmcache(reference)::factories::slowly",), "not in the suite of reference"),
    ],
)
def test_what_cannot_be_understood_is_a_usage_error(
    project: Project, arguments: tuple[str, ...], says: str
) -> None:
    project.write("file", "")
    result = project.quick(*arguments)
    assert result.ret == 4
    assert says in result.stderr.str()


def test_without_its_options_nothing_changes(project: Project) -> None:
    project.write(
        "test_own.py",
        "import sys\n\n"
        "def test_own():\n"
        "    assert 'mmcache_ref.pytest_plugin' in sys.modules\n"
        "    heavy = {'hypothesis', 'torch', 'numpy', 'rich', 'msgspec', 'mmcache_ref.testing'}\n"
        "    assert not heavy & set(sys.modules)\n",
    )
    result = project.pytest()
    result.assert_outcomes(passed=1)
    assert "mmcache-ref:" not in printed(result)


def test_the_options_stand_in_a_group_of_the_help(project: Project) -> None:
    said = printed(project.quick("--help"))
    group = said.partition("mmcache-ref: judge a multi-modal cache")[2]
    options = ("target", "component", "profile", "level", "seconds", "seed", "examples")
    assert all(f"--mmcache-{name}=" in group for name in options)


@pytest.mark.parametrize(
    ("chosen", "components"),
    [
        (("::lru::fuzz", "::sender"), ("lru", "sender")),
        (("::lru::stored-run[D03]",), ("lru",)),
        (("",), tuple(COMPONENTS)),
    ],
)
def test_the_seconds_are_those_of_the_chosen_components(
    chosen: tuple[str, ...], components: tuple[str, ...]
) -> None:
    nodes = tuple(f"mmcache(reference){each}" for each in chosen)
    narrowed = of_chosen(Wishes("reference", seconds=4), nodes)
    assert narrowed.components == components
    assert narrowed.options(components[0], "fuzz").seconds == 4 / len(components)


@pytest.mark.parametrize("parallel", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)])
def test_a_target_that_cannot_be_loaded_is_one_failure(project: Project, parallel: tuple[str, ...]) -> None:
    result = project.quick("--mmcache-target=py:no_such_package", *parallel)
    assert result.ret == 1
    outcomes = result.parseoutcomes()
    assert outcomes["failed"] == 1
    assert outcomes.keys() == {"failed", "skipped"}
    assert "undetermined: py:no_such_package cannot be imported: ModuleNotFoundError" in printed(result)


def test_it_is_a_failure_whichever_test_is_chosen(project: Project) -> None:
    result = project.quick("--mmcache-target=py:no_such_package", "-k", "receiver and fuzz")
    result.assert_outcomes(failed=1, deselected=result.parseoutcomes()["deselected"])


def test_a_name_that_a_target_lacks_is_no_pass(project: Project) -> None:
    project.write("only_lru.py", "from mmcache_ref.reference import LRUCache\n")
    result = project.quick(
        "--mmcache-target=py:only_lru", "--mmcache-component=receiver", "--mmcache-seconds=0"
    )
    assert result.ret == 1
    assert "undetermined: py:only_lru, receiver" in printed(result)
    assert "passed" not in result.parseoutcomes()


def test_a_target_that_dies_takes_nothing_with_it(project: Project) -> None:
    project.write("test_own.py", "def test_own():\n    pass\n")
    target = "py:rogue.is_killed"
    result = project.quick(f"mmcache({target})::receiver::exhaustive", "test_own.py")
    result.assert_outcomes(passed=1, failed=1)
    assert f"broken by {target}, receiver, 1 operation" in printed(result)
    assert "ended by SIGKILL" in printed(result)


@pytest.mark.slow
def test_a_target_that_blocks_is_stopped(project: Project) -> None:
    result = project.quick("mmcache(py:rogue.blocks)::receiver::exhaustive")
    result.assert_outcomes(failed=1)
    assert "IF-20 broken by py:rogue.blocks" in printed(result)


@pytest.mark.parametrize("parallel", [(), pytest.param(("-n", "1"), marks=pytest.mark.slow)])
def test_a_node_id_runs_that_test_alone(project: Project, parallel: tuple[str, ...]) -> None:
    project.write("test_own.py", "def test_own():\n    pass\n")
    chosen = "mmcache(reference)::factories::exhaustive"
    result = project.quick("-rA", chosen, *parallel)
    result.assert_outcomes(passed=1)
    assert f"PASSED {chosen}" in printed(result)


def test_the_class_factory_gives_tests(project: Project) -> None:
    project.write(
        "tests/test_mine.py",
        "from mmcache_ref.testing import suite\n\n"
        f"TestGood = suite('{TARGET}', components=['factories'])\n"
        f"TestBad = suite('{BROKEN}', components=['factories'], seconds=0)\n",
    )
    project.write("src/my_package/my_cache.py", "import mmcache_ref.reference as namespace\n")
    project.write("pytest.ini", "[pytest]\npythonpath = src\n")
    result, suite = project.junit("-rA")
    said = printed(result)
    assert result.ret == 1
    assert "PASSED tests/test_mine.py::TestGood::test_exhaustive[factories]" in said
    assert "PASSED tests/test_mine.py::TestGood::test_fuzz[factories]" in said
    assert re.search(r"FAILED tests/test_mine.py::TestBad::test_exhaustive\[factories\] - .*FA-02", said)
    assert "TestBad::test_fuzz" not in said
    assert "Traceback" not in said
    assert {case.get("classname") for case in suite} == {
        "tests.test_mine.TestGood",
        "tests.test_mine.TestBad",
    }


def test_the_class_factory_takes_options_from_the_command_line(project: Project) -> None:
    project.write(
        "test_mine.py",
        "from mmcache_ref.testing import suite\n\n"
        "TestMine = suite('reference', components=['factories'])\n"
        "TestOwn = suite('reference', components=['factories'], seed=7)\n",
    )
    _, suite = project.junit("-k", "fuzz", "--mmcache-seed=5")
    seeds = {str(case.get("classname")): properties([case])["test_fuzz[factories]"]["seed"] for case in suite}
    assert seeds == {"test_mine.TestMine": "5", "test_mine.TestOwn": "7"}


def test_a_wrong_name_in_the_class_factory_is_told_when_tests_are_collected(project: Project) -> None:
    project.write("test_mine.py", "from mmcache_ref.testing import suite\n\nTestMine = suite('torch')\n")
    result = project.quick()
    assert result.ret == 2
    assert "no such target: 'torch'" in printed(result)


@pytest.mark.parametrize("job", ["change", pytest.param("night", marks=pytest.mark.slow)])
def test_the_example_for_github_actions_runs_the_suite(project: Project, job: str) -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    start = lines.index(f"  {job}:")
    (command,) = [line for line in lines[start:] if line.startswith("      - run: pytest ")][:1]
    _, *arguments = shlex.split(command.removeprefix("      - run: ").replace("$TARGET", "reference"))
    result = project.pytest(*arguments, "-k", "factories and exhaustive")
    result.assert_outcomes(passed=1)
    assert (project.folder / "conformance.xml").is_file()


def test_the_example_for_github_actions_keeps_what_it_shares() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    (folder,) = re.findall(r'MMCACHE_EXAMPLES: "(.+)"', text)
    assert set(re.findall(r"path: (\.mmcache\S*)", text)) == {folder}
    night = text.partition("  night:")[2]
    assert re.search(r"cache/save@v4\n        if: always\(\)", night)
    assert night.index("cache/restore") < night.index("pytest ") < night.index("cache/save")


PROFILE_TEST = """
from hypothesis import settings

def test_profile():
    now = settings()
    print(f"{now.max_examples} {now.derandomize} {now.print_blob} {now.database is None}")
"""


def test_hypothesis_knows_the_profiles(project: Project) -> None:
    project.write("test_own.py", PROFILE_TEST)
    assert "100 True True True" in printed(project.pytest("-s", "--hypothesis-profile=ci"))
    assert "10000 False True False" in printed(project.pytest("-s", "--hypothesis-profile=nightly"))


def test_a_profile_of_the_projects_own_stays(project: Project) -> None:
    project.write("test_own.py", PROFILE_TEST)
    project.write(
        "conftest.py",
        "from hypothesis import settings\nsettings.register_profile('nightly', max_examples=77)\n",
    )
    assert "77 False" in printed(project.pytest("-s", "--hypothesis-profile=nightly"))


def test_a_profile_of_the_projects_own_says_how_much_to_fuzz(project: Project) -> None:
    project.write(
        "conftest.py",
        "from hypothesis import settings\nsettings.register_profile('own', max_examples=3)\n",
    )
    chosen = "mmcache(reference)::factories::fuzz"
    assert project.pytest("--junitxml=junit.xml", chosen, "--hypothesis-profile=own").ret == 0
    assert 3 <= int(properties(project.suite())["fuzz"]["examples"]) < 30


@pytest.mark.parametrize("parallel", [(), pytest.param(("-n", "1"), marks=pytest.mark.slow)])
def test_every_night_has_a_seed_of_its_own_which_is_told(project: Project, parallel: tuple[str, ...]) -> None:
    chosen = ("mmcache(reference)::factories::fuzz", "--hypothesis-profile=nightly", "--mmcache-seconds=3")
    result = project.pytest("--junitxml=junit.xml", *chosen, *parallel)
    assert result.ret == 0, printed(result)
    seed = properties(project.suite())["fuzz"]["seed"]
    assert f"seed {seed}," in printed(result)
    assert seed != "0"
