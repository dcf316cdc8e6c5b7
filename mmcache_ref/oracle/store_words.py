"""Operations, results and observed parts of the object store in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from mmcache_ref.model import object_store_alphabet as store
from mmcache_ref.model.component import Content, Op

DAMAGED: Final[Mapping[str, str]] = {
    "secret": "its secret",
    "id": "the id of a chunk",
    "smaller": "the size of a chunk, by one smaller",
    "larger": "the size of a chunk, by one larger",
    "seal": "the seal of a chunk",
    "last count": "a reader count, by nearly the largest",
    "lost count": "a reader count, by one below zero",
    "payload": "each byte of what the serde with a checksum wrote",
}
CALLS: Final[Mapping[str, str]] = {
    "get": "get by a reader",
    "touch": "touch by a reader",
    "reader_verify": "verify_signature by a reader",
    "verify": "verify_signature by the writer",
}
LAYOUTS: Final[Mapping[str, str]] = {
    "bare": "by itself",
    "sized": "behind its length",
    "sealed": "behind a seal and its length",
    "typed": "inside a tuple",
}


def store_operation_in_words(operation: Op) -> str | None:
    """An operation on the object store; None for any other, and where its name and what it is given say
    enough."""
    match operation:
        case store.Put(key, content, is_watched):
            return f"put {key} {_content(content)}{', watched while it is copied' if is_watched else ''}"
        case store.PutFailing(key, content, while_copying):
            what = "copied" if while_copying else "serialised"
            return f"put {key} {_content(content)}, failing while it is {what}"
        case store.Plant(key, content, victim, offset, back):
            chunk = f"the chunk of {_handle(back)} of {victim}"
            return f"put {key} {_content(content)}, which looks like {chunk} from byte {offset} on"
        case store.Signature(key):
            return f"get_signature {key}"
        case store.Get(key, back, reader):
            return f"get {key}{_by_old(back)}{_reader(reader)}"
        case store.GetLocked(key):
            return f"get {key} under a lock that is never free"
        case store.GetOvertaken(key, other, content, is_late):
            when = "before it is counted" if is_late else "while it is copied"
            return f"get {key}, overtaken {when} by clear and put {other} {_content(content)}"
        case store.OwnGet(key):
            return f"get {key} on the writer"
        case store.ReaderTouch(key, back, reader):
            return f"touch {key}{_by_old(back)} on reader {reader}"
        case store.Verify(key, back, on_reader):
            side = "a reader" if on_reader else "the writer"
            return f"verify_signature of {key}{_by_old(back)} on {side}"
        case store.Forge(key, forgery, call):
            return f"{CALLS[call]} of the newest handle of {key}, forged ({forgery})"
        case store.Attach(key):
            return f"attach a reader, and get {key}"
        case store.AttachWithoutLock():
            return "attach a reader without a lock"
        case store.ReaderWrites(call):
            return f"{call} on a reader"
        case store.CloseAnother():
            return "close another store, twice"
        case store.Damage(part):
            return f"damage in another store {DAMAGED[part]}"
        case store.Unpickle(layout):
            return f"give the serde a pickle {LAYOUTS[layout]}"
        case store.Travel(values):
            return f"write {values} with the serde, and read them"
    return None


def store_outcome_in_words(operation: Op, result: Any) -> str | None:
    """What a call of the store gave, with a name for each number; None for anything else."""
    match operation, result:
        case (
            (store.Put() | store.PutFailing() | store.Plant() | store.GetCached()),
            [
                int(address),
                int(identifier),
            ],
        ):
            return f"address {address}, id {identifier}"
        case store.CloseAnother(), [bool(is_gone), refused]:
            return f"the segment is {'gone' if is_gone else 'still there'}; a put: {refused}"
        case store.Damage(), bool(is_harmless):
            return "no harm is done" if is_harmless else "harm is done"
        case store.Travel(), bool(is_same):
            return "what was written" if is_same else "something else"
        case store.Signature(), bool(is_right):
            return f"the signature is {'right' if is_right else 'wrong'}"
    return None


def store_aspect_in_words(name: str, expected: Any, actual: Any) -> str | None:
    """An observed part of the state that is not the model's; None where its name says enough."""
    if not isinstance(expected, list | tuple) or not isinstance(actual, list | tuple):
        return None
    if name == "indexes" and (parted := _parted(actual)) is not None:
        return f"{parted}, must name the same chunks"
    if name == "old_seals":
        keys = " and ".join(dict.fromkeys(map(str, actual)))
        return f"the seal of an old handle of {keys} is still there, must be wiped"
    if name not in SAID:
        return None
    what, verb, say = SAID[name]
    return f"{what} {verb} {say(actual)}, must {'be' if verb == 'are' else verb} {say(expected)}"


def _parted(actual: Sequence[Any]) -> str | None:
    """Two indexes that name different chunks; None where all name the same."""
    match actual:
        case [[str(mine), [*ids]], [str(theirs), [*others]]]:
            return f"{_index(mine)} names {_ids(ids)}, {_index(theirs)} {_ids(others)}"
    return None


def _index(name: str) -> str:
    return "the ring" if name == "ring" else name


def _ids(ids: Sequence[Any]) -> str:
    if not ids:
        return "no chunk"
    return f"{'chunk' if len(ids) == 1 else 'chunks'} {' '.join(map(str, ids))}"


def _joined(say: Callable[[Any, Any], str]) -> Callable[[Sequence[Any]], str]:
    """Each pair in words."""
    return lambda pairs: ", ".join([say(*pair) for pair in pairs]) or "none"


def _bounds(bounds: Sequence[Any]) -> str:
    begin, end, identifier = bounds
    return f"{begin} to {end}, next id {identifier}"


SAID: Final[Mapping[str, tuple[str, str, Callable[[Sequence[Any]], str]]]] = {
    "reads": ("the reader counts", "are", _joined(lambda key, count: f"{key} {count}")),
    "references": ("the references handed out", "are", _joined(lambda key, count: f"{key} {count}")),
    "touched": ("the touched keys", "are", lambda keys: " ".join(map(str, keys)) or "none"),
    "indexes": ("the chunks", "are", _joined(lambda identifier, key: f"{identifier} of {key}")),
    "chunks": ("the chunks", "lie at", _joined(lambda identifier, begin: f"{identifier}@{begin}")),
    "headers": ("the headers", "say", _joined(lambda identifier, size: f"id {identifier} of {size} B")),
    "bounds": ("the bounds of the ring", "are", _bounds),
    "seals": (
        "the chunks",
        "are",
        _joined(lambda key, is_sealed: f"{key} {'' if is_sealed else 'not '}sealed"),
    ),
}


def _content(content: Content) -> str:
    return f"{content.nbytes} B/{content.fill}"


def _handle(back: int) -> str:
    if back == 0:
        return "the newest handle"
    return "the handle before the newest" if back == 1 else f"the handle {back} before the newest"


def _by_old(back: int) -> str:
    return f" by {_handle(back)}" if back else ""


def _reader(reader: int) -> str:
    return f" on reader {reader}" if reader else ""
