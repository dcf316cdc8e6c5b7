"""`mmcache-ref explore`: search every state of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import typer

from mmcache_ref.cli.console import Accidents, ProgressLines, known_elsewhere, listed_names, show
from mmcache_ref.model import (
    drift,
    key_replicated,
    lru,
    object_store,
    processor_only,
    publication_properties,
    receiver,
    ring_buffer,
    ring_publication,
    sender,
    shm_caches,
    shm_pair,
    shm_properties,
)
from mmcache_ref.model.explore import Property, explore
from mmcache_ref.oracle.verdict import EXIT_CODES
from mmcache_ref.report.exploration import (
    exploration_json,
    exploration_status,
    exploration_text,
    progress_line,
)
from mmcache_ref.report.printed import json_text

EXPLORABLE: dict[str, tuple[Any, Mapping[str, Property]]] = {
    "lru": (lru, lru.PROPERTIES),
    "processor-only": (processor_only, processor_only.PROPERTIES),
    "sender": (sender, sender.PROPERTIES),
    "receiver": (receiver, receiver.PROPERTIES),
    "ring-buffer": (ring_buffer, ring_buffer.PROPERTIES),
    "object-store": (object_store, object_store.PROPERTIES),
    "shm-pair": (shm_pair, shm_pair.PROPERTIES),
    "ring-publication": (ring_publication, publication_properties.PROPERTIES),
    "key-replicated": (key_replicated, drift.PROPERTIES),
    "shm-caches": (shm_caches, shm_properties.PROPERTIES),
}
"""The models that have states to search, with their properties."""
MOST_STATES = 1_000_000
"""Where everything may happen to a pair without protections there is no end in sight, and what goes wrong is
found among the first 200,000. The presets have fewer, but for `small` where everything happens to a pair."""


def explore_model(
    model: Annotated[str, typer.Argument(help=f"One of {', '.join(EXPLORABLE)}.")],
    preset: Annotated[Literal["tiny", "small"], typer.Option(help="tiny: seconds. small: minutes.")] = "tiny",
    accidents: Accidents = None,
    protections: Annotated[
        list[str] | None,
        typer.Option("--protect", help="Protections, with commas between, or default. May be repeated."),
    ] = None,
    depth: Annotated[int | None, typer.Option(min=1, help="Requests under way at once.")] = None,
    clears: Annotated[int | None, typer.Option(min=0, help="Clears in a run, at most.")] = None,
    states: Annotated[
        int, typer.Option(min=1, help="Stop the search after about so many; a million takes 1 GB of memory.")
    ] = MOST_STATES,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop the search then.")] = None,
    output_format: Annotated[Literal["text", "json"], typer.Option("--format")] = "text",
) -> None:
    """Search every state of a model for runs that break a property.

    For each property it prints that it holds, or the shortest run to a state in which it does not.

    Example: mmcache-ref explore key-replicated --with reject,reorder --protect rollback
    """
    if model not in EXPLORABLE:
        raise typer.BadParameter(f"no model {model!r}: take one of {', '.join(EXPLORABLE)}")
    module, properties = EXPLORABLE[model]
    wanted = listed_names(accidents)
    try:
        config = _model_config(
            module,
            preset,
            accidents=wanted,
            protections=listed_names(protections),
            depth=depth,
            clears=clears,
        )
    except ValueError as error:
        others = {name: each for name, (each, _) in EXPLORABLE.items() if each is not module}
        raise typer.BadParameter(f"{error}{known_elsewhere(wanted, module, others)}") from None
    with ProgressLines() as progress:
        line = progress.add_task(model, what="searching")
        found = explore(
            module,
            config,
            properties=properties,
            max_states=states,
            seconds=seconds,
            progress=lambda done: progress.update(line, what=progress_line(done)),
        )
    if output_format == "json":
        show(json_text(exploration_json(found)))
    else:
        show(exploration_text(found))
    raise typer.Exit(EXIT_CODES[exploration_status(found)])  # type: ignore[index]


def _model_config(module: Any, preset: str, **options: Any) -> Any:
    """A preset, with accidents, protections and bounds where the model knows any."""
    if hasattr(module, "configure"):
        return module.configure(preset, **options)
    if any(each not in (None, []) for each in options.values()):
        raise ValueError(
            f"{module.NAME} has no accidents, protections or bounds: only key-replicated, ring-publication "
            "and shm-caches have any."
        )
    return module.PRESETS[preset]
