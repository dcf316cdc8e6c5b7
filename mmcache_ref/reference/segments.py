"""Shared-memory segments that one process owns and others attach to.

Python's own class tells the resource tracker about every segment it opens, also in a process that only
reads: such a reader's end takes the segment away from a living writer. Nobody here registers. The owner
removes the name itself: when it closes, when its process ends, and at SIGTERM; after a hard kill the
record behind the data says that the owner is dead, see `segment_owners`.
"""

from __future__ import annotations

import _posixshmem
import errno
import fcntl
import mmap
import os
import secrets
import signal
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.util import Finalize
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from .segment_owners import (
    NAME_PREFIX,
    RECORD_BYTES,
    is_left_unfinished,
    is_owner_dead,
    own_record,
    read_owner,
)

SHOWN_IN = Path("/dev/shm")
"""Where Linux shows its segments."""

_removals: dict[str, Finalize] = {}
"""What removes the segments that this process owns, by name."""


class Segment:
    """A named piece of shared memory, mapped.

    `buf` is a writable view of the bytes that were asked for, `size` their number, `name` what another
    process attaches by. Made by `create` or `attach`.
    """

    def __init__(self, name: str, mapping: mmap.mmap, size: int, removal: Finalize | None) -> None:
        self.name = name
        self.size = size
        self._mapping: mmap.mmap | None = mapping
        self._buf: memoryview | None = memoryview(mapping)[:size]
        self._removal = removal

    @property
    def buf(self) -> memoryview:
        """The bytes of the segment; `AssertionError` once it is closed.   [RB-31]"""
        if self._buf is None:
            raise AssertionError(f"the buffer {self.name!r} has been closed")
        return self._buf

    def close(self) -> None:
        """Unmap the segment, and if this process created it remove its name; again: nothing.   [RB-30]

        `buf` itself ends here, whoever keeps it. Views that were cut from it, and arrays in it, keep the
        memory, not the name, until they go.
        """
        if self._buf is None or self._mapping is None:
            return
        with suppress(BufferError):
            self._buf.release()
            self._mapping.close()
        self._buf = self._mapping = None
        self.unlink()

    def unlink(self) -> None:
        """Remove the name, once, and only in the process that created the segment.   [RB-36]"""
        if self._removal is not None:
            self._removal()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, size={self.size})"


def create(size: int, name: str | None = None) -> Segment:
    """A new segment of `size` bytes that this process owns, its memory claimed.   [RB-32, RB-33, RB-35]

    Raises:
        FileExistsError: the name is taken, and not by a dead owner of this library.
        OSError: there is too little shared memory (`ENOSPC`), or the system refuses.
    """
    if name is None:
        name = NAME_PREFIX + secrets.token_hex(8)
    descriptor = _open_new(name)
    removal = _remove_at_end(name)
    try:
        _claim(descriptor, size, name)
        mapping = mmap.mmap(descriptor, size + RECORD_BYTES)
    except BaseException:
        removal()
        raise
    finally:
        os.close(descriptor)
    segment = Segment(name, mapping, size, removal)
    # What removes the name is also called when the segment is forgotten, not only when it is closed.
    Finalize(segment, removal)
    return segment


def attach(name: str, size: int) -> Segment:
    """The segment of that name, with at least `size` bytes.   [RB-26, RB-27]

    Raises:
        FileNotFoundError: there is none, or none yet: its writer is just making it.
        ValueError: it is shorter.
    """
    with _opened(name) as descriptor:
        length = os.fstat(descriptor).st_size
        if length == 0:
            raise FileNotFoundError(
                errno.ENOENT,
                "this shared-memory segment has no memory yet: its writer is just making it, or died over it",
                name,
            )
        if length < size:
            raise ValueError(
                f"the segment {name!r} has {length} bytes, fewer than the {size} that were asked for"
            )
        return Segment(name, mmap.mmap(descriptor, size), size, None)


class SegmentSeen(NamedTuple):
    """A segment of this library as others find it: `pid` created it, `capacity` is its data area.

    Both are 0 of one whose writer died before it could say them.
    """

    name: str
    capacity: int
    pid: int
    is_stale: bool


def list_segments() -> list[SegmentSeen]:
    """Every segment of this library that this user may read, in order of name.   [RB-37]

    Only Linux shows its segments, in `/dev/shm`; elsewhere this raises `NotImplementedError`.
    """
    if not SHOWN_IN.is_dir():
        raise NotImplementedError(f"this system does not show its shared memory in {SHOWN_IN}")
    seen = []
    for name in sorted(os.listdir(SHOWN_IN)):
        with suppress(OSError), _opened(name) as descriptor:
            owner = read_owner(descriptor)
            if owner is not None:
                seen.append(SegmentSeen(name, owner.capacity, owner.pid, is_owner_dead(owner)))
            elif is_left_unfinished(name, descriptor):
                seen.append(SegmentSeen(name, 0, 0, True))
    return seen


