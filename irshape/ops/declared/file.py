"""A TOML file of operations, and the classes that it declares.

extension = "acme-vision"

[PatchEmbed]
summary = "Cut an image into square patches and make each patch a row."
inputs = ["image: float[N, C, H, W]"]
outputs = ["rows: like image[N, (H//patch)*(W//patch), C*patch*patch]"]

[PatchEmbed.attributes]
patch = "int >= 1"

[PatchEmbed.conditions]
"H % patch == 0" = "the height must be a multiple of patch"
"""

import re
from collections.abc import Mapping, Sequence
from keyword import iskeyword
from typing import Any, ClassVar, Final, NamedTuple

from irshape.files.reading import TomlFault, parse_toml
from irshape.ops.attribute import Attribute
from irshape.ops.context import Context
from irshape.ops.declared import formula
from irshape.ops.declared.formula import Axes, BoundLayer, DeclaredCondition, Mistake, PartText, Pattern, PortText, Vocabulary
from irshape.ops.op import EXTENSION, DefinitionError, In, Input, Op, Out, UnknownRank
from irshape.report.text import WIDEST, shorten
from irshape.shape.dim import Size
from irshape.shape.element_type import ElementType
from irshape.shape.shape import Shape


class Output(NamedTuple):
    """The shape of an output: the function of each run of axes, or of one size. The output is there if the inputs `needs` are."""

    runs: Sequence[Axes]
    needs: Sequence[str]

    def shape(self, layer: BoundLayer) -> Shape:
        """The shape for one layer; None if a run of axes is not known."""
        sizes: list[Size] = []
        for run in self.runs:
            axes = run(layer)
            if axes is None:
                return None
            sizes += axes
        return tuple(sizes)


class Rule(NamedTuple):
    """The rule of an operation as a file states it: the shapes of the inputs, by name, then the conditions, then the shapes of the outputs.

    `numbers` are the attributes that the shapes of inputs name, each with its name in Python.
    """

    numbers: dict[str, str]
    patterns: dict[str, Pattern]
    conditions: Sequence[DeclaredCondition]
    outputs: Sequence[Output]

    def shapes(self, op: Op, ctx: Context, inputs: Sequence[Any]) -> Shape | list[Shape]:
        named = {port.name: held for port, held in zip(op.inputs, inputs, strict=True)}
        binding = _Binding(ctx, {name: getattr(op, own) for name, own in self.numbers.items()})
        for name, pattern in self.patterns.items():
            held = named[name]
            for one in held if isinstance(held, tuple) else (held,) if held is not None else ():
                binding.bind(one, pattern)
        layer = BoundLayer(op, ctx, named, binding.sizes, binding.runs)
        for condition in self.conditions:
            condition.check(layer)
        ctx.stop_at_errors()
        shapes = [output.shape(layer) for output in self.outputs if all(named[name] is not None for name in output.needs)]
        return shapes[0] if len(op.outputs) == 1 else shapes


class _Binding:
    """The sizes and the runs of axes that the shapes of inputs name."""

    def __init__(self, ctx: Context, numbers: dict[str, Size]) -> None:
        self.ctx = ctx
        self.sizes = numbers
        self.runs: dict[str, Shape] = {}
        # The input, or the attribute, that has named each size first.
        self.named_by = dict.fromkeys(numbers, "the attributes")

    def bind(self, port: Input, pattern: Pattern) -> None:
        """Bind the names in the shape of an input, and compare the sizes that are numbers or have a value already."""
        before, run, after = pattern
        try:
            shape = port.shape
        except UnknownRank:
            return
        first, last = len(before), len(shape) - len(after)
        for axis, wanted in [*enumerate(before), *enumerate(after, last)]:
            if wanted is not None:
                self._size(port, axis, wanted, shape[axis])
        if run:
            known = self.runs.get(run)
            message = f"axis {{axis}} of {run}... must be as long in {port.name} as in {self.named_by.get(run)}"
            merged = self.ctx.merge_shapes(known, shape[first:last], message) if run in self.runs else shape[first:last]
            self.runs[run] = merged
            self.named_by.setdefault(run, port.name)

    def _size(self, port: Input, axis: int, wanted: int | str, size: Size) -> None:
        if isinstance(wanted, int):
            self.ctx.require_eq(size, wanted, f"{port.name}[{axis}] must be {wanted}")
        elif wanted in self.sizes:
            message = f"{port.name}[{axis}] must be {wanted} of {self.named_by[wanted]}"
            self.sizes[wanted] = self.ctx.merge(size, self.sizes[wanted], message)
        else:
            self.sizes[wanted] = size
            self.named_by[wanted] = port.name


