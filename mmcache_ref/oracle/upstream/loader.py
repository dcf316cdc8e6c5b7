"""A release's sources as a private package, several releases side by side.

The `vllm` of a release is imported as, say, `_mmcache_ref_vllm_0_32_0`. Absolute imports inside
its sources are redirected while they are compiled, so tracebacks keep the real path and lines:

    vllm.x                          -> the private package: from source if the folder has it, else a stand-in
    the standard library, DEPENDENCIES -> themselves
    anything else (transformers, …) -> a stand-in, whether or not it is installed
"""

from __future__ import annotations

import ast
import importlib
import logging
import re
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.upstream.stand_ins import EXPLICIT, StandInModule

DEPENDENCIES: Final = frozenset(
    {
        *("PIL", "cachetools", "cloudpickle", "msgspec", "numpy"),
        *("pydantic", "pydantic_core", "torch", "typing_extensions", "zmq"),
    }
)
"""Third-party modules that the cache code needs for real."""

_OUTSIDE: Final = "_outside"


class PrivatePackage:
    """The private package of one release: `import_module("multimodal.inputs")` and the like.

    Args:
        folder: holds the release's `vllm/…`.
        version: gives the private name; a second folder of the same version gets another name.
    """

    def __init__(self, folder: Path, version: str) -> None:
        base = "_mmcache_ref_vllm_" + re.sub(r"\W", "_", version)
        self.name = base
        while self.name in sys.modules:
            self.name += "_"
        self._finder = ReleaseFinder(self.name, folder / "vllm")
        # A release's warnings are for whoever configures logging, not for stderr.
        self._no_output = logging.NullHandler()
        logging.getLogger(self.name).addHandler(self._no_output)
        sys.meta_path.insert(0, self._finder)
        try:
            importlib.import_module(self.name)
        except BaseException:
            self.unload()
            raise

    def import_module(self, name: str) -> ModuleType | None:
        """`vllm.<name>` of the release, loaded from its source; None where the release has no such file.

        Raises `TargetUnavailable` when a dependency is missing or the source does not load here.
        """
        full_name = f"{self.name}.{name}"
        if not self._finder.has_source(full_name):
            return None
        try:
            return importlib.import_module(full_name)
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in DEPENDENCIES:
                raise TargetUnavailable(_no_load(name, error)) from error
            raise TargetUnavailable(
                f"the vLLM sources need {error.name!r}, which is not installed here. "
                "Run: pip install 'mmcache-ref[vllm]'"
            ) from error
        except Exception as error:
            raise TargetUnavailable(_no_load(name, error)) from error

    def unload(self) -> None:
        """Forget the package; objects made from it go on working."""
        logging.getLogger(self.name).removeHandler(self._no_output)
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        for loaded in [m for m in sys.modules if m == self.name or m.startswith(f"{self.name}.")]:
            del sys.modules[loaded]


def _no_load(name: str, error: Exception) -> str:
    return (
        f"vllm.{name} of this release does not load with the packages installed here: "
        f"{type(error).__name__}: {error}. Try the versions of torch and numpy that this release asks for."
    )


class ReleaseFinder(MetaPathFinder):
    """Finds the modules of one private package: sources below `root`, stand-ins for all others."""

    def __init__(self, package: str, root: Path) -> None:
        self._package = package
        self._root = root

    def _source(self, full_name: str) -> tuple[Path, bool] | None:
        """Path of the module's source and whether it is a package; None if it has no source."""
        path = self._root.joinpath(*full_name.split(".")[1:])
        for candidate, is_package in ((path / "__init__.py", True), (path.with_suffix(".py"), False)):
            if candidate.is_file():
                return candidate, is_package
        return None

    def has_source(self, full_name: str) -> bool:
        """Whether the release's folder holds the source of this module."""
        return self._source(full_name) is not None

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for every name inside the private package, None for all others."""
        if fullname.partition(".")[0] != self._package:
            return None
        found = self._source(fullname)
        if found is None:
            return ModuleSpec(fullname, StandInLoader(self), is_package=True)
        source, is_package = found
        return spec_from_file_location(
            fullname,
            source,
            loader=ReleaseLoader(fullname, str(source)),
            submodule_search_locations=[str(source.parent)] if is_package else None,
        )


class StandInLoader(Loader):
    """Makes stand-in modules, with explicit values where behaviour matters."""

    def __init__(self, finder: ReleaseFinder) -> None:
        self.has_source = finder.has_source

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return StandInModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        vars(module).update(EXPLICIT.get(module.__name__.partition(".")[2], {}))


class ReleaseLoader(SourceFileLoader):
    """Loads one source of a release with its absolute imports redirected; writes no bytecode files."""

    def get_code(self, fullname: str) -> CodeType:
        package = fullname.partition(".")[0]
        tree = ast.parse(self.get_data(self.path), filename=self.path)
        redirected = ast.fix_missing_locations(_Redirect(package).visit(tree))
        return compile(redirected, self.path, "exec", dont_inherit=True)


class _Redirect(ast.NodeTransformer):
    """Rewrites `import` statements as the table at the top of this module says."""

    def __init__(self, package: str) -> None:
        self._package = package

    def _redirected(self, name: str) -> str:
        top, _, rest = name.partition(".")
        if top == "vllm":
            return f"{self._package}.{rest}" if rest else self._package
        if top in sys.stdlib_module_names or top in DEPENDENCIES:
            return name
        return f"{self._package}.{_OUTSIDE}.{name}"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.ImportFrom:
        if node.level == 0 and node.module is not None:
            node.module = self._redirected(node.module)
        return node

    def visit_Import(self, node: ast.Import) -> Any:
        return [ast.copy_location(n, node) for alias in node.names for n in self._imports(alias)]

    def _imports(self, alias: ast.alias) -> list[ast.stmt]:
        name = self._redirected(alias.name)
        if name == alias.name:
            return [ast.Import([alias])]
        if alias.asname is not None:
            return [ast.Import([ast.alias(name, alias.asname)])]
        # `import vllm.envs` binds `vllm`: import the submodule, then bind the top package to that name.
        top = alias.name.partition(".")[0]
        return [
            ast.Import([ast.alias(name, "_imported_for_its_effect")]),
            ast.Import([ast.alias(self._redirected(top), top)]),
        ]
