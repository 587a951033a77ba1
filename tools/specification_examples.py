"""Compares the examples of the operation specifications with what irshape infers, and says what is wrong with which.

    python tools/specification_examples.py FOLDER [PAGE]

FOLDER holds one example to a file, named `<category>/<page>_<opset>.<number>.xml` (`movement/Slice_8.2.xml`: the second
example of the page of Slice-8). PAGE, if given, is written; else the text goes to the terminal.

An example is equal if irshape infers every output as it is recorded. Otherwise `REMARKS` says why not and how to mend it:
the mended example must then be equal, so that every remark is proven. A remark on an example that is equal is a fault.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent

WRONG = "wrong"
INCOMPLETE = "incomplete"
MALFORMED = "not well-formed"
# The number is known only when the layer runs, and the example records the largest.
LARGEST = "largest"


class Remark(NamedTuple):
    """What is wrong with examples: in a sentence, and as replacements (pattern, text), each made once, that make them equal."""

    kind: str
    why: str
    mend: tuple[tuple[str, str], ...] = ()


class Result(NamedTuple):
    """What irshape says of one example: faults, slips (warnings), and the outputs that are not as recorded."""

    faults: list[str]
    slips: list[str]
    differences: list[str]
    is_largest: bool  # what differs is recorded as the largest the inferred can be
    compared: int

    @property
    def is_equal(self) -> bool:
        """Whether every output is as it is recorded."""
        return not self.faults and not self.differences


def values(port: int, text: str) -> tuple[str, str]:
    """A replacement that gives an input's values in a comment."""
    return f'<port id="{port}">', f'<port id="{port}"> <!-- {text} -->'


def stated(id: int, element_type: str, shape: str, *, is_constant: bool = False) -> tuple[str, str]:
    """A replacement that says what a Parameter or a Const in a body is."""
    said = f'element_type="{element_type}" shape="{shape}"'
    if is_constant:
        return rf'(<layer id="{id}" type="Const" \.\.\.>\s*<data)', rf"\1 {said}"
    return rf'(<layer id="{id}" type="Parameter" \.\.\.>)', rf"\1<data {said}/>"


CLOSE_INPUT = (r"<output>", "</input><output>")
ONE_INPUT = (r"</input>\s*<input>", "")
NO_PORTS = Remark(INCOMPLETE, "no port is given")
INPUT_OPEN = Remark(MALFORMED, "`</input>` is missing", (CLOSE_INPUT,))
LAYER_OPEN = Remark(MALFORMED, "`</layer>` is missing", ((r"\Z", "</layer>"),))
DATA_OPEN = Remark(MALFORMED, "`<data>` must end in `/>`", ((r'(<data output_type="\w+")>', r"\1/>"),))
UNQUOTED = Remark(MALFORMED, "the value of `batch_dims` is not in quotes", ((r"batch_dims=(\d)", r'batch_dims="\1"'),))
TWO_INPUTS = Remark(WRONG, "the inputs stand in two `<input>`, of which OpenVINO reads the first", (ONE_INPUT,))
HALF_OF_32 = (r'(<port id="[12]">\s*<dim>1</dim>\s*<dim>3</dim>\s*<dim>)32(</dim>\s*<dim>)32', r"\g<1>16\g<2>16")
HALVED = "windows of stride 2 halve the 32 rows and columns, whatever `same_upper` pads"
BATCH_NORM_5 = Remark(
    WRONG,
    "the inputs are those of BatchNormInference-5; of BatchNormInference-1 `gamma` and `beta` come before the data",
    ((r'(<port id="0">.*)(<port id="1">.*)(<port id="3">)', r"\2\1\3"),),
)
NO_VALUES = "the values of `begin`, `end` and `stride` are not given, so the sizes are bounds"
MULTICLASS = (r'type="MulticlassNonMaxSuppression"', 'type="MulticlassNms"')
CALLED_MULTICLASS = Remark(WRONG, "the type is `MulticlassNms`", (MULTICLASS,))
COUNT_OF_BOXES = Remark(LARGEST, "how many boxes are selected is known when the layer runs; recorded is the most")

