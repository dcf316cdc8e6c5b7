"""The JSON schema that travels with the specification."""

from __future__ import annotations

import json

import msgspec
import pytest

from mmcache_ref.oracle.clauses import spec_directory
from mmcache_ref.oracle.event_log import schema as event_schema
from mmcache_ref.oracle.verdict import schema


def test_the_stored_schema_is_the_one_that_reports_have() -> None:
    stored = spec_directory() / "schema" / "report.schema.json"
    assert json.loads(stored.read_text()) == json.loads(msgspec.json.encode(schema())), (
        f"run: mmcache-ref schema > {stored}"
    )


@pytest.mark.clause("EV-01")
def test_the_stored_schema_is_the_one_that_event_logs_have() -> None:
    stored = spec_directory() / "schema" / "events.schema.json"
    assert json.loads(stored.read_text()) == json.loads(msgspec.json.encode(event_schema())), (
        f"run: mmcache-ref schema events > {stored}"
    )
