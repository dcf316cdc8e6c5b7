"""Processes that hold parts of a deployment, and what becomes of those that end, hang or talk nonsense."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from parts_in_processes import Odd

from mmcache_ref.protocol.processes import Host, Hosts, ProcessLost, wire

TESTS = Path(__file__).parent


@pytest.fixture
def host(hosts: Hosts) -> Iterator[Host]:
    taken = hosts.take("odd")
    taken.make(Odd)
    yield taken
    hosts.give_back(taken)


def test_a_call_brings_what_its_process_returns(host: Host) -> None:
    sent = {"array": np.arange(300_000), "nested": (1, [None, "é"])}
    came = host.call("echo", sent)
    assert np.array_equal(came["array"], sent["array"])
    assert came["nested"] == sent["nested"]
    assert host.call("pid") == host.pid != os.getpid()


def test_tensors_travel_with_their_dtype_and_shape() -> None:
    torch = pytest.importorskip("torch")
    for sent in (
        torch.arange(6, dtype=torch.bfloat16).reshape(2, 3),
        torch.zeros(0, 4),
        torch.tensor(7),
        torch.arange(8)[::2],
    ):
        came = wire.unpacked(wire.packed(("sent", sent)))[1]
        assert (came.dtype, came.shape) == (sent.dtype, sent.shape)
        assert torch.equal(came, sent)


def test_a_note_is_heard_before_the_next_call(host: Host) -> None:
    host.note("note", "first")
    host.note("note", "second")
    assert host.call("noted") == ["first", "second"]


def test_what_a_call_raises_is_raised_here(host: Host) -> None:
    with pytest.raises(KeyError) as known:
        host.call("raise_key_error")
    assert known.value.args == ("there",)
    with pytest.raises(LookupError) as unknown:
        host.call("raise_own")
    assert type(unknown.value).__name__ == "OwnError"
    assert str(unknown.value) == "of my own"
    assert unknown.value.mm_hashes == ["a"]  # type: ignore[attr-defined]
    assert host.call("echo", 1) == 1


def test_a_part_that_exits_does_not_take_its_parent_along(host: Host) -> None:
    with pytest.raises(Exception, match="enough") as exited:
        host.call("exit")
    assert type(exited.value).__name__ == "SystemExit"
    assert not isinstance(exited.value, SystemExit)
    assert host.call("echo", 1) == 1


@pytest.mark.clause("SC-52")
def test_a_process_that_is_interrupted_while_it_starts_obeys_all_the_same(hosts: Hosts) -> None:
    """A terminal interrupts the whole group: that is for the parent to answer."""
    host = hosts.take("new")
    os.kill(host.pid, signal.SIGINT)
    host.make(Odd)
    os.kill(host.pid, signal.SIGINT)
    assert host.call("echo", 1) == 1
    hosts.give_back(host)


def test_a_result_that_cannot_travel_is_an_error_of_the_call(host: Host) -> None:
    with pytest.raises(Exception, match="pickle"):
        host.call("unpicklable")
    assert host.call("echo", 1) == 1


def test_a_process_serves_the_next_deployment(hosts: Hosts) -> None:
    first = hosts.take("odd")
    first.make(Odd)
    first.call("note", "old")
    pid = first.pid
    hosts.give_back(first)
    second = hosts.take("odd")
    second.make(Odd)
    assert second.pid == pid
    assert second.call("noted") == []
    hosts.give_back(second)


def test_a_process_that_ends_is_named(hosts: Hosts) -> None:
    host = hosts.take("w7")
    host.make(Odd)
    with pytest.raises(ProcessLost, match=rf"w7: the process {host.pid} ended; its exit code is 3") as lost:
        host.call("leave")
    assert lost.value.part == "w7"
    with pytest.raises(ProcessLost, match="ended"):
        host.call("echo", 1)
    hosts.give_back(host)
    assert hosts.take("w7").pid != host.pid


def test_a_process_that_does_not_answer_is_ended(hosts: Hosts) -> None:
    host = hosts.take("w8")
    host.make(Odd)
    with pytest.raises(ProcessLost, match="has not answered") as lost:
        host.begin("sleep", seconds=0.2).wait()
    assert lost.value.is_hung
    assert host.process.exitcode == -signal.SIGKILL


def test_a_stopped_process_does_not_hang_who_sends_to_it(hosts: Hosts) -> None:
    host = hosts.take("w9")
    host.make(Odd)
    os.kill(host.pid, signal.SIGSTOP)
    with pytest.raises(ProcessLost, match="has not taken a call"):
        host.begin("echo", bytes(1 << 24), seconds=0.5)
    assert host.process.exitcode == -signal.SIGKILL


def test_nonsense_is_no_answer(hosts: Hosts) -> None:
    host = hosts.take("w6")
    host.make(Odd)
    with pytest.raises(ProcessLost, match="answered rubbish"):
        host.call("babble")
    assert not host.process.is_alive()


PARENT = """
import os, signal, sys, time
from mmcache_ref.protocol.processes import Hosts
from parts_in_processes import Odd

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job's child ignores it
    hosts = Hosts()
    parts = [hosts.take(part) for part in ("idle", "busy")]
    for part in parts:
        part.make(Odd)
    parts[1].begin("echo", 1)
    print(*(part.pid for part in parts), flush=True)
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(600)
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_processes_end_with_their_parent(ending: signal.Signals, tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    done = subprocess.run(
        [sys.executable, str(program), str(int(ending))],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=240,
        check=False,
    )
    # The pipe of the output ends when the last process has ended that inherited it.
    assert done.returncode == -ending
    assert len(done.stdout.split()) == 2
    assert not any(_is_ours(int(pid)) for pid in done.stdout.split())


def _is_ours(pid: int) -> bool:
    """Whether a process of this id is one that the parent started."""
    try:
        return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
