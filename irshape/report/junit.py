"""Reports as JUnit XML: each file is a test case, whose history a viewer follows by the name of the file."""

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from irshape.report.checked import Checked
from irshape.report.diagnostic import SEVERITIES
from irshape.report.section import faults
from irshape.report.terminal import block_lines
from irshape.report.text import escape, verdict


def render(files: Sequence[Checked]) -> str:
    """One test suite. The diagnostics of a file are the text of its failure, or its output if the file passes.

    Characters that XML cannot represent are not printable, so they are already escaped.
    """
    errors = sum(bool(file.complaint) for file in files)
    failures = sum(not file.is_passed for file in files) - errors
    counts = {"tests": str(len(files)), "failures": str(failures), "errors": str(errors)}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "irshape", **counts, "skipped": "0"})
    for file in files:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "irshape", "name": escape(file.path), "file": escape(file.path)})
        text = "\n".join(block_lines(faults(file.diagnostics)))
        if file.complaint:
            ElementTree.SubElement(case, "error", {"message": escape(file.complaint), "type": "error"}).text = text
        elif not file.is_passed:
            worst = min(file.diagnostics, key=lambda diagnostic: SEVERITIES.index(diagnostic.severity))
            ElementTree.SubElement(
                case, "failure", {"message": verdict(Counter(diagnostic.severity for diagnostic in file.diagnostics)), "type": worst.code}
            ).text = text
        elif text:
            ElementTree.SubElement(case, "system-out").text = text
    ElementTree.indent(root)
    # ASCII is valid in any encoding of the output.
    document: bytes = ElementTree.tostring(root, "us-ascii", xml_declaration=True)
    return document.decode()
