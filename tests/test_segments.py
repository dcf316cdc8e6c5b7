"""The life of a segment, with writers and readers in processes of their own that end in every way."""

from __future__ import annotations

import errno
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from mmcache_ref.reference import segment_owners, segments
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring
from mmcache_ref.reference.segment_owners import MADE_UP_NAME, RECORD, Owner, is_owner_dead, own_record

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(not segments.SHOWN_IN.is_dir(), reason="the system does not show its segments"),
]

WRITER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring
ring = Ring(1000, sys.argv[1], create=True)
print("ready", flush=True)
{then}
"""


@pytest.fixture
def name() -> Iterator[str]:
    """A name that nobody uses; its segment is removed whatever happens."""
    unique = f"mmcache-test-{secrets.token_hex(6)}"
    yield unique
    with suppress(FileNotFoundError):
        path(unique).unlink()


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a Python program and waits for its first line; ends it whatever happens."""
    started: list[subprocess.Popen[str]] = []

    def launch(source: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", source, *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield launch
    for process in started:
        process.kill()
        process.communicate()


def path(name: str) -> Path:
    return segments.SHOWN_IN / name


def shown(name: str) -> segments.SegmentSeen | None:
    """The segment of that name as the list of all shows it."""
    return next((each for each in segments.list_segments() if each.name == name), None)


def killed_writer(start: Callable[..., subprocess.Popen[str]], name: str) -> int:
    """Leave a segment of a writer that was killed, and return the writer's process id."""
    process = start(WRITER.format(then="time.sleep(100)"), name)
    process.kill()
    process.communicate()
    return process.pid


@pytest.mark.clause("RB-32")
def test_a_name_is_new_and_short_enough_for_macos() -> None:
    made = [Ring(10, create=True) for _ in range(20)]
    names = {ring.shared_memory.name for ring in made}
    for ring in made:
        ring.close()
    assert len(names) == 20
    assert max(map(len, names)) <= 30
    # By this form a segment is known whose writer died before it could say so.
    assert all(MADE_UP_NAME.fullmatch(each) for each in names)
    assert not any(path(each).exists() for each in names)


@pytest.mark.clause("RB-32")
def test_a_name_that_is_given_is_taken(name: str) -> None:
    ring = Ring(10, name, create=True)
    assert ring.handle() == (10, name)
    assert path(name).exists()
    ring.close()


@pytest.mark.clause("RB-32")
@pytest.mark.parametrize("bad", ["", "a/b", "/a", "a\0b"])
def test_a_name_that_cannot_be_one_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="is no name of a segment"):
        Ring(10, bad, create=True)


@pytest.mark.clause("RB-30")
def test_a_closed_segment_leaves_neither_a_descriptor_nor_a_mapping(name: str) -> None:
    before = len(os.listdir("/proc/self/fd"))
    ring = Ring(2**20, name, create=True)
    reader = Ring(2**20, name)
    assert Path("/proc/self/maps").read_text().count(name) == 2
    reader.close()
    ring.close()
    assert name not in Path("/proc/self/maps").read_text()
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.clause("RB-33")
def test_all_memory_is_claimed_at_once(name: str) -> None:
    ring = Ring(2**20, name, create=True)
    assert path(name).stat().st_blocks * 512 >= 2**20
    ring.close()


@pytest.mark.clause("RB-33")
def test_too_little_shared_memory_is_an_error_at_creation_and_leaves_nothing(name: str) -> None:
    space = os.statvfs(segments.SHOWN_IN)
    with pytest.raises(
        OSError, match=r"too little shared memory: \d+ bytes are needed and \d+ are free"
    ) as it:
        Ring(space.f_blocks * space.f_frsize + 2**30, name, create=True)
    assert it.value.errno == errno.ENOSPC
    assert not path(name).exists()


@pytest.mark.clause("RB-34")
def test_the_record_of_the_owner_stands_behind_the_data(name: str) -> None:
    ring = Ring(1000, name, create=True)
    segment = path(name).read_bytes()
    began = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    assert len(segment) == 32 + 1000 + 64
    assert segment[1032:1048] == b"mmcache-ref ring"
    numbers = [int.from_bytes(segment[at : at + 8], "little") for at in (1048, 1056, 1064, 1072)]
    assert numbers == [1000, os.getpid(), began, Path("/proc/self/ns/pid").stat().st_ino]
    assert segment[1080:] == bytes(16)
    ring.close()


@pytest.mark.clause("RB-34", "RB-37")
def test_a_living_writer_is_shown_with_its_process(name: str) -> None:
    ring = Ring(1000, name, create=True)
    assert shown(name) == (name, 1000, os.getpid(), False)
    ring.close()
    assert shown(name) is None


@pytest.mark.clause("RB-34", "RB-37")
def test_a_killed_writer_is_shown_as_dead_and_its_segment_can_be_removed(
    name: str, start: Callable[..., subprocess.Popen[str]]
) -> None:
    pid = killed_writer(start, name)
    assert shown(name) == (name, 1000, pid, True)
    assert segments.remove_stale([name + "-"]) == []
    assert segments.remove_stale([name]) == [(name, 1000, pid, True)]
    assert not path(name).exists()
    assert not segments.remove_if_stale(name)


