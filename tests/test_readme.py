"""What the texts for readers claim and a machine can tell: commands, links, numbers of things."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import typer

from mmcache_ref.cli import app
from mmcache_ref.cli.entry import COMMANDS
from mmcache_ref.model import key_replicated, shm_caches
from mmcache_ref.oracle.interleaving.scenarios import SCENARIOS
from mmcache_ref.oracle.mishaps.judge import ROUNDS
from mmcache_ref.tlc.manifest import Entry, read_manifest

ROOT = Path(__file__).parents[1]
TEXTS = [ROOT / "README.md", ROOT / "models" / "README.md", *sorted((ROOT / "spec").glob("*.md"))]
MAGIC = "mmcache-ref ring"
"""What the header of a segment begins with, and no command."""
WORDS = {8: "eight", 10: "ten", 12: "twelve", 13: "thirteen", 17: "seventeen"}


def in_blocks(text: str) -> list[str]:
    """The command lines of the blocks of code, without what is said beside them."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.M | re.S)
    lines = [line.split("   #")[0] for block in blocks for line in block.splitlines()]
    told = [part.strip().removeprefix("$ ") for line in lines for part in line.split("; ")]
    return [each for each in told if each.startswith("mmcache-ref ")]


def in_sentences(text: str) -> list[str]:
    """The commands that a sentence mentions, perhaps without all that they need."""
    return [each for each in re.findall(r"`(mmcache-ref [a-z][^`]*)`", text) if each != MAGIC]


def anchors(path: Path) -> set[str]:
    """What a link may name in a file: its headings as GitHub spells them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_is_one_and_has_the_options_that_it_is_given(path: Path) -> None:
    commands: Any = typer.main.get_command(app)
    text = path.read_text(encoding="utf-8")
    for line in in_blocks(text):
        _, name, *words = shlex.split(line)
        commands.commands[name].make_context(name, words)
    for mention in in_sentences(text):
        _, name, *words = shlex.split(mention)
        known = {option for each in commands.commands[name].params for option in each.opts}
        assert {word for word in words if word.startswith("--")} <= known, mention


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_each_help_is_a_command_on_files_that_there_are(name: str) -> None:
    commands: Any = typer.main.get_command(app)
    (example,) = re.findall(r"Example: mmcache-ref (.*)", commands.commands[name].help)
    _, *words = shlex.split(example.split(" > ")[0])
    commands.commands[name].make_context(name, words)
    assert all((ROOT / word).exists() for word in words if word.startswith("spec/"))


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if not link.startswith("https://"):
            file, _, anchor = link.partition("#")
            to = (path.parent / file).resolve() if file else path
            assert to.exists(), link
            assert not anchor or anchor in anchors(to), link


def test_the_texts_count_right() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    of_models = (ROOT / "models" / "README.md").read_text(encoding="utf-8")
    lru, shm = ROUNDS["lru"].mishaps, ROUNDS["shm"].mishaps
    models = [entry for _, entry in read_manifest().entries]
    pr = [each for each in models if each.tier == "pr"]
    for counted in (
        f"the {len(SCENARIOS)} scenarios",
        f"[{WORDS[len(lru)]} mishaps]",
        f"[{WORDS[len(shm)]}](spec/08",
        f"its {WORDS[len(key_replicated.PROTECTIONS)]}\nprotections",
        f"`SharedDeployment` with {WORDS[len(shm_caches.ACCIDENTS)]} accidents",
        f"[{WORDS[len(shm_caches.PROTECTIONS)].capitalize()} protections]",
        f"PR tier: {len(pr)}, the largest with {largest(pr):,} ",
    ):
        assert counted in readme
    assert f"({len(pr)} models" in of_models
    assert f"{len(models) - len(pr)} more, up to {largest(models):,} distinct" in of_models


def largest(models: Iterable[Entry]) -> int:
    """The most distinct states of these models."""
    return max(each.distinct_states or 0 for each in models)
