"""The reference writes and reads in the order that the model of single accesses found safe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from stores import Store, handle_of, make, sized

from mmcache_ref.reference import object_chunks, object_store

__all__ = ["make"]

pytestmark = pytest.mark.timeout(60)


class Recorder:
    """Notes every call of what it is put in front of."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.patch = monkeypatch
        for module in (object_chunks, object_store):
            monkeypatch.setattr(module, "barrier", lambda: self.calls.append("barrier"))

    def watch(self, owner: Any, method: str, says: str) -> None:
        """Note a call of the method before it is made."""
        original = getattr(owner, method)

        def noting(*arguments: Any, **named: Any) -> Any:
            self.calls.append(says)
            return original(*arguments, **named)

        self.patch.setattr(owner, method, noting)


class NotingLock:
    """A lock that notes when it is taken and left."""

    def __init__(self, calls: list[str]) -> None:
        self.calls = calls

    def acquire(self, *arguments: Any, **named: Any) -> bool:
        self.calls.append("take the lock")
        return True

    def release(self) -> None:
        self.calls.append("leave the lock")


def watched_reader(recorder: Recorder, reader: Store) -> None:
    recorder.watch(reader, "_size_in_place", "compare")
    recorder.watch(reader.ser_de, "deserialize", "copy")
    recorder.watch(reader, "increment_reader_flag", "count")
    recorder.patch.setattr(reader, "_reader_lock", NotingLock(recorder.calls))


@pytest.mark.clause("OS-08", "OS-22", "OS-23")
def test_a_reader_has_a_barrier_on_either_side_of_its_copy(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make()
    writer.put("a", sized(100))
    reader = make(writer)
    recorder = Recorder(monkeypatch)
    watched_reader(recorder, reader)
    assert reader.get(*handle_of(writer, "a")) == sized(100)
    under_lock = ["take the lock", "compare", "count", "leave the lock"]
    assert recorder.calls == ["compare", "barrier", "copy", "barrier", *under_lock]


@pytest.mark.clause("OS-08", "OS-21")
def test_a_reader_that_cannot_read_the_bytes_compares_again_behind_a_barrier(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make()
    writer.put("a", sized(100))
    reader = make(writer)
    handle = handle_of(writer, "a")
    recorder = Recorder(monkeypatch)

    def overtaken(view: memoryview) -> Any:
        writer.clear()
        recorder.calls.clear()
        raise ValueError("bytes of two objects")

    watched_reader(recorder, reader)
    monkeypatch.setattr(reader.ser_de, "deserialize", overtaken)
    with pytest.raises(ValueError, match="has been modified or is invalid"):
        reader.get(*handle)
    assert recorder.calls == ["barrier", "compare"]


@pytest.mark.clause("OS-08", "OS-26")
def test_a_writer_wipes_and_then_publishes_with_the_seal_between_barriers(
    make: Callable[..., Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = make(200, limit=100)
    recorder = Recorder(monkeypatch)
    writer.put("a", sized(100))
    monkeypatch.setattr(writer, "_reader_lock", NotingLock(recorder.calls))
    writer.writer_flag[0] = 0
    recorder.calls.clear()
    recorder.watch(writer.ring_buffer, "_write_header", "header")
    recorder.watch(writer, "copy_to_buffer", "payload")
    recorder.watch(object_chunks, "seal", "seal")
    writer.put("b", sized(95))
    writer.put("c", sized(100))
    wiping = ["take the lock", "barrier", "leave the lock"]
    publishing = ["header", "payload", "barrier", "seal", "barrier"]
    assert recorder.calls == [*publishing, *wiping, *publishing]
