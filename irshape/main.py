"""The extension of Model Explorer: `model-explorer model.xml --extensions=irshape` opens an IR with the inferred shapes.

Model Explorer imports the module `main` of each extension that it is told of. irshape itself never imports this module.
"""

from __future__ import annotations

from typing import Any

from model_explorer import Adapter, AdapterMetadata, ModelExplorerGraphs, graph_builder

from irshape import verbs
from irshape.files.reading import Path
from irshape.page.model_explorer import graphs


class OpenVINOAdapter(Adapter):  # type: ignore[misc]
    """Opens an OpenVINO IR."""

    metadata = AdapterMetadata(
        id="irshape",
        name="OpenVINO IR (irshape)",
        description="Shows an OpenVINO IR with the element type and shape that irshape infers for every port",
        fileExts=["xml"],
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> ModelExplorerGraphs:
        """The graphs of an IR, of a path."""
        made = graphs(verbs.check(Path(model_path)))
        return {"graphs": [graph_builder.Graph(one["id"], [_node(node) for node in one["nodes"]]) for one in made]}


def _node(data: dict[str, Any]) -> graph_builder.GraphNode:
    edges = [graph_builder.IncomingEdge(**edge) for edge in data["incomingEdges"]]
    ports = {
        kind: [graph_builder.MetadataItem(one["id"], _pairs(one["attrs"])) for one in data[kind]]
        for kind in ("inputsMetadata", "outputsMetadata")
    }
    return graph_builder.GraphNode(**{**data, **ports, "attrs": _pairs(data["attrs"]), "incomingEdges": edges})


def _pairs(data: list[dict[str, str]]) -> list[graph_builder.KeyValue]:
    return [graph_builder.KeyValue(**pair) for pair in data]
