"""The command line as a shell sees it: output, files, exit codes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mmcache_ref import __version__
from mmcache_ref.cli import app, main
from mmcache_ref.cli.console import ProgressLines

TESTS = Path(__file__).parent
TOUCH_RUN = json.dumps(
    {
        "component": "lru",
        "config": {"budget": 2},
        "operations": [
            {"op": "put", "key": "a", "content": {"nbytes": 1}},
            {"op": "put", "key": "b", "content": {"nbytes": 1}},
            {"op": "touch", "key": "a"},
        ],
    }
)
BROKEN = "py:broken.lru_touch_keeps_order"
FAST = ("--component", "factories", "--seconds", "0")


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`mmcache-ref` with these arguments, far from the checkout's own folder."""
    return subprocess.run(
        [sys.executable, "-m", "mmcache_ref", *arguments],
        env={**os.environ, "PYTHONPATH": str(TESTS), "COLUMNS": "200", "NO_COLOR": "1"},
        cwd=TESTS,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )


def call(*arguments: str) -> int:
    """The exit code of `mmcache-ref` with these arguments, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["mmcache-ref", *arguments])
        with pytest.raises(SystemExit) as exit_info:
            main()
    code = exit_info.value.code
    return code if isinstance(code, int) else 0


def test_0_a_target_that_conforms() -> None:
    done = command("conform", "reference", *FAST)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("reference conforms (profile safe, seed 0")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "Usage"),
        (("judge",), "No such command"),
        (("conform",), "Missing argument"),
        (("conform", "torch"), "no such target: 'torch'"),
        (("conform", "reference", "--component", "ring"), "no component 'ring'"),
        (("conform", "reference", "--level", "9"), "--level"),
        (("conform", "reference", "--profile", "strict"), "--profile"),
        (("conform", "reference", "--examples", "/no/where/examples"), "there is no folder /no/where"),
        (("replay", "torch", TOUCH_RUN), "no such target: 'torch'"),
        (("clauses", "ZZ-01"), "no clause 'ZZ-01'"),
    ],
)
def test_1_a_command_that_cannot_be_understood(
    arguments: tuple[str, ...], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(*arguments) == 1
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("conform", "reference", "--report"),
        ("hunt", "D01", "--store"),
        ("models", "lru-tiny", "--runs"),
        ("simulate", "--trace"),
    ],
)
def test_1_a_folder_that_cannot_be_made_is_told_before_anything_is_done(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert call(*arguments, str(tmp_path / "file" / "inside" / "it")) == 1
    printed = capsys.readouterr()
    assert "cannot write into" in printed.err
    assert printed.out == ""


def test_1_a_usage_error_in_a_process() -> None:
    done = command("conform", "torch")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr


def test_2_a_target_that_violates_leaves_its_report(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    target = "py:broken.factories_replicate_to_two"
    done = command("conform", target, *FAST, "--report", str(folder))
    assert done.returncode == 2, done.stderr
    *_, closing, repeat = done.stdout.splitlines()
    assert closing.startswith(f"{target} violates: FA-02 ")
    assert f"mmcache-ref conform {target}" in repeat
    assert {path.name for path in folder.iterdir()} == {"verdict.txt", "verdict.json", "junit.xml", "runs"}
    (run,) = (folder / "runs").iterdir()
    again = command("replay", target, str(run))
    assert again.returncode == 2, again.stderr
    assert f"{target} breaks FA-02: " in again.stdout


def test_2_a_replayed_run_names_the_clause_and_quotes_it() -> None:
    done = command("replay", BROKEN, TOUCH_RUN)
    assert done.returncode == 2, done.stderr
    assert f"{BROKEN} breaks LRU-09: `c.touch(key)` makes a cached key" in done.stdout
    assert done.stdout.startswith(
        "After operation 3, touch a, the keys in eviction order are a b, must be b a;"
    )


def test_0_a_replayed_run_that_the_target_keeps() -> None:
    done = command("replay", "reference", TOUCH_RUN)
    assert done.returncode == 0, done.stderr
    assert "reference keeps every clause on this run" in done.stdout


def test_3_a_target_that_cannot_be_loaded() -> None:
    done = command("conform", "py:no_such_package", *FAST)
    assert done.returncode == 3
    assert "No module named 'no_such_package'" in done.stdout
    done = command("replay", "py:no_such_package", TOUCH_RUN)
    assert done.returncode == 3
    assert "No module named 'no_such_package'" in done.stderr


@pytest.mark.parametrize("run", ["{}", "no-such-file.json"])
def test_4_a_run_that_cannot_be_read(run: str) -> None:
    done = command("replay", "reference", run)
    assert done.returncode == 4
    assert done.stderr.startswith("mmcache-ref: ")
    assert done.stdout == ""


def test_the_machine_formats_are_alone_on_stdout() -> None:
    as_json = command("conform", "reference", *FAST, "--format", "json")
    assert json.loads(as_json.stdout)["status"] == "conforms"
    as_junit = command("conform", "reference", *FAST, "--format", "junit")
    assert as_junit.stdout.startswith("<?xml")
    as_markdown = command("conform", "reference", *FAST, "--format", "markdown")
    assert as_markdown.stdout.startswith("# ✅ conforms\n")
    assert as_json.stderr == as_junit.stderr == as_markdown.stderr == ""


def test_the_whole_coverage_is_listed_when_it_is_asked_for() -> None:
    short = command("conform", "reference", *FAST).stdout
    whole = command("conform", "reference", *FAST, "--coverage").stdout
    assert "comparisons" not in short
    assert "comparisons  FA-01 " in whole
    assert "fuzz         nothing reached" in whole


COMMANDS = [each.name or getattr(each.callback, "__name__", "") for each in app.registered_commands]


def test_the_commands_come_in_the_order_of_their_use() -> None:
    assert (
        " ".join(COMMANDS)
        == "conform replay explore models clauses faults hunt interleave interop simulate soak trace bench "
        "shm schema version"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_each_command_has_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(name, "--help") == 0
    assert f"Example: mmcache-ref {name}" in capsys.readouterr().out


def test_a_clause_is_printed_with_its_rule_and_who_serves_it() -> None:
    done = command("clauses", "lru-09")
    assert done.returncode == 0
    assert done.stdout.startswith("LRU-09 · MUST · seed · spec/02-lru.md")
    assert "lru.py:touch" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_said_and_no_traceback() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mmcache_ref", "clauses"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "mmcache-ref: cannot write or read: [Errno 28] No space left on device"
    ]


def test_a_terminal_that_lacks_a_character_gets_its_escape() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mmcache_ref", "clauses", "LRU-09"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.startswith("LRU-09 \\xb7 MUST")


def test_the_schema_is_one_of_a_report() -> None:
    document = json.loads(command("schema").stdout)
    assert document["$ref"].endswith("/Report")


def test_the_version_is_the_packages() -> None:
    assert command("version").stdout.strip() == __version__


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_judgement_ends_at_once_and_leaves_no_process(signum: int) -> None:
    """The signal goes to the command alone; its workers are in groups of their own."""
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from mmcache_ref.cli import main; main()"
    )
    words = [sys.executable, "-c", code, "conform", "reference", "--component", "lru", "--seconds", "60"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        time.sleep(8)
        process.send_signal(signum)
        _, stderr = process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "interrupted" in stderr


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_interrupted_while_it_is_loaded_says_so(signum: int) -> None:
    code = f"""
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
class Impatient:
    def find_spec(self, name, *_):
        if name == "mmcache_ref.cli.entry":
            os.kill(os.getpid(), {signum})
