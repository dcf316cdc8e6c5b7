"""Processes that obey calls over a pipe: one end for who calls, the other for the process itself."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Final

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.quiet import quiet_logs

START_SECONDS: Final = 900.0
"""A published release may have to be downloaded."""
ANSWER_SECONDS: Final = 60.0
STOP_SECONDS: Final = 5.0


class Raised(Exception):  # noqa: N818 - reads as what it is
    """What a call in a process raised: the names of the class and its bases, and the message."""

    def __init__(self, kinds: list[str], message: str) -> None:
        super().__init__(f"{kinds[0]}: {message}")
        self.kinds = kinds
        self.message = message


class Peer:
    """A process with one object of a target; `peer.call("put", …)` is a call of it.

    `make` is called in the process, with `target` and `arguments`.
    """

    def __init__(self, context: SpawnContext, make: Callable[..., Any], target: str, *arguments: Any) -> None:
        self.target = target
        self._pipe, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(
            target=serve, args=(theirs, make, target, *arguments), daemon=True
        )
        self._process.start()
        theirs.close()

    def wait_until_ready(self) -> None:
        self._receive(START_SECONDS)

    def call(self, method: str, *arguments: Any) -> Any:
        """The result of a call in the process.

        Raises `Raised` for what the call raised, `TargetUnavailable` for a process that does not answer.
        """
        try:
            self._pipe.send((method, arguments))
        except OSError:
            raise TargetUnavailable(f"the process of {self.target} has ended") from None
        return self._receive(ANSWER_SECONDS)

    def _receive(self, seconds: float) -> Any:
        try:
            if not self._pipe.poll(seconds):
                raise TargetUnavailable(f"the process of {self.target} has not answered for {seconds:.0f} s")
            kind, result = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(STOP_SECONDS)
            code = self._process.exitcode
            raise TargetUnavailable(f"the process of {self.target} ended with exit code {code}") from None
        if kind == "unavailable":
            raise TargetUnavailable(result)
        if kind == "raised":
            raise Raised(*result)
        return result

    def stop(self) -> None:
        """End the process: by closing its pipe, else by force."""
        self._pipe.close()
        self._process.join(STOP_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def serve(pipe: Connection, make: Callable[..., Any], *arguments: Any) -> None:
    """Obey `(method, arguments)` until the pipe closes; answer `("done", result)` or `("raised", …)`."""
    try:
        with quiet_logs():
            served = make(*arguments)
            pipe.send(("done", None))
            while True:
                method, given = pipe.recv()
                pipe.send(_answer(served, method, given))
    except (EOFError, KeyboardInterrupt):
        return
    except TargetUnavailable as error:
        pipe.send(("unavailable", str(error)))
    finally:
        pipe.close()


def _answer(served: Any, method: str, given: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", getattr(served, method)(*given)
    except Exception as error:
        return "raised", ([each.__name__ for each in type(error).__mro__], str(error))
