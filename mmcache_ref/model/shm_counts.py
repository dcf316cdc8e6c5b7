"""What is still to be acknowledged of each chunk, and by whom.   [spec/08-shm-caches.md]"""

from __future__ import annotations

from .shm_requests import Message, State


def owing(message: Message) -> int:
    """How many workers have yet to read a message for the first time."""
    return sum(
        left > 0 and not has_read for left, has_read in zip(message.left, message.has_read, strict=True)
    )


def under_way(state: State, chunk: int) -> int:
    """The acknowledgements of references to a chunk that are under way: one of each handle and worker."""
    return sum(
        owing(message)
        for message in state.channel
        for feature in message.features
        if feature.is_referenced and feature.handle is not None and feature.handle.id == chunk
    )


def errors(state: State) -> list[int]:
    """For each chunk the acknowledgements that nobody will make (above 0) or that were too many (below 0)."""
    return [
        entry.references * state.store.workers - entry.acknowledged - under_way(state, chunk.id)
        for chunk, entry in zip(state.store.ring.chunks, state.store.entries, strict=True)
    ]