sys.meta_path.insert(0, Impatient())
from mmcache_ref.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code, "version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "mmcache-ref: interrupted\n")


def test_an_interruption_that_a_finalizer_swallows_comes_again() -> None:
    code = """
import signal, sys, time
from mmcache_ref import cli
class Dropped:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)
def entered():
    Dropped()
    time.sleep(60)
sys.modules["mmcache_ref.cli.entry"] = sys.modules[__name__]
main = entered
try:
    cli.main()
except KeyboardInterrupt:
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


def test_accidents_and_protections_may_be_named_one_by_one() -> None:
    together = command("explore", "key-replicated", "--with", "reject,drop", "--protect", "rollback")
    apart = command(
        "explore", "key-replicated", "--with", "reject", "--with", "drop", "--protect", "rollback"
    )
    assert together.stdout.count("drop") > 0
    assert [line for line in apart.stdout.splitlines() if "DR-" in line] == [
        line for line in together.stdout.splitlines() if "DR-" in line
    ]


def test_a_search_ends_after_as_many_states_as_it_is_given() -> None:
    ended = command("explore", "key-replicated", "--with", "all", "--states", "200")
    assert ended.returncode == 2
    distinct = re.search(r" (\d+) distinct", ended.stdout)
    assert distinct is not None
    assert 200 <= int(distinct[1]) < 250  # the last one is left by all its steps
    assert "cut short (see --states and --seconds): what is not violated is undetermined" in ended.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("simulate", "--requests", "1"),
        ("interleave",),
        ("conform", "--processes", "--seconds", "0", "--cache", "lru"),
        ("conform", "--processes", "--seconds", "0", "--cache", "shm"),
        ("bench", "--growth", "--keys", "100"),
    ],
    ids=" ".join,
)
def test_a_module_that_ends_its_process_does_not_end_the_command(arguments: tuple[str, ...]) -> None:
    name, *options = arguments
    ended = command(name, "py:rogue.dies_at_import", *options)
    assert ended.returncode == 3
    told = " ".join((ended.stdout + ended.stderr).split())
    assert "while it was loaded, the process of the target ended with exit code 5" in told


def test_where_there_is_no_terminal_progress_is_told_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> str:
        with ProgressLines() as progress:
            line = progress.add_task("lru", what="searching")
            progress.update(line, what="7 states")
            progress.update(line, what="8 states")
        return capsys.readouterr().err

    assert told() == ""
    monkeypatch.setattr("mmcache_ref.cli.console.SECONDS_BETWEEN_LINES", 0)
    assert told() == "lru: 7 states\nlru: 8 states\n"
