"""Op classes: the ports they declare, those of their bases included, and the definitions that are refused."""

import ast
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest

import irshape.ops
from irshape.ops.attribute import Fixed
from irshape.ops.op import Assembling, DefinitionError, In, Moving, Op, Out
from irshape.ops.registry import REGISTRY, op


class Base(Op):
    first = In()
    data = In(like="first")
    output = Out(like="data")


class Without(Base):
    first = None
    data = In()


class More(Base):
    last = In(like="data")


def test_a_class_has_ports_of_its_own() -> None:
    first, data = ("first", 0, "first"), ("data", 1, "first")
    rows = ((Base, [first, data]), (Without, [("data", 0, "data")]), (More, [first, data, ("last", 2, "data")]))
    for cls, ports in rows:
        assert [(port.name, port.index, port.group) for port in cls.inputs] == ports
    assert [cls.outputs[0].sources for cls in (Base, Without, More)] == [(1,), (0,), (1, 2)]


@pytest.mark.parametrize("type", REGISTRY.types())
def test_the_element_type_of_an_output_comes_from_inputs_of_its_own_class(type: str) -> None:
    for cls in REGISTRY.versions(type).values():
        for out in cls.outputs:
            likes = {out.like} if out.alone else {port.name for port in cls.inputs if out.like in (port.name, port.like)}
            assert out.sources == tuple(port.index for port in cls.inputs if out.like and port.name in likes)


