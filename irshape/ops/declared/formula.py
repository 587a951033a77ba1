"""The notation of a file of operations: ports, attributes, and formulas of sizes.

Ports and attributes as text are `data: float[N, C, S...]`, `(skips: boolean[?])?` and `int >= 1, default 16`; parsing gives plain data.
A formula has the notation of the formulas that irshape shows, which is Python's: `(H + 2*pad - kernel[0])//stride + 1`. It is compiled to a
function of the inputs and attributes of a layer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from math import inf
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, get_args, get_origin

from irshape.ops.attribute import Attribute, Exact, Ge, Malformed, Spelled, converter
from irshape.ops.context import Context
from irshape.ops.op import Input, Op
from irshape.report.text import counted
from irshape.shape.dim import INT64_MAX, Size, bounds, ceil_div, dim_max, dim_min
from irshape.shape.element_type import ANY, FLOAT, INTEGER, NUMERIC, ElementType
from irshape.shape.shape import Shape


class Mistake(ValueError):
    """A mistake in a declaration. `text` is the part of the file that is wrong, as it stands there, and `hint` is the next step."""

    def __init__(self, message: str, text: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.text = text
        self.hint = hint


NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"

# Words for sets of element types, beside the names of the types themselves.
FAMILIES: Final = {"any": ANY, "number": NUMERIC, "integer": INTEGER, "float": FLOAT}

# The word before the types of a repeated input whose repetitions may have different types.
MIXED: Final = "mixed "

_PORT: Final = re.compile(rf"(?:({NAME})\s*:)?\s*([^\[\]]*?)\s*\[(.*)\]", re.DOTALL)
_RUN: Final = re.compile(rf"({NAME})?\s*\.\.\.")
_PORT_HINT: Final = 'write a port as "NAME: TYPE[SIZES]", for example "data: float[N, C, S...]"'
_ATTRIBUTE_HINT: Final = (
    'write the type of an attribute, for example "int", "int >= 1", "list of float", "boolean", "text", "element type" or "max | min", '
    'and its default behind it: "int, default 1"'
)


class PortText(NamedTuple):
    """A port as its declaration says it. `items` are the texts of its sizes, and None for `[...]`."""

    name: str
    type: str
    items: tuple[str, ...] | None
    text: str


class PartText(NamedTuple):
    """Ports that are there together: once (`""`), at most once (`"?"`), at least once (`"+"`) or any number of times (`"*"`)."""

    ports: tuple[PortText, ...]
    times: str


class Pattern(NamedTuple):
    """The shape that an input must have: sizes before and after a `run` of axes.

    A size is a number, a name, or None for any size. The run has a name, or none (`""`); without a run it is None.
    """

    before: tuple[int | str | None, ...]
    run: str | None
    after: tuple[int | str | None, ...]

    @property
    def names(self) -> list[str]:
        return [item for item in (*self.before, *self.after) if isinstance(item, str)]


def split(text: str, separator: str = ",") -> list[str]:
    """The parts of a text between separators that stand outside of brackets, without blanks around them."""
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == separator and depth == 0:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def parse_part(text: str) -> PartText:
    """One port, or several in parentheses with the number of times that they are there: `(begins: i32[B], ends: i32[B])+`."""
    text = text.strip()
    grouped = re.fullmatch(r"\((.*)\)\s*([?+*])", text, re.DOTALL)
    if grouped:
        return PartText(tuple(map(parse_port, split(grouped[1]))), grouped[2])
    if text[:1] == "(":
        raise Mistake(f"{text!r} does not say how often its ports are there", text, "end it with )? , )+ or )*")
    return PartText((parse_port(text),), "")


def parse_port(text: str) -> PortText:
    """A port: `data: float[N, C]`, or `float[N, C]` without a name."""
    match = _PORT.fullmatch(text)
    if match is None or not match[2]:
        raise Mistake(f"{text!r} is not a port", text, _PORT_HINT)
    name, type, inner = match[1] or "", match[2], match[3].strip()
    if inner == "...":
        return PortText(name, type, None, text)
    items = tuple(split(inner)) if inner else ()
    if "" in items:
        raise Mistake(f"{text!r} has an empty size", text, "remove the surplus comma, or write ? for any size")
    return PortText(name, type, items, text)


def parse_types(port: PortText) -> frozenset[ElementType] | str:
    """The element types that an input takes, or the name of the input that has the same type (`like data`)."""
    text = port.type.removeprefix(MIXED)
    words = text.split()
    if words[:1] == ["like"] and len(words) == 2:
        return words[1]
    found: frozenset[ElementType] = frozenset()
    for word in text.split("|"):
        word = word.strip()
        element_type = ElementType.BY_NAME.get(word)
        if element_type is None and word not in FAMILIES:
            raise Mistake(f"{word!r} is not an element type", port.text, f"write {', '.join(FAMILIES)}, or a type such as f32 or i32 | i64")
        found |= FAMILIES[word] if element_type is None else {element_type}
    return found


def parse_pattern(port: PortText) -> Pattern:
    """The shape that an input must have."""
    if port.items is None:
        return Pattern((), "", ())
    sizes: list[int | str | None] = []
    at, run = -1, None
    for item in port.items:
        match = _RUN.fullmatch(item)
        if match is None:
            sizes.append(_parse_size(item, port))
        elif at >= 0:
            hint = "leave one of them: where one ends and the other begins is open"
            raise Mistake(f"{port.text!r} has two runs of axes", port.text, hint)
        else:
            at, run = len(sizes), match[1] or ""
    return Pattern(tuple(sizes if at < 0 else sizes[:at]), run, tuple(sizes[at:] if at >= 0 else ()))


def _parse_size(item: str, port: PortText) -> int | str | None:
    if item == "?":
        return None
    if re.fullmatch(r"\d{1,18}", item):
        return int(item)
    if re.fullmatch(NAME, item):
        return item
    hint = "write a number, a name, ? for any size, or S... for any number of axes"
    raise Mistake(f"{item!r} is not a size of an input", port.text, hint)


def parse_attribute(name: str, python_name: str, text: str) -> tuple[Any, bool, Any]:
    """The annotation of an attribute for an operation class, whether it has a default, and the default: `int >= 1, default 16`."""
    type, comma, default = text.partition(", default")
    annotation = _parse_annotation(type.strip(), text)
    value = None
    if comma:
        word = _unquoted(default.strip())
        try:
            value, remark = converter(annotation)(word.removeprefix("[").removesuffix("]"))
        except Malformed as error:
            raise Mistake(f"the default of {name!r} does not fit its type: {error}", text, _ATTRIBUTE_HINT) from None
        if remark is not None:
            raise Mistake(f"the default of {name!r} does not fit its type: {word!r}", text, _ATTRIBUTE_HINT)
    if python_name != name:
        annotation = Annotated[annotation, Spelled(name)]
    return annotation, bool(comma), value


def _unquoted(word: str) -> str:
    """A word without quotes around it, which the empty word needs."""
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "'\"" else word


_SCALARS: Final[dict[str, Any]] = {"int": int, "float": float, "boolean": bool, "text": str, "element type": ElementType}


def _parse_annotation(type: str, text: str) -> Any:
    if type in _SCALARS:
        return _SCALARS[type]
    if item := re.fullmatch(r"list of (\w+)(.*)", type):
        inner: Any = _SCALARS.get(item[1])
        if inner in (int, float, bool, str):
            many: Any = tuple[inner, ...]
            return _limited(many, item[2], text) if item[2] else many
    elif item := re.fullmatch(r"(int|float)( .*)", type):
        return _limited(_SCALARS[item[1]], item[2], text)
    elif ("|" in type or _unquoted(type) != type) and all(words := [word.strip() for word in type.split("|")]):
        return Annotated[Literal[tuple(map(_unquoted, words))], Exact]
    raise Mistake(f"{type!r} is not the type of an attribute", text, _ATTRIBUTE_HINT)


def _limited(annotation: Any, limit: str, text: str) -> Any:
    match = re.fullmatch(r"\s*>=\s*(-?\d{1,18})", limit)
    if match is None:
        raise Mistake(f"{limit.strip()!r} is not a limit", text, 'write the least value, for example "int >= 1"')
    return Annotated[annotation, Ge(int(match[1]))]


_HINT: Final = (
    "a formula is made of numbers, sizes that an input names, attributes, + - * // %, min(a, b), max(a, b), ceil_div(a, b), data[0], "
    "rank(data), value(data), value(data, 0) and a if flag else b"
)

# A sum of n numbers nests n operations.
_MOST_LEVELS: Final = 200


class BoundLayer(NamedTuple):
    """The layer of a formula: the operation with its attributes, its inputs by name, and the sizes that these have named.

    An input is None if it is absent. A size or a run of axes is absent from `sizes` and `runs` if its input or the rank is not known.
    """

    op: Op
    ctx: Context
    inputs: Mapping[str, Any]
    sizes: dict[str, Size]
    runs: Mapping[str, Shape]


Formula: TypeAlias = Callable[[BoundLayer], Size]
Axes: TypeAlias = Callable[[BoundLayer], Shape]
Test: TypeAlias = Callable[[BoundLayer], bool]


class Vocabulary(NamedTuple):
    """The names that a formula may use.

    `sizes` and `runs` are named by the shapes of inputs: each name has the input that names it. `inputs` are the inputs that are there at
    most once. The formulas add to `ranks`, the least rank that each input must have, to `read`, the inputs whose elements they read, and
    to `used`, all inputs that they use.
    """

    sizes: Mapping[str, str]
    runs: Mapping[str, str]
    inputs: Sequence[str]
    attributes: Mapping[str, Attribute]
    ranks: dict[str, int]
    read: set[str]
    used: set[str]


def compile_size(text: str, names: Vocabulary, place: str) -> Formula:
    """The function of one size: a formula, `?` for a size that only running the model tells, or `low..high` for one in an interval."""
    if text == "?":
        return lambda layer: layer.ctx.unknown()
    if ".." in text:
        low_text, _, high_text = text.partition("..")
        ends = [compile_size(end.strip(), names, place) if end.strip() else None for end in (low_text, high_text)]
        low, high = ends

        def within(layer: BoundLayer) -> Size:
            least = max(bounds(low(layer))[0], 0) if low else 0
            most = bounds(high(layer))[1] if high else inf
            if least > most:
                layer.ctx.fail("S203", f"no size is in {text}: {least} is more than {most}")
            return layer.ctx.unknown(least, most)

        return within
    tree = parsed(text, place)
    formula = _Compiler(names, text, place).formula(tree)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "value":
        return lambda layer: layer.ctx.dimension(formula(layer))  # -1 is any size
    return formula


def compile_axes(text: str, names: Vocabulary, place: str) -> Axes:
    """The function of a run of axes: `S...`, `broadcast(a, b)...`, or `values(shape)...` for sizes that an input holds."""
    tree = parsed(text, place)
    compiler = _Compiler(names, text, place)
    if isinstance(tree, ast.Name):
        name = tree.id
        if name in names.inputs:
            names.used.add(name)
            return lambda layer: None if layer.inputs[name] is None else layer.inputs[name].partial_shape
        if name not in names.runs:
            raise Mistake(f"no input names the axes {name}...", place, f"name them in an input, for example data: any[{name}...]")
        names.used.add(names.runs[name])
        return lambda layer: layer.runs.get(name)
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        ports = [compiler.input(argument) for argument in tree.args]
        if tree.func.id == "broadcast" and len(ports) == 2:
            return lambda layer: layer.ctx.broadcast_shapes(*_present(layer, ports))
        if tree.func.id == "values" and len(ports) == 1:
            names.read.update(ports)
            return lambda layer: layer.ctx.shape_in(*_present(layer, ports))
    raise Mistake(f"{text!r} is no run of axes", place, "write S..., broadcast(a, b)... or values(shape)...")


def parsed(text: str, place: str) -> ast.expr:
    """The syntax tree of a formula, which nests so little that it can be compiled and computed by recursion."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Mistake(f"{text!r} is not a formula", place, _HINT) from None
    level: list[ast.AST] = [tree]
    for _ in range(_MOST_LEVELS):
        for one in level:
            if isinstance(one, ast.Constant) and isinstance(one.value, int) and one.value > INT64_MAX:
                raise Mistake(f"{text!r} has a number above {INT64_MAX}", place, "no size is larger")
        level = [child for one in level for child in ast.iter_child_nodes(one)]
        if not level:
            return tree
    raise Mistake(f"{text!r} nests its operations deeper than {_MOST_LEVELS}", place, "give a part of the formula an operation of its own")


