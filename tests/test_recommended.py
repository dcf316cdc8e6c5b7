"""What is only recommended (SHOULD) is reported, and makes no target violate."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from rich.console import Console

from mmcache_ref.oracle.components import COMPONENTS
from mmcache_ref.oracle.suite import Options, judge
from mmcache_ref.oracle.targets import resolve
from mmcache_ref.oracle.verdict import Report, TargetVerdict, report
from mmcache_ref.report.junit import junit
from mmcache_ref.report.markdown import markdown
from mmcache_ref.report.text import report_text

TARGET = "py:broken.processor_only_warns_each_time"


@pytest.fixture(scope="module")
def judged() -> Report:
    """A cache that keeps every MUST, and repeats its warnings (IF-04)."""
    options = Options(("processor-only",), stages=("fuzz",), examples=60)
    verdict = judge(COMPONENTS["processor-only"], resolve(TARGET), options, seconds=60)
    return report("0", [TargetVerdict(TARGET, "safe", 0, 0.0, (verdict,))])


@pytest.mark.clause("IF-04")
def test_a_target_that_leaves_out_what_is_recommended_conforms(judged: Report) -> None:
    (component,) = judged.targets[0].components
    assert judged.status == "conforms"
    assert [(each.id, each.requirement, each.is_violated) for each in component.broken] == [
        ("IF-04", "SHOULD", False)
    ]


def test_every_report_says_that_it_is_only_recommended(judged: Report) -> None:
    printed = io.StringIO()
    Console(width=120, file=printed).print(report_text(judged))
    text = printed.getvalue()
    assert "recommended, not kept: IF-04" in text
    assert "IF-04 is recommended, and not kept by" in text
    assert "broken: " not in text
    assert "IF-04 in processor-only (recommended, not kept)" in markdown(judged)
    suite = ElementTree.fromstring(junit(judged))[0]
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert "recommended, not kept" in str(suite.find("testcase[@name='IF-04']/skipped").attrib)  # type: ignore[union-attr]
