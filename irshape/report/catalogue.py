"""Every code that irshape reports: its meaning, why it matters and how to correct the fault.

`docs/diagnostics.md` is made from this table and from `irshape.report.snippets`. A code never changes its meaning. The code of a removed entry is
not used again.
"""

from __future__ import annotations

from typing import Final

from irshape.shape.compilation import NamedTuple


class Code(NamedTuple):
    """One entry of the catalogue."""

    code: str
    severity: str
    title: str
    meaning: str
    why: str
    fix: str


CATALOGUE: Final[dict[str, Code]] = {}

# The families of codes, by their first letter.
FAMILIES: Final = {
    "X": "XML",
    "G": "Graph",
    "A": "Attributes",
    "T": "Element types",
    "S": "Shapes",
    "V": "Values of inputs",
    "W": "Weights",
    "R": "Accepted by OpenVINO, forbidden by the specification",
    "P": "Demands of a target",
    "N": "Notes",
    "I": "irshape itself",
}


def _family(text: str) -> None:
    """Add codes, each as `CODE SEVERITY: TITLE`, and below it a line with its meaning, one with why it matters and one with how to correct it."""
    lines = text.strip().splitlines()
    for place in range(0, len(lines), 4):
        head, *texts = map(str.strip, lines[place : place + 4])
        name, title = head.split(": ", 1)
        code, severity = name.split()
        CATALOGUE[code] = Code(code, severity, title, *texts)


# X: the XML itself.
_family("""
X101 error: not well-formed XML
  The parser cannot read the text as XML. A file that was cut short is a common cause.
  Nothing behind this place can be read.
  Correct the markup at the given place. If the file was cut short, copy or export the model again.
X102 error: document type declaration
  The file has a DOCTYPE. An IR never has one.
  Entities of a DOCTYPE can make a small file huge or read other files, so irshape does not read on.
  Remove the DOCTYPE.
X103 error: unknown encoding
  The file declares an encoding that Python does not know, or its bytes do not fit the encoding.
  The text cannot be decoded.
  Save the file as UTF-8 and declare that encoding.
X104 error: not an IR
  The root element is neither <net> nor the <layer> of a specification example, or the file holds no XML. The message names the format if the first bytes tell it: a Git LFS pointer, an archive, an ONNX model, an HTML page and so on.
  The file holds no model that irshape can read.
  Give the .xml file of an IR.
X105 error: missing attribute
  An element lacks an attribute that OpenVINO's reader needs.
  OpenVINO refuses the file.
  Add the attribute that the message names.
X106 error: malformed number
  An id, a version, an offset, a size or a dimension is not a number in the form that OpenVINO's reader accepts.
  OpenVINO refuses the file.
  Write a plain decimal number.
X107 error: unknown precision
  The precision of a port is not the name of an element type of OpenVINO.
  OpenVINO refuses the file.
  Use a name such as FP32, FP16, I64, U8 or BOOL.
X108 error: unsupported IR version
  The file has an IR version other than 10 or 11. Of a file with a version below 10, irshape checks nothing else.
  OpenVINO refuses the file.
  Convert the original model again with a current OpenVINO: ovc MODEL.
X109 error: missing element
  The IR lacks a required element: the body of a Loop or TensorIterator, or the <layers> of a body.
  OpenVINO refuses the file.
  Add the element, or export the model again.
X110 error: incomplete example
  A specification example leaves out a part without which irshape cannot read it.
  irshape cannot infer its shapes.
  Fill in the part that the message names.
X111 error: limit reached
  The file exceeds a limit. The message names the limit.
  Limits bound the work that an untrusted file can cause.
  If you trust the file, raise the limit: --limit NAME=N.
X112 error: execution graph
  The file shows what a compiled model runs, as CompiledModel.get_runtime_model gives the graph. Its layers are kernels of a device, not operations.
  OpenVINO refuses the file.
  Save the model that was compiled: openvino.save_model(model, path).
X113 error: note that OpenVINO refuses
  A note in the <rt_info> of a layer or a port has a value that OpenVINO cannot read, or OpenVINO knows the note and it is given twice.
  OpenVINO refuses the file.
  Correct the note, or remove it.
X114 error: pre-process that OpenVINO refuses
  The <pre-process> of the net gives means that do not fit the channels of its input, or names no input.
  OpenVINO refuses the file, as it subtracts the means when it reads the file.
  Give each channel a mean, or remove the <pre-process>.
X201 warning: text that departs from XML
  The text departs from XML in a way that OpenVINO's parser forgives, such as blanks before the XML declaration, text after the end, or an attribute that is given twice.
  Other tools refuse the file.
  Remove the blanks, the text, the zero bytes or the attribute.
X202 warning: departs from the schema
  The structure of the file differs from the schema schemas/openvino-ir.xsd. irshape compares the two only where X202 is selected by name: --extend-select X202, or a longer selection such as --select X or --select ALL.
  A reader stops at the first fault of the structure; the schema finds all of them.
  Correct the element or attribute that the message names.
X203 warning: annotation ignored
  An earlier run of irshape wrote symbols beside the shape of an input. The shape has changed since, and the symbols do not fit it.
  irshape ignores the symbols.
  Remove the annotation, or give the shape with --input.
X204 warning: unused suppression
  An entry <irshape ignore> in an <rt_info> names a code that no fault of its layer or file has, or a code that does not exist.
  The fault was mended, or the code is misspelt. The entry would hide the same fault if it came back.
  Remove the code from the entry, or correct it.
X205 warning: empty model
  The <net> has no <layers>.
  OpenVINO reads a model without inputs and outputs.
  Export the model again.
X206 warning: misspelt element
  The name of an element is nearly that of one that an IR may have in this place.
  OpenVINO skips the element with all that it holds.
  Correct the name of the element.
""")