def plain_type(attribute: Attribute) -> Any:
    """The type of an attribute without its constraints."""
    annotation = attribute.annotation
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


class DeclaredCondition(NamedTuple):
    """A condition on a layer. It is checked if the inputs that it `needs` are there."""

    demand: Callable[[BoundLayer], None]
    needs: Sequence[str]

    def check(self, layer: BoundLayer) -> None:
        """Demand the condition of a layer."""
        if all(layer.inputs[name] is not None for name in self.needs):
            self.demand(layer)


_CONDITION_HINT: Final = (
    "compare two formulas with ==, >=, <=, > or <, compare two inputs with ==, or test attributes and the presence of optional inputs: "
    'mode == "max" or not mask'
)


def compile_condition(text: str, message: str, names: Vocabulary) -> DeclaredCondition:
    """A condition on sizes (`H % patch == 0`, `data[1] == groups*C`), or a test (`mode == "max" or not mask`)."""
    names.used.clear()
    demand = _Compiler(names, text, text, is_condition=True).condition(parsed(text, text), message)
    return DeclaredCondition(demand, sorted(names.used))


_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.FloorDiv: floordiv, ast.Mod: mod,
}  # fmt: skip
_DEMANDS: Final[dict[type[ast.cmpop], Callable[[Context, Size, Size, str], None]]] = {
    ast.Eq: lambda ctx, a, b, message: ctx.require_eq(a, b, message),
    ast.GtE: lambda ctx, a, b, message: ctx.require_ge(a, b, message),
    ast.LtE: lambda ctx, a, b, message: ctx.require_ge(b, a, message),
    ast.Gt: lambda ctx, a, b, message: ctx.require_ge(a, b + 1, message),
    ast.Lt: lambda ctx, a, b, message: ctx.require_ge(b, a + 1, message),
}
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: eq, ast.NotEq: ne, ast.GtE: ge, ast.LtE: le, ast.Gt: gt, ast.Lt: lt,
}  # fmt: skip
_FUNCTIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {"min": dim_min, "max": dim_max, "ceil_div": ceil_div}


