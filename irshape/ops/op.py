"""An operation is a class: its annotations are attributes, its `In` and `Out` fields are ports, and its `infer` is the rule."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import FunctionType, MappingProxyType
from typing import Any, ClassVar, Final, Self, TypeAlias, get_args, get_origin

from irshape.ops.attribute import Attribute, Fixed, Malformed, spell
from irshape.ops.cost import Count as Count
from irshape.ops.cost import moved
from irshape.ops.flow import Flow as Flow
from irshape.ops.port import In as In
from irshape.ops.port import Input as Input
from irshape.ops.port import Out as Out
from irshape.ops.port import UnknownRank as UnknownRank
from irshape.ops.port import placed
from irshape.report.finding import Finding
from irshape.shape.element_type import ElementType
from irshape.shape.guard import BOUNDS, STATIC, Looks, Requirement
from irshape.shape.limits import DEFAULT, Limits
from irshape.shape.shape import Shape
from irshape.shape.value import Elements

# The attributes that OpenVINO reads of a layer of any type.
ANYWHERE: Final = ("PrimitivesPriority", "alt_width")
# The version that OpenVINO gives the operations of extensions, unless these name one of their own.
EXTENSION: Final = "extension"
# The number for each axis that an empty list means.
EMPTY: Final = {"dilations": 1, "pads_begin": 0, "pads_end": 0, "end_mask": 0}


class DefinitionError(TypeError):
    """An op class contradicts itself."""


# The ports that are absent or present together, and those that are repeated together, each as one part.
_Parts: TypeAlias = tuple[tuple[In, ...], ...]


def _parts(name: str, ports: Sequence[In]) -> _Parts:
    """The inputs of an operation as parts. Raises `DefinitionError` if they contradict each other."""
    parts: list[list[In]] = []
    for port in ports:
        before = parts[-1] if parts else None
        if port.along is not None:
            if before is None or before[0].name != port.along or not (before[0].optional and port.optional):
                raise DefinitionError(f"{name}.{port.name} is there along with {port.along!r}, so both must be optional, and side by side")
            before.append(port)
        elif port.variadic and before is not None and before[0].variadic:
            before.append(port)
        else:
            parts.append([port])
    for part in parts:
        for port in part:
            port.stride = len(part)
    if sum(part[0].variadic for part in parts) > 1:
        raise DefinitionError(f"the variadic inputs of {name} must stand side by side")
    return tuple(map(tuple, parts))


def _arranged(parts: _Parts, count: int, known: dict[tuple[int, int], tuple[In, ...] | None]) -> tuple[In, ...] | None:
    """The ports of `count` inputs, as many of the first parts among them as possible; None if no choice of parts gives so many."""
    if not parts:
        return None if count else ()
    key = (len(parts), count)
    if key not in known:
        part, found = parts[0], None
        least = 0 if part[0].optional else 1
        most = count // len(part) if part[0].variadic else 1
        for times in range(most, least - 1, -1):
            rest = _arranged(parts[1:], count - times * len(part), known) if times * len(part) <= count else None
            if rest is not None:
                found = (*part * times, *rest)
                break
        known[key] = found
    return known[key]


# The flag of a function that takes any number of arguments, as `inspect` names it.
CO_VARARGS: Final = 4
# The methods whose parameters are the inputs, each with the number of parameters before these. Shared ones may name some inputs only.
_RULES: Final = {
    "infer": 2,
    "types": 2,
    "propagate": 2,
    "cost": 2,
    "flow": 2,
    "openvino_checks": 3,
    "openvino_differs": 3,
    "openvino_shapes": 3,
}
_METHODS: Final = (FunctionType, staticmethod, classmethod, property)


def _is_declared(cls: type, name: str) -> bool:
    """Whether a class annotates a name or a base class has it."""
    return name in cls.__annotations__ or any(name in vars(base) or name in base.__annotations__ for base in cls.__mro__[1:-1])


def _picking(function: Callable[..., Any], first: int, names: Sequence[str]) -> Callable[..., Any]:
    """A hook that takes all inputs, and hands on those that `function` names."""

    @wraps(function)
    def hook(self: Op, *given: Any) -> Any:
        inputs = dict(zip([port.name for port in self.inputs], given[first - 1 :], strict=True))
        return function(self, *given[: first - 1], *[inputs[name] for name in names])

    return hook


def as_first(self: object, ctx: Any, first: Input, *others: Any) -> Shape:
    """The rule of an operation whose output has the shape of its first input."""
    return first.shape


class Op:
    """One version of an operation.

    A subclass declares its attributes as annotations (`axis: int = 1`), its ports as fields (`data = In()`), and its rule as
    `infer(self, ctx, *inputs)`, with one parameter for each input, named as the port. The rule returns the shape of the output, or a
    sequence of shapes if there are several outputs. More methods are optional:

    - `types(self, ctx, *inputs)` returns the element types of the outputs, if `Out` cannot say them;
    - `propagate(self, ctx, *inputs)` returns the elements of the output, or a sequence of them for several outputs: so values travel
      through shape subgraphs. It is asked only if the elements of the inputs that `demands` names are known (all inputs, unless the
      class says otherwise). An element is an int, a float, a `Dim` or a `Real`; it returns None if it cannot follow them;
    - `openvino_checks(self, ctx, requirement, *inputs)` returns what OpenVINO looks at when it checks a requirement of the rule that does
      not hold, or may not: what `Context.openvino_checks` takes as `at`, or a tuple of these;
    - `openvino_differs(self, ctx, shapes, *inputs)` returns the shapes of the rule as irshape gives them, where OpenVINO takes an input for
      another one, and tells what OpenVINO refuses beyond the rule;
    - `openvino_view(self, ctx, elements, *inputs)` returns what OpenVINO knows of the elements that `propagate` returned, or None;
    - `openvino_shapes(self, ctx, shapes, *inputs)` returns what OpenVINO knows of the shapes that `infer` returned, one for each output.
      It is asked only in an `OpenVINOPass`;
    - `cost(self, out, *inputs)` counts what the layer computes, as a `Count`; its docstring is the rule in words. It returns None if
      the sizes do not determine it. `out` has the shapes of the outputs. A layer of a class without this method is listed as not counted;
    - `flow(self, flow, *inputs)` says which axis of an input is which axis of an output, and what the layer does with the other axes, as
      the specification does. Without this method, it is not known whether the layer keeps a batch.

    The hooks that begin with `openvino_` hold every departure of OpenVINO, so the rule is the specification. All methods except
    `openvino_view` need only name the inputs that they use.

    `types`, `propagate`, `cost`, `flow`, `openvino_checks` and `openvino_differs` are None for a class without such a method.
    `is_view` says that a runtime need not copy the first input to make the output, `is_in_place` that the output can take the place of an
    input of the same size in memory.
    These class attributes say how values are followed. A family such as `Moving` sets them for its operations.

    - `is_followed`: OpenVINO follows bounds of values through the operation, so that it knows all elements of `propagate`.
    - `unfollowed`: the element types of which OpenVINO computes no values.
    - `takes_unknown`: integers of some inputs may be unknown if others are known; `propagate` takes them as sizes without bounds.

    `EXTENSION` is the name of the library that runs the operation in OpenVINO, for an operation that OpenVINO itself does not have;
    `is_of_extension` says that it needs such a library, also one without a name, and `is_own` that the class is one of irshape's own.

    `demanded` are the positions of the inputs that `demands` names. `has_one_output` says that the rule returns one shape, and no
    sequence of shapes. `ignores_surplus` says that OpenVINO takes more inputs than the
    operation has, in IR version 10, and does not read them. `is_positional` says that the input at a position is the port at this
    position: no port can be absent before another one, and no two are repeated together.

    The definition of a class is checked. A parameter that is no port, an annotation that is no attribute type, and a class attribute or
    a method of an operation that no base class declares raise `DefinitionError`. A helper method begins with an underscore. An attribute
    that is not read from the XML is annotated `ClassVar`, or `Fixed` if other versions read it.
    """

    TYPE: ClassVar[str] = ""
    VERSION: ClassVar[str] = ""
    EXTENSION: ClassVar[str] = ""
    attributes: ClassVar[dict[str, Attribute]] = {}
    inputs: ClassVar[tuple[In, ...]] = ()
    outputs: ClassVar[tuple[Out, ...]] = ()
    demands: ClassVar[tuple[str, ...] | None] = None
    takes_unknown: ClassVar[bool] = False
    is_followed: ClassVar[bool] = False
    ignores_surplus: ClassVar[bool] = False
    unfollowed: ClassVar[frozenset[ElementType]] = frozenset()
    are_alike: ClassVar[bool] = False
    demanded: ClassVar[frozenset[int]] = frozenset()
    has_one_output: ClassVar[bool] = False
    min_inputs: ClassVar[int] = 0
    max_inputs: ClassVar[int | None] = 0
    is_positional: ClassVar[bool] = True
    is_of_extension: ClassVar[bool] = False
    is_own: ClassVar[bool] = False
    _parts: ClassVar[_Parts] = ()
    _arrangements: ClassVar[dict[int, tuple[In, ...]]] = {}
    infer: ClassVar[Callable[..., Any]]
    types: ClassVar[Callable[..., Any] | None] = None
    propagate: ClassVar[Callable[..., Any] | None] = None
    cost: ClassVar[Callable[..., Count | None] | None] = None
    flow: ClassVar[Callable[..., None] | None] = None
    openvino_checks: ClassVar[Callable[..., Any] | None] = None
    openvino_differs: ClassVar[Callable[..., Any] | None] = None
    is_view: ClassVar[bool] = False
    is_in_place: ClassVar[bool] = False
    empty: ClassVar[Mapping[str, int]] = EMPTY

    findings: tuple[Finding, ...] = ()
    is_broken: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.is_own = cls.__module__.startswith("irshape.ops.")
        cls.is_of_extension = bool(cls.EXTENSION) or not cls.is_own
        if not cls.is_own:  # those of irshape's own classes are a test
            cls.collect()
            cls._check_names()

    @classmethod
    def collect(cls) -> None:
        """Collect the ports, attributes and rules that a class declares, after those of its bases.

        The registry collects those of a type when the type is first sought: a model has few of the types that a module defines.
        """
        for base in cls.__mro__[-3::-1]:  # behind Op
            if issubclass(base, Op) and "demanded" not in vars(base):
                base._collect_ports()
                base._collect_attributes()
                for rule, first in _RULES.items():
                    base._check_parameters(rule, first)
                base.demanded = frozenset(port.index for port in base.inputs if base.demands is None or port.name in base.demands)

    @classmethod
    def _collect_ports(cls) -> None:
        fields: list[tuple[str, Any]] = [item for item in vars(cls).items() if item[1] is None or isinstance(item[1], (In, Out))]
        if not fields and len(cls.__bases__) == 1:  # the ports, and what follows from them, are those of the base
            return
        ins: dict[str, In] = {port.name: port for port in cls.inputs}
        outs: dict[str, Out] = {port.name: port for port in cls.outputs}
        for name, field in fields:
            if isinstance(field, In):
                ins[name] = field
            elif isinstance(field, Out):
                outs[name] = field
            elif field is None:  # a version that lacks a port of its base says `port = None`
                ins.pop(name, None)
                outs.pop(name, None)
        cls.inputs = tuple([placed(port, name, index) for index, (name, port) in enumerate(ins.items())])
        cls.outputs = tuple([placed(port, name, index) for index, (name, port) in enumerate(outs.items())])
        ports: list[In | Out] = [*cls.inputs, *cls.outputs]
        for port in ports:
            if port.like is not None and port.like not in ins:
                raise DefinitionError(f"{cls.__name__}.{port.name} is like {port.like!r}, which is no input")
        if any(port.variadic for port in cls.outputs[:-1]):
            raise DefinitionError(f"a variadic output of {cls.__name__} must be the last output")
        cls.has_one_output = len(cls.outputs) == 1 and not cls.outputs[0].variadic
        for port in cls.inputs:
            port.group = port.like or port.name
        for out in cls.outputs:
            likes = [port for port in cls.inputs if out.like is not None and out.like in (port.name, port.like)]
            out.sources = tuple([port.index for port in likes if not out.alone or port.name == out.like])
        has_shared = len({port.group for port in cls.inputs}) < len(cls.inputs)
        cls.are_alike = has_shared or any(port.variadic and not port.mixed for port in cls.inputs)
        cls.min_inputs = sum(not port.optional for port in cls.inputs)
        cls.max_inputs = None if any(port.variadic for port in cls.inputs) else len(cls.inputs)
        cls._parts = _parts(cls.__name__, cls.inputs)
        cls._arrangements = {}
        flags = [port.optional for port in cls.inputs if not port.variadic]
        is_last = not any(port.variadic for port in cls.inputs[:-1])
        cls.is_positional = is_last and all(len(part) == 1 for part in cls._parts) and flags == sorted(flags)
        if cls.max_inputs is None and not cls.is_positional:
            first = next(port.index for port in cls.inputs if port.variadic)
            if any(port.optional for port in cls.inputs[:first]):
                raise DefinitionError(f"{cls.__name__} has an optional input before its variadic inputs, which are not the last ones")

    @classmethod
    def _collect_attributes(cls) -> None:
        own: Any = cls.__annotations__  # from Python 3.14 on, vars(cls) does not hold them
        if not own and len(cls.__bases__) == 1:
            return
        attributes: dict[str, Attribute] = {}
        for base in reversed(cls.__mro__[1:]):
            attributes.update(vars(base).get("attributes", {}))
        for name, annotation in own.items():
            if name.startswith("_") or get_origin(annotation) is ClassVar or Fixed in get_args(annotation):
                continue
            try:
                attributes[name] = Attribute(name, annotation, required=not hasattr(cls, name), default=getattr(cls, name, None))
            except TypeError as error:
                raise DefinitionError(f"{cls.__name__}.{name}: {error}") from None
        cls.attributes = attributes

    @classmethod
    def _check_names(cls) -> None:
        """A misspelled name would pass silently, so a class attribute must be declared: by an annotation or by a base class."""
        for name, value in vars(cls).items():
            if not (name.startswith("_") or isinstance(value, (In, Out, *_METHODS)) or _is_declared(cls, name)):
                raise DefinitionError(f"{cls.__name__}.{name} is no port and no base class declares it; annotate it to declare it")

    @classmethod
    def check_methods(cls) -> None:
        """A misspelled hook would never be called, so an operation has no public method that no base class declares."""
        for name, value in vars(cls).items():
            if isinstance(value, _METHODS) and not (name.startswith("_") or _is_declared(cls, name)):
                raise DefinitionError(f"no base class of {cls.__name__} declares the method {name}; begin the name of a helper with _")

    @classmethod
    def _check_parameters(cls, rule: str, first: int) -> None:
        function = vars(cls).get(rule)
        if function is None:
            return
        code = function.__code__
        if function is as_first or code.co_flags & CO_VARARGS:  # a rule that several operations share
            return
        parameters = code.co_varnames[first : code.co_argcount]
        ports = tuple(port.name for port in cls.inputs)
        if len(parameters) < len(ports) and parameters == tuple(name for name in ports if name in parameters):
            setattr(cls, rule, _picking(function, first, parameters))
        elif parameters != ports:
            raise DefinitionError(f"{cls.__name__}.{rule} takes {parameters}, but the inputs are {ports}")

    def __init__(self, attributes: Mapping[str, str] = MappingProxyType({}), limits: Limits = DEFAULT) -> None:
        """Read the attributes of a layer; `findings` keeps their faults."""
        findings: list[Finding] = []
        absent = 0
        near: dict[str, str] | None = None
        for attribute in self.attributes.values():
            text = attributes.get(attribute.spelling)
            if text is None:
                absent += 1
                if near is None:  # most layers lack no attribute
                    near = misspelt(self.attributes, attributes)
                if attribute.spelling in near:
                    findings.append(self._misspelt(attribute, near[attribute.spelling]))
                elif attribute.required:
                    findings.append(Finding("A101", f"attribute {attribute.spelling!r} is missing"))
                elif attribute.stated:
                    message = f"attribute {attribute.spelling!r} is missing; OpenVINO takes {self._taken(attribute)}"
                    findings.append(Finding("R103", message))
                continue
            if len(text) > limits.rank and text.count(",") >= limits.rank:
                message = f"attribute {attribute.spelling!r} has {text.count(',') + 1} items; at most {limits.rank} are read (limit rank)"
                findings.append(Finding("X111", message, attribute=attribute.spelling))
                continue
            try:
                value, remark = attribute.read(text)
            except Malformed as error:
                hint = f"did you mean {error.likely}?" if error.likely else None
                findings.append(Finding(error.code, f"attribute {attribute.spelling!r}: {error}", attribute=attribute.spelling, hint=hint))
                continue
            if remark == "R102" and not attribute.required:
                value = attribute.default
            setattr(self, attribute.name, value)
            if remark is not None:
                hint = f"did you mean {text.replace('-', '')!r}?" if remark == "R201" else None  # a negative number that is none
                message = f"{attribute.spelling}={text!r} is read as {spell(value)}"
                findings.append(Finding(remark, message, attribute=attribute.spelling, hint=hint))
        if len(self.attributes) - absent < len(attributes):
            known = {attribute.spelling for attribute in self.attributes.values()}
            known.update((near or {}).values(), ANYWHERE)
            findings += [
                Finding("R104", f"{self.TYPE} has no attribute {name!r}", attribute=name)
                for name in sorted(attributes)
                if name not in known
            ]
        if findings:
            self.findings = tuple(findings)
            self.is_broken = any(finding.is_error for finding in findings)

    def _taken(self, attribute: Attribute) -> str:
        """The default of an attribute in a sentence: what an empty one means to OpenVINO."""
        if attribute.default == ():
            if attribute.spelling in self.empty:
                return f"{self.empty[attribute.spelling]} for each axis"
            return "the shape of a scalar" if attribute.spelling == "shape" else "an empty list"
        return repr(spell(attribute.default)) if attribute.default != "" else "an empty text"

    def _misspelt(self, attribute: Attribute, name: str) -> Finding:
        """The finding for an attribute that is missing while the layer has an unknown one of nearly the same name."""
        code = "A101" if attribute.required else "R104"
        taken = "" if attribute.required else f"; OpenVINO takes {self._taken(attribute)} for {attribute.spelling!r}"
        message = f"{self.TYPE} has no attribute {name!r}{taken}"
        return Finding(code, message, attribute=name, hint=f"did you mean {attribute.spelling}?")

    def with_attribute(self, name: str, value: Any) -> Self:
        """The same operation with another value of an attribute."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        setattr(other, name, value)
        return other

    @property
    def memo_key(self) -> object:
        """Operations with equal keys have equal outcomes. The key is the operation itself, unless its rule leaves attributes unread."""
        return self

    def openvino_view(self, ctx: Any, elements: Any, *inputs: Any) -> Any:
        """The elements that OpenVINO knows of the ones that `propagate` returned, if not all of them are numbers."""
        return elements if self.is_followed else None

    def openvino_pieces(self, elements: Elements, *inputs: Any) -> Elements | None:
        """The elements as `Pieces`, if some inputs are not known and OpenVINO reads the constants among the others one by one."""
        return None

    def openvino_shapes(self, ctx: Any, shapes: Sequence[Shape], *inputs: Any) -> Sequence[Shape]:
        """The shapes that OpenVINO infers, from those that `infer` returned; sizes are intervals as in OpenVINO."""
        return shapes

    @classmethod
    def arrangement(cls, count: int) -> tuple[In, ...]:
        """The ports of the inputs of a layer that has `count` inputs, in their order; fewer where the operation does not take so many."""
        ports = cls.inputs
        if len(ports) == count:
            return ports
        found = cls._arrangements.get(count)
        if found is None:
            if cls.is_positional:
                found = (*ports[:count], *ports[-1:] * (count - len(ports))) if cls.max_inputs is None else ports[:count]
            else:
                found = _arranged(cls._parts, count, {}) or ports[:count]
            cls._arrangements[count] = found
        return found

    @classmethod
    def takes(cls, count: int) -> bool:
        """Whether a layer of the operation may have so many inputs."""
        if count < cls.min_inputs or (cls.max_inputs is not None and count > cls.max_inputs):
            return False
        return cls.is_positional or _arranged(cls._parts, count, {}) is not None

    @classmethod
    def input_at(cls, index: int, count: int) -> In | None:
        """The declaration of the input at a position of a layer that has `count` inputs; None beyond the last."""
        ports = cls.arrangement(count)
        return ports[index] if index < len(ports) else None


class Moving(Op):
    """The family of operations whose outputs hold elements of their inputs, unchanged. OpenVINO follows their bounds."""

    is_followed = True
    cost = moved


class Assembling(Moving):
    """The family of operations that put their output together from several inputs: known elements are followed next to unknown ones."""

    takes_unknown = True


OpClass: TypeAlias = type[Op]


def misspelt(declared: Mapping[str, Attribute], attributes: Mapping[str, str]) -> dict[str, str]:
    """The attributes that a layer lacks, each with the unknown attribute that has nearly the same name."""
    known = {attribute.spelling for attribute in declared.values()}
    missing = known.difference(attributes)
    found: dict[str, str] = {}
    if missing and len(known) - len(missing) < len(attributes):
        from difflib import get_close_matches

        for name in attributes:
            if name not in known and (close := get_close_matches(name[:64], sorted(missing), 1)):
                found[close[0]] = name
                missing.discard(close[0])
    return found


def static(*codes: str) -> Callable[..., Looks]:
    """The hook of an operation of which OpenVINO checks requirements with these codes on static sizes only."""

    def openvino_checks(op: Any, ctx: Any, requirement: Requirement, *inputs: Any) -> Looks:
        return STATIC if requirement.code in codes else BOUNDS

    return openvino_checks
