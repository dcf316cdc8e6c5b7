"""The queue from P0 to P1, with what may happen to a message on its way."""

from __future__ import annotations

from .messages import Message


class Channel:
    """Messages in the order of sending, and a clear that travels among them.

    Args:
        protections: of them `ordered-delivery`, `keep-data-until-sent` and `ingest-aborted` live here.
    """

    def __init__(self, protections: frozenset[str]) -> None:
        self._protections = protections
        self._messages: list[Message] = []
        self.clearing = 0
        """The number of the clear that P1 has yet to hear of, or 0."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """What is under way, the oldest first."""
        return tuple(self._messages)

    def send(self, message: Message) -> Message:
        """Put a message behind all others; it is returned."""
        self._messages.append(message)
        return message

    def send_clear(self, number: int) -> None:
        """Ask P1 to clear, as a message that takes its place among the others."""
        self.clearing = number

    def receive(self, position: int) -> Message | None:
        """Take the message at this place, or None while something has to arrive before it.   [DR-14]"""
        message = self._messages[position]
        if self._waits_for_messages(position) or self._waits_for_clear(message):
            return None
        return self._messages.pop(position)

    def receive_clear(self) -> int | None:
        """Take the clear; its number, or None while messages sent before it are under way.   [DR-14]"""
        number = self.clearing
        if self._is_ordered and any(each.number < number for each in self._messages):
            return None
        self.clearing = 0
        return number

    @property
    def _is_ordered(self) -> bool:
        return "ordered-delivery" in self._protections

    def _waits_for_messages(self, position: int) -> bool:
        """Whether another message was sent before the one at this place and has not arrived.   [DR-14]"""
        return self._is_ordered and position > 0

    def _waits_for_clear(self, message: Message) -> bool:
        """Whether a clear was sent before this message and has not arrived.   [DR-15]"""
        return self._is_ordered and 0 < self.clearing <= message.number

    def drop(self, position: int) -> Message | None:
        """Lose the message at this place; it is returned if it was kept and sent again.   [DR-24]

        What is sent again takes its old place: P1 waits for it as for any other.
        """
        if "keep-data-until-sent" in self._protections:
            return self._messages[position]
        del self._messages[position]
        return None

    def abort(self, position: int) -> None:
        """The request of this message was aborted: it is ingested all the same.   [DR-22]"""
        if "ingest-aborted" not in self._protections:
            del self._messages[position]

    def break_off(self) -> None:
        """Lose everything that is under way: the connection is gone."""
        self._messages.clear()
        self.clearing = 0
