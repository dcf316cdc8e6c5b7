"""Verdicts as JUnit XML: a suite for each target and component, a case for each clause."""

from __future__ import annotations

from xml.etree import ElementTree

from mmcache_ref.oracle.verdict import ClauseVerdict, ComponentVerdict, Report, TargetVerdict
from mmcache_ref.oracle.wording import claimed_keys, operation_in_words, results_in_words
from mmcache_ref.report.text import replay_command


def junit(report: Report) -> str:
    """The whole report. A broken clause fails, one that was not reached is skipped, and a component on which
    nothing could be determined is an error."""
    root = ElementTree.Element("testsuites", name="mmcache-ref")
    for target in report.targets:
        for component in target.components:
            root.append(_suite(target, component))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _suite(target: TargetVerdict, component: ComponentVerdict) -> ElementTree.Element:
    name = f"{target.target}: {component.component}"
    suite = ElementTree.Element("testsuite", name=name, time=f"{component.seconds:.3f}")
    for each in component.clauses:
        suite.append(_case(target, name, each))
    if component.status == "undetermined":
        case = ElementTree.SubElement(suite, "testcase", classname=name, name="undetermined")
        ElementTree.SubElement(case, "error", message=_legal(component.reason))
    suite.set("tests", str(len(suite)))
    for kind, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        suite.set(plural, str(len(suite.findall(f"testcase/{kind}"))))
    return suite


def _case(target: TargetVerdict, suite: str, each: ClauseVerdict) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=suite, name=each.id)
    if each.status == "not reached":
        ElementTree.SubElement(case, "skipped", message="nothing was compared for this clause")
    if each.status == "broken" and not each.is_violated:
        ElementTree.SubElement(case, "skipped", message=_legal(f"recommended, not kept: {each.sentence}"))
    elif each.run is not None and each.run.mismatch is not None:
        mismatch = each.run.mismatch
        message = _legal(each.sentence or each.rule)
        failure = ElementTree.SubElement(case, "failure", message=message, type=each.id)
        lines = [f"{each.id}: {each.rule}"]
        if each.follows_from:
            lines.append(f"probably follows from {', '.join(each.follows_from)}")
        steps = each.run.steps
        lines += [
            operation_in_words(step.operation, claimed_keys(steps, place)) for place, step in enumerate(steps)
        ]
        lines.append(f"expected {mismatch.aspect}: {results_in_words(mismatch.expected)}")
        lines.append(f"got: {results_in_words(mismatch.actual)}")
        lines.append(replay_command(target.target, each.run))
        failure.text = _legal("\n".join(lines))
    return case


def _legal(text: str) -> str:
    """The text without the characters that XML cannot hold."""
    return "".join(letter for letter in text if letter in "\t\n" or letter.isprintable())