# N: notes on choices and omissions of irshape.
_family("""
N101 note: batch axis
  The message names the axis of an input that irshape takes for the batch axis, and the reason, or it names an output without a batch axis.
  --batch changes the size of this axis.
  If another axis is the batch, give the shape of the input with --input.
N102 note: rank of an input changed
  The shape that was given for an input has another rank than the shape in the file.
  The new rank may cause errors in later layers.
  Give the input a shape of the rank that the file has.
N103 note: values not followed
  A tensor whose values determine shapes has more elements than the limit `elements` allows.
  irshape does not follow the values, so the sizes that depend on them stay unknown.
  Raise the limit: --limit elements=N.
N104 note: formula cut short
  The formula of a size has more terms or levels than a limit allows. A part of the formula got a name of its own: long0, long1 and so on.
  The formula is exact, but it does not show the part that the name stands for.
  Raise the limits: --limit terms=N, --limit levels=N.
N105 note: body not followed to the end
  A body inside other bodies needs more passes than the limit `passes` allows. The last pass assumes inputs of any shape.
  The shapes are right, but more passes would make some of them more precise.
  Raise the limit: --limit passes=N.
N106 note: work not finished
  An answer about the file takes more steps of work than the limit `work` allows. The message says which part of the answer is missing.
  The rest of the answer is right. Shapes that irshape did not infer are unknown.
  Raise the limit: --limit work=N.
N107 note: extension needed
  Some operations of the model are not part of OpenVINO. A library that extends OpenVINO has them.
  OpenVINO refuses the model, unless the library is loaded with Core.add_extension or by importing its Python package.
  Load the library wherever the model is read. irshape needs only a description of the operations.
N108 note: weights not read
  The model has constants, and --no-weights says not to read their values.
  Shapes that depend on values of constants are unknown, and irshape does not find the faults in them.
  To check everything, leave out --no-weights (in a configuration: weights = false).
N109 note: one of several ways taken
  The file does not decide how a layer works at the sizes that are asked for. --choose first took the first way, or kept a number.
  At the recorded sizes the model computes what it did. At other sizes it may compute something else than its author meant.
  Compare the model with its source at another size, or give a second export at other sizes: --like other.xml.
""")

