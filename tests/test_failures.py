"""What a failing test of this project says."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def test_a_failure_names_the_clauses_that_the_test_checks(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmarkers = clause")
    pytester.makepyfile(
        "import pytest\n"
        "@pytest.mark.clause('OS-44', 'SC-38')\n"
        "def test_one(): assert False\n"
        "def test_two(): assert False\n"
    )
    said = pytester.runpytest("-p", "conftest").stdout.str()
    assert "OS-44: With `CheckedMsgpackSerde`" in said
    assert "\nSC-38: " in said
    assert said.count("- clauses -") == 1