REMARKS: dict[str, Remark] = {
    "activation/SoftMax_1.1": NO_PORTS,
    "activation/SoftMax_8.1": NO_PORTS,
    "condition/Bucketize_3.1": Remark(
        WRONG,
        "the page gives `output_type` a default; OpenVINO has none and refuses the layer",
        ((r"<input>", '<data output_type="i64"/><input>'),),
    ),
    "condition/NonZero_3.1": Remark(LARGEST, "how many elements are not zero is known when the layer runs; recorded is the most"),
    **{f"convolution/GroupConvolution_1.{number}": LAYER_OPEN for number in (1, 2, 3)},
    "detection/ExperimentalDetectronDetectionOutput_6.1": Remark(
        WRONG, "four outputs are listed; the operation has the three that the page describes", ((r'<port id="7".*?</port>', ""),)
    ),
    "detection/Proposal_1.1": NO_PORTS,
    "detection/ROIPooling_1.1": NO_PORTS,
    "generation/Eye_9.2": Remark(WRONG, "`F32` is no element type; it is spelled `FP32`", (("F32", "FP32"),)),
    **{f"generation/Range_4.{number}": DATA_OPEN for number in (1, 2, 3)},
    "infrastructure/Loop_5.1": NO_PORTS,
    "infrastructure/Parameter_1.1": Remark(
        WRONG, "the attributes stand between `<data>` and `</data>`, not inside the tag", (("<data>", "<data "), ("</data>", "/>"))
    ),
    "infrastructure/TensorIterator_1.1": NO_PORTS,
    "infrastructure/TensorIterator_1.2": Remark(
        WRONG,
        "LSTMCell takes `W` and `R` apart, not in one input [1024,768]; besides, no Parameter and no Const of the body states its type and "
        "shape, and the values of the patterns of the Reshapes are not given",
        (
            stated(0, "f32", "1,1,512"),
            stated(3, "f32", "1,256"),
            stated(4, "f32", "1,256"),
            stated(1, "i64", "2", is_constant=True),
            stated(5, "f32", "1024,512", is_constant=True),
            stated(6, "f32", "1024", is_constant=True),
            stated(10, "i64", "3", is_constant=True),
            (
                r'(<port id="3">\s*<dim>1024</dim>\s*<dim>)768(</dim>\s*</port>)',
                r'\g<1>512\2<port id="9"><dim>1024</dim><dim>256</dim></port>',
            ),
            ('size="3145728"', 'size="2097152"'),
            (r'<edge from-layer="1" .*?/>', ""),
            (r'(<layer id="2" .*?<port id="1">)', r"\1 <!-- [1, 512] -->"),
            (r'<edge from-layer="10" .*?/>', ""),
            (r'(<layer id="11" .*?<port id="1">)', r"\1 <!-- [1, 1, 256] -->"),
        ),
    ),
    **{f"movement/GatherND_5.{number}": UNQUOTED for number in (1, 2)},
    "movement/Roll_7.2": Remark(
        WRONG, "`shift` for several `axes` must be a scalar; `[1]` is a list of one", ((r'(<port id="1">)\s*<dim>1</dim>', r"\1"),)
    ),
    "movement/Slice_8.11": Remark(
        WRONG,
        "`start`, `stop`, `step` and `axes` hold 3 values, as their comments say; their `<dim>` says 2",
        ((r"<dim>2</dim>", "<dim>3</dim>"),) * 4,
    ),
    "movement/StridedSlice_1.1": Remark(
        WRONG,
        "`begin`, `end` and `stride` hold 3 values, as their comments say; their `<dim>` says 2",
        ((r"<dim>2</dim> <", "<dim>3</dim> <"),) * 3,
    ),
    "movement/StridedSlice_1.2": Remark(INCOMPLETE, NO_VALUES, (values(1, "[0, 0]"), values(2, "[0, 0]"), values(3, "[1, 1]"))),
    "movement/StridedSlice_1.3": Remark(
        INCOMPLETE, NO_VALUES, (values(1, "[0, 0, 0, 0, 0]"), values(2, "[0, 1, 0, 0, 0]"), values(3, "[1, 1, 1, 1, 1]"))
    ),
    "movement/Tile_1.2": Remark(MALFORMED, "`5/dim>` must be `5</dim>`", (("5/dim>", "5</dim>"),)),
    **{f"normalization/BatchNormInference_1.{number}": BATCH_NORM_5 for number in (1, 2)},
    "pooling/AdaptiveAvgPool_8.1": Remark(
        WRONG,
        "the inputs stand in two `<input>`, of which OpenVINO reads the first, and the values of `output_shape` are not given",
        (ONE_INPUT, values(1, "[16, 16]")),
    ),
    "pooling/AdaptiveMaxPool_8.1": Remark(
        WRONG,
        "the inputs stand in two `<input>`, of which OpenVINO reads the first, and the values of `output_shape` are not given",
        (ONE_INPUT, values(1, "[16, 16]")),
    ),
    "pooling/AvgPool_1.1": Remark(WRONG, HALVED, (HALF_OF_32, HALF_OF_32)),
    "pooling/MaxPool_1.1": Remark(WRONG, HALVED, (HALF_OF_32,)),
    "pooling/MaxPool_8.1": Remark(WRONG, HALVED, (HALF_OF_32, HALF_OF_32)),
    "sequence/CTCLoss_4.1": Remark(MALFORMED, '`<port id="4">` is not closed', ((r"\s*</input>", "</port></input>"),)),
    "sequence/GRUCell_3.1": Remark(
        WRONG, "with `linear_before_reset` `B` holds 4 * `hidden_size` = 512 values, not 768", ((r"<dim>768</dim>", "<dim>512</dim>"),)
    ),
    **{f"shape/{type}_1.{number}": TWO_INPUTS for type in ("Squeeze", "Unsqueeze") for number in (1, 2)},
    **{
        f"signals/{type}_{opset}.{n}": INPUT_OPEN
        for type, opset in (("DFT", 7), ("IDFT", 7), ("RDFT", 9), ("IRDFT", 9))
        for n in range(1, 7)
    },
    "sort/MatrixNms_8.1": Remark(
        WRONG, "the type is `MatrixNms`, and `guassian` is `gaussian`", (("MatrixNonMaxSuppression", "MatrixNms"), ("guassian", "gaussian"))
    ),
    "sort/MulticlassNonMaxSuppression_8.1": CALLED_MULTICLASS,
    "sort/MulticlassNonMaxSuppression_9.1": CALLED_MULTICLASS,
    "sort/MulticlassNonMaxSuppression_9.2": Remark(
        WRONG,
        "the type is `MulticlassNms`, and the last output has as many elements as `roisnum`, 10, not 3",
        (MULTICLASS, (r'(<port id="7".*<dim>)3<', r"\g<1>10<")),
    ),
    "sort/NonMaxSuppression_1.1": Remark(
        WRONG,
        "the indices are of type I64, and the value of `max_output_boxes_per_class` is not given",
        (('<port id="2"/>', '<port id="2"/> <!-- 1000 -->'), ("I32", "I64")),
    ),
    "sort/NonMaxSuppression_3.1": Remark(
        INCOMPLETE,
        "the value of `max_output_boxes_per_class` is not given, so the number of boxes is a bound",
        (('<port id="2"/>', '<port id="2"/> <!-- 1000 -->'),),
    ),
    "sort/NonMaxSuppression_5.1": COUNT_OF_BOXES,
    "sort/NonMaxSuppression_9.1": COUNT_OF_BOXES,
    **{f"sort/TopK_{opset}.1": INPUT_OPEN for opset in (1, 3)},
    "sparse/EmbeddingBagOffsetsSum_3.1": Remark(
        MALFORMED, '`<port id="4"/>` is closed before its `<dim>`', ((r'<port id="4"/>', '<port id="4">'),)
    ),
    "sparse/EmbeddingBagPackedSum_3.1": Remark(
        MALFORMED, '`<port id="2"/>` is closed before its `<dim>`', ((r'<port id="2"/>', '<port id="2">'),)
    ),
    "sparse/EmbeddingSegmentsSum_3.1": Remark(
        MALFORMED,
        '`<port id="2"/>` and `<port id="5"/>` are closed before their `<dim>`',
        ((r'<port id="2"/>', '<port id="2">'), (r'<port id="5"/>', '<port id="5">')),
    ),
}


