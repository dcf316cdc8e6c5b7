"""Processes with one object of a target each, whatever it is: the hosts of `mmcache_ref.protocol`, for the
oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mmcache_ref.oracle.errors import TargetUnavailable
from mmcache_ref.protocol.processes import Host, Pending, ProcessLost
from mmcache_ref.protocol.processes.host import START_SECONDS
from mmcache_ref.protocol.processes.serving import MAKE


class Raised(Exception):  # noqa: N818 - reads as what it is
    """What a call in a process raised: the names of the class and its bases, and the message."""

    def __init__(self, error: BaseException) -> None:
        self.kinds = [each.__name__ for each in type(error).__mro__]
        self.message = str(error)
        super().__init__(f"{self.kinds[0]}: {self.message}")


class Peer:
    """A process with one object of a target; `peer.call("put", …)` is a call of it.

    `make(lock, target, *arguments)` is called in the process.
    """

    def __init__(self, lock: Any, make: Callable[..., Any], target: str, *arguments: Any) -> None:
        self.target = target
        self._host = Host(target, lock)
        self._is_made = False
        self._made: Pending[Any] = self._host.begin(MAKE, make, target, *arguments, seconds=START_SECONDS)

    def wait_until_ready(self) -> None:
        """Wait until the object is made. Raises as `call` does."""
        self._of(self._made.wait)
        self._is_made = True

    def call(self, method: str, *arguments: Any) -> Any:
        """The result of a call in the process.

        Raises `Raised` for what the call raised, `TargetUnavailable` for a process that does not answer.
        """
        return self._of(lambda: self._host.call(method, *arguments))

    @staticmethod
    def _of(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except ProcessLost as error:
            raise TargetUnavailable(str(error)) from None
        except TargetUnavailable:
            raise
        except Exception as error:
            raise Raised(error) from None

    def stop(self) -> None:
        """End the process: by closing its socket, else by force; at once where its object is not made yet."""
        if self._is_made:
            self._host.stop()
        else:
            self._host.kill()
