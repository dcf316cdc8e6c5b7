"""A hazard of the manifest: its stored run, the protection against it, and the reference without that."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from types import SimpleNamespace
from typing import Any

from mmcache_ref import protocol, reference
from mmcache_ref.model.explore import Property
from mmcache_ref.oracle.namespace import Namespace
from mmcache_ref.oracle.regressions import runs_directory
from mmcache_ref.oracle.run import Run
from mmcache_ref.oracle.stored import read_run
from mmcache_ref.tlc.manifest import Bound, read_manifest

ENTRIES = {entry.name: entry for _, entry in read_manifest().entries}


def stored(name: str) -> Run:
    return read_run(str(runs_directory() / "hazards" / f"{name}.json"))


def protected(name: str) -> Bound:
    """The search in which the hazard is harmless: its accidents, and the protection against them."""
    bound = ENTRIES[f"{name}.protected"].bound
    assert bound is not None
    return bound


def violated(name: str, properties: Mapping[str, Property]) -> Property:
    """The property of the Python model that the TLA+ model names in its own spelling."""
    return properties["-".join(re.findall("[A-Z][a-z]+", ENTRIES[name].violated or "")).lower()]


def unprotected(left_out: frozenset[str]) -> Namespace:
    """The reference in a deployment that leaves these protections out."""

    def leaving_out(deployment: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(deployment)
        def made(implementation: Any, protections: Any, **parts: Any) -> Any:
            return deployment(implementation, frozenset(protections) - left_out, **parts)

        return made

    names = {name: getattr(package, name) for package in (reference, protocol) for name in package.__all__}
    for name in ("Deployment", "SharedDeployment"):
        names[name] = leaving_out(names[name])
    return Namespace(SimpleNamespace(**names), "unprotected")