class Example(NamedTuple):
    """An example with what irshape says of it as it stands, and mended if there is a remark on how to; `source` is mended then."""

    name: str
    source: bytes
    remark: Remark | None
    result: Result
    mended: Result | None

    @property
    def kind(self) -> str:
        """Where the example belongs: equal, or what its remark says."""
        return self.remark.kind if self.remark else "equal"

    def fault(self) -> str | None:
        """What is not in order between the example and its remark; None if all is."""
        result, remark = self.result, self.remark
        if remark is None:
            return None if result.is_equal else f"is not equal: {'; '.join(result.faults + result.differences)}"
        if result.is_equal and result.compared:
            return "is equal, but there is a remark on it"
        if self.mended is not None:
            return None if self.mended.is_equal else f"is not equal when mended: {'; '.join(self.mended.faults + self.mended.differences)}"
        if remark.kind == LARGEST:
            return None if result.is_largest and not result.faults else f"does not record the largest: {'; '.join(result.differences)}"
        return "records outputs, so its remark must mend it" if result.compared else None


def examine(source: bytes, opset: str | None = None) -> Result:
    """Infer an example and compare what it records of its outputs; `opset` is that of its page."""
    from irshape import verbs
    from irshape.ops.registry import REGISTRY
    from irshape.shape.dim import bounds
    from irshape.shape.element_type import ElementType
    from irshape.xml.reader import read

    faults: list[str] = []
    slips: list[str] = []
    differences: list[str] = []
    types = {layer.type for layer in read(source).graph.layers}
    if opset is not None and (missing := [type for type in types if REGISTRY.versions(type) and not REGISTRY.find(type, opset)]):
        slips.append(f"{opset} has no {' and no '.join(sorted(missing))}")
        opset = None
    inference = verbs.check(verbs.read(source, opset=opset))
    for diagnostic in inference.diagnostics:
        if diagnostic.code not in ("R301", "R302"):  # what is recorded is compared below
            said = faults if diagnostic.severity == "error" or diagnostic.code == "X107" else slips
            said.append(f"line {diagnostic.where.line}: {diagnostic.message}")
    compared, is_largest = 0, True
    for node in sorted(inference.model, key=lambda node: node.layer.offset):
        for port, output in zip(node.layer.outputs, inference.layer(node.id).outputs, strict=True):
            compared += 1
            line, _ = inference.document.position(port.offset)
            dims = port.dims or ()
            shape = output.shape
            if shape is None or tuple(size if type(size) is int else -1 for size in shape) != dims:
                recorded = ",".join(map(str, dims))
                differences.append(f"line {line} records [{recorded}], inferred is {output.text}")
                is_largest &= shape is not None and tuple(bounds(size)[1] for size in shape) == dims
            stated = ElementType.from_precision(port.precision) if port.precision else None
            if stated is not None and output.element_type not in (stated, ElementType.dynamic):
                differences.append(f"line {line} records {port.precision}, inferred is {output.element_type.precision}")
                is_largest = False
    return Result(faults, slips, differences, is_largest, compared)