# G: the graph.
_family("""
G101 warning: duplicate layer id
  Two layers have the same id.
  An edge to the id is ambiguous. OpenVINO drops all of these layers but the last.
  Give every layer its own id.
G102 error: dangling edge
  An edge names a layer that does not exist.
  OpenVINO refuses the file or drops the edge.
  Remove the edge, or restore the layer.
G103 error: edge to an unknown port
  An edge names a port that its layer does not have.
  OpenVINO refuses the file.
  Correct the port id.
G104 error: port fed twice
  Two edges end at the same input port.
  OpenVINO refuses the file.
  Remove one of the edges.
G105 error: cycle
  Layers depend on each other in a cycle.
  The layers have no order in which they could run.
  Remove an edge of the cycle. Use Loop or TensorIterator for a computation that repeats.
G106 error: unconnected input port
  No edge leads to an input port.
  OpenVINO refuses a file of IR version 11 with such a port.
  Connect the port, or remove it.
G107 error: missing input
  The layer lacks an input that the operation needs.
  OpenVINO refuses the layer.
  Connect the input that the message names.
G108 error: surplus input
  The layer has more inputs than the operation takes.
  OpenVINO refuses the layer.
  Remove the surplus port and its edge.
G109 error: surplus output port
  The layer lists more output ports than the operation has.
  OpenVINO refuses a file of IR version 11 with such a port.
  Remove the surplus port.
G110 error: unknown operation
  No opset has an operation of this type.
  irshape cannot infer the shapes of the outputs, and goes on with the shapes that the file records.
  Correct the type. If the operation belongs to an extension, describe it with --extensions FILE, or trust the file with --opaque TYPE.
G111 error: operation not in this opset
  The operation exists, but not in the opset that the layer names.
  OpenVINO refuses the layer.
  Name an opset that has the operation. The hint names the first one.
G112 error: unknown opset
  The version of the layer is not the name of an opset. The version type_relaxed_opset is reported once: such a file was written while OpenVINO compiled a quantised model.
  OpenVINO refuses the layer.
  Use opset1 to opset17. Where the version is type_relaxed_opset, save the model before it is compiled.
G113 warning: no Result
  The model has no Result layer.
  The model has no output.
  Add a Result for each output.
G114 warning: duplicate layer name
  Two layers have the same name.
  A tool that looks up a layer by its name finds only one of them.
  Give every layer its own name.
G115 warning: duplicate port id
  Two ports of a layer have the same id.
  An edge to the id is ambiguous. OpenVINO takes the first port.
  Give every port of a layer its own id.
G116 warning: unused layer
  No path leads from the layer to a Result or an Assign.
  OpenVINO drops the layer without checking it.
  Remove the layer, or connect it.
G117 warning: opaque operation
  The operation is unknown. The option --opaque allows the operation, and irshape trusts the shapes that the file records for the inputs of the file.
  irshape has not checked the layer. For other inputs the sizes of its outputs are unknown.
  Do nothing if the recorded shapes are right. With --extensions FILE, irshape checks the layer and follows its shapes.
G118 error: variable without ReadValue
  An Assign names a variable that no ReadValue of its graph has. For Assign of opset3 the ReadValue must come before the Assign.
  OpenVINO refuses the file.
  Add the ReadValue, or correct variable_id.
G119 error: port map does not fit
  A port map of If, Loop or TensorIterator names a port or a layer that does not exist, or leaves out one that does.
  OpenVINO refuses the file.
  Map every input to a Parameter and every output to a Result of the body.
G120 error: name of another input or output
  In IR version 10 an input or an output has the name of a tensor of another input or output.
  OpenVINO looks inputs and outputs up by these names, and refuses the file.
  Give the layer another name, or write the model with IR version 11.
G121 warning: port map without effect
  A back edge hands no value on, two inputs of a port map feed one Parameter, or no input feeds a Parameter of the body.
  OpenVINO ignores the back edge; the body then computes with other values, or does not run.
  Correct the ids: each Parameter has one input, and a back edge leads from a Result to a Parameter that is fed whole.
""")

# A: attributes.
_family("""
A101 error: missing attribute
  The layer lacks an attribute that the operation requires.
  OpenVINO refuses the layer.
  Add the attribute.
A102 error: malformed attribute
  The text of the attribute is not a value of its type.
  OpenVINO refuses the layer.
  Write a value of the type that the message names. The page of the operation describes it.
A103 error: value not allowed
  The operation does not know the word that the attribute gives.
  OpenVINO refuses the layer.
  Use one of the words that the message lists.
A104 error: value out of range
  The value of the attribute is outside the range that the operation allows.
  OpenVINO refuses the layer.
  Use a value in the range that the message names.
A105 error: wrong length
  A list attribute has too few or too many items.
  OpenVINO refuses the layer.
  Give as many items as the message says, usually one for each axis.
""")