@pytest.mark.clause("RB-34")
def test_a_writer_that_nobody_buried_is_dead(name: str, start: Callable[..., subprocess.Popen[str]]) -> None:
    process = start(WRITER.format(then="time.sleep(100)"), name)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    seen = shown(name)
    assert seen is not None
    assert seen.is_stale


@pytest.mark.clause("RB-34", "RB-37")
def test_nothing_is_removed_that_may_be_in_use(
    name: str, start: Callable[..., subprocess.Popen[str]]
) -> None:
    start(WRITER.format(then="time.sleep(100)"), name)
    assert not segments.remove_if_stale(name)
    assert segments.remove_stale([name]) == []
    Ring(1000, name).close()


@pytest.mark.clause("RB-34")
def test_a_process_is_its_id_its_beginning_and_its_namespace() -> None:
    us = Owner(*RECORD.unpack(own_record(132))[1:])
    nobody = 2**22 + 1
    assert us[:2] == (100, os.getpid())
    assert not is_owner_dead(us)
    assert is_owner_dead(us._replace(began=us.began + 1))
    assert not is_owner_dead(us._replace(began=0))
    assert is_owner_dead(us._replace(pid=nobody))
    assert not is_owner_dead(us._replace(pid=nobody, namespace=us.namespace + 1))


@pytest.mark.clause("RB-34")
def test_without_proc_the_id_alone_decides(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(segment_owners, "PROCESSES", tmp_path)
    us = Owner(*RECORD.unpack(own_record(132))[1:])
    assert us == (100, os.getpid(), 0, 0)
    assert not is_owner_dead(us)
    assert is_owner_dead(us._replace(pid=2**22 + 1))
    assert is_owner_dead(us._replace(pid=2**63))

    def refuse(pid: int, signum: int) -> None:
        raise PermissionError(pid)

    monkeypatch.setattr(os, "kill", refuse)
    assert not is_owner_dead(us)


@pytest.mark.clause("RB-37")
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"short",
        bytes(500),
        bytes(32 + 100) + own_record(32 + 101),
        bytes(32 + 100) + own_record(32 + 100).replace(b"mmcache-ref", b"mmcache-xyz"),
    ],
    ids=["empty", "short", "zeros", "another length", "another text"],
)
def test_segments_of_others_are_neither_shown_nor_removed(
    content: bytes, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segments, "is_owner_dead", lambda owner: True)
    path(name).write_bytes(content)
    assert shown(name) is None
    assert not segments.remove_if_stale(name)
    assert path(name).read_bytes() == content


@pytest.mark.clause("RB-35")
def test_a_name_in_use_is_refused_and_its_segment_stays(name: str) -> None:
    ring = Ring(1000, name, create=True)
    before = bytes(ring.shared_memory.buf)
    with pytest.raises(FileExistsError, match="its writer lives or is unknown"):
        Ring(1000, name, create=True)
    assert bytes(ring.shared_memory.buf) == before
    Ring(1000, name).close()
    ring.close()
    assert not path(name).exists()


@pytest.mark.clause("RB-35")
def test_a_name_that_somebody_else_left_is_refused(name: str) -> None:
    path(name).write_bytes(bytes(500))
    with pytest.raises(FileExistsError):
        Ring(1000, name, create=True)
    assert path(name).read_bytes() == bytes(500)


@pytest.mark.clause("RB-35")
def test_the_segment_of_a_dead_writer_is_replaced(
    name: str, start: Callable[..., subprocess.Popen[str]]
) -> None:
    killed_writer(start, name)
    ring = Ring(50, name, create=True)
    assert shown(name) == (name, 50, os.getpid(), False)
    assert ring.allocate_buf(42) == (0, 0)
    ring.close()


@pytest.mark.clause("RB-35")
def test_of_many_that_replace_a_dead_writers_segment_one_wins(
    name: str, start: Callable[..., subprocess.Popen[str]]
) -> None:
    killed_writer(start, name)
    outcomes: list[Ring | FileExistsError] = []
    barrier = threading.Barrier(8)

    def replace() -> None:
        barrier.wait()
        try:
            outcomes.append(Ring(50, name, create=True))
        except FileExistsError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=replace) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [each for each in outcomes if isinstance(each, Ring)]
    assert len(outcomes) == 8
    assert Ring(50, name).get_auth_secret() == winner.get_auth_secret()
    winner.close()


ENDS = {
    "close": ("ring.close()", 0),
    "end": ("", 0),
    "forgotten": ("del ring", 0),
    "exit": ("sys.exit(3)", 3),
    "exception": ("raise RuntimeError('on purpose')", 1),
    "interrupt": ("time.sleep(100)", -signal.SIGINT),
    "terminate": ("time.sleep(100)", -signal.SIGTERM),
    "closed, then terminated": (
        "ring.close(); print('closed', flush=True); time.sleep(100)",
        -signal.SIGTERM,
    ),
}


