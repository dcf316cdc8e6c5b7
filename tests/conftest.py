"""What all tests share: reproducible data, broken targets, a pair, processes, and what a failure says."""

from __future__ import annotations

import gc
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from mmcache_ref.oracle import segments
from mmcache_ref.oracle.clauses import clause
from mmcache_ref.oracle.upstream import UpstreamNamespace, load_release

TESTS = Path(__file__).parent
"""Holds the package `broken`, whose modules are targets such as `py:broken.lru_touch_keeps_order`."""

hypothesis.settings.register_profile("reproducible", deadline=None, derandomize=True)
hypothesis.settings.load_profile("reproducible")

if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails names the clauses that it checks."""
    report = yield
    if report.failed:
        checked = [each for marker in item.iter_markers("clause") for each in marker.args]
        if checked:
            report.sections.append(("clauses", "\n".join(f"{each}: {clause(each).rule}" for each in checked)))
    return report


@pytest.fixture
def ring_name(monkeypatch: pytest.MonkeyPatch) -> str:
    """A name for a segment, which stands in the environment."""
    from shm_setup import RING_NAME_VARIABLE, fresh_name

    name = fresh_name()
    monkeypatch.setenv(RING_NAME_VARIABLE, name)
    return name


@pytest.fixture
def shm(ring_name: str) -> Iterator[Any]:
    """A shared-memory sender and its two workers: `sender`, `workers`, `store`, `name`."""
    from shm_setup import shm_pair

    with shm_pair(ring_name) as pair:
        yield pair


@pytest.fixture(scope="session")
def release() -> UpstreamNamespace:
    """The published vLLM 0.32.0, fetched through pip unless it is in the cache folder."""
    return load_release("0.32.0")


@pytest.fixture(scope="module")
def hosts() -> Iterator[Any]:
    """Processes for parts of deployments: `Hosts`, which serve all tests of a module."""
    from mmcache_ref.protocol.processes import Hosts

    with Hosts() as hosts:
        yield hosts


@pytest.fixture
def no_segment_is_left() -> Iterator[None]:
    """The test leaves no segment of this process; what earlier tests left to the garbage collector may go."""
    before = _segments_of_this_process()
    yield
    gc.collect()
    assert _segments_of_this_process() <= before


def _segments_of_this_process() -> set[str]:
    prefix = segments.fresh_name().partition("-")[0]
    return {each.name for each in segments.FOLDER.glob(f"{prefix}-*")}