# A class that is refused, by its base and its contents, and the message.
REFUSED: tuple[tuple[str, type[Op], dict[str, Any], str], ...] = (
    ("attribute", Op, {"data": In(), "is_folowed": True}, "Copy.is_folowed is no port and no base class declares it"),
    ("attribute of a family", Moving, {"unfolowed": frozenset()}, "Copy.unfolowed is no port and no base class declares it"),
    ("method", Op, {"data": In(), "propogate": lambda self, ctx, data: None}, "no base class of Copy declares the method propogate"),
    ("static method", Op, {"data": In(), "of_element": staticmethod(abs)}, "no base class of Copy declares the method of_element"),
    ("port that is not in the base", Op, {"data": In(), "scale": None}, "Copy.scale is no port and no base class declares it"),
    ("port that is like no input", Op, {"data": In(), "output": Out(like="date")}, "Copy.output is like 'date', which is no input"),
    (
        "variadic ports apart", Op, {"data": In(variadic=True), "axis": In(), "masks": In(variadic=True)},
        "the variadic inputs of Copy must stand side by side",
    ),
    (
        "optional port before variadic ones", Op, {"mask": In(optional=True), "data": In(variadic=True), "axis": In()},
        "Copy has an optional input before its variadic inputs, which are not the last ones",
    ),
    (
        "port along with a required one", Op, {"data": In(), "mask": In(optional=True, along="data")},
        "Copy.mask is there along with 'data', so both must be optional, and side by side",
    ),
    (
        "output after a variadic one", Op, {"parts": Out(variadic=True), "count": Out()},
        "a variadic output of Copy must be the last output",
    ),
    (
        "parameter that is no port", Op, {"data": In(), "infer": lambda self, ctx, date: None},
        r"Copy.infer takes \('date',\), but the inputs are \('data',\)",
    ),
    (
        "parameter of a counting rule that is no port", Op, {"data": In(), "cost": lambda self, out, date: None},
        r"Copy.cost takes \('date',\), but the inputs are \('data',\)",
    ),
    (
        "attribute of no readable type", Op, {"__annotations__": {"axis": complex}, "axis": 0j},
        "Copy.axis: no attribute can be annotated with <class 'complex'>",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("name", "base", "contents", "message"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_wrong_definition_is_refused(name: str, base: type[Op], contents: dict[str, Any], message: str) -> None:
    with pytest.raises(DefinitionError, match=message):
        op("Misspelled", "opset1")(type("Copy", (base,), contents))
    assert "misspelled" not in REGISTRY.homes()


def test_the_classes_of_irshape_are_defined_well() -> None:
    """A run checks only the definitions of other classes."""
    for cls in REGISTRY.classes():
        cls.check_methods()
        for base in cls.__mro__[:-2]:
            base._check_names()


def test_what_a_class_may_add() -> None:
    class Family(Assembling):
        data = In()
        scale = In()
        count: ClassVar[int] = 2
        reduction: Annotated[str, Fixed] = "sum"

        def hook(self) -> int:
            return self.count

    class Member(Family):
        scale = None
        count = 3
        reduction: str = "mean"
        axis: int = 0
        is_followed = False

        def hook(self) -> int:
            return self._more() + 1

        def _more(self) -> int:
            return self.count

    Member.check_methods()
    assert [port.name for port in Member.inputs] == ["data"]
    assert list(Family.attributes) == []
    assert {name: attribute.default for name, attribute in Member.attributes.items()} == {"reduction": "mean", "axis": 0}
    assert Member().hook() == 4


def test_inputs_may_be_absent_before_others_or_repeated_together() -> None:
    class Masked(Op):
        data = In()
        mask = In(optional=True)
        begins = In(optional=True)
        ends = In(optional=True, along="begins")
        axis = In()

    class Joined(Op):
        ids = In(variadic=True)
        values = In(variadic=True)
        axis = In()

    def arranged(op: type[Op], count: int) -> str:
        return " ".join(port.label(position) for position, port in enumerate(op.arrangement(count)))

    assert [count for count in range(8) if Masked.takes(count)] == [2, 3, 4, 5]
    assert arranged(Masked, 2) == "data axis"
    assert arranged(Masked, 3) == "data mask axis"
    assert arranged(Masked, 4) == "data begins ends axis"
    assert arranged(Masked, 5) == "data mask begins ends axis"
    assert [count for count in range(8) if Joined.takes(count)] == [3, 5, 7]
    assert arranged(Joined, 5) == "ids[0] values[0] ids[1] values[1] axis"
    last = Joined.input_at(4, 5)
    assert last is not None
    assert last.name == "axis"
    assert Joined.input_at(5, 5) is None


def test_a_class_has_the_annotations_of_its_bases_once() -> None:
    class Base(Op):
        axis: int = 0

    class Same(Base):
        """Annotates nothing of its own."""

    class Other(Base):
        group: int = 1

    assert list(Base.attributes) == list(Same.attributes) == ["axis"]
    assert list(Other.attributes) == ["axis", "group"]


def test_a_hook_names_the_inputs_that_it_needs() -> None:
    class Pair(Op):
        first = In()
        second = In()
        output = Out(like="first")

        def cost(self, out: Any, second: Any) -> Any:
            return out, second

    class Triple(Pair):
        third = In()

    assert Pair().cost("out", 1, 2) == ("out", 2)
    assert Triple().cost("out", 1, 2, 3) == ("out", 2)  # by name, whatever a version adds


# A rule is the specification: what OpenVINO does otherwise stands in the hooks of the operation.

FOLDER = Path(irshape.ops.__file__).parent
MODULES = {path.relative_to(FOLDER).with_suffix("").as_posix(): path.read_text("utf-8") for path in sorted(FOLDER.rglob("*.py"))}
# Rules that open a scope of OpenVINO's checks themselves, each because the condition is a number that only the rule has computed.
SCOPED = {
    "convolution": "the channels that a group of filters takes",
    "declared/formula": "the sizes that a formula of a description names",
    "detection/heads": "the first input that tells the number of prior boxes",
    "movement/patches": "the blocks that the window leaves",
    "sequence/recurrent": "the first input that tells a size",
    "shape": "the sizes that Reshape has left to multiply",
    "signals": "the frame that a number of either sign gives",
    "sort": "whether k is a premise",
}


def test_rules_open_no_scope_of_openvino() -> None:
    assert {module for module, text in MODULES.items() if ".openvino_checks(" in text} == set(SCOPED)


@pytest.mark.parametrize("module", MODULES)
def test_the_hooks_of_openvino_stand_together(module: str) -> None:
    for tree in ast.walk(ast.parse(MODULES[module])):
        if isinstance(tree, ast.ClassDef):
            names = [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]
            hooks = [index for index, name in enumerate(names) if name.startswith("openvino_")]
            assert not hooks or hooks == list(range(hooks[0], hooks[-1] + 1)), tree.name
