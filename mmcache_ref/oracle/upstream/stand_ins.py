"""Stand-ins for what a release's cache sources import but do not need.

Configuration, platforms, tokenizers, media parsing and the like are named in imports, annotations
and base classes of the cache sources; their behaviour plays no part in caching. An `Inert` value
takes such a name's place. Where behaviour does matter there is an explicit stand-in (`EXPLICIT`).
"""

from __future__ import annotations

import base64
import importlib
import logging
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, Final


class InertBase:
    """What a class whose only base is an `Inert` value derives from instead."""

    def __init_subclass__(cls, **_: object) -> None:
        """Accept any class keyword, as the base that is stood in for may have done."""
        super().__init_subclass__()


class Inert:
    """A value that may be named, subscripted, called, derived from and annotated with, and does nothing.

    It is false, an instance of nothing, and gives an `Inert` for every public attribute. As a
    decorator it returns the decorated thing. It is no number and cannot be iterated over, so
    code that does depend on it fails instead of going wrong.
    """

    __slots__ = ("_inert_name",)

    __iter__ = None
    __contains__ = None

    def __init__(self, name: str) -> None:
        self._inert_name = name

    def __repr__(self) -> str:
        return f"<stand-in for {self._inert_name}>"

    def __getattr__(self, name: str) -> Inert:
        if name.startswith("__"):
            raise AttributeError(name)
        return Inert(f"{self._inert_name}.{name}")

    def __getitem__(self, _: object) -> Inert:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        is_decoration = len(args) == 1 and not kwargs and callable(args[0]) and not isinstance(args[0], Inert)
        return args[0] if is_decoration else self

    def __or__(self, _: object) -> Inert:
        return self

    __ror__ = __or__

    def __bool__(self) -> bool:
        return False

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (InertBase,) if bases == (self,) else ()

    def __instancecheck__(self, _: object) -> bool:
        return False

    def __subclasscheck__(self, _: type) -> bool:
        return False

    def __enter__(self) -> Inert:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class StandInModule(ModuleType):
    """A module in which every public name is there: a real submodule if the release has it, else `Inert`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        spec = self.__spec__
        has_source: Callable[[str], bool] | None = getattr(getattr(spec, "loader", None), "has_source", None)
        if has_source is not None and has_source(f"{self.__name__}.{name}"):
            return importlib.import_module(f"{self.__name__}.{name}")
        return Inert(f"{self.__name__}.{name}")


class ReleaseLogger(logging.LoggerAdapter[logging.Logger]):
    """A logger with the `…_once` methods that releases use: each distinct message is logged once."""

    _logged: set[tuple[object, ...]]

    def __init__(self, name: str) -> None:
        super().__init__(logging.getLogger(name), {})
        self._logged = set()

    def _once(self, level: int, message: str, args: tuple[object, ...]) -> None:
        if (level, message, args) not in self._logged:
            self._logged.add((level, message, args))
            self.log(level, message, *args)

    def debug_once(self, message: str, *args: object, **_: object) -> None:
        self._once(logging.DEBUG, message, args)

    def info_once(self, message: str, *args: object, **_: object) -> None:
        self._once(logging.INFO, message, args)

    def warning_once(self, message: str, *args: object, **_: object) -> None:
        self._once(logging.WARNING, message, args)

    def error_once(self, message: str, *args: object, **_: object) -> None:
        self._once(logging.ERROR, message, args)


class Platform(Inert):
    """The platform of a machine without accelerator: page-locked memory is not available."""

    __slots__ = ()

    def is_pin_memory_available(self) -> bool:
        return False


EXPLICIT: Final[Mapping[str, Mapping[str, object]]] = {
    "_outside.pybase64": {
        name: getattr(base64, name)
        for name in ("b64decode", "b64encode", "urlsafe_b64decode", "urlsafe_b64encode")
    },
    "logger": {"init_logger": ReleaseLogger},
    "platforms": {"current_platform": Platform("vllm.platforms.current_platform")},
    "utils.platform_utils": {"is_pin_memory_available": lambda: False},
    "utils.torch_utils": {"PIN_MEMORY": False, "is_pin_memory_available": lambda: False},
}
"""Stand-ins whose behaviour matters: module below `vllm` -> name -> value."""
