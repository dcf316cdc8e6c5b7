"""`models/manifest.json`: every model, what checking it must come to, and what it is bound to.

The form is that of the manifest of tlaplus/Examples, with a few keys more. A key that is not known here is
refused: it would be lost when the manifest is written.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any, Literal

import msgspec

from mmcache_ref.tlc.output import Result

Tier = Literal["pr", "nightly"]


class Bound(msgspec.Struct, frozen=True, omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    """The search in Python that has the same states: a model, a preset, and what is switched on in it.

    `edges`: not the numbers alone are compared, but every labelled edge, and each is executed, by `component`
    of the oracle (the model's own unless given). `tier`: from which on Python searches it, which may take as
    long as TLC does.
    """

    model: str
    preset: str
    tier: Tier = "pr"
    accidents: tuple[str, ...] = msgspec.field(default=(), name="with")
    protections: tuple[str, ...] = msgspec.field(default=(), name="protect")
    depth: int | None = None
    clears: int | None = None
    edges: bool = False
    component: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """What the search is configured with besides its preset."""
        return {
            "accidents": list(self.accidents),
            "protections": list(self.protections),
            "depth": self.depth,
            "clears": self.clears,
        }


class Entry(msgspec.Struct, omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    """A model: a configuration of a module, and what TLC must find.

    `runtime` is how long the processors worked for it; `violated` is the property that a failing model must
    name; `clauses` are those of its properties; `fault` is the field fault that it shows; `bound` is the
    search in Python that must come to the same, or, of a model that fails, the configuration in which its
    counterexample is a run; `breaks` is the clause that the seeded fault breaks in that run, which stands in
    `spec/runs/hazards/`. With `coverage` TLC counts how often it takes each action: those models of a module
    that have it take every one.
    """

    path: str
    runtime: str
    mode: str
    result: Result
    name: str
    tier: Tier = "pr"
    coverage: bool = False
    features: tuple[str, ...] = ()
    distinct_states: int | None = None
    total_states: int | None = None
    state_depth: int | None = None
    violated: str | None = msgspec.field(default=None, name="property")
    clauses: tuple[str, ...] = ()
    fault: str | None = None
    bound: Bound | None = None
    breaks: str | None = None

    @property
    def must_hold(self) -> bool:
        """Whether it is a model that must hold."""
        return self.result == "success"

    @property
    def ends_early(self) -> bool:
        """A state without a successor is no error."""
        return "ignore deadlock" in self.features


class Module(msgspec.Struct, omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    """A module that TLC can check, with its models."""

    path: str
    community_dependencies: tuple[str, ...]
    tla_language_version: int
    features: tuple[str, ...]
    models: list[Entry]

    @property
    def name(self) -> str:
        """`MCLru`"""
        return Path(self.path).stem


class Specification(msgspec.Struct, omit_defaults=True, rename="camel", forbid_unknown_fields=True):
    """A component."""

    path: str
    title: str
    description: str
    sources: tuple[str, ...]
    authors: tuple[str, ...]
    tags: tuple[str, ...]
    modules: list[Module]


class Manifest(msgspec.Struct, forbid_unknown_fields=True):
    """Every component."""

    specifications: list[Specification]

    @property
    def modules(self) -> list[Module]:
        """Every module that TLC can check."""
        return [module for each in self.specifications for module in each.modules]

    @property
    def entries(self) -> list[tuple[Module, Entry]]:
        """Every model with its module."""
        return [(module, entry) for module in self.modules for entry in module.models]


def models_directory() -> Path:
    """The folder `models/`: inside the installed package, or beside it in a checkout."""
    installed = Path(str(resources.files("mmcache_ref"))) / "models"
    return installed if installed.is_dir() else installed.parent.parent / "models"


def manifest_path() -> Path:
    """Where the manifest lies."""
    return models_directory() / "manifest.json"


def read_manifest() -> Manifest:
    """The manifest."""
    return msgspec.json.decode(manifest_path().read_bytes(), type=Manifest)


def write_manifest(manifest: Manifest) -> None:
    """Write what was recorded."""
    manifest_path().write_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


def in_models(path: str) -> Path:
    """`models/MCLru.tla`, wherever the folder lies."""
    return models_directory() / Path(path).name
