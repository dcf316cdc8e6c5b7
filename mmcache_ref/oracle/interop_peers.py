"""The processes of the interop matrix, as seen by who runs it."""

from __future__ import annotations

from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Final

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.oracle.interop_worker import serve

START_SECONDS: Final = 900.0
"""A published release may have to be downloaded."""
ANSWER_SECONDS: Final = 60.0
STOP_SECONDS: Final = 5.0


class Raised(Exception):  # noqa: N818 - reads as what it is
    """What the store of a process raised: the names of the class and its bases, and the message."""

    def __init__(self, kinds: list[str], message: str) -> None:
        super().__init__(f"{kinds[0]}: {message}")
        self.kinds = kinds
        self.message = message


class Peer:
    """A process with one target's store; `peer.call("put", …)` is a call of it."""

    def __init__(self, context: SpawnContext, target: str, lock: Any) -> None:
        self.target = target
        self._pipe, theirs = context.Pipe()
        self._process: SpawnProcess = context.Process(target=serve, args=(theirs, target, lock), daemon=True)
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