class _Compiler(NamedTuple):
    """Compiles the syntax tree of one text."""

    names: Vocabulary
    text: str
    place: str
    is_condition: bool = False

    def fault(self, tree: ast.expr) -> Mistake:
        return Mistake(f"{ast.unparse(tree)!r} cannot be part of a formula", self.place, _HINT)

    def formula(self, tree: ast.expr) -> Formula:
        """The function of a number."""
        match tree:
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                return lambda layer: number
            case ast.Name(id=name):
                return self.named(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self.formula(operand)
                return lambda layer: -inner(layer)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _ARITHMETIC:
                return self.arithmetic(_ARITHMETIC[type(operator)], left, right, is_division=isinstance(operator, (ast.FloorDiv, ast.Mod)))
            case ast.IfExp(test=test, body=body, orelse=other):
                chosen, one, another = self.test(test), self.formula(body), self.formula(other)
                return lambda layer: one(layer) if chosen(layer) else another(layer)
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self.item(name, self.number(index))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self.call(tree, name, arguments)
        raise self.fault(tree)

    def named(self, name: str) -> Formula:
        if name in self.names.sizes:
            self.names.used.add(self.names.sizes[name])

            def size(layer: BoundLayer) -> Size:
                if name not in layer.sizes:
                    layer.sizes[name] = layer.ctx.unknown()
                return layer.sizes[name]

            return size
        own = self.attribute(name, int)
        return lambda layer: getattr(layer.op, own)

    def attribute(self, name: str, wanted: Any = None) -> str:
        """The Python name of an attribute, whose type is `wanted` unless that is None."""
        own = self.names.attributes.get(name)
        if own is None:
            hint = f"name the size in the shape of an input, or declare {name} in the attributes"
            raise Mistake(f"{self.text!r} uses {name!r}, which is neither a size of an input nor an attribute", self.place, hint)
        if wanted is not None and plain_type(own) != wanted:
            kinds = "a list of int" if wanted == tuple[int, ...] else "an int"
            hint = "write name[0] for an item of a list" if wanted is int else "write the name alone for a single number"
            raise Mistake(f"{self.text!r} uses the attribute {name!r}, which is not {kinds}", self.place, hint)
        return own.name

    def arithmetic(self, operate: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr, *, is_division: bool) -> Formula:
        a, b = self.formula(left), self.formula(right)
        if not is_division:
            return lambda layer: operate(a(layer), b(layer))
        divisor_text = ast.unparse(right)

        def divided(layer: BoundLayer) -> Size:
            divisor, ctx = b(layer), layer.ctx
            if isinstance(divisor, int):
                if divisor == 0:
                    ctx.fail("S204", f"{divisor_text} must not be 0, because a size is divided by it")
            else:
                with ctx.assumes():
                    ctx.require_ge(divisor, 1, "{divisor} must not be 0, because a size is divided by it", divisor=divisor_text)
            quotient: Size = operate(a(layer), divisor)
            return quotient

        return divided

    def number(self, tree: ast.expr) -> int:
        match tree:
            case ast.Constant(value=int() as number) if not isinstance(number, bool):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
                return -number
        raise Mistake(f"{ast.unparse(tree)!r} is not the number of an axis or item", self.place, "write a number, for example data[0]")

    def item(self, name: str, index: int) -> Formula:
        """An axis of an input, or an item of an attribute that is a list."""
        if name in self.names.inputs:
            self.names.used.add(name)
            least = index + 1 if index >= 0 else -index
            self.names.ranks[name] = max(self.names.ranks.get(name, 0), least)

            def axis(layer: BoundLayer) -> Size:
                port: Input | None = layer.inputs[name]
                if port is None or (port.partial_shape is None and port.port.rank is None):
                    return layer.ctx.unknown()
                return port.shape[index]

            return axis
        own = self.attribute(name, tuple[int, ...])

        def item(layer: BoundLayer) -> Size:
            items: tuple[int, ...] = getattr(layer.op, own)
            if not -len(items) <= index < len(items):
                least = max(index + 1, -index)
                layer.ctx.fail("A105", f"{name} must have at least {counted(least, 'item')}, got {len(items)}", attribute=name)
            return items[index]

        return item

    def input(self, tree: ast.expr) -> str:
        if not isinstance(tree, ast.Name) or tree.id not in self.names.inputs:
            hint = f"name one of {', '.join(self.names.inputs)}" if self.names.inputs else "give the input a name, and no repetition"
            raise Mistake(f"{ast.unparse(tree)!r} is no input that is there at most once", self.place, hint)
        self.names.used.add(tree.id)
        return tree.id

    def call(self, tree: ast.expr, name: str, arguments: Sequence[ast.expr]) -> Formula:
        if name in _FUNCTIONS and len(arguments) == 2:
            return self.arithmetic(_FUNCTIONS[name], *arguments, is_division=name == "ceil_div")
        if name == "rank" and len(arguments) == 1:
            port = self.input(arguments[0])

            def rank(layer: BoundLayer) -> Size:
                known = None if layer.inputs[port] is None else layer.inputs[port].known_rank
                if known is None and self.is_condition:
                    layer.ctx.fail("S206", f"OpenVINO refuses an unknown rank of {port}", port=layer.inputs[port])
                return layer.ctx.unknown() if known is None else known

            return rank
        if name == "value" and len(arguments) in (1, 2):
            port = self.input(arguments[0])
            self.names.read.add(port)
            index = self.number(arguments[1]) if len(arguments) == 2 else None

            def value(layer: BoundLayer) -> Size:
                held = layer.inputs[port]
                if held is None:
                    return layer.ctx.unknown()
                values = layer.ctx.values(held, 1) if index is None else layer.ctx.values(held, at_least=max(index + 1, -index))
                return values[index or 0]

            return value
        raise self.fault(tree)

    def condition(self, tree: ast.expr, message: str) -> Callable[[BoundLayer], None]:
        """The demand of a condition; a message is a template for the context, and must not lose its braces."""
        template, inputs = message.replace("{", "{{").replace("}", "}}"), set(self.names.inputs)
        match tree:
            case ast.Compare(left=ast.BinOp(left=whole, op=ast.Mod(), right=divisor), ops=[ast.Eq()], comparators=[ast.Constant(value=0)]):
                a, b = self.formula(whole), self.formula(divisor)
                return lambda layer: layer.ctx.require_div(a(layer), b(layer), template)
            case ast.Compare(left=ast.Name(id=a_name), ops=[ast.Eq()], comparators=[ast.Name(id=b_name)]) if {a_name, b_name} <= inputs:
                self.names.used.update((a_name, b_name))
                return lambda layer: layer.ctx.identical_shapes(layer.inputs[a_name], layer.inputs[b_name], template)
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in _DEMANDS and self._are_sizes(left, right):
                a, b, demand = self.formula(left), self.formula(right), _DEMANDS[type(operator)]
                return lambda layer: demand(layer.ctx, a(layer), b(layer), template)
            case ast.BoolOp(op=ast.Or(), values=[*tests, ast.Compare() as last]) if not self._is_test(last):
                return self.conditional(tests, self.condition(last, message))
        test = self.test(tree)

        def demand_test(layer: BoundLayer) -> None:
            if not test(layer):
                layer.ctx.fail("A103", message)

        return demand_test

    def conditional(self, tests: Sequence[ast.expr], demand: Callable[[BoundLayer], None]) -> Callable[[BoundLayer], None]:
        """A demand that is made where no test holds. `not static(data)` makes it where OpenVINO knows the sizes of an input as numbers."""
        known, others = [], []
        for test in tests:
            match test:
                case ast.UnaryOp(op=ast.Not(), operand=ast.Call(func=ast.Name(id="static"), args=[port], keywords=[])):
                    known.append(self.input(port))
                case _:
                    others.append(self.test(test))

        def demanded(layer: BoundLayer) -> None:
            shapes = [layer.inputs[name].partial_shape for name in known]
            if None not in shapes and not any(test(layer) for test in others):
                with layer.ctx.openvino_checks(at=[size for shape in shapes for size in shape]):
                    demand(layer)

        return demanded

    def _is_test(self, tree: ast.Compare) -> bool:
        """Whether a comparison is of an attribute and a constant, which is known for a layer."""
        sides = [tree.left, *tree.comparators]
        is_plain = all(isinstance(one, ast.Constant) or (isinstance(one, ast.Name) and one.id in self.names.attributes) for one in sides)
        return is_plain or type(tree.ops[0]) not in _DEMANDS

    def _are_sizes(self, *trees: ast.expr) -> bool:
        """Whether formulas are of sizes, and not words or truth values of attributes."""
        for tree in trees:
            if isinstance(tree, ast.Constant) and type(tree.value) is not int:
                return False
            own = self.names.attributes.get(tree.id) if isinstance(tree, ast.Name) else None
            if own is not None and plain_type(own) is not int:
                return False
        return True

    def test(self, tree: ast.expr) -> Test:
        """The function of a test: `flag`, `not flag`, `mode == "max"`, `kernel > 1`, `mask` for an optional input that is there."""
        match tree:
            case ast.Name(id=name) if name in self.names.inputs:
                return lambda layer: layer.inputs[name] is not None
            case ast.Name(id=name):
                own = self.attribute(name, bool)
                return lambda layer: bool(getattr(layer.op, own))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                inner = self.test(operand)
                return lambda layer: not inner(layer)
            case ast.BoolOp(op=operator, values=values):
                tests, joined = [self.test(value) for value in values], all if isinstance(operator, ast.And) else any
                return lambda layer: joined([test(layer) for test in tests])
            case ast.Compare(left=ast.Name(id=name), ops=[operator], comparators=[right]) if type(operator) in _COMPARISONS:
                own, compare, wanted = self.attribute(name), _COMPARISONS[type(operator)], self.constant(right)
                return lambda layer: compare(getattr(layer.op, own), wanted)
        raise Mistake(f"{ast.unparse(tree)!r} is no condition", self.place, _CONDITION_HINT)

    def constant(self, tree: ast.expr) -> Any:
        """A number or a word."""
        if isinstance(tree, ast.Constant) and type(tree.value) in (int, str, float, bool):
            return tree.value
        return self.number(tree)


def _present(layer: BoundLayer, ports: Sequence[str]) -> list[Any]:
    """Some inputs; the rule ends with outputs of unknown rank if one of them is absent."""
    found = [layer.inputs[port] for port in ports]
    if None in found:
        layer.ctx.leave_unranked()
    return found