@pytest.mark.clause("RB-36")
@pytest.mark.parametrize("way", ENDS)
def test_a_writer_leaves_nothing_however_it_ends(
    way: str, name: str, start: Callable[..., subprocess.Popen[str]]
) -> None:
    then, code = ENDS[way]
    process = start(WRITER.format(then=then), name)
    if code < 0:
        process.send_signal(-code)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert not path(name).exists()
    assert "resource_tracker" not in errors
    if code not in (1, -signal.SIGINT):
        assert errors == ""


CHILD = """
import multiprocessing, os, sys, time
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring

def write(name, pipe):
    ring = Ring(1000, name, create=True)
    pipe.send(os.getpid())
    {then}

if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    here, there = context.Pipe()
    child = context.Process(target=write, args=(sys.argv[1], there))
    child.start()
    here.recv()
    {parent}
    child.join()
    print("ready", flush=True)
    print(child.exitcode)
"""


@pytest.mark.clause("RB-36")
@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.parametrize(
    ("then", "parent", "code"),
    [("pass", "pass", 0), ("time.sleep(100)", "child.terminate()", -15), ("sys.exit(3)", "pass", 3)],
)
def test_a_writer_in_a_child_leaves_nothing(
    method: str, then: str, parent: str, code: int, name: str, tmp_path: Path
) -> None:
    program = tmp_path / "writer_in_a_child.py"
    program.write_text(CHILD.format(method=method, then=then, parent=parent))
    done = subprocess.run(
        [sys.executable, str(program), name],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.stdout == f"ready\n{code}\n"
    assert done.stderr == ""
    assert not path(name).exists()


READERS = {
    "closes": "Ring(1000, name).close()",
    "exits": "ring = Ring(1000, name); sys.exit()",
    "is terminated": "ring = Ring(1000, name); os.kill(os.getpid(), signal.SIGTERM)",
    "is killed": "ring = Ring(1000, name); os.kill(os.getpid(), signal.SIGKILL)",
    "fails": "ring = Ring(1000, name); raise RuntimeError('on purpose')",
}


@pytest.mark.clause("RB-36")
@pytest.mark.parametrize("reader", READERS)
def test_a_reader_never_removes_the_segment(reader: str, name: str) -> None:
    ring = Ring(1000, name, create=True)
    source = (
        "import os, signal, sys\n"
        "from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring\n"
        f"name = sys.argv[1]\n{READERS[reader]}"
    )
    done = subprocess.run(
        [sys.executable, "-c", source, name], capture_output=True, text=True, timeout=60, check=False
    )
    assert "resource_tracker" not in done.stderr
    assert path(name).exists()
    ring.close()
    assert not path(name).exists()


@pytest.mark.clause("RB-36")
@pytest.mark.parametrize("way", ["close", "forget", "terminate", "exit"])
def test_a_forked_child_never_removes_the_writers_segment(way: str, name: str) -> None:
    """The child has the writer's own object; it ends as `multiprocessing` and as a plain fork would."""
    ring = Ring(1000, name, create=True)
    pid = os.fork()
    if pid == 0:
        try:
            if way == "close":
                ring.close()
            elif way == "forget":
                del ring
            elif way == "terminate":
                signal.signal(signal.SIGTERM, segments._remove_all_and_end)
                os.kill(os.getpid(), signal.SIGTERM)
            else:
                from multiprocessing.util import _exit_function

                _exit_function()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert path(name).exists()
    assert ring.allocate_buf(42) == (0, 0)
    ring.close()
    assert not path(name).exists()


@pytest.mark.clause("RB-36")
def test_a_handler_of_the_program_for_sigterm_is_left_alone(
    name: str, start: Callable[..., subprocess.Popen[str]]
) -> None:
    source = WRITER.replace(
        "ring =", "import signal\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\nring ="
    )
    process = start(source.format(then="time.sleep(100)"), name)
    process.terminate()
    process.communicate(timeout=60)
    assert process.returncode == 7
    assert not path(name).exists()


@pytest.mark.clause("RB-36")
def test_without_segments_sigterm_does_what_it_did_before() -> None:
    """In a process of its own: here other tests may have left segments to the garbage collector."""
    program = """
import signal
from mmcache_ref.reference import segments
from mmcache_ref.reference.ring_buffer import SingleWriterShmRingBuffer as Ring
for ring in [Ring(10, create=True), Ring(10, create=True)]:
    assert signal.getsignal(signal.SIGTERM) is segments._remove_all_and_end
    ring.close()
assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


@pytest.mark.clause("RB-36")
def test_a_segment_whose_creation_fails_is_removed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: int) -> None:
        raise OSError(errno.ENOMEM, "on purpose")

    monkeypatch.setattr(segments, "mmap", SimpleNamespace(mmap=fail))
    with pytest.raises(OSError, match="on purpose"):
        Ring(1000, name, create=True)
    assert not path(name).exists()
