"""What the protocol costs: counted where it happens."""

from __future__ import annotations

from dataclasses import asdict, dataclass


@dataclass
class Work:
    """Counts since the start. With the default protections they are bounded by the requests.   [DR-26]

    Attributes:
        retries: requests that were sent again after a miss.
        processed: items that went through the processor.
        messages: messages handed to the channel, also those that P0's cache did not see.
        payload_bytes: bytes of the items sent with their data.
        claims: items sent without data.
        resent_messages: messages that were lost and sent again.
        resent_bytes: bytes of the items in those.
        misses: messages that P1 could not serve.
        set_aside: messages that P1 served without its cache.
    """

    retries: int = 0
    processed: int = 0
    messages: int = 0
    payload_bytes: int = 0
    claims: int = 0
    resent_messages: int = 0
    resent_bytes: int = 0
    misses: int = 0
    set_aside: int = 0

    def report(self) -> dict[str, int]:
        """Name to count."""
        return asdict(self)