def page(name: str) -> tuple[str, int, int]:
    """The page of an example, its opset, and the number of the example on it."""
    found = re.fullmatch(r".*/(\w+)_(\d+)\.(\d+)", name)
    if found is None:
        raise ValueError(f"{name}: an example is named <category>/<page>_<opset>.<number>.xml")
    return found[1], int(found[2]), int(found[3])


def mended(source: bytes, mend: Iterable[tuple[str, str]]) -> bytes:
    """The example after its replacements; each must find its place."""
    text = source.decode("utf-8")
    for pattern, replacement in mend:
        text, count = re.subn(pattern, replacement, text, count=1, flags=re.DOTALL)
        if not count:
            raise ValueError(f"{pattern!r} is not found")
    return text.encode("utf-8")


def examples(folder: Path) -> Iterator[Example]:
    """Every example of a folder, by category, page and number."""
    names = [path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.xml")]
    for name in sorted(names, key=lambda name: (name.partition("/")[0], page(name))):
        source = (folder / f"{name}.xml").read_bytes()
        remark, opset = REMARKS.get(name), f"opset{page(name)[1]}"
        result = examine(source, opset)
        if remark is None or not remark.mend:
            yield Example(name, source, remark, result, None)
        else:
            source = mended(source, remark.mend)
            yield Example(name, source, remark, result, examine(source, opset))


def faults(found: Iterable[Example]) -> list[str]:
    """What is not in order: examples that differ without a remark, and remarks that do not hold."""
    found = list(found)
    missing = sorted(REMARKS.keys() - {example.name for example in found})
    said = [f"{example.name} {fault}" for example in found if (fault := example.fault()) is not None]
    return said + [f"{name} is remarked on, but is not there" for name in missing]


TITLES = {
    WRONG: ("The example is wrong", "The example records outputs that cannot be, or OpenVINO 2026.4.1 reads the example in another way."),
    MALFORMED: (
        "The example is not well-formed",
        "No XML parser reads it, even where its dots are left out. Each changed example records the inferred outputs.",
    ),
    INCOMPLETE: ("The example is incomplete", "It leaves out something that its output depends on."),
    LARGEST: (
        "The example records the largest output",
        "The size is known when the layer runs; OpenVINO and irshape infer an interval, which ends at the recorded number.",
    ),
}


def page_text(found: list[Example]) -> str:
    """The page: how many are equal, and what is wrong with the others."""
    counts = {kind: sum(example.kind == kind for example in found) for kind in ("equal", *TITLES)}
    outputs = sum(example.result.compared for example in found if example.kind == "equal")
    lines = [
        "# Specification examples",
        "",
        f"The pages of the operation specifications show {len(found)} `<layer>` examples. `irshape` reads each of them, dots and comments",
        f"included, infers its outputs and compares them with those it records. {counts['equal']} are equal, in {outputs} outputs;",
        f"{len(found) - counts['equal']} differ, each because of a fault in the example.",
        "",
        "| examples | |",
        "|---|---|",
        f"| {counts['equal']} | equal |",
        *(f"| {counts[kind]} | [{title.lower()}](#{title.lower().replace(' ', '-')}) |" for kind, (title, _) in TITLES.items()),
        "",
        "`python tools/specification_examples.py FOLDER docs/specification-examples.md` makes this page from a folder of the examples in",
        "the documentation of OpenVINO 2022, one to a file. The tool holds the reason for each difference, with the change that mends the",
        "example, and writes the page only if every mended example is equal. `tests/test_specification_examples.py` puts each example into",
        "an IR, and compares OpenVINO 2026.4.1 with the record, too. Lines are those of the example.",
    ]
    for kind, (title, text) in TITLES.items():
        lines += ["", f"## {title}", "", text, "", "| page | example | reason |", "|---|---|---|"]
        lines += [row(group) for group in grouped(example for example in found if example.kind == kind)]
    slipped = [example for example in found if (example.mended or example.result).slips]
    lines += [
        "",
        "## Slips",
        "",
        "These do not change an output: OpenVINO reads over them.",
        "",
        "| page | example | slip |",
        "|---|---|---|",
    ]
    lines += [
        f"| {link(example.name)} | {page(example.name)[2]} | {joined((example.mended or example.result).slips)} |" for example in slipped
    ]
    return "\n".join(lines) + "\n"


def grouped(found: Iterable[Example]) -> Iterator[list[Example]]:
    """Examples of one page with the same remark, and nothing else to say of them, together."""
    group: list[Example] = []
    for example in found:
        if group and (page(group[0].name)[:2] != page(example.name)[:2] or group[0].remark is not example.remark):
            yield group
            group = []
        group.append(example)
    if group:
        yield group


def row(group: list[Example]) -> str:
    """A row of a table: the page, the numbers of the examples on it, and the reason."""
    first = group[0]
    assert first.remark is not None
    numbers = [page(example.name)[2] for example in group]
    text = str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
    differences = "" if first.result.faults else joined(first.result.differences)
    return f"| {link(first.name)} | {text} | {first.remark.why}{f': {differences}' if differences else ''} |"


def joined(said: list[str]) -> str:
    """Several remarks in one cell."""
    return "; ".join(said).replace("|", r"\|").replace("<", r"\<")


def link(name: str) -> str:
    """The page of an example by name, and where it is published."""
    from irshape.ops import describe
    from irshape.ops.registry import REGISTRY

    title, opset, _ = page(name)
    names = {"MulticlassNonMaxSuppression": "MulticlassNms", "GELU": "Gelu"}
    addresses = [describe.page(op) or "" for op in REGISTRY.versions(names.get(title, title)).values()]
    address = next((address for address in addresses if address.endswith(f"-{opset}.html")), None)
    return f"[{title}-{opset}]({address})" if address else f"{title}-{opset}"


def main(arguments: list[str]) -> int:
    """Examine the folder; write the page if everything is in order."""
    if len(arguments) not in (1, 2):
        print((__doc__ or "").strip(), file=sys.stderr)
        return 2
    found = list(examples(Path(arguments[0])))
    said = faults(found)
    if said:
        print(*said, sep="\n", file=sys.stderr)
        return 1
    if len(arguments) == 2:
        Path(arguments[1]).write_text(page_text(found), encoding="utf-8")
    else:
        print(page_text(found), end="")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
