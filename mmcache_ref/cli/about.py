"""`mmcache-ref schema` and `version`."""

from __future__ import annotations

import sys

import msgspec

from mmcache_ref import __version__
from mmcache_ref.cli.console import output
from mmcache_ref.oracle.verdict import schema as report_schema


def schema() -> None:
    """Print the JSON schema of a report.

    Example: mmcache-ref schema > report.schema.json
    """
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(report_schema()), indent=2).decode() + "\n")


def version() -> None:
    """Print the version.

    Example: mmcache-ref version
    """
    output.print(__version__)
