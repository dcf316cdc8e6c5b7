"""Makers of parts for processes that the tests start, and what kills them."""

from __future__ import annotations

import os
import signal
import time
from random import Random
from typing import Any

import pytest

from mmcache_ref.protocol.processes import Host


class Odd:
    """A part whose calls go wrong in every way."""

    def __init__(self, lock: Any) -> None:
        self.lock = lock
        self.notes: list[str] = []

    def echo(self, value: Any) -> Any:
        return value

    def note(self, word: str) -> None:
        self.notes.append(word)

    def noted(self) -> list[str]:
        return self.notes

    def pid(self) -> int:
        return os.getpid()

    def raise_key_error(self) -> None:
        raise KeyError("there")

    def raise_own(self) -> None:
        class OwnError(LookupError):
            pass

        error = OwnError("of my own")
        error.mm_hashes = ["a"]  # type: ignore[attr-defined]
        raise error

    def exit(self) -> None:
        raise SystemExit("enough")

    def unpicklable(self) -> Any:
        return lambda: None

    def leave(self) -> None:
        os._exit(3)

    def sleep(self) -> None:
        time.sleep(3600)

    def babble(self) -> None:
        """Write into every open socket but the standard streams."""
        for descriptor in range(3, 64):
            try:
                if os.readlink(f"/proc/self/fd/{descriptor}").startswith("socket:"):
                    os.write(descriptor, b"what is this? " * 4)
            except OSError:
                continue


def kill_while_made(monkeypatch: pytest.MonkeyPatch, part: str, times: int = 1) -> None:
    """The next processes for this part are killed while they make it."""
    whole, left = Host.make, [signal.SIGKILL] * times

    def make(host: Host, *given: Any) -> Any:
        if host.part == part and left:
            os.kill(host.pid, left.pop())
        return whole(host, *given)

    monkeypatch.setattr(Host, "make", make)


def kill_one(course: Any, victims: list[str], random: Random) -> None:
    """By chance, while something is under way, kill the process of the last of these parts."""
    if victims and not course.is_idle and random.random() < 0.2:
        part = victims.pop()
        (victim,) = [host for host in course.hosts() if host.part == part]
        os.kill(victim.pid, signal.SIGKILL)