def remove_stale(names: Collection[str] | None = None) -> list[SegmentSeen]:
    """Remove the segments of dead owners, or of these the named ones; return what was removed.   [RB-37]"""
    return [
        segment
        for segment in list_segments()
        if segment.is_stale and (names is None or segment.name in names) and remove_if_stale(segment.name)
    ]


def remove_if_stale(name: str) -> bool:
    """Remove the segment of that name if its owner is dead; say whether that was so.   [RB-35, RB-37]

    Two processes may do this at the same time: each holds a lock on the segment it looked at, and removes
    the name only while that still leads to the very same segment.
    """
    with suppress(FileNotFoundError), _opened(name) as descriptor:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if _is_stale(name, descriptor) and _leads_to(name, descriptor):
            _posixshmem.shm_unlink(_path(name))
            return True
    return False


def _is_stale(name: str, descriptor: int) -> bool:
    """Whether the writer of the segment is known to be dead.   [RB-34]"""
    owner = read_owner(descriptor)
    return is_left_unfinished(name, descriptor) if owner is None else is_owner_dead(owner)


@contextmanager
def _opened(name: str) -> Iterator[int]:
    """The descriptor of an existing segment."""
    descriptor = _posixshmem.shm_open(_path(name), os.O_RDWR, mode=0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _path(name: str) -> str:
    if not name or "/" in name or "\0" in name:
        raise ValueError(f"{name!r} is no name of a segment: give one without a slash, or none")
    return "/" + name


def _open_new(name: str) -> int:
    """Descriptor of a new, empty segment; one of a dead owner gives way.   [RB-35]

    Another may remove it at the same time: then the name is tried again, as long as nobody has it.
    """
    while True:
        try:
            descriptor: int = _posixshmem.shm_open(
                _path(name), os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=0o600
            )
        except FileExistsError:
            if not remove_if_stale(name) and _is_taken(name):
                raise FileExistsError(
                    errno.EEXIST,
                    "a shared-memory segment of this name exists, and its writer lives or is unknown: "
                    "choose another name, or remove it when nothing uses it",
                    name,
                ) from None
        else:
            return descriptor


def _is_taken(name: str) -> bool:
    """Whether there is a segment of that name, of an owner who is not known to be dead."""
    try:
        with _opened(name) as descriptor:
            return not _is_stale(name, descriptor)
    except FileNotFoundError:
        return False


def _claim(descriptor: int, data_size: int, name: str) -> None:
    """Give the segment its length and its record, and take the memory for it now.   [RB-33, RB-34]

    The record comes first and at one stroke with the length, so that whoever is killed over the rest, which
    takes long, has said who it was. What is free is asked before it is taken: taking all of it only to fail
    would be felt by others.
    """
    size = data_size + RECORD_BYTES
    if not hasattr(os, "posix_fallocate"):  # macOS, where segments can be written to only when mapped
        os.ftruncate(descriptor, size)
        with mmap.mmap(descriptor, size) as mapping:
            mapping[data_size:] = own_record(data_size)
        return
    space = os.fstatvfs(descriptor)
    free = space.f_bavail * space.f_frsize
    try:
        os.pwrite(descriptor, own_record(data_size), data_size)
        if size > free:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.posix_fallocate(descriptor, 0, size)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        raise OSError(
            errno.ENOSPC,
            f"too little shared memory: {size} bytes are needed and {free} are free in {SHOWN_IN}; "
            "take a smaller cache, or give more (Docker: --shm-size)",
            name,
        ) from None


def _leads_to(name: str, descriptor: int) -> bool:
    """Whether the name is still that of the segment behind the descriptor."""
    with _opened(name) as other:
        return os.path.sameopenfile(other, descriptor)


def _remove_at_end(name: str) -> Finalize:
    """What removes the name once, here and in no child; it also runs when this process ends.   [RB-36]"""
    removal = _removals[name] = Finalize(None, _remove, (name,), exitpriority=0)
    if _is_main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _remove_all_and_end)
    return removal


def _remove(name: str) -> None:
    with suppress(FileNotFoundError):
        _posixshmem.shm_unlink(_path(name))
    _removals.pop(name, None)
    if not _removals and _is_main_thread() and signal.getsignal(signal.SIGTERM) is _remove_all_and_end:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _is_main_thread() -> bool:
    """Whether this is the thread that may set what a signal does."""
    return threading.current_thread() is threading.main_thread()


def _remove_all_and_end(signum: int, frame: FrameType | None) -> None:
    """SIGTERM: remove what this process owns, then end as if there were no handler.   [RB-36]"""
    for removal in list(_removals.values()):
        removal()
    signal.signal(signum, signal.SIG_DFL)
    os.kill(os.getpid(), signum)