# T: element types.
_family("""
T101 error: element type not allowed
  The operation does not take this element type at this port.
  OpenVINO refuses the layer.
  Insert a Convert before the port.
T102 error: element types differ
  Inputs that must have the same element type have different ones.
  OpenVINO refuses the layer.
  Insert a Convert before one of them.
""")

# S: shapes.
_family("""
S101 error: wrong rank
  The operation does not take a tensor of this rank at this port.
  OpenVINO refuses the layer.
  Reshape, squeeze or unsqueeze the tensor.
S102 error: ranks differ
  Tensors that must have the same rank have different ones.
  OpenVINO refuses the layer.
  Reshape, squeeze or unsqueeze one of them.
S201 error: dimensions differ
  Two dimensions that must be equal differ.
  OpenVINO refuses the layer.
  Change the shape of one of the tensors. `irshape explain` shows how a size was computed.
S202 error: shapes do not broadcast
  Two dimensions that must broadcast are neither equal nor 1.
  OpenVINO refuses the layer.
  Change the shape of one of the tensors. `irshape explain` shows how a size was computed.
S203 error: dimension too small
  A dimension is smaller than the operation needs, such as an axis that is shorter than the window of a convolution.
  The operation has nothing to compute, and OpenVINO refuses the layer.
  Enlarge the input or its padding, or shrink the window.
S204 error: not a multiple
  A size is not a multiple of the number that must divide it.
  OpenVINO refuses the layer.
  Pad the tensor, or change the divisor.
S205 error: size leaves int64
  A size is larger than 2^63-1.
  OpenVINO wraps the size silently, and no runtime can hold such a tensor.
  Check the sizes and the attributes from which the size was computed.
S206 error: valid sizes refused by OpenVINO
  Some sizes of a dynamic shape are valid, but OpenVINO checks the bounds of the shape alone and refuses them.
  OpenVINO cannot load the file, only a variant with other bounds.
  Give the inputs static shapes or tighter bounds.
S207 error: old size needed
  The command asks for another size, or for an open one, but a layer or a constant needs the old size.
  Nothing is written: the model fails, or computes something else, with the sizes that were asked for.
  Add --rewrite, which changes whatever holds the old size. If the message says that this is not possible, convert the model again.
S208 error: not decided by the file
  Several formulas fit a layer at the sizes that are asked for, or a number stays although the size that it belongs to is open.
  Nothing is written: the model may compute something else than its author meant.
  Say which sizes are meant (--set H=32*k), give a second export at other sizes (--like other.xml), or take the first way: --choose first.
""")

# V: values of inputs.
_family("""
V101 error: value out of range
  A value of an input tensor is outside the range that the operation allows.
  OpenVINO refuses the layer.
  Correct the constant, or the layers that compute the value.
V102 error: axis out of range
  An axis is outside [-rank, rank).
  OpenVINO refuses the layer.
  Name an axis that the tensor has.
V103 error: wrong number of values
  An input tensor holds too few or too many values.
  OpenVINO refuses the layer, or reads beyond the end of the tensor.
  Give as many values as the message says.
V104 error: duplicate axis
  A list of axes names an axis twice.
  OpenVINO refuses the layer.
  Name each axis once.
V105 error: value must be constant
  OpenVINO needs the value of an input, or the number of its values, while it reads the model, but the value is known only when the model runs.
  OpenVINO refuses the layer.
  Feed the input from a Const.
V106 error: division by zero
  A layer that computes a shape divides by zero.
  OpenVINO crashes or refuses the layer.
  Correct the constant, or the layers that compute the divisor.
""")

# W: weights.
_family("""
W101 error: weights missing
  The model has constants, but the .bin is empty, or is a link to a file that does not exist. Constants without bytes need an empty .bin.
  OpenVINO refuses the file.
  Copy or fetch the .bin again, or give the path of another one with --weights-file.
W102 error: constant beyond the weights
  A constant lies beyond the end of the .bin.
  OpenVINO refuses the file. The .bin is cut short, or belongs to another model.
  Copy the .bin again.
W103 error: constant size differs from its shape
  A constant has fewer bytes than its shape and element type need.
  OpenVINO refuses the layer.
  Export the model again.
W104 error: not a regular file
  The .bin is a folder, a device, a pipe, or a link to a file outside the folder of the model. A link into the store of Hugging Face's cache, git-annex or DVC is read, if the folder of the model belongs to the store.
  irshape does not read it.
  Put the file itself beside the .xml, or give its path with --weights-file.
W105 error: .xml and .bin swapped
  The .bin holds XML, or the file that was given as .xml holds weights.
  irshape and OpenVINO can read neither file.
  Exchange the two files.
W106 error: malformed strings
  The bytes of a string constant do not follow OpenVINO's packing: the number of strings, their offsets, their characters.
  OpenVINO refuses the file.
  Export the model again.
W107 error: not weights
  The .bin is too short for the constants, and its first bytes are those of another format: a Git LFS pointer, an archive, an HTML page and so on.
  OpenVINO refuses the file.
  Fetch or download the .bin again.
""")

