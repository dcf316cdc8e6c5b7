"""Published vLLM releases as targets: `vllm@VERSION` and the `vllm` that is installed.

torch and the release itself are imported by the calls below, not by importing this package.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path
from types import ModuleType

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.upstream.fetch import Download, default_cache_dir, normalise_version, source_folder
from mmcache_ref.oracle.upstream.loader import PrivatePackage
from mmcache_ref.oracle.upstream.namespace import UpstreamNamespace
from mmcache_ref.oracle.upstream.normalise import build_namespace

__all__ = ["UpstreamNamespace", "load_installed", "load_release"]


def load_release(version: str, *, cache_dir: Path | None = None) -> UpstreamNamespace:
    """The cache names of the published release `version`, fetched through pip if it is not in `cache_dir`.

    Only the cache sources are loaded, under a private package name; releases live side by side and
    do not disturb an installed `vllm`. A second call returns the same object. Raises
    `TargetUnavailable`.
    """
    return _load(normalise_version(version), cache_dir or default_cache_dir())


@functools.cache
def _load(version: str, cache_dir: Path, download: Download | None = None) -> UpstreamNamespace:
    package = PrivatePackage(source_folder(version, cache_dir=cache_dir, download=download), version)
    try:
        return build_namespace(version, package.import_module)
    except BaseException:
        package.unload()
        raise


def load_installed() -> UpstreamNamespace:
    """The cache names of the `vllm` that this environment imports. Raises `TargetUnavailable`."""
    try:
        vllm = importlib.import_module("vllm")
        return build_namespace(str(getattr(vllm, "__version__", "unknown")), _import_installed)
    except Exception as error:
        raise TargetUnavailable(
            f"the vllm of this environment cannot be imported: {type(error).__name__}: {error}. "
            "Make `import vllm` work here, or judge a published release with vllm@VERSION."
        ) from error


def _import_installed(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(f"vllm.{name}")
    except ModuleNotFoundError as error:
        if error.name == f"vllm.{name}" or f"vllm.{name}".startswith(f"{error.name}."):
            return None
        raise
