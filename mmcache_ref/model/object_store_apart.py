"""What does nothing to the store that is asked, and what comes of it.   [spec/07-object-store.md]"""

from __future__ import annotations

from .component import OneOf, Outcome, Raised
from .object_store_alphabet import (
    MISCOUNTED,
    AttachWithoutLock,
    CloseAnother,
    Damage,
    Operation,
    ReaderWrites,
    Travel,
    Unpickle,
)

ANY_ERROR = Raised("Exception")


def apart(operation: Operation) -> Outcome:
    """What a reader refuses, another store, and the serde by itself."""
    match operation:
        case AttachWithoutLock() | Unpickle():
            return Outcome("refused", Raised("ValueError"))
        case ReaderWrites(call):
            return Outcome("refused", OneOf((None, ANY_ERROR)) if call == "clear" else ANY_ERROR)
        case CloseAnother():
            return Outcome("closed", (True, "AssertionError"))
        case Damage("payload"):
            return Outcome("checked", True)
        case Damage(part):
            return Outcome("miscounted" if part in MISCOUNTED else "damaged", True)
        case Travel(values):
            return Outcome("foreign" if values == "foreign items" else "travelled", True)
    raise AssertionError(f"{operation} is asked of the store itself")