# W2: weights that may not be those of the file.
_family("""
W201 warning: weights do not fit
  The .bin is longer than the last constant needs. OpenVINO writes no byte after the last constant.
  The .bin may belong to another model. Then the constants have wrong values, and shapes that depend on them are wrong, too. W201 is an error if other errors follow from the values, or if no constant is what the file records.
  Give the .bin that was written together with the .xml.
W202 warning: constants overlap
  A constant begins between the first and the last byte of another constant. OpenVINO writes constants one after the other, and equal ones once.
  An offset or a size is wrong, so at least one of the constants has wrong values. W202 is an error if other errors follow from the values.
  Export the model again.
W203 warning: no weights
  The model has constants, but there is no .bin beside the .xml. irshape check reports an error, the other commands a warning.
  OpenVINO needs the .bin to load the model. irshape checks the model without the .bin: shapes that depend on values of constants are unknown, and irshape does not find the faults in them.
  Put the .bin beside the .xml, give its path with --weights-file, or say with --no-weights that there is none.
""")

# R: OpenVINO accepts the file, the specification does not.
_family("""
R101 warning: text behind a number
  Only the beginning of the attribute's text is a number. OpenVINO ignores the rest.
  Another reader may refuse the file or read another number.
  Write a plain number.
R102 warning: boolean not recognised
  The text is none of true, false, 1 and 0. OpenVINO takes the default instead, and gives no warning.
  The author may have meant the other value.
  Write true or false.
R103 warning: required attribute missing
  The layer lacks an attribute that the specification requires. OpenVINO takes a default.
  Another reader may refuse the file or take another default.
  Write the value that the author meant.
R104 warning: unknown attribute
  The operation has no attribute of this name. OpenVINO ignores the attribute.
  The name may be a misspelling of an attribute that matters.
  Correct the name, or remove the attribute.
R105 warning: unusual spelling
  The word is an old name, or has another case than in the specification. OpenVINO reads it.
  Another reader may refuse the word or take a default.
  Write the word as the specification does.
R201 warning: value outside the specification
  The specification forbids the value. OpenVINO accepts it.
  Another runtime may refuse the value or compute another result.
  Use a value that the specification allows.
R203 warning: OpenVINO infers another size
  The specification forbids the value. OpenVINO accepts it and infers a wrong size; irshape gives the true size.
  At run time the output has another size than OpenVINO inferred.
  Use a value that the specification allows.
R301 warning: recorded shape differs
  The shape that a port records differs from the shape that the model computes. An open size in the record also differs from a number if the recorded shapes of the layer's inputs give this number.
  OpenVINO computes the shape anew, but a tool that trusts the file sees a wrong shape.
  See which is right: the record, or the layer, edge or constant that the message names. irshape infer -o records what the model computes.
R302 warning: recorded precision differs
  The precision that a port records differs from the element type that the model computes, or the model computes no element type.
  OpenVINO computes the element type anew, but a tool that trusts the file sees a wrong type.
  See which is right: the record, or the layer or edge that the message names. irshape infer -o records what the model computes.
R303 warning: constant larger than its shape
  A constant has more bytes than its shape and element type need.
  OpenVINO ignores the surplus bytes, but the shape may be wrong.
  Export the model again.
R401 warning: never valid
  OpenVINO loads the model, but the given sizes break a condition of a layer, or no numbers for the dynamic dimensions fulfil the condition.
  Every inference request fails, or the layer reads memory that does not belong to its tensor. irshape sizes and irshape reshape refuse such sizes.
  Choose other sizes, or change the model so that the condition in the message can hold.
""")

