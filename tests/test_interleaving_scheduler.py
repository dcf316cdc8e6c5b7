"""The scheduler on toys: which schedules are run, what they find, and that they repeat."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from interleaving_toys import Account, all_words, sharing, words

from mmcache_ref.oracle.errors import BadRun
from mmcache_ref.oracle.interleaving.explore import Node, chooser, explore
from mmcache_ref.oracle.interleaving.pct import RandomPriorities
from mmcache_ref.oracle.interleaving.places import Place
from mmcache_ref.oracle.interleaving.scheduler import Execution
from mmcache_ref.oracle.interleaving.schedules import Block, Follow, lines_of, schedule_of


@pytest.mark.parametrize("counts", [(1, 1), (3, 4), (2, 2, 2), (2, 3, 2)])
@pytest.mark.parametrize("preemptions", [0, 1, 2, 3])
def test_every_interleaving_up_to_the_bound_is_run_once(counts: tuple[int, ...], preemptions: int) -> None:
    log: list[int] = []
    run = [tuple(log) for _ in explore(words(counts, log), preemptions)]
    assert len(run) == len(set(run))
    assert set(run) == all_words(counts, preemptions)


def test_the_bound_two_of_three_and_four_steps_is_nineteen() -> None:
    # 2 without a preemption, 2 + 3 with one (each step but the last of the first thread), and with two
    # a thread is split in two and the other around its end: 2 * 3 + 3 * 2.
    assert [len(all_words((3, 4), bound)) for bound in (0, 1, 2)] == [2, 7, 19]


def first_wrong(
    methods: list[str], is_wrong: Callable[[Account, Execution], bool], preemptions: int = 3
) -> Node | None:
    latest: list[Account] = []
    for node, execution in explore(sharing(methods, latest), preemptions):
        assert not execution.problem
        if is_wrong(latest[0], execution):
            return node
    return None


def test_a_lost_update_is_found_with_one_preemption_and_not_without() -> None:
    node = first_wrong(["add", "add"], lambda account, _: account.value != 2)
    assert node is not None
    assert node.preemptions == 1


def test_a_value_that_changes_between_two_looks_needs_two_preemptions() -> None:
    methods = ["raise_and_lower", "look_twice"]
    node = first_wrong(methods, lambda account, _: account.seen == [1, 0])
    assert node is not None
    assert node.preemptions == 2


def test_a_lock_keeps_every_update() -> None:
    assert first_wrong(["add_locked", "add_locked"], lambda account, _: account.value != 2) is None


def test_a_lock_makes_others_wait_and_not_fail() -> None:
    latest: list[Account] = []
    waited = [
        execution
        for _, execution in explore(sharing(["add_locked", "add_locked"], latest), 2)
        if any(step.arrived >= 0 and step.arrived not in step.enabled for step in execution.steps)
    ]
    assert waited
    assert not any(execution.is_deadlocked for execution in waited)


def test_two_locks_taken_in_two_orders_are_a_deadlock() -> None:
    node = first_wrong(["one_way", "other_way"], lambda _, execution: execution.is_deadlocked)
    assert node is not None
    assert node.preemptions == 1


def test_within_a_line_other_threads_go_on_where_it_is_stopped_within() -> None:
    latest: list[Account] = []
    methods = ["one_way", "one_way"]
    plain = {execution.steps[-1].place.offset for _, execution in explore(sharing(methods, latest), 0)}
    within = [
        step.place
        for _, execution in explore(sharing(methods, latest, all_fine=True), 0)
        for step in execution.steps
        if step.place.offset is not None
    ]
    assert plain == {None}
    assert within


def test_every_schedule_can_be_written_down_and_repeats_exactly() -> None:
    latest: list[Account] = []
    for methods in (["add", "add", "add"], ["add_locked", "look_twice"], ["one_way", "other_way"]):
        run = sharing(methods, latest)
        for _, execution in explore(run, 2):
            follow = Follow(execution.names, schedule_of(execution))
            again = run(follow)
            follow.end()
            assert follow.lost == ""
            assert again.steps == execution.steps


def test_a_schedule_stops_within_a_line_that_it_names() -> None:
    schedule = (Block("t0", "toys.py:7+20"), Block("t1", "other.py:8"))
    paths = ["/some/toys.py", "/some/other.py"]
    assert lines_of(schedule, paths, within=True) == {("/some/toys.py", 7)}
    assert lines_of(schedule, paths) == {("/some/other.py", 8)}


def test_a_schedule_of_another_program_is_not_followed() -> None:
    follow = Follow(["t0", "t1"], (Block("t0", "nowhere.py:1"), Block("t1"), Block("t0")))
    sharing(["add", "add"], [])(follow)
    assert follow.lost == "block 1 of the schedule: t0 does not come to nowhere.py:1"


@pytest.mark.parametrize(
    ("blocks", "lost"),
    [
        ((Block("t0"), Block("t0"), Block("t1")), "block 2 of the schedule: t0 cannot go on there"),
        ((Block("t0"), Block("t1"), Block("t1")), "block 3 of the schedule: t1 has nothing left to do"),
        (
            (Block("t0"), Block("t1", "toys.py:1", 2)),
            "block 2 of the schedule: t1 does not come to toys.py",
        ),
        ((Block("t0"),), ""),
        ((), ""),
    ],
)
def test_what_cannot_be_followed_is_said_of_the_block(blocks: tuple[Block, ...], lost: str) -> None:
    follow = Follow(["t0", "t1"], blocks)
    sharing(["add", "add"], [])(follow)
    follow.end()
    assert follow.lost.startswith(lost)
    assert bool(follow.lost) == bool(lost)


@pytest.mark.parametrize(
    "block", [Block("t0", "nonsense"), Block("t0", "a.py"), Block("t0", "a.py:1+x"), Block("t0", "a.py:1", 0)]
)
def test_a_block_that_names_no_place_is_refused(block: Block) -> None:
    with pytest.raises(BadRun, match="block 1 of the schedule: "):
        Follow(["t0"], (block,))


def test_a_schedule_with_an_unknown_thread_is_refused() -> None:
    with pytest.raises(BadRun, match="no thread 't9'"):
        Follow(["t0"], (Block("t9"),))


def test_random_priorities_repeat_with_their_seed_and_find_a_lost_update() -> None:
    latest: list[Account] = []
    run = sharing(["add", "add"], latest)
    found = set()
    for seed in range(40):
        first = run(RandomPriorities(seed, 2, 6, 2))
        value = latest[0].value
        assert run(RandomPriorities(seed, 2, 6, 2)).steps == first.steps
        found.add(value)
    assert found == {1, 2}


def test_a_thread_that_does_not_come_back_is_a_problem_and_no_verdict() -> None:
    never = threading.Event()
    execution = Execution(["t0", "t1"], chooser(Node()), patience=0.05)
    execution.run([lambda: never.wait() and None, lambda: None])
    never.set()
    assert "t0 did not come back" in execution.problem
    assert not execution.is_deadlocked


def test_a_thread_that_goes_round_and_round_is_a_problem() -> None:
    account = Account()
    account.value = 1
    execution = Execution(["t0"], chooser(Node()))
    account.lock.execution = execution

    def spin() -> None:
        while account.value:
            with account.lock:
                pass

    execution.run([spin])
    assert "waits in a loop" in execution.problem


def test_who_tries_a_lock_again_and_again_gets_it_when_it_is_free() -> None:
    latest: list[Account] = []
    runs = [execution for _, execution in explore(sharing(["add_locked", "add_trying"], latest), 1)]
    assert not any(execution.problem or execution.is_deadlocked for execution in runs)
    assert first_wrong(["add_locked", "add_trying"], lambda account, _: account.value != 2, 1) is None


def test_who_goes_round_until_others_write_lets_them() -> None:
    shared = bytearray(1)
    execution = Execution(["t0", "t1"], chooser(Node()), memory=lambda: bytes(shared))

    def wait() -> None:
        while not shared[0]:
            execution.arrive(Place("toy", 1))

    def write() -> None:
        shared[0] = 1

    execution.run([wait, write])
    assert not execution.problem
    assert not execution.is_deadlocked
    assert sum(step.is_preemption for step in execution.steps) == 0


def test_who_goes_round_for_what_nobody_writes_is_a_problem() -> None:
    shared = bytearray(1)
    execution = Execution(["t0", "t1"], chooser(Node()), memory=lambda: bytes(shared))

    def wait() -> None:
        while not shared[0]:
            execution.arrive(Place("toy", 1))

    execution.run([wait, lambda: None])
    assert "waits in a loop" in execution.problem


def test_what_a_thread_raises_is_a_problem() -> None:
    execution = Execution(["t0"], chooser(Node()))

    def fail() -> None:
        raise ValueError("no")

    execution.run([fail])
    assert execution.problem == "t0: ValueError: no"


def test_a_lock_outside_a_run_is_a_plain_lock() -> None:
    lock = Account().lock
    assert lock.acquire()
    assert not lock.acquire(block=False)
    assert lock.locked()
    with pytest.raises(RuntimeError, match="waits for a lock that it holds"):
        lock.acquire()
    lock.release()
    with pytest.raises(ValueError, match="released too many times"):
        lock.release()
