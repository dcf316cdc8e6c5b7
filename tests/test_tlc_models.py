"""The manifest is complete, and a model that differs from it is noticed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hazard_table import hazards_markdown
from typer.testing import CliRunner

from mmcache_ref.cli import app
from mmcache_ref.model import shm_store
from mmcache_ref.oracle.clauses import all_clauses, clause, spec_directory
from mmcache_ref.tlc import checking, manifest
from mmcache_ref.tlc.bindings import BINDINGS
from mmcache_ref.tlc.blame import blamed, clauses_of_call
from mmcache_ref.tlc.checking import Judged, checks_liveness, judge, never_taken, never_violated
from mmcache_ref.tlc.executing import Executed
from mmcache_ref.tlc.manifest import Entry, Module, models_directory, read_manifest, write_manifest
from mmcache_ref.tlc.output import Checked
from mmcache_ref.tlc.sources import checked_properties, clauses_of_config, extended

ENTRIES = {entry.name: (module, entry) for module, entry in read_manifest().entries}


def entry_of(name: str) -> tuple[Module, Entry]:
    module, entry = ENTRIES[name]
    return module, msgspec.json.decode(msgspec.json.encode(entry), type=Entry)


def test_the_manifest_names_every_configuration_once() -> None:
    listed = [Path(entry.path).name for _, entry in ENTRIES.values()]
    assert sorted(listed) == sorted(path.name for path in models_directory().glob("*.cfg"))


def test_recording_keeps_the_manifest_as_it_is(changed) -> None:
    before = manifest.manifest_path().read_bytes()
    write_manifest(read_manifest())
    assert manifest.manifest_path().read_bytes() == before


@pytest.mark.parametrize("key", ["depth", "distinctStates", "tlaLanguageVersion", "title", "specifications"])
def test_a_key_of_the_manifest_that_is_not_known_is_refused(changed, key: str) -> None:
    path = manifest.manifest_path()
    path.write_text(
        path.read_text(encoding="utf-8").replace(f'"{key}":', f'"another": 1, "{key}":', 1), encoding="utf-8"
    )
    with pytest.raises(msgspec.ValidationError, match="unknown field `another`"):
        read_manifest()


@pytest.mark.parametrize("module", read_manifest().modules, ids=lambda module: module.name)
def test_every_property_is_violated_by_a_twin(module: Module) -> None:
    assert never_violated(module) == []


@pytest.mark.parametrize("name", ENTRIES)
def test_a_model_names_the_clauses_of_its_properties(name: str) -> None:
    _, entry = ENTRIES[name]
    config = models_directory() / Path(entry.path).name
    assert entry.clauses == clauses_of_config(config)
    assert set(entry.clauses) <= set(all_clauses())
    assert entry.violated is None or entry.violated in checked_properties(config)
    assert entry.bound is None or entry.bound.model in BINDINGS


def test_base_modules_print_nothing() -> None:
    for path in models_directory().glob("*.tla"):
        if not path.name.startswith(("MC", "Trace")) and path.name != "Graph.tla":
            assert "Print" not in path.read_text(encoding="utf-8"), path.name


def test_a_twin_fails_as_recorded() -> None:
    judged = judge(*entry_of("lru-ghost"))
    assert judged.wrong == []
    assert judged.found.trace[-1].state["call"]["op"] in {"getitem", "get", "touch"}


def test_other_numbers_than_recorded_are_noticed() -> None:
    module, entry = entry_of("lru-ghost")
    entry.total_states, entry.state_depth, entry.violated = 4, 5, "TypeOK"
    assert judge(module, entry).wrong == [
        "names RefusedChangesNothing, must name TypeOK",
        "states generated: 5, must be 4",
        "depth: 2, must be 5",
    ]


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A copy of `models/` in which a text stands in another's place."""
    folder = tmp_path / "models"
    shutil.copytree(models_directory(), folder)

    def change(file: str, old: str, new: str) -> None:
        text = (folder / file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")

    monkeypatch.setattr(manifest, "models_directory", lambda: folder)
    return change


def test_a_twin_that_holds_is_noticed(changed) -> None:
    changed("MCLru.ghost.cfg", "    Touch <- TouchOrGhost\n", "")
    module, entry = entry_of("lru-ghost")
    judged = judge(module, entry)
    assert judged.wrong[0] == "success, must be safety failure"
    assert blamed(judged) == ("LRU-04", "LRU-06", "LRU-08", "LRU-10", "LRU-16", "LRU-20")


def test_one_changed_action_is_found_with_the_run_to_it(changed) -> None:
    changed("RingBuffer.tla", 'kind |-> "cleared"', 'kind |-> "forgotten"')
    judged = judge(*entry_of("ring-buffer-tiny"))
    assert judged.difference is not None
    assert judged.wrong == ["Python and TLC make different things of step 1"]
    assert [edge.call["op"] for edge in judged.difference.run] == ["clear"]
    assert blamed(judged) == ("RB-21",)


def test_other_numbers_are_followed_to_the_first_step_that_differs(changed) -> None:
    changed("KeyReplicated.tla", "p0_number < Clears /\\ clearing = 0", "p0_number < Clears")
    judged = judge(*entry_of("key-replicated-clear-twice"))
    assert "states generated: 6,127 with TLC, 5,923 in Python" in judged.wrong
    assert judged.difference is not None
    assert [edge.call["op"] for edge in judged.difference.run] == ["clear-both", "clear-both"]
    assert blamed(judged) == ("DR-15",)


def test_where_a_view_takes_states_for_one_a_difference_is_looked_for_among_states_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        shm_store, "is_free", lambda entry, workers: entry.acknowledged > entry.references * workers
    )
    judged = judge(*entry_of("shm-caches-reject.protected"))
    assert any("in Python" in each for each in judged.wrong)
    where = judged.difference
    assert where is not None
    binding = BINDINGS["shm-caches"]
    config = binding.config("tiny", accidents=["reject"], protections=["release-on-abort"])
    here = binding.graph(binding.explore(config, exact=True))
    assert (where.state in here.leaving) == (where.side == "Python")
    assert where.run[-1].before in here.leaving
    assert where.run[-1].call["op"] == "submit"


