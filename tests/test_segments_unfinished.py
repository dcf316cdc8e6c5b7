"""Segments that are not finished, or are changed while somebody looks at them."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from collections.abc import Callable

import pytest
from test_segments import killed_writer, name, path, shown, start

from mmcache_ref.reference import segments
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring

__all__ = ["name", "start"]

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not segments.SHOWN_IN.is_dir(), reason="the system does not show its segments"),
]


def aged(name: str, content: bytes, seconds: float) -> None:
    """A segment with that content, which nobody has changed for so long."""
    path(name).write_bytes(content)
    then = time.time() - seconds
    os.utime(path(name), (then, then))


@pytest.mark.clause("RB-34", "RB-35", "RB-37")
def test_a_writer_killed_before_it_says_who_it_is_leaves_nothing_for_long(name: str) -> None:
    aged(name, b"", 5)
    assert shown(name) is None
    with pytest.raises(FileExistsError):
        Ring(50, name, create=True)
    aged(name, b"", 15)
    assert shown(name) == (name, 0, 0, True)
    ring = Ring(50, name, create=True)
    assert shown(name) == (name, 50, os.getpid(), False)
    ring.close()


@pytest.mark.clause("RB-34", "RB-37")
def test_only_a_name_of_ours_says_that_a_segment_without_a_record_is_ours(name: str) -> None:
    made_up = f"mmcache-{secrets.token_hex(8)}"
    other = f"other-{secrets.token_hex(8)}"
    contents = {made_up: bytes(500), name: bytes(500), other: b""}
    try:
        for each, content in contents.items():
            aged(each, content, 15)
        assert [each.name for each in segments.remove_stale(list(contents))] == [made_up]
        assert [path(each).exists() for each in contents] == [False, True, True]
    finally:
        for each in contents:
            path(each).unlink(missing_ok=True)


@pytest.mark.clause("RB-34")
def test_a_writer_says_who_it_is_before_it_claims_the_memory(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: seen.append(shown(name)))
    Ring(1000, name, create=True).close()
    assert seen == [(name, 1000, os.getpid(), False)]


@pytest.mark.clause("RB-33", "RB-34")
def test_where_memory_cannot_be_claimed_the_record_is_there_as_well(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate")
    ring = Ring(1000, name, create=True)
    assert path(name).stat().st_size == 32 + 1000 + 64
    assert shown(name) == (name, 1000, os.getpid(), False)
    ring.close()


@pytest.mark.clause("RB-27")
def test_a_segment_without_a_length_is_not_there_yet(name: str) -> None:
    path(name).touch()
    with pytest.raises(FileNotFoundError, match="its writer is just making it"):
        Ring(1000, name)


@pytest.mark.clause("RB-37")
def test_a_segment_that_is_cut_while_it_is_looked_at_is_of_nobody(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path(name).write_bytes(bytes(500))
    monkeypatch.setattr(os, "pread", lambda *_: b"short")
    assert shown(name) is None


@pytest.mark.clause("RB-35")
def test_who_finds_the_name_free_after_all_takes_it(
    name: str, start: Callable[..., subprocess.Popen[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed_writer(start, name)
    remove = segments.remove_if_stale

    def overtaken(which: str) -> bool:
        assert remove(which)
        return False

    monkeypatch.setattr(segments, "remove_if_stale", overtaken)
    ring = Ring(50, name, create=True)
    assert shown(name) == (name, 50, os.getpid(), False)
    ring.close()
