"""What the protocol around the shared memory costs: counted where it happens."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class SharedWork:
    """Counts since the start.

    Attributes:
        processed: items that went through the processor.
        messages: messages handed to the channel.
        stored_bytes: bytes of the items that were copied into shared memory.
        inline_bytes: bytes of the items that travelled in messages.
        copied_bytes: bytes of the items that workers copied out of shared memory.
        references: handles that were sent and that hold their object until they are acknowledged.
        acknowledgements: handles that a worker read.
        spared: handles that a worker did not read again, since it had kept what it read.
        releases: messages that were sent for the sake of their references only.
        misses: readings in which a worker found a handle stale.
        retries: requests that were sent again after a miss.
        stranded: acknowledgements that will never come.
        stranded_bytes: bytes of the objects they hold.
        peak_bytes: the most bytes of payload that messages under way ever named or carried.
    """

    processed: int = 0
    messages: int = 0
    stored_bytes: int = 0
    inline_bytes: int = 0
    copied_bytes: int = 0
    references: int = 0
    acknowledgements: int = 0
    spared: int = 0
    releases: int = 0
    misses: int = 0
    retries: int = 0
    stranded: int = 0
    stranded_bytes: int = 0
    peak_bytes: int = 0

    def report(self) -> dict[str, int]:
        """Name to count."""
        return asdict(self)