class DeclaredOp(Op):
    """The family of operations that a file declares."""

    rule: ClassVar[Rule]

    def infer(self, ctx: Context, *inputs: Any) -> Any:
        return self.rule.shapes(self, ctx, inputs)


# The keys of an operation, with the types of their values and what these are.
KEYS: Final[dict[str, tuple[type, str]]] = {
    "summary": (str, "a text"),
    "version": (str, "a text"),
    "inputs": (list, "a list of texts"),
    "outputs": (list, "a list of texts"),
    "attributes": (dict, "a table of texts"),
    "conditions": (dict, "a table of texts"),
}
# A longer message quotes a long formula, and loses its middle.
_WIDEST_FAULT: Final = 400
_TIMES: Final = {"": {}, "?": {"optional": True}, "+": {"variadic": True}, "*": {"variadic": True, "optional": True}}


class FileFault(ValueError):
    """Mistakes in a file of operations, one for each operation that has some; a line of the message names file, line and next step."""


def read_ops(source: bytes, path: str, module: str) -> list[type[Op]]:
    """The classes that a TOML file declares. `module` is the module that they belong to. Raises `FileFault`.

    A class has the attributes `TYPE` and `VERSION`, and is registered by the caller.
    """
    try:
        text, tables = parse_toml(source)
    except TomlFault as fault:
        raise FileFault(f"{path}:{f'{fault.line}:{fault.column}:' if fault.line else ''} {fault.reason}") from None
    extension = tables.pop("extension", "")
    if not isinstance(extension, str):
        raise FileFault(f"{path}:{_line(text, 'extension', '')}: extension must be a text: the library that runs these operations")
    ops: list[type[Op]] = []
    faults: list[str] = []
    for name, table in tables.items():
        try:
            ops.append(_Declaration(name, table).compile(module, extension))
        except Mistake as fault:
            hint = f"; {fault.hint}" if fault.hint else ""
            faults.append(f"{path}:{_line(text, name, fault.text)}: {shorten(name, WIDEST)}: {shorten(str(fault), _WIDEST_FAULT)}{hint}")
    if faults:
        raise FileFault("\n".join(faults))
    if not ops:
        raise FileFault(f'{path}: the file declares no operation; begin one with its type in brackets, for example "[PatchEmbed]"')
    return ops


def _line(source: str, type: str, text: str) -> int:
    """The line of a part of an operation; the line of the operation's name if the part is not found as it stands."""
    header = re.search(
        rf"^[ \t]*\[+[ \t]*[\"']?{re.escape(type)}[\"']?[ \t]*[\].]|^[ \t]*[\"']?{re.escape(type)}[\"']?[ \t]*[=.]", source, re.MULTILINE
    )
    start = header.start() if header else 0
    found = source.find(text, start) if text else -1
    return source.count("\n", 0, max(found, start)) + 1


