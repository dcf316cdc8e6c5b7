"""Where in somebody else's code an exception comes from."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path
from typing import Final

PACKAGE: Final = Path(__file__).parent.parent
INSTALLED: Final = tuple(
    Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")
)
"""Where neither the code of a project lies, nor this package's own."""


def raised_in(error: BaseException, package: str) -> str:
    """`file:line` of the deepest frame that is the user's, and its code; "" where there is none.

    The user's are the frames outside the standard library, the installed packages and this one, and those of
    `package` wherever it is installed. A syntax error is where the parser found it.
    """
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return _said(error.filename, error.lineno, error.text)
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename, package)
    ]
    return _said(frames[-1].filename, frames[-1].lineno, frames[-1].line) if frames else ""


def _said(file: str, line: int | None, code: str | None) -> str:
    return f"{file}:{line}" + (f": {code.strip()}" if code and code.strip() else "")


def _is_users(file: str, package: str) -> bool:
    path = Path(file)
    if file.startswith("<") or path.is_relative_to(PACKAGE):
        return False
    inside = [folder for folder in INSTALLED if path.is_relative_to(folder)]
    if not inside:
        return True
    site = [Path(sysconfig.get_path(name)) for name in ("purelib", "platlib")]
    return any(path.is_relative_to(folder / package) or path == folder / f"{package}.py" for folder in site)