def test_too_many_states_told_apart_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        shm_store, "is_free", lambda entry, workers: entry.acknowledged > entry.references * workers
    )
    monkeypatch.setattr(checking, "EXACT_STATES", 10)
    judged = judge(*entry_of("shm-caches-reject.protected"))
    assert judged.difference is None
    assert judged.wrong[-1] == "where they differ is not known: exactView has too many states to compare"


def test_single_loads_and_stores_are_compared_and_not_executed() -> None:
    judged = judge(*entry_of("ring-publication-tiny"), target=object())
    assert judged.wrong == []
    assert judged.edges == judged.found.generated - 1
    assert judged.executed is None


def test_targets_are_asked_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def execute(*arguments: object, **options: object) -> Executed:
        asked.append(checking._one_target.locked())
        return Executed()

    monkeypatch.setattr(checking, "execute", execute)
    judge(*entry_of("key-replicated-tiny"), target=object())
    assert asked == [True]


def test_an_action_that_no_model_takes_is_noticed() -> None:
    module, entry = entry_of("lru-ghost")
    entry.result = "success"
    judged = checking.Judged(module, entry, checking.Checked(actions={"Put": (1, 2), "Pop": (0, 0)}))
    assert never_taken([judged]) == {"MCLru": ["Pop"]}


def test_where_tlc_tells_no_actions_apart_operations_that_no_model_makes_are_noticed() -> None:
    module, entry = entry_of("shm-caches-dead")
    judged = judge(module, entry)
    assert judged.is_right
    (missing,) = never_taken([judged]).values()
    assert {"abort", "forge", "resume"} <= set(missing)
    assert not {"submit", "read", "clear"} & set(missing)


def test_the_command_tells_what_is_wrong_and_fails(changed) -> None:
    changed("MCLru.ghost.cfg", "    Touch <- TouchOrGhost\n", "")
    ran = CliRunner().invoke(app, ["models", "lru-ghost", "lru-untyped", "--format", "json"])
    assert ran.exit_code == 2
    told = {each["name"]: each for each in json.loads(ran.stdout)["models"]}
    assert told["lru-ghost"]["wrong"]
    assert told["lru-untyped"]["wrong"] == []
    # Without a terminal there is a line as each begins.
    assert sorted(ran.stderr.splitlines()) == ["checking lru-ghost", "checking lru-untyped"]


