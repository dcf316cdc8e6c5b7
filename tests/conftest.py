"""What all tests share: reproducible generated data, and the broken targets on the path."""

from __future__ import annotations

import sys
from pathlib import Path

import hypothesis
import pytest

from mmcache_ref.oracle.upstream import UpstreamNamespace, load_release

TESTS = Path(__file__).parent
"""Holds the package `broken`, whose modules are targets such as `py:broken.lru_touch_keeps_order`."""

hypothesis.settings.register_profile("reproducible", deadline=None, derandomize=True)
hypothesis.settings.load_profile("reproducible")

if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))


@pytest.fixture(scope="session")
def release() -> UpstreamNamespace:
    """The published vLLM 0.32.0, fetched through pip unless it is in the cache folder."""
    return load_release("0.32.0")
