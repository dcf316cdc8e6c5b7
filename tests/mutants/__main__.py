"""`python -m mutants`: mutate the reference, let the oracle judge each mutant, say which survive.

Everything happens in a copy in a temporary folder, and the mutants are in no file at all.
Exit codes: 0 as demanded; 1 usage; 2 a survivor without explanation, an explanation that no longer fits, or
too low a score; 3 the reference itself was not judged to conform.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import Final

TREE: Final = Path(__file__).parents[2]
COPIED: Final = ("mmcache_ref", "spec", "tests/mutants")
DECISIVE: Final = (
    "reference.factories:",
    "reference.handles:",
    "reference.key_replicated:",
    "reference.lru:",
    "reference.merge:",
    "reference.object_chunks:",
    "reference.object_store:",
    "reference.processor_only:",
    "reference.promises:",
    "reference.ring_buffer:",
    "reference.ring_placement:",
    "reference.seals:",
    "reference.shm_caches:",
    "reference.sizes:",
    "protocol.channel:",
    "protocol.deployment:",
    "protocol.engine:",
    "protocol.front_end:",
    "protocol.shared_front_end:",
    "protocol.shared_worker:",
)
"""What the caches and the protocol decide. The others are the data model, the interface, `shared_deployment`,
of which there is no complete run, and what shows only when processes end (`segments`, `segment_owners`,
`robust_lock`), which tests with real processes hold."""
EVERYTHING: Final = "all"
SECONDS_BETWEEN_LINES: Final = 30.0
"""On a terminal progress is shown at once."""


def main() -> int:
    """Run from the tree: copy it and go on in the copy."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _terminate)
    if arguments.inside:
        return _inside(arguments)
    with tempfile.TemporaryDirectory(prefix="mmcache-mutants-") as folder:
        copy = Path(folder)
        for each in COPIED:
            shutil.copytree(TREE / each, copy / each, ignore=shutil.ignore_patterns("__pycache__"))
        command = [sys.executable, "-m", "mutants", "--inside", "--results", str(arguments.results.resolve())]
        command += [
            "--jobs",
            str(arguments.jobs),
            "--examples",
            str(arguments.examples),
            *(arguments.wanted or (EVERYTHING,)),
        ]
        paths = os.pathsep.join(map(str, (copy, copy / "tests")))
        process = subprocess.Popen(command, cwd=copy, env=os.environ | {"PYTHONPATH": paths})
        try:
            return process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m mutants", description=__doc__)
    parser.add_argument(
        "wanted",
        nargs="*",
        metavar="TEXT",
        default=DECISIVE,
        help="only where module:function contains it; `all` for every module; "
        "without it, what decides the caches and the protocol",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    parser.add_argument("--examples", type=int, default=20, help="of fuzzing, for each component (20)")
    parser.add_argument(
        "--results",
        type=Path,
        default=TREE / ".mmcache-ref" / "mutants.jsonl",
        help="a run that was interrupted goes on from here, as long as nothing has changed",
    )
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if EVERYTHING in arguments.wanted:
        arguments.wanted = ()
    return arguments


def _inside(arguments: argparse.Namespace) -> int:
    """Run from the copy, which nobody edits meanwhile."""
    from mutants import report, survivors
    from mutants.session import NotJudged, Results, Session, basis_of, is_wanted

    root = Path.cwd()
    results = Results(arguments.results, basis_of(root, arguments.examples))
    session = Session(
        root, results, examples=arguments.examples, processes=arguments.jobs, say=_Progress().say
    )
    listed = survivors.read()
    known = session.mutants(arguments.wanted)
    if not known:
        print(f"no mutant of {' or '.join(arguments.wanted)}", file=sys.stderr)
        return 1
    excluded = {each: {name for name in known if each.covers(name)} for each in listed.excluded}
    mutants = {
        name: each for name, each in known.items() if not any(name in them for them in excluded.values())
    }
    try:
        session.measure()
    except NotJudged as error:
        print(f"the reference does not conform: {error}", file=sys.stderr)
        return 3
    findings = report.Findings(
        mutants,
        session.run(mutants),
        {name: each for name, each in survivors.by_name(listed).items() if is_wanted(name, arguments.wanted)},
        {each: len(names) for each, names in excluded.items() if names or not arguments.wanted},
    )
    executed_by = {name: session.executed_by(mutants[name]) for name in findings.unexplained}
    print(report.describe(findings, executed_by))
    return 0 if findings.is_good else 2


class _Progress:
    """On a terminal one line that changes; elsewhere a line now and then."""

    def __init__(self) -> None:
        self._last = 0.0

    def say(self, text: str) -> None:
        if sys.stderr.isatty():
            print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._last > SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            print(text, file=sys.stderr, flush=True)


def _terminate(signum: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + signum)


if __name__ == "__main__":
    sys.exit(main())