# P: demands of a target, asked for with --target.
_family("""
P101 error: size not fixed
  The target needs static shapes, but the size of an axis is not fixed. The axis is one of an input, or the data of a layer decides its size.
  The target cannot run the model.
  Fix the input with --input or irshape reshape. Replace a layer whose data decides a size.
P102 error: size without upper bound
  The target needs an upper bound of every size, but the size of an axis has none. The axis is one of an input, or the data of a layer decides its size.
  The target cannot reserve memory for the tensor. The NPU refuses such a model.
  Bound the input with --input or irshape reshape. Bound or replace a layer whose data decides a size.
P103 error: rank not known
  The target needs a known rank of every tensor, but from this layer on the rank is unknown.
  The target cannot run the model.
  Give the input a shape. Feed a Reshape or Squeeze that loses the rank from a Const.
P104 error: rank too high
  From this layer on, tensors have a higher rank than the target allows.
  The target cannot run the model.
  Merge axes before the layer.
P105 warning: bound that OpenVINO does not find
  Every size has an upper bound, but OpenVINO finds none for a layer, such as a Range over the length of a state.
  The compiler asks OpenVINO. It may refuse the model with 'Upper bounds are not specified for node'.
  Give the sizes that the layer depends on as numbers. If they depend on a state, make the state inputs and outputs first (irshape edit --stateless). Else replace the layer.
P106 error: second inference cannot run
  All inputs have fixed shapes, but an inference changes the shape of the state, and a layer refuses the inputs together with the new shape. A state whose length the inputs leave open is no such fault: the model runs until the state is as long as its variable allows, which the next inference refuses.
  The model runs once, or not at all if the state is empty at first, as that of a KV cache.
  Make the state inputs and outputs first (irshape edit --stateless), and fix the sizes there. Or leave the sizes that grow with the state open.
P107 error: output without a name
  The tensor of an output of the model has no name. Only the target named-outputs asks for names.
  A program can ask for the output by its position only, and another export may have another order.
  Give the tensor a name: irshape edit model.xml --name LAYER:PORT=NAME.
P110 error: batch mixed
  The layer combines samples of the batch, or fixes the size of the batch. The message says how.
  With another batch size, the outputs are not those of the single samples.
  Run samples one by one, change the layer in the source model, or export the model with the batch size that you need.
P111 error: batch not proved
  irshape cannot prove that the layer keeps samples apart: irshape has no rule for the operation, a tensor that decides this is not known, or the layer computes with the size of the batch.
  With another batch size, the outputs may not be those of the single samples.
  Compare the outputs of a batch with those of single samples. If they agree, give the shapes with --input.
""")

# I: irshape itself.
_family("""
I101 error: internal error
  irshape failed on this layer. The fault is irshape's, not the file's.
  irshape has not checked the layer.
  Report the fault together with the file.
I102 error: out of time
  irshape did not finish the file within the time that check --isolate allows.
  irshape has not checked the file. The exit code is 2.
  If you trust the file, allow more time: --limit time=SECONDS.
I103 error: out of memory
  irshape did not finish the file within the memory that check --isolate allows, or that the system has.
  irshape has not checked the file. The exit code is 2.
  If you trust the file, allow more memory: --limit memory=SIZE. Examine fewer files at a time with --jobs.
I104 error: worker ended
  The process that examined the file crashed, or the system ended it.
  irshape has not checked the file. The exit code is 2.
  After signal 9 the system may have been out of memory: examine fewer files at a time with --jobs. Report any other signal together with the file.
I105 error: file not fetched
  irshape could not get the file or its .bin whole: the server refused it, the archive is damaged, or the file changed meanwhile.
  irshape has not checked the file, because no verdict rests on a part of a file. The exit code is 2.
  Try again: a scan never takes rows of failed files from a cache. If the server refuses the file, check the credentials.
""")


def next_step(code: str) -> str:
    """What to do about a code, in the form of a hint."""
    fix = CATALOGUE[code].fix
    return fix[0].lower() + fix[1:].removesuffix(".")


def is_fault(code: str) -> bool:
    """Whether a finding of this code says that a layer does not pass."""
    return CATALOGUE[code].severity == "error" or code == "R401"


def is_about_specification(code: str) -> bool:
    """Whether a code is for `check` alone: OpenVINO takes the file, the specification or a careful reader does not."""
    return code[0] == "R" and code not in ("R203", "R401")
