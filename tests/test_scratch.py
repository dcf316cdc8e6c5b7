"""Folders that are needed for a while leave nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mmcache_ref.oracle.scratch import remove_scratch, scratch


def test_a_folder_is_gone_when_its_block_is_left_and_when_all_are_removed() -> None:
    with scratch("test") as folder:
        folder.joinpath("file").write_text("")
    assert not folder.exists()
    with scratch("test") as folder:
        remove_scratch()
        assert not folder.exists()


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_a_folder_of_a_thread_is_gone_after_an_interruption(signum: int, tmp_path: Path) -> None:
    code = f"""
import os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from mmcache_ref.cli import console, main
from mmcache_ref.oracle.scratch import scratch
def hold(has_begun):
    with scratch("test"):
        has_begun.set()
        time.sleep(60)
def command():
    has_begun = threading.Event()
    threading.Thread(target=hold, args=[has_begun], daemon=True).start()
    has_begun.wait()
    print(os.listdir(os.environ["TMPDIR"]), flush=True)
    os.kill(os.getpid(), {int(signum)})
    time.sleep(60)
console.app.command("wait")(command)
sys.argv = ["mmcache-ref", "wait"]
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert "mmcache-test-" in done.stdout
    assert done.returncode == 130
    assert list(tmp_path.iterdir()) == []
