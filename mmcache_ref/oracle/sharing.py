"""Runs that break a clause, kept in a Hypothesis example database, so that machines share what they find.

What is kept is the run itself, as `mmcache-ref replay` takes it, and not the bytes that Hypothesis draws:
those mean something only to the same strategies in the same state, whereas a run can be performed by any
release of this package, is shrunk already, and can be read. The database is Hypothesis's own, so every kind
that it has serves: a folder on a shared disk, a folder that a CI caches, Redis.

A run is never removed. One that a target keeps again costs a fraction of a millisecond, and another machine
may still judge the version that fails it. A fault that a kept run shows is not searched for again, so their
number grows with the faults and not with the nights.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from hypothesis.database import DirectoryBasedExampleDatabase, ExampleDatabase, MultiplexedDatabase

from mmcache_ref.oracle.stored import encode_run
from mmcache_ref.oracle.suite import Options
from mmcache_ref.oracle.supervisor import Observer, judge_target
from mmcache_ref.oracle.verdict import ComponentVerdict, TargetVerdict

PRIVATE: Final = Path(".hypothesis") / "mmcache-ref"
"""This machine's own copy, in the current folder: what was found survives the loss of the shared one."""


class DatabaseUnavailable(ValueError):  # noqa: N818 - reads as what it is
    """The example database cannot be opened; the message says what to do."""


def open_database(place: str) -> ExampleDatabase:
    """The database at a folder, or at a `redis://` address, beside this machine's own.

    A folder is made, but not those that it is in: others look for it in the same place.

    `DatabaseUnavailable` says what to do where it cannot be opened.
    """
    return MultiplexedDatabase(DirectoryBasedExampleDatabase(PRIVATE), _shared(place))


def _shared(place: str) -> ExampleDatabase:
    if place.startswith(("redis://", "rediss://")):
        try:
            from hypothesis.extra.redis import RedisExampleDatabase
            from redis import Redis
        except ImportError:
            raise DatabaseUnavailable(f"{place} needs the package redis: pip install redis") from None
        connection = Redis.from_url(place)
        try:
            connection.ping()
        except Exception as error:
            raise DatabaseUnavailable(f"{place} does not answer: {error}") from None
        return RedisExampleDatabase(connection)
    folder = Path(place).expanduser()
    if not folder.absolute().parent.is_dir():
        raise DatabaseUnavailable(
            f"examples cannot be kept in {folder}: there is no folder {folder.parent}. Make it first."
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseUnavailable(f"examples cannot be kept there: {error}") from None
    return DirectoryBasedExampleDatabase(folder)


def kept_runs(database: ExampleDatabase, target: str, options: Options) -> tuple[str, ...]:
    """The runs as JSON that judgements of this target kept under its profile, short ones first."""
    found = {
        value.decode(errors="replace")
        for component in options.components
        for value in database.fetch(_key(target, component, options.profile))
    }
    return tuple(sorted(found, key=lambda text: (len(text), text)))


def keep_runs(
    database: ExampleDatabase, target: str, profile: str, verdicts: Iterable[ComponentVerdict]
) -> None:
    """Keep the runs that break a clause; not those that a target does not repeat."""
    for component in verdicts:
        for broken in component.broken:
            if broken.run is not None and broken.run.is_repeatable:
                database.save(_key(target, component.component, profile), encode_run(broken.run).encode())


def judge_sharing(
    target: str,
    options: Options,
    place: str,
    *,
    observer: Observer = lambda target, message: None,
    command: str = "",
) -> TargetVerdict:
    """Judge a target that repeats, before anything else, what any machine at the database kept of it.

    With an empty `place` nothing is shared. A database that fails meanwhile costs a warning, and no verdict.
    """
    if not place:
        return judge_target(target, options, observer=observer, command=command)
    database = open_database(place)
    with _warning_of(place):
        options = msgspec.structs.replace(options, runs=kept_runs(database, target, options))
    verdict = judge_target(target, options, observer=observer, command=command)
    with _warning_of(place):
        keep_runs(database, target, options.profile, verdict.components)
    return verdict


@contextmanager
def _warning_of(place: str) -> Iterator[None]:
    """A connection may raise errors of any kind."""
    try:
        yield
    except Exception as error:
        warnings.warn(f"examples cannot be shared at {place}: {error}", RuntimeWarning, stacklevel=4)


def _key(target: str, component: str, profile: str) -> bytes:
    return f"mmcache-ref {profile} {component} {target}".encode()
