"""Targets: what can be judged, by name.

reference              the reference implementation, of the caches and of the protocol
vllm                   the vLLM installed in this environment
vllm@0.32.0            that published release, fetched through pip
py:package.module:name a namespace with upstream's names: `name` is a module, a class, an instance, or a
                       function without arguments that returns one; without `:name`, the module itself
fault:D06              the reference and its protocol with this one seeded fault
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

from mmcache_ref.oracle.culprit_frame import raised_in
from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.namespace import Namespace

KINDS = "reference, vllm, vllm@VERSION, py:package.module:name, fault:NAME"


def check_target(target: str) -> None:
    """`ValueError` for a name that is of no kind."""
    if target in ("reference", "vllm"):
        return
    prefix = next((each for each in ("vllm@", "py:", "fault:") if target.startswith(each)), None)
    if prefix is None or target == prefix:
        raise ValueError(f"no such target: {target!r}. Take one of: {KINDS}")
    if prefix == "vllm@":
        from mmcache_ref.oracle.upstream.fetch import normalise_version

        try:
            normalise_version(target.removeprefix(prefix))
        except TargetUnavailable as error:
            raise ValueError(str(error)) from None
    if prefix == "fault:" and (name := target.removeprefix(prefix)) not in seeded_faults().FAULTS:
        raise ValueError(f"no fault {name!r}: take one of {', '.join(seeded_faults().FAULTS)}")


def seeded_faults() -> Any:
    """The package of faults, which are implementations: the oracle reaches it as it does every target."""
    return importlib.import_module("mmcache_ref.faults")


def resolve(target: str) -> Namespace:
    """The namespace of a target; `ValueError` for a name of no kind, `TargetUnavailable` with the reason."""
    check_target(target)
    namespace = _resolved(target)
    namespace.target = target
    return namespace


def _resolved(target: str) -> Namespace:
    if target == "reference":
        caches, protocol = map(importlib.import_module, ("mmcache_ref.reference", "mmcache_ref.protocol"))
        return Namespace(SimpleNamespace(**{**vars(protocol), **vars(caches)}), "reference")
    if target == "vllm" or target.startswith("vllm@"):
        from mmcache_ref.oracle import upstream

        _, _, version = target.partition("@")
        return upstream.load_release(version) if version else upstream.load_installed()
    if target.startswith("fault:"):
        return Namespace(seeded_faults().namespace(target.removeprefix("fault:")), target)
    return Namespace(_import(target.removeprefix("py:")), target)


def _import(path: str) -> Any:
    """The object that `package.module:name` names, called if it is a function. The current folder is on the
    path, as it is of `python -m`."""
    module_name, _, name = path.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
        for part in name.split(".") if name else ():
            found = getattr(found, part)
        if inspect.isfunction(found) or inspect.isbuiltin(found):
            found = found()
    except (Exception, SystemExit) as error:
        package = module_name.partition(".")[0]
        where = raised_in(error, package)
        is_absent = isinstance(error, ModuleNotFoundError) and not where
        advice = " Is the package on the path? Run with PYTHONPATH=folder." if is_absent else ""
        raise TargetUnavailable(
            f"py:{path} cannot be imported: {type(error).__name__}: {error}."
            f"{f' Raised in {where}' if where else ''}{advice}"
        ) from error
    if isinstance(found, ModuleType | type) or hasattr(found, "__dict__"):
        return found
    raise TargetUnavailable(f"py:{path} is {found!r}, not a namespace: give an object with upstream's names")