class _Declaration:
    """One operation of a file, on its way to a class."""

    def __init__(self, type: str, table: Any) -> None:
        if not isinstance(table, dict):
            raise Mistake(f"{type!r} must be a table", hint=f"begin the operation with [{type}]")
        for key, value in table.items():
            if key not in KEYS:
                from difflib import get_close_matches

                close = get_close_matches(key, KEYS, 1)
                raise Mistake(f"{key!r} is no key of an operation", key, f"did you mean {close[0]}?" if close else f"use {', '.join(KEYS)}")
            wanted, name = KEYS[key]
            parts = value if isinstance(value, list) else value.values() if isinstance(value, dict) else [value]
            if not isinstance(value, wanted) or not all(isinstance(part, str) for part in parts):
                raise Mistake(f"{key} must be {name}", key)
        self.type = type
        self.table: Mapping[str, Any] = table
        self.namespace: dict[str, Any] = {"__annotations__": {}}
        self.attributes: dict[str, Attribute] = {}
        self.patterns: dict[str, Pattern] = {}

    def compile(self, module: str, extension: str) -> type[Op]:
        own = self.namespace
        inputs = [formula.parse_part(text) for text in self.table.get("inputs", [])]
        outputs = [formula.parse_part(text) for text in self.table.get("outputs", [])]
        if not outputs:
            raise Mistake("the operation has no output", "outputs", 'declare one, for example outputs = ["float[N, C]"]')
        ports = [port for part in inputs for port in part.ports]
        for name, text in self.table.get("attributes", {}).items():
            self._attribute(name, text, {port.name for port in ports})
        names = self._inputs(inputs)
        conditions = [formula.compile_condition(text, message, names) for text, message in self.table.get("conditions", {}).items()]
        used = {name for pattern in self.patterns.values() for name in pattern.names}
        own["rule"] = Rule(self._numbers(used), self.patterns, conditions, self._outputs(outputs, names))
        for name, rank in names.ranks.items():
            self._rank(name, rank)
        for name in names.read:
            own[name].value = True
        own |= {"__doc__": self.table.get("summary", ""), "__module__": module, "EXTENSION": extension}
        try:
            op: type[Op] = type(re.sub(r"\W", "_", self.type), (DeclaredOp,), own)
        except DefinitionError as error:
            raise Mistake(str(error)) from None
        op.TYPE, op.VERSION = self.type, self.table.get("version", EXTENSION)
        return op

    def _attribute(self, name: str, text: str, ports: set[str]) -> None:
        if name in ports:
            raise Mistake(f"{name!r} is an attribute and an input", name, "give the input another name")
        own = re.sub(r"\W", "_", name)
        if not re.fullmatch(formula.NAME, own) or own.startswith("_") or iskeyword(own) or hasattr(DeclaredOp, own) or own in ports:
            own = f"attribute_{own}"
        if own in self.namespace["__annotations__"]:
            raise Mistake(f"{name!r} resembles another attribute too closely", name, "rename one of them")
        annotation, has_default, default = formula.parse_attribute(name, own, text)
        self.namespace["__annotations__"][own] = annotation
        if has_default:
            self.namespace[own] = default
        self.attributes[name] = Attribute(own, annotation, required=not has_default, default=default)

    def _inputs(self, parts: Sequence[PartText]) -> Vocabulary:
        """Declare the inputs, and return the names that formulas may use."""
        sizes: dict[str, str] = {}
        runs: dict[str, str] = {}
        single: list[str] = []
        for part in parts:
            first = part.ports[0].name
            for port in part.ports:
                if not port.name:
                    raise Mistake(f"{port.text!r} has no name", port.text, f'write "NAME: {port.text}"')
                self._check_name(port, port.name)
                pattern = formula.parse_pattern(port)
                declared = formula.parse_types(port)
                types, like = (formula.FAMILIES["any"], declared) if isinstance(declared, str) else (declared, None)
                along = first if part.times == "?" and port.name != first else None
                count = len(pattern.before) + len(pattern.after)
                rank = count if pattern.run is None else None
                options: dict[str, Any] = _TIMES[part.times]
                self.namespace[port.name] = In(
                    types, like=like, rank=rank, min_rank=count, along=along, mixed=port.type.startswith(formula.MIXED), **options
                )
                self.patterns[port.name] = pattern
                if part.times in ("", "?"):
                    single.append(port.name)
                for name in pattern.names:
                    if name not in self.attributes:
                        sizes.setdefault(name, port.name)
                if pattern.run:
                    runs.setdefault(pattern.run, port.name)
        for name in sizes.keys() & runs.keys():
            raise Mistake(f"{name!r} names a size and a run of axes", f"{name}...", "rename one of them")
        return Vocabulary(sizes, runs, single, self.attributes, {}, set(), set())

    def _numbers(self, names: set[str]) -> dict[str, str]:
        """The attributes that the shapes of inputs name, each with its name in Python."""
        numbers = {name: own for name, own in self.attributes.items() if name in names}
        for name, own in numbers.items():
            if formula.plain_type(own) is not int:
                raise Mistake(f"the shape of an input names the attribute {name!r}, which is not an int", name, "rename the size")
        return {name: own.name for name, own in numbers.items()}

    def _check_name(self, port: PortText, name: str) -> None:
        if name in self.namespace:
            raise Mistake(f"two ports have the name {name!r}", port.text, "give each input and each output a name of its own")
        if name.startswith("_") or iskeyword(name) or hasattr(DeclaredOp, name) or name in self.attributes:
            raise Mistake(f"a port cannot have the name {name!r}", port.text, "give it another name")

    def _rank(self, name: str, least: int) -> None:
        """Demand that an input has the axes that formulas read."""
        port: In = self.namespace[name]
        if port.rank is not None and least > port.rank:
            text = f"{name} has rank {port.rank}, and a formula reads its axis {least - 1}"
            raise Mistake(text, name, "correct the shape of the input, or the number of the axis")
        port.min_rank = max(port.min_rank, least)

    def _outputs(self, parts: Sequence[PartText], names: Vocabulary) -> list[Output]:
        """Declare the outputs, and return the functions of their shapes."""
        outputs: list[Output] = []
        ports = [(port, part.times) for part in parts for port in part.ports]
        optional = [name for name in self.patterns if self.namespace[name].optional]
        for index, (port, times) in enumerate(ports):
            if times in ("+", "*"):
                raise Mistake(f"{port.text!r} is repeated, and outputs cannot be", port.text, "write a class in Python")
            name = port.name or ("output" if len(ports) == 1 else f"output_{index}")
            self._check_name(port, name)
            names.used.clear()
            runs = [lambda layer: None] if port.items is None else [_run(item, names, port) for item in port.items]
            is_ranked = port.items is not None and not any(item.endswith("...") for item in port.items)
            self.namespace[name] = self._out(port, names, len(runs) if is_ranked else None)
            needs = [one for one in optional if one in names.used] if times == "?" else []
            if times == "?" and not needs:
                raise Mistake(f"{port.text!r} is optional, but uses no optional input", port.text, "name the input on which it depends")
            if times != "?" and outputs and outputs[-1].needs:
                raise Mistake(f"{port.text!r} follows an optional output", port.text, "put optional outputs last")
            outputs.append(Output(runs, needs))
        return outputs

    def _out(self, port: PortText, names: Vocabulary, rank: int | None) -> Out:
        words = port.type.split()
        element_type = ElementType.BY_NAME.get(port.type)
        if element_type is not None:
            return Out(element_type, rank=rank)
        if len(words) == 2 and words[0] == "like" and words[1] in self.patterns:
            names.used.add(words[1])
            return Out(like=words[1], rank=rank)
        attribute = self.attributes.get(port.type)
        if attribute is not None and formula.plain_type(attribute) is ElementType:
            return Out(attribute=attribute.name, rank=rank)
        hint = "write a type such as f32, like NAME for the type of an input, or the name of an attribute whose type is element type"
        raise Mistake(f"{port.type!r} is not the type of an output", port.text, hint)


def _run(text: str, names: Vocabulary, port: PortText) -> Axes:
    """The function of a run of axes, or of a single size."""
    if text.endswith("..."):
        return formula.compile_axes(text.removesuffix("..."), names, port.text)
    size = formula.compile_size(text, names, port.text)
    return lambda layer: (size(layer),)
