"""The reports of a pass: a finding in a node becomes a diagnostic with its place."""

from __future__ import annotations

from irshape.inference.run import Run
from irshape.inference.transfer import Outcome
from irshape.model.build import place
from irshape.model.model import Model, Node
from irshape.report.catalogue import CATALOGUE
from irshape.report.diagnostic import ERROR, WARNING, Diagnostic
from irshape.report.finding import Finding
from irshape.shape.compilation import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Voice:
    """Reports the outcomes of the nodes of one graph into a run, each at the position of its node in the schedule."""

    __slots__ = ("model",)

    def __init__(self, model: Model) -> None:
        self.model = model

    def speak(self, run: Run, position: int, node: Node, outcome: Outcome) -> None:
        """Report the findings and the requirements of a node."""
        for finding in outcome.findings:
            self.report(run, position, node, finding)
        if outcome.requirements and node.is_live and self.model.is_live:
            run.report_of(position, node).requirements += outcome.requirements

    def report(self, run: Run, position: int, node: Node, finding: Finding) -> None:
        """Report a finding as a diagnostic. An error in a layer that no Result depends on is a warning: OpenVINO drops the layer."""
        severity = CATALOGUE[finding.code].severity
        if severity == ERROR and not (node.is_live and self.model.is_live) and finding.code != "I101":
            severity = WARNING
        document, layer = self.model.document, node.layer
        found = run.report_of(position, node).diagnostics_of(document.limits)
        if not found.has_room(finding.code, severity):
            return
        offset, port = layer.offset, None
        if finding.offset is not None:
            offset = finding.offset
        elif finding.attribute is not None and layer.data_offset >= 0:
            offset = document.attribute_offset(layer.data_offset, finding.attribute)
        elif finding.port is not None:
            ports = (*layer.inputs, *layer.outputs)
            if finding.port < len(ports):
                offset, port = ports[finding.port].offset, str(ports[finding.port].id)
        where = place(document, layer, offset, port, self.model.path)
        found.append(Diagnostic(finding.code, finding.message, where, severity, finding.hint))
