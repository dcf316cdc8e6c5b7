"""The command `mmcache-ref`.

Exit codes: 0 conforms, 1 usage, 2 violates, 3 undetermined, 4 a run that cannot be read.
"""

import os
import signal
import sys
import threading
from typing import Any, Final, NoReturn

INTERRUPTED: Final = 130
"""The exit code after a signal."""
AGAIN_SECONDS: Final = 0.05
"""After so long an interruption that went nowhere comes again."""


def main() -> NoReturn:
    """Run the command. It may be interrupted while all of it is still being loaded, too."""
    signal.signal(signal.SIGTERM, _interrupt)
    sys.unraisablehook = _interrupt_again
    try:
        from mmcache_ref.cli.entry import main as run
    except KeyboardInterrupt:
        sys.stderr.write("mmcache-ref: interrupted\n")
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    run()


def _interrupt(signum: int, frame: object) -> NoReturn:
    raise KeyboardInterrupt


def _interrupt_again(dropped: Any) -> None:
    """Python drops an exception that is raised inside a finalizer or a callback of the garbage collector."""
    if dropped.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(dropped)
        return
    main_thread = threading.main_thread().ident
    again = threading.Timer(AGAIN_SECONDS, signal.pthread_kill, (main_thread, signal.SIGTERM))
    again.daemon = True
    again.start()


def __getattr__(name: str) -> Any:
    if name == "app":
        from mmcache_ref.cli import entry  # it has all the commands

        return vars(entry)["app"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