def test_what_a_target_does_otherwise_is_told_with_the_run_and_how_to_repeat_it() -> None:
    options = ["models", "shm-caches-low-limit", "--target", "fault:S01"]
    ran = CliRunner().invoke(app, options)
    assert ran.exit_code == 2
    told = " ".join(ran.stdout.split())
    assert "submit [a 1 unit/1], the references handed out of a are 3, must be 2" in told
    assert "references (L2), by the clauses: [2] references (L2), of the target: [3]" in told
    assert "repeat: mmcache-ref models shm-caches-low-limit --target fault:S01" in told
    as_json = json.loads(CliRunner().invoke(app, [*options, "--format", "json"]).stdout)["models"][0]
    command = as_json["replay"]["SC-03"]
    assert f"SC-03: {command}" in ran.stdout
    again = CliRunner().invoke(app, shlex.split(command)[1:])
    assert again.exit_code == 2
    assert "SC-03" in again.stdout


def test_a_broken_rule_is_told_with_the_clauses_above_its_property(changed) -> None:
    changed("Lru.tla", "pins' = pins \\ keys", "pins' = pins")
    ran = CliRunner().invoke(app, ["models", "lru-tiny"])
    assert ran.exit_code == 2
    assert "safety failure, must be success" in ran.stdout
    assert f"LRU-22: “{clause('LRU-22').rule}”" in " ".join(ran.stdout.split())


def test_every_call_of_a_module_has_an_action_with_clauses() -> None:
    for module in read_manifest().modules:
        path = models_directory() / Path(module.path).name
        texts = [each.read_text(encoding="utf-8") for each in extended(path)]
        calls = {op for text in texts for op in re.findall(r'\[op \|-> "([\w-]+)"', text)} - {"initial"}
        assert calls
        assert [op for op in calls if not clauses_of_call(path, op)] == []


@pytest.mark.parametrize("option", [["--record"], ["--runs", "runs"]])
def test_a_distributed_check_neither_records_nor_writes_runs(option: list[str]) -> None:
    ran = CliRunner().invoke(app, ["models", "ring-buffer-tiny", "--distributed", *option])
    assert ran.exit_code == 1
    assert option[0] in ran.output


def test_a_distributed_check_of_a_twin_is_refused() -> None:
    ran = CliRunner().invoke(app, ["models", "lru-ghost", "--distributed"])
    assert ran.exit_code == 1
    assert "does not tell which property fails" in " ".join(ran.output.split())


def test_a_distributed_check_of_a_module_leaves_its_twins_out(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []

    def found(module: Module, entry: Entry, **how: Any) -> Judged:
        checked.append(entry.name)
        return Judged(module, entry, Checked("success"))

    monkeypatch.setattr("mmcache_ref.cli.models.judge_distributed", found)
    ran = CliRunner().invoke(app, ["models", "Lru", "--distributed", "--tier", "nightly"])
    assert ran.exit_code == 0
    assert set(checked) >= {"lru-tiny", "lru-small"}
    assert "lru-ghost" not in checked


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("key-replicated-liveness-answered", "checks no liveness"),
        ("shm-caches-liveness-reclaimable", "checks no liveness"),
        ("ShmCachesLiveness", "leaves no model to check"),
    ],
)
def test_a_distributed_check_of_liveness_is_refused(name: str, why: str) -> None:
    ran = CliRunner().invoke(app, ["models", name, "--distributed"])
    assert ran.exit_code == 1
    assert why in " ".join(ran.output.split())


def test_the_models_of_liveness_are_known_by_their_twins() -> None:
    assert {name for name, each in ENTRIES.items() if each[1].must_hold and checks_liveness(*each)} == {
        "key-replicated-liveness-answered",
        "key-replicated-liveness-repaired",
        "shm-caches-liveness-answered",
        "shm-caches-liveness-reclaimable",
        "shm-caches-liveness-two-answered",
    }


def test_an_unknown_model_is_a_usage_error() -> None:
    assert CliRunner().invoke(app, ["models", "nothing"]).exit_code == 1


@pytest.mark.parametrize(
    ("model", "file"), [("key-replicated", "05-drift.md"), ("shm-caches", "08-shm-caches.md")]
)
def test_the_table_of_hazards_is_what_the_manifest_says(model: str, file: str) -> None:
    table = hazards_markdown(read_manifest(), model)
    assert table.count("\n") >= 10
    assert table in (spec_directory() / file).read_text(encoding="utf-8")
