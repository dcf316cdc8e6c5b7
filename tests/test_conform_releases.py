"""What the oracle says of published releases: exactly what is true of them.

Older releases, by the threads of their faults. 0.31 and before: handles are not signed (S09: OS-17, OS-18,
SC-22), a touch is counted as a reference (S01: OS-14, SC-03, SC-08, SC-21), and ids begin anew after a clear
(S08: OS-29, SC-23).
0.30 and before: a stale item beats resent data (D09: KR-08, KR-09). 0.28 and before: an item larger than the
cache is a `ValueError` (D16: PO-04, KR-05, KR-09), a worker asserts where data was stripped (S02: SC-18), and
there is no `put_if_fits` (LRU-17) and no `cache_if_fits` (IF-03). 0.24: P1 asserts where it misses (D05:
KR-11, KR-11), nothing can be invalidated (KR-06, IF-08), and elements of different dtypes are equal (IT-01).
"""

from __future__ import annotations

import pytest

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.exhaustive import execute_graphs
from mmcache_ref.oracle.lockstep import Trial
from mmcache_ref.oracle.run import Profile, without_explained
from mmcache_ref.oracle.upstream import load_release

pytestmark = pytest.mark.upstream

STRONGER = {
    "items": {"IT-18", "IT-19", "IT-20"},
    "lru": set[str](),
    "processor-only": {"IF-18", "PO-07"},
    "sender": {"IF-18", "KR-13"},
    "receiver": {"KR-14"},
    "object-store": {
        "OS-05",
        "OS-06",
        "OS-07",
        "OS-19",
        "OS-22",
        "OS-23",
        "OS-24",
        "OS-40",
        "OS-41",
        "OS-42",
        "OS-43",
        "OS-45",
    },
    "ring-buffer": {"RB-09", "RB-11", "RB-15", "RB-19", "RB-33", "RB-36"},
    "shm-caches": {"SC-37"},
    "shm-pair": {"SC-37"},
}
"""Component to what 0.32 and all before it break."""

UP_TO_31 = {
    "object-store": {"OS-14", "OS-17", "OS-18", "OS-29"},
    "ring-buffer": {"RB-01", "RB-02", "RB-21"},
    "shm-caches": {"SC-03", "SC-19", "SC-22"},
    "shm-pair": {"SC-08", "SC-21", "SC-22", "SC-23"},
}
UP_TO_30 = {"receiver": {"KR-08", "KR-09"}, **UP_TO_31}
UP_TO_28 = {
    "items": {"IF-03"},
    "lru": {"LRU-17"},
    "processor-only": {"PO-04"},
    "sender": {"KR-05"},
    "receiver": {"KR-09"},
    "shm-caches": {"SC-18"},
    "shm-pair": {"SC-18"},
}
UP_TO_24 = {"items": {"IT-01"}, "processor-only": {"IF-08"}, "sender": {"KR-06"}, "receiver": {"KR-11"}}
SEED: dict[str, list[dict[str, set[str]]]] = {
    "0.32.0": [],
    "0.30.0": [UP_TO_31, UP_TO_30],
    "0.28.0": [UP_TO_31, UP_TO_30, UP_TO_28],
    "0.24.0": [UP_TO_31, UP_TO_30, UP_TO_28, UP_TO_24],
}
"""Release to what else it breaks, whatever the profile."""

FAST = {"items", "receiver"}
CASES = [
    pytest.param(version, name, id=f"{version}-{name}", marks=[] if name in FAST else [pytest.mark.slow])
    for version in SEED
    for name in STRONGER
]


def broken(version: str, name: str, profile: Profile) -> set[str]:
    component = COMPONENTS[name]
    trial = Trial(component, load_release(version), profile)
    return set(without_explained(execute_graphs(trial).runs))


def known(version: str, name: str) -> set[str]:
    return {clause for era in SEED[version] for clause in era.get(name, set())}


OUTSIDE_THE_GRAPH = {
    ("0.30.0", "receiver"): {"KR-09"},
    ("0.28.0", "shm-caches"): {"SC-18"},
    ("0.24.0", "shm-caches"): {"SC-18"},
}
"""What is true, but may lie where the tiny graph, or the profile, does not go."""

STRONGER_UP_TO_31 = {"shm-caches": {"SC-40"}}
"""What else those break whose workers count a touch as a read, in profile safe."""


@pytest.mark.parametrize(("version", "name"), CASES)
def test_profile_safe_finds_what_is_true_of_the_release_and_no_more(version: str, name: str) -> None:
    found = broken(version, name, "safe")
    optional = OUTSIDE_THE_GRAPH.get((version, name), set())
    stronger = STRONGER[name] | (STRONGER_UP_TO_31.get(name, set()) if SEED[version] else set())
    assert found | optional == known(version, name) | stronger


@pytest.mark.parametrize(("version", "name"), CASES)
def test_profile_upstream_blames_no_release_for_what_0_32_does_too(version: str, name: str) -> None:
    found = broken(version, name, "upstream")
    optional = OUTSIDE_THE_GRAPH.get((version, name), set())
    assert found | optional == known(version, name)


@pytest.mark.parametrize("profile", ["safe", "upstream"])
def test_the_factories_of_0_32_decide_as_the_table_says(profile: Profile) -> None:
    assert broken("0.32.0", "factories", profile) == set()


@pytest.mark.slow
def test_the_pair_of_0_32_breaks_its_promises_only() -> None:
    assert broken("0.32.0", "key-replicated", "safe") == {"KR-13", "KR-14"}
    assert broken("0.32.0", "key-replicated", "upstream") == set()


RING_OF_32 = STRONGER["ring-buffer"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("version", "seed", "stronger"),
    [
        ("0.31.0", set[str](), RING_OF_32),
        ("0.15.0", {"RB-31"}, RING_OF_32),
        # There is no close(), so nothing can be closed twice.
        ("0.11.0", {"RB-13", "RB-16", "RB-20"}, RING_OF_32 - {"RB-36"}),
    ],
)
def test_the_ring_of_older_releases_is_judged(version: str, seed: set[str], stronger: set[str]) -> None:
    known_of_all = UP_TO_31["ring-buffer"]
    assert broken(version, "ring-buffer", "upstream") == known_of_all | seed
    assert broken(version, "ring-buffer", "safe") == known_of_all | seed | stronger


@pytest.mark.slow
def test_the_shared_memory_caches_of_the_first_release_are_judged() -> None:
    """Its ring raises when it has nothing to free, and stays where it was when it is empty."""
    found = broken("0.11.0", "shm-pair", "safe")
    assert found >= {"SC-05", "SC-18", "SC-22", "SC-23"}
    assert found <= {"SC-02", "SC-05", "SC-18", "SC-22", "SC-23", "SC-36", "SC-37"}


@pytest.mark.slow
def test_the_store_of_the_first_release_is_judged_whatever_its_ring_has_from_the_start() -> None:
    found = broken("0.11.0", "object-store", "safe")
    assert "OS-30" not in found
    assert found >= {"OS-04", "OS-18", "OS-29", "OS-33", "OS-40", "OS-41", "OS-43", "OS-45"}
