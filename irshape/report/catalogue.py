"""Every code irshape can report: what it means, why it matters and how to mend it.

`docs/diagnostics.md` is made from this table. A code never changes its meaning; a retired one is not used again.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Code(NamedTuple):
    """One entry of the catalogue."""

    code: str
    severity: str
    title: str
    meaning: str
    why: str
    fix: str


CATALOGUE: Final[dict[str, Code]] = {}


def _family(*rows: tuple[str, str, str, str, str, str]) -> None:
    CATALOGUE.update((row[0], Code(*row)) for row in rows)


# X: the XML itself.
_family(
    (
        "X101",
        "error",
        "not well-formed XML",
        "The parser cannot read the text as XML.",
        "Nothing after this place can be trusted.",
        "Mend the markup at the place given; export the model again if the file was cut short.",
    ),
    (
        "X102",
        "error",
        "document type declaration",
        "The file has a DOCTYPE. An IR never has one.",
        "Entities can make a small file huge or read other files.",
        "Remove the DOCTYPE.",
    ),
    (
        "X103",
        "error",
        "unknown encoding",
        "The text is in an encoding that cannot be read.",
        "The bytes have no certain meaning.",
        "Save the file as UTF-8.",
    ),
    (
        "X104",
        "error",
        "not an IR",
        "The root element is neither <net> nor a <layer> of a specification example.",
        "There is no model to read.",
        "Check that the path names the IR's .xml file and not its .bin or another format.",
    ),
    (
        "X105",
        "error",
        "missing attribute",
        "An element lacks an attribute that OpenVINO's reader demands.",
        "OpenVINO refuses the file.",
        "Add the attribute named in the message.",
    ),
    (
        "X106",
        "error",
        "malformed number",
        "An id, a version, an offset, a size or a dim is not a number in the form the reader accepts.",
        "OpenVINO refuses the file.",
        "Write a plain decimal number.",
    ),
    (
        "X107",
        "error",
        "unknown precision",
        "A port's precision is no element type of OpenVINO.",
        "OpenVINO refuses the file.",
        "Use a name such as FP32, FP16, I64, U8, BOOL.",
    ),
    (
        "X108",
        "error",
        "unsupported IR version",
        "Only IR versions 10 and 11 can be read.",
        "OpenVINO refuses the file.",
        "Convert the model again with a current converter.",
    ),
    (
        "X109",
        "error",
        "missing element",
        "A part of the IR is absent: <layers>, a body, a port map.",
        "OpenVINO refuses the file.",
        "Add the element, or export the model again.",
    ),
    (
        "X110",
        "error",
        "incomplete example",
        "A specification example leaves out something that is needed to read it.",
        "Its shapes cannot be inferred.",
        "Fill in what the message names.",
    ),
    (
        "X111",
        "error",
        "limit reached",
        "The file has more of something than a limit allows; the message names the limit.",
        "Work on untrusted files is bounded.",
        "Raise the limit if the file is trusted: --limit NAME=N.",
    ),
    (
        "X201",
        "warning",
        "forgiven layout",
        "The text departs from XML in a way OpenVINO's parser forgives, such as blanks before the XML declaration.",
        "Other tools refuse the file.",
        "Remove what stands before <?xml.",
    ),
    (
        "X202",
        "warning",
        "departs from the schema",
        "The structure is not what schemas/openvino-ir.xsd describes.",
        "The reader refused the file; this is where else its structure is unusual.",
        "Correct the element or attribute named in the message.",
    ),
    (
        "X203",
        "warning",
        "annotation ignored",
        "What irshape wrote beside the shape of an input does not fit that shape any more.",
        "The symbols it names are not known.",
        "Remove the annotation, or give the shape with --input.",
    ),
)

# N: what a report says of itself.
_family(
    (
        "N101",
        "note",
        "batch axis",
        "Which axis of an input was taken as its batch, and how that is known.",
        "A new batch size goes to this axis.",
        "If another axis is meant, give the shape of the input.",
    ),
    (
        "N102",
        "note",
        "rank of an input changed",
        "An input was given a shape with another number of axes than the file's.",
        "Errors in layers behind it may follow from that.",
        "Give the input a shape of the file's rank.",
    ),
    (
        "N103",
        "note",
        "values not followed",
        "A tensor whose values decide about shapes has more elements than the limit `elements` allows to follow.",
        "What depends on the values is unknown, where they might have told it.",
        "Raise the limit: --limit elements=N.",
    ),
    (
        "N104",
        "note",
        "formula cut short",
        "A size is a formula of more terms or levels than a limit allows; a part of it got a name of its own, e0, e1 and so on.",
        "The formula is exact, but what its part stands for is not written out.",
        "Raise the limits: --limit terms=N, --limit levels=N.",
    ),
)

# G: the graph.
_family(
    (
        "G101",
        "warning",
        "duplicate layer id",
        "Two layers have the same id.",
        "Edges to that id are ambiguous; OpenVINO drops all but the last.",
        "Give every layer its own id.",
    ),
    (
        "G102",
        "error",
        "dangling edge",
        "An edge names a layer that does not exist.",
        "OpenVINO refuses the file or drops the edge.",
        "Remove the edge or restore the layer.",
    ),
    (
        "G103",
        "error",
        "edge to an unknown port",
        "An edge names a port that its layer does not have.",
        "OpenVINO refuses the file.",
        "Correct the port id.",
    ),
    ("G104", "error", "port fed twice", "Two edges end at the same input port.", "OpenVINO refuses the file.", "Remove one of the edges."),
    (
        "G105",
        "error",
        "cycle",
        "Layers depend on each other in a circle.",
        "There is no order in which they could run.",
        "Break the circle; a loop belongs into Loop or TensorIterator.",
    ),
    (
        "G106",
        "error",
        "unconnected input port",
        "An input port has no edge.",
        "OpenVINO refuses it in IR version 11.",
        "Connect the port or remove it.",
    ),
    (
        "G107",
        "error",
        "missing input",
        "The operation needs an input that is not there.",
        "OpenVINO refuses the layer.",
        "Connect the input named in the message.",
    ),
    (
        "G108",
        "error",
        "surplus input",
        "The layer has more inputs than the operation takes.",
        "OpenVINO refuses the layer.",
        "Remove the surplus edge and port.",
    ),
    (
        "G109",
        "error",
        "surplus output port",
        "The layer lists more output ports than the operation has.",
        "OpenVINO refuses it in IR version 11.",
        "Remove the surplus port.",
    ),
    (
        "G110",
        "error",
        "unknown operation",
        "No opset has an operation of this type.",
        "Its shapes cannot be inferred; the recorded ones are trusted.",
        "Correct the type, or pass --opaque TYPE for an extension.",
    ),
    (
        "G111",
        "error",
        "operation not in this opset",
        "The type exists, but not in the version the layer names.",
        "OpenVINO refuses the layer.",
        "Use an opset that holds the operation.",
    ),
    ("G112", "error", "unknown opset", "The layer's version is no opset.", "OpenVINO refuses the layer.", "Use opset1 to opset17."),
    (
        "G113",
        "warning",
        "no Result",
        "The model has no Result layer.",
        "It computes nothing that could be read.",
        "Add a Result for each output.",
    ),
    (
        "G114",
        "warning",
        "duplicate layer name",
        "Two layers have the same name.",
        "Tools that look layers up by name find only one of them.",
        "Give every layer its own name.",
    ),
    (
        "G115",
        "warning",
        "duplicate port id",
        "Two ports of a layer have the same id.",
        "Edges to that id are ambiguous; OpenVINO takes the first.",
        "Give every port of a layer its own id.",
    ),
    (
        "G116",
        "warning",
        "unused layer",
        "The layer reaches no Result or Assign.",
        "OpenVINO drops it without a look.",
        "Remove it, or connect it.",
    ),
    (
        "G117",
        "warning",
        "opaque operation",
        "The operation is unknown and was allowed with --opaque; its recorded ports are trusted.",
        "Nothing about it has been checked.",
        "None is needed.",
    ),
    (
        "G118",
        "error",
        "variable without ReadValue",
        "An Assign names a variable that no ReadValue of its graph reads; for Assign of opset3 the ReadValue must be upstream.",
        "OpenVINO refuses the file.",
        "Add the ReadValue, or correct variable_id.",
    ),
    (
        "G119",
        "error",
        "port map does not fit",
        "A port map of If, Loop or TensorIterator names a port or layer that is not there, or leaves one out.",
        "OpenVINO refuses the file.",
        "Map every input and output to a Parameter and a Result of the body.",
    ),
)

# A: attributes.
_family(
    (
        "A101",
        "error",
        "missing attribute",
        "The operation needs an attribute that is not there.",
        "OpenVINO refuses the layer.",
        "Add the attribute.",
    ),
    (
        "A102",
        "error",
        "malformed attribute",
        "The attribute's text cannot be read as its type.",
        "OpenVINO refuses the layer.",
        "Write it as the operation's page says.",
    ),
    (
        "A103",
        "error",
        "value not allowed",
        "The attribute is none of the words the operation knows.",
        "OpenVINO refuses the layer.",
        "Use one of the words in the message.",
    ),
    (
        "A104",
        "error",
        "value out of range",
        "The attribute is outside the range the operation allows.",
        "OpenVINO refuses the layer.",
        "Use a value in the range.",
    ),
    (
        "A105",
        "error",
        "wrong length",
        "A list attribute has too few or too many items.",
        "OpenVINO refuses the layer.",
        "Give one item per axis, as the message says.",
    ),
)

# T: element types.
_family(
    (
        "T101",
        "error",
        "element type not allowed",
        "The operation does not take this element type at this port.",
        "OpenVINO refuses the layer.",
        "Insert a Convert.",
    ),
    (
        "T102",
        "error",
        "element types differ",
        "Inputs that must share an element type do not.",
        "OpenVINO refuses the layer.",
        "Insert a Convert on one of them.",
    ),
)

# S: shapes.
_family(
    (
        "S101",
        "error",
        "wrong rank",
        "A tensor has a number of axes that the operation does not take.",
        "OpenVINO refuses the layer.",
        "Reshape, squeeze or unsqueeze the tensor.",
    ),
    (
        "S102",
        "error",
        "ranks differ",
        "Tensors that must have the same number of axes do not.",
        "OpenVINO refuses the layer.",
        "Reshape one of them.",
    ),
    (
        "S201",
        "error",
        "dimensions differ",
        "Two dimensions that must be equal are not.",
        "OpenVINO refuses the layer.",
        "Change one of the tensors.",
    ),
    (
        "S202",
        "error",
        "shapes do not broadcast",
        "Two dimensions are neither equal nor 1.",
        "OpenVINO refuses the layer.",
        "Change one of the tensors.",
    ),
    (
        "S203",
        "error",
        "dimension too small",
        "A dimension is smaller than the operation needs.",
        "The operation has nothing to compute.",
        "Enlarge the input or the padding, or shrink the window.",
    ),
    (
        "S204",
        "error",
        "not a multiple",
        "A size is not a multiple of its divisor.",
        "OpenVINO refuses the layer.",
        "Pad the tensor or change the divisor.",
    ),
    (
        "S205",
        "error",
        "size leaves int64",
        "A size is larger than 2^63-1.",
        "No runtime can hold it; OpenVINO wraps it silently.",
        "Check the sizes and attributes it was computed from.",
    ),
    (
        "S206",
        "error",
        "valid sizes refused by OpenVINO",
        "OpenVINO refuses a bound of this shape, although sizes exist for which the model runs.",
        "The file cannot be read, only a static variant of it.",
        "Give the inputs static or tighter shapes.",
    ),
)

# V: values of inputs.
_family(
    (
        "V101",
        "error",
        "value out of range",
        "A value of an input tensor is outside what the operation allows.",
        "OpenVINO refuses the layer.",
        "Correct the constant, or what computes it.",
    ),
    (
        "V102",
        "error",
        "axis out of range",
        "An axis is outside [-rank, rank).",
        "OpenVINO refuses the layer.",
        "Use an axis of the tensor.",
    ),
    (
        "V103",
        "error",
        "wrong number of values",
        "An input tensor holds too few or too many values.",
        "OpenVINO refuses the layer or reads beyond its end.",
        "Give as many values as the message says.",
    ),
    ("V104", "error", "duplicate axis", "An axis is named twice.", "OpenVINO refuses the layer.", "Name each axis once."),
    (
        "V105",
        "error",
        "value must be constant",
        "The operation needs this value while the model is read.",
        "OpenVINO refuses the layer.",
        "Feed it from a Const.",
    ),
    ("V106", "error", "division by zero", "A value is divided by zero.", "OpenVINO crashes or refuses.", "Correct the constant."),
)

# W: weights.
_family(
    (
        "W101",
        "error",
        "weights missing",
        "The model has constants, and the .bin is absent or empty.",
        "OpenVINO refuses the file.",
        "Put the .bin beside the .xml, under the same name, or pass it with --weights-file.",
    ),
    (
        "W102",
        "error",
        "constant beyond the weights",
        "A constant's bytes lie beyond the end of the .bin.",
        "The .bin is cut short or belongs to another model.",
        "Copy the .bin again.",
    ),
    (
        "W103",
        "error",
        "constant size differs from its shape",
        "A constant's size in bytes is smaller than its shape and element type need.",
        "OpenVINO refuses the layer.",
        "Export the model again.",
    ),
    (
        "W104",
        "error",
        "not a regular file",
        "The .bin is a directory, a device, a pipe or a link that leaves the model's folder.",
        "It is not read.",
        "Put the file itself beside the .xml.",
    ),
    (
        "W105",
        "error",
        ".xml and .bin swapped",
        "The file given as .xml holds weights, or the .bin holds XML.",
        "Neither can be read.",
        "Exchange the two.",
    ),
    (
        "W106",
        "error",
        "malformed strings",
        "The bytes of a constant of strings are not packed as their number, their places and their characters.",
        "OpenVINO refuses the file.",
        "Export the model again.",
    ),
)

# R: OpenVINO takes it, the specification does not.
_family(
    (
        "R101",
        "warning",
        "number read by prefix",
        "Only the beginning of the text is a number; OpenVINO ignores the rest.",
        "Other readers refuse or read another number.",
        "Write a plain number.",
    ),
    (
        "R102",
        "warning",
        "boolean not recognised",
        "The text is none of true, 1, false and 0; OpenVINO silently takes the default.",
        "The author may have meant the other.",
        "Write true or false.",
    ),
    (
        "R103",
        "warning",
        "required attribute missing",
        "The specification requires the attribute; OpenVINO takes its default.",
        "Other readers may use another default or refuse.",
        "Write the attribute.",
    ),
    (
        "R104",
        "warning",
        "unknown attribute",
        "The operation has no such attribute; OpenVINO ignores it.",
        "It may be a misspelling of one that matters.",
        "Correct or remove it.",
    ),
    (
        "R105",
        "warning",
        "unusual spelling",
        "The word is in another case than the specification and OpenVINO write it, or is an old name; OpenVINO reads it all the same.",
        "Other readers may refuse it or take a default.",
        "Write the word as OpenVINO does.",
    ),
    (
        "R201",
        "warning",
        "value outside the specification",
        "The specification forbids the value; OpenVINO passes it.",
        "Other runtimes may refuse it or compute something else.",
        "Use a value the specification allows.",
    ),
    (
        "R203",
        "warning",
        "OpenVINO infers another size",
        "OpenVINO passes a value outside the specification and infers a wrong size from it; the size given here is the true one.",
        "The two disagree at run time.",
        "Use a value the specification allows.",
    ),
    (
        "R301",
        "warning",
        "recorded shape differs",
        "The port's dims are not what the model computes.",
        "Tools that trust the file see wrong shapes; OpenVINO recomputes them.",
        "Write the model again, for example with irshape infer -o.",
    ),
    (
        "R302",
        "warning",
        "recorded precision differs",
        "The port's precision is not what the model computes.",
        "Tools that trust the file see a wrong type.",
        "Write the model again, for example with irshape infer -o.",
    ),
    (
        "R303",
        "warning",
        "constant larger than its shape",
        "A constant's size in bytes is larger than its shape needs.",
        "The surplus bytes are ignored; the shape may be wrong.",
        "Export the model again.",
    ),
    (
        "R401",
        "warning",
        "never valid",
        "OpenVINO reads the model, but no size of its dynamic dimensions makes it run.",
        "Every inference request will fail.",
        "See the condition in the message.",
    ),
)

# P: what a target demands, asked for with --target.
_family(
    (
        "P101",
        "error",
        "size not fixed",
        "A target wants every size to be a number, and this axis of an input, or a layer whose data decides its size, leaves some open.",
        "The target cannot run the model as it is.",
        "Give the input a fixed shape with --input or irshape reshape; replace a layer whose data decides its size.",
    ),
    (
        "P102",
        "error",
        "size without upper bound",
        "A target wants every size to have an upper bound, and this axis of an input, or a layer whose data decides its size, has none.",
        "The target cannot reserve memory; the NPU refuses such a model.",
        "Bound the input with --input or irshape reshape; bound or replace a layer whose data decides its size.",
    ),
    (
        "P103",
        "error",
        "rank not known",
        "A target wants every tensor to have a known number of axes, and from this layer on it is not known.",
        "The target cannot run the model as it is.",
        "Give the input a shape; let a Reshape or Squeeze that loses the rank take its pattern from a constant.",
    ),
    (
        "P104",
        "error",
        "rank too high",
        "From this layer on tensors have more axes than the target allows.",
        "The target cannot run the model as it is.",
        "Join axes before the layer.",
    ),
)

# I: irshape itself.
_family(
    (
        "I101",
        "error",
        "internal error",
        "irshape failed on this layer. The fault is irshape's, not the file's.",
        "The layer has not been checked.",
        "Please report it with the file.",
    ),
    (
        "I102",
        "error",
        "out of time",
        "The file was not done within the time that check --isolate allows.",
        "Nothing is known of the file. The exit code is 2.",
        "Allow more with --limit time=SECONDS if the file is trusted.",
    ),
    (
        "I103",
        "error",
        "out of memory",
        "The file was not done within the memory that check --isolate allows, or that there is.",
        "Nothing is known of the file. The exit code is 2.",
        "Allow more with --limit memory=SIZE if the file is trusted; examine fewer files at a time with --jobs.",
    ),
    (
        "I104",
        "error",
        "worker ended",
        "The process that examined the file was ended by the system or crashed.",
        "Nothing is known of the file. The exit code is 2.",
        "Signal 9 may mean that the system was out of memory: examine fewer files at a time with --jobs. Please report all else with the file.",
    ),
)


def is_about_specification(code: str) -> bool:
    """Whether a code is for `check` alone: OpenVINO takes the file, the specification or a careful reader does not."""
    return code[0] == "R" and code not in ("R203", "R401")
