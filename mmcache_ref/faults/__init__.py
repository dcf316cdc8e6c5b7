"""Seeded faults: each replaces one rule, and tells its story.   [spec/faults.md]

`FAULTS` has them by name; `namespace(name)` gives the public names of the package with one of them in it.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from types import SimpleNamespace
from typing import Final

from .fault import Fault
from .install import names

__all__ = ["FAULTS", "Fault", "namespace"]

_MODULE: Final = re.compile(r"[ds]\d\d_")


def _found() -> dict[str, Fault]:
    """The fault of each module that is named for one, in order."""
    modules = sorted(module.name for module in pkgutil.iter_modules(__path__) if _MODULE.match(module.name))
    faults = [importlib.import_module(f"{__name__}.{name}").FAULT for name in modules]
    return {fault.name: fault for fault in faults}


FAULTS: Final[dict[str, Fault]] = _found()


def namespace(name: str) -> SimpleNamespace:
    """The public names of reference and protocol with this fault; `KeyError` for an unknown name."""
    return names(FAULTS[name])
