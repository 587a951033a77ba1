"""Reports as JUnit XML: a test case for each file, which fails if the file does, so that its history is that of one name."""

from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree

from irshape.report.checked import Checked
from irshape.report.diagnostic import SEVERITIES
from irshape.report.text import Palette, diagnostic_lines, escape, verdict

_PLAIN = Palette(False)


def render(files: Sequence[Checked]) -> str:
    """One test suite. The faults of a file that fails are the text of its failure, those of any other its output.

    XML cannot hold every character; what it cannot is not printable, and so has been spelled out.
    """
    errors = sum(bool(file.complaint) for file in files)
    failures = sum(not file.is_passed for file in files) - errors
    counts = {"tests": str(len(files)), "failures": str(failures), "errors": str(errors)}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "irshape", **counts, "skipped": "0"})
    for file in files:
        case = ElementTree.SubElement(suite, "testcase", {"classname": "irshape", "name": escape(file.path), "file": escape(file.path)})
        text = "\n".join(line for diagnostic in file.diagnostics for line in diagnostic_lines(diagnostic, _PLAIN))
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
    # In ASCII it is right in whatever encoding it is printed.
    document: bytes = ElementTree.tostring(root, "us-ascii", xml_declaration=True)
    return document.decode()
