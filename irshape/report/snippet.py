"""For each code of the catalogue a run that reports it and one that does not, and how people read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

CHECK: Final = "irshape check model.xml"


class Invocation(NamedTuple):
    """A file, the bytes of its `.bin`, None if there is none, and the command that reads them, empty if no command reports the code."""

    xml: str
    weights: bytes | None = None
    command: str = CHECK


class Snippet(NamedTuple):
    """A run that reports a code, and one that does not.

    Where the file and the command do not suffice for the code, `condition` says what else must happen; such a snippet cannot be tried.
    """

    bad: Invocation
    good: Invocation
    condition: str = ""


def mistake(good: str, right: str, wrong: str, command: str = CHECK, weights: bytes | None = None) -> Snippet:
    """A file without a fault, and a copy that says `wrong` where the file says `right`."""
    assert good.count(right) == 1, f"{right!r} stands {good.count(right)} times in the snippet"
    return Snippet(Invocation(good.replace(right, wrong), weights, command), Invocation(good, weights, command))


def misused(xml: str, bad: str, good: str, weights: bytes | None = None, condition: str = "") -> Snippet:
    """One file, a command that reports the code for it, and one that does not."""
    return Snippet(Invocation(xml, weights, bad), Invocation(xml, weights, good), condition)


def chain(*layers: str) -> str:
    """The text of an IR whose layers stand in a row.

    Each layer feeds input port 0 of the next: the first from its output port 0, the others from their output port 1.
    """
    return net(", ".join(f"{i}.{min(i, 1)} {i + 1}.0" for i in range(len(layers) - 1)), *layers)


def net(edges: str, *layers: str) -> str:
    """The text of an IR, with edges as `0.0 1.0, 1.1 2.0`."""
    return f'<net name="model" version="11">\n{_graph(edges, layers)}\n</net>\n'


def _graph(edges: str, layers: Sequence[str]) -> str:
    parts = {"layers": layers, "edges": [edge(one) for one in edges.split(", ")]}
    return "\n".join(_indented(f"<{tag}>\n{_indented(chr(10).join(items))}\n</{tag}>") for tag, items in parts.items())


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def loop(name: str, slice: str, edges: str, *layers: str) -> str:
    """Layer 1, a TensorIterator: the first layer of its body takes the slices of its input, and its output joins those of the last."""
    body = _indented(f"<body>\n{_graph(edges, layers)}\n</body>")
    return (
        f'<layer id="1" name="{name}" type="TensorIterator" version="opset1">\n'
        f'  <input><port id="0"/></input>\n  <output><port id="1" precision="FP32"/></output>\n  <port_map>\n'
        f'    <input external_port_id="0" internal_layer_id="0" {slice}/>\n'
        f'    <output external_port_id="1" internal_layer_id="{len(layers) - 1}" {slice}/>\n  </port_map>\n{body}\n</layer>'
    )


def edge(ends: str) -> str:
    """An edge: `0.0 1.0` goes from port 0 of layer 0 to port 0 of layer 1."""
    (from_layer, from_port), (to_layer, to_port) = (end.split(".") for end in ends.split())
    return f'<edge from-layer="{from_layer}" from-port="{from_port}" to-layer="{to_layer}" to-port="{to_port}"/>'


def layer(id: int, name: str, kind: str, data: str = "", *, inputs: int = 1, precision: str = "FP32", note: str = "") -> str:
    """A layer of a type and a version, with attributes, a note in its `<rt_info>`, so many inputs, and one output."""
    ports = "".join(f'<port id="{port}"/>' for port in range(inputs))
    return _layer(id, name, kind, data, f"<input>{ports}</input>\n  {_output(inputs, precision)}", note)


def _layer(id: int, name: str, kind: str, data: str, ports: str, note: str = "") -> str:
    type, version = kind.split()
    attributes = f"  <data {data}/>\n" if data else ""
    noted = f"  <rt_info>\n    {note}\n  </rt_info>\n" if note else ""
    return f'<layer id="{id}" name="{name}" type="{type}" version="{version}">\n{attributes}{noted}  {ports}\n</layer>'


def _output(id: int, precision: str) -> str:
    return f'<output><port id="{id}" precision="{precision}"/></output>'


def example(kind: str, data: str, *inputs: str, outputs: str = "FP32") -> str:
    """A file that is a single layer. An input is a text such as `I64 2 # axes: [0, 1]`: its precision, its dims and the values."""
    type, version = kind.split()
    lines = [f'<layer type="{type}" version="{version}">', *([f"  <data {data}/>"] if data else []), "  <input>"]
    for id, port in enumerate(inputs):
        text, _, values = port.partition(" # ")
        precision, *dims = text.split()
        content = "".join(f" <dim>{dim}</dim>" for dim in dims)
        end = f">{content} </port>" if dims else "/>"
        lines.append(f'    <port id="{id}" precision="{precision}"{end}' + (f" <!-- {values} -->" if values else ""))
    lines += ["  </input>", "  <output>"]
    lines += [f'    <port id="{id}" precision="{precision}"/>' for id, precision in enumerate(outputs.split(), len(inputs))]
    return "\n".join([*lines, "  </output>", "</layer>", ""])


def parameter(id: int, name: str, shape: str, type: str = "f32", note: str = "") -> str:
    """A Parameter whose port records FP32, with a note in its `<rt_info>`."""
    return _layer(id, name, "Parameter opset1", f'element_type="{type}" shape="{shape}"', _output(0, "FP32"), note)


def const(id: int, name: str, shape: str, size: int, type: str = "i64", precision: str = "I64") -> str:
    """A Const whose `size` bytes are the first of the `.bin`."""
    data = f'element_type="{type}" shape="{shape}" offset="0" size="{size}"'
    return _layer(id, name, "Const opset1", data, _output(0, precision))


def result(id: int, name: str) -> str:
    """A Result."""
    return _layer(id, name, "Result opset1", "", '<input><port id="0"/></input>')


def changed_lines(bad: str, good: str) -> Iterator[str]:
    """All lines of both texts: those of the bad one alone after `-`, those of the good one alone after `+`."""
    old, new = bad.splitlines(), good.splitlines()
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (f"  {line}" for line in old[i:i_end])
        else:
            yield from (f"- {line}" for line in old[i:i_end])
            yield from (f"+ {line}" for line in new[j:j_end])


def bytes_text(data: bytes | None) -> str:
    """The bytes of a `.bin`, as text where they are text; None if there is no `.bin`."""
    if not data:
        return "there is none" if data is None else "it is empty"
    shown = data.decode("ascii") if data.isascii() and data.decode("ascii").isprintable() else data.hex(" ")
    return f"`{shown}` ({len(data)} bytes)"
