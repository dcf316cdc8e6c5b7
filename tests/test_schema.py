"""The JSON schema that travels with the specification."""

from __future__ import annotations

import json

import msgspec

from mmcache_ref.oracle.clauses import spec_directory
from mmcache_ref.oracle.verdict import schema


def test_the_stored_schema_is_the_one_that_reports_have() -> None:
    stored = spec_directory() / "schema" / "report.schema.json"
    assert json.loads(stored.read_text()) == json.loads(msgspec.json.encode(schema())), (
        f"run: mmcache-ref schema > {stored}"
    )
