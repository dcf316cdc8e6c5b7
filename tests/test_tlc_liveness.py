"""What happens in the end, by TLC: what is assumed is needed, and with it every request is answered."""

from __future__ import annotations

import pytest

from mmcache_ref.tlc.checking import Judged, judge
from mmcache_ref.tlc.manifest import read_manifest


def judged(name: str) -> Judged:
    module, entry = next(each for each in read_manifest().entries if each[1].name == name)
    return judge(module, entry)


@pytest.mark.clause("DR-27")
def test_a_request_is_never_answered_where_the_channel_need_not_deliver() -> None:
    assert judged("key-replicated-liveness-undelivered").wrong == []


@pytest.mark.slow
@pytest.mark.clause("DR-28")
def test_a_request_is_never_answered_where_its_miss_need_not_be_followed() -> None:
    assert judged("key-replicated-liveness-forgotten").wrong == []


@pytest.mark.slow
@pytest.mark.clause("DR-29")
@pytest.mark.clause("DR-31")
def test_a_key_is_never_repaired_where_nobody_need_ask_for_it() -> None:
    assert judged("key-replicated-liveness-unasked").wrong == []


@pytest.mark.slow
@pytest.mark.clause("DR-27")
@pytest.mark.clause("DR-28")
@pytest.mark.clause("DR-29")
@pytest.mark.parametrize("name", ["unheard", "followed-weakly", "asked-weakly"])
def test_less_fairness_than_a_clause_assumes_is_not_enough(name: str) -> None:
    assert judged(f"key-replicated-liveness-{name}").wrong == []


@pytest.mark.slow
@pytest.mark.clause("DR-30")
def test_a_request_whose_message_is_lost_is_never_answered() -> None:
    found = judged("key-replicated-liveness-lost")
    assert found.wrong == []
    assert found.found.trace[-1].state["watched"]["where"] == "lost"


@pytest.mark.slow
@pytest.mark.clause("DR-30")
@pytest.mark.clause("DR-31")
@pytest.mark.parametrize("name", ["answered", "repaired"])
def test_every_request_is_answered_and_every_key_repaired_in_the_end(name: str) -> None:
    assert judged(f"key-replicated-liveness-{name}").wrong == []


@pytest.mark.slow
@pytest.mark.clause("DR-05")
@pytest.mark.clause("DR-12")
@pytest.mark.parametrize("name", ["tiny", "reject", "oversize", "drop", "second-miss"])
def test_users_see_a_cache_service_unless_a_protection_is_missing(name: str) -> None:
    assert judged(f"key-replicated-service-{name}").wrong == []


@pytest.mark.clause("SC-53")
@pytest.mark.clause("SC-56")
@pytest.mark.clause("SC-57")
@pytest.mark.parametrize("name", ["unread", "unread-held"])
def test_nothing_ends_where_the_workers_need_not_read(name: str) -> None:
    assert judged(f"shm-caches-liveness-{name}").wrong == []


@pytest.mark.slow
@pytest.mark.clause("SC-54")
@pytest.mark.parametrize("name", ["unfinished", "unretried"])
def test_a_request_is_never_answered_where_the_engine_need_not_go_on(name: str) -> None:
    assert judged(f"shm-caches-liveness-{name}").wrong == []


@pytest.mark.slow
@pytest.mark.clause("SC-55")
def test_a_request_is_never_answered_where_workers_die_without_end() -> None:
    assert judged("shm-caches-liveness-dying").wrong == []


@pytest.mark.slow
@pytest.mark.clause("SC-57")
def test_a_chunk_is_always_held_where_its_item_is_asked_for_again_and_again() -> None:
    assert judged("shm-caches-liveness-asked-again").wrong == []


@pytest.mark.slow
@pytest.mark.clause("SC-56")
@pytest.mark.clause("SC-57")
@pytest.mark.parametrize("name", ["answered", "reclaimable"])
def test_every_request_is_answered_and_every_chunk_can_be_reclaimed_in_the_end(name: str) -> None:
    assert judged(f"shm-caches-liveness-{name}").wrong == []


@pytest.mark.slow
@pytest.mark.clause("SC-31")
@pytest.mark.clause("SC-44")
@pytest.mark.parametrize("name", ["tiny", "deaths", "clear-in-flight", "another-item"])
def test_users_of_shared_memory_see_a_cache_service_unless_something_is_missing(name: str) -> None:
    assert judged(f"shm-caches-service-{name}").wrong == []
