"""Every public object and every answer goes through a pickle, over every operation, and answers as before."""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import irshape
from irshape.ops.registry import REGISTRY
from irshape.running.results import Tolerance
from tests.inference.test_bodies import ROWS
from tests.support.ir import Net
from tests.support.places import EXAMPLES
from tests.support.rows import Row, is_code, net_of, outputs_of, tables

ATROUS, STATEFUL, LOOP = (str(EXAMPLES / f"{name}.xml") for name in ("atrous", "decoder_stateful", "sums"))


def copied(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_every_operation_is_found_by_its_name() -> None:
    assert [one for one in REGISTRY.classes() if copied(one) is not one] == []


def first_rows() -> Iterator[Any]:
    """The first row of each version of an operation that is no error."""
    for table in tables():
        row = next((row for row in table.rows if not is_code(outputs_of(row))), None)
        if row is not None:
            yield pytest.param(table.type, table.version, row, id=f"{table.type}-{table.version}")


@pytest.mark.parametrize(("type", "version", "row"), [*first_rows()])
def test_a_session_of_every_operation_goes_on(type: str, version: str, row: Row) -> None:
    """After a pass, and after reshapes that make a plan."""
    net = net_of(type, version, row)
    session = irshape.Session(net.xml, weights=net.bin)
    session.infer()
    shapes = {port.name: [size if isinstance(size, int) else 5 for size in port.shape] for port in session.infer().inputs if port.shape}
    for grown in range(4):
        session.reshape({name: [size + grown for size in shape] for name, shape in shapes.items()})
    again = copied(session)
    assert again.infer().to_dict() == session.infer().to_dict()
    assert (again.plan and again.plan.to_dict()) == (session.plan and session.plan.to_dict())
    for least, most in ((4, 4), (2, 2), (1, 6)):
        for _ in range(2):
            wanted = {name: [f"{size + least}..{size + most}" for size in shape] for name, shape in shapes.items()}
            assert again.reshape(wanted).to_dict() == session.reshape(wanted).to_dict()


def stateful_session() -> irshape.Session:
    session = irshape.Session(ATROUS)
    for side in (224, 256, 288):
        session.reshape(image=[1, 3, side, side])
    assert session.plan is not None
    return session


def edited() -> irshape.Graph:
    graph = irshape.edit(ATROUS)
    graph.result(graph["stem"].output, name="tapped")
    graph["mask"].rename("masked")
    return graph


def with_body() -> Any:
    net: Net = next(net for name, net, _ in ROWS if name == "joined")
    return irshape.read(net.xml, weights=net.bin)


def holder_of(layers: Any) -> Any:
    return next(layer for layer in layers if layer.bodies)


def caught(call: Callable[[], object]) -> Exception:
    with pytest.raises(Exception) as found:
        call()
    return found.value


# The classes of the package, with an object of each and what it answers.
OBJECTS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "Body": (lambda: holder_of(irshape.edit(with_body())).body, lambda one: [layer.name for layer in one]),
    "Const": (lambda: irshape.read(ATROUS)["stem/weights"].const, lambda one: one.data.tolist()),
    "Cost": (lambda: irshape.cost(ATROUS), lambda one: one.to_dict()),
    "Diagnostic": (lambda: irshape.check(ATROUS, targets="static-shapes").diagnostics, lambda one: [d.to_dict() for d in one]),
    "Difference": (lambda: irshape.diff(ATROUS, STATEFUL, cost=True), lambda one: one.to_dict()),
    "Dim": (lambda: irshape.infer(ATROUS, inputs={"image": "[1,3,H,W]"})["mask"].inputs[0].shape, str),
    "EditError": (lambda: caught(lambda: irshape.edit(ATROUS)["stem"].set(no=1)), repr),
    "ElementType": (lambda: irshape.ElementType.f32, repr),
    "Explanation": (lambda: irshape.explain(ATROUS, "mask"), lambda one: one.to_dict()),
    "ExtensionError": (lambda: caught(lambda: irshape.read(ATROUS, extensions="no.toml")), repr),
    "Graph": (edited, lambda one: (bytes(one), [str(step) for step in one.steps])),
    "Guard": (lambda: irshape.infer(ATROUS).guards, lambda one: [guard.to_dict() for guard in one]),
    "Inference": (lambda: irshape.infer(LOOP), lambda one: (one.to_dict(), one.xml())),
    "InferredLayer": (lambda: irshape.infer(ATROUS)["stem"], repr),
    "InferredPort": (lambda: irshape.infer(ATROUS)["stem"].outputs[0], lambda one: (repr(one), one.formula)),
    "Info": (lambda: irshape.info(STATEFUL), lambda one: one.to_dict()),
    "InputError": (lambda: caught(lambda: irshape.infer(ATROUS, inputs={"no": "[1]"})), repr),
    "InputPort": (lambda: irshape.read(ATROUS)["stem"].inputs[0], lambda one: (one.key, one.source.node.name)),
    "Layer": (lambda: edited()["masked"], lambda one: (one.name, [tensor.text for tensor in one.inputs])),
    "Limits": (lambda: irshape.Limits(work=7), repr),
    "Model": (with_body, lambda one: [(node.key, dict(node.attributes)) for graph in one.graphs() for node in graph]),
    "Node": (lambda: holder_of(with_body()), lambda one: (one.key, [node.key for node in one.body])),
    "OutputPort": (lambda: irshape.read(ATROUS)["stem"].outputs[0], lambda one: (one.key, [port.key for port in one.readers])),
    "Ports": (lambda: irshape.read(ATROUS)["stem"].inputs, lambda one: [port.key for port in one]),
    "Range": (lambda: irshape.Range(1, 9, 2, 1), repr),
    "RunComparison": (lambda: irshape.RunComparison("a", "b", Tolerance(1e-4, 1e-6, "f32"), ["y"], {"z": "w"}), lambda one: one.to_dict()),
    "RunningError": (lambda: irshape.RunningError("no memory"), repr),
    "Session": (stateful_session, lambda one: (one.infer().to_dict(), one.plan.to_dict(), one.plan.source)),
    "Signature": (lambda: irshape.signature(STATEFUL), lambda one: one.to_dict()),
    "Summary": (lambda: irshape.summary(ATROUS), lambda one: one.to_dict()),
    "Tensor": (lambda: edited()["stem"].output, lambda one: (one.text, [layer.name for layer, _ in one.readers])),
    "ValidSizes": (lambda: irshape.sizes(ATROUS), lambda one: (one.to_dict(), one.nearest(dict.fromkeys(one.symbols, 33)))),
    "WeightsError": (lambda: caught(lambda: irshape.read(ATROUS, weights=b"")["stem/weights"].const.bytes), repr),
    "Where": (lambda: irshape.check(ATROUS, targets="static-shapes").diagnostics[0].where, lambda one: (str(one), one.layer)),
}
# Two are other names of what stands above: a shape is a tuple of sizes.
ALIASES = {"Shape", "Size"}


def test_every_class_of_the_package_is_tested() -> None:
    names = {name for name in irshape.__all__ if name[0].isupper()}
    assert OBJECTS.keys() | ALIASES == names


@pytest.mark.parametrize("name", OBJECTS)
def test_an_object_answers_as_before(name: str) -> None:
    make, answer = OBJECTS[name]
    one = make()
    again = copied(one)
    assert type(again) is type(one)
    assert answer(again) == answer(one)


def test_a_plan_goes_through_a_pickle_alone() -> None:
    plan = stateful_session().plan
    assert plan is not None
    again = copied(plan)
    assert again.source == plan.source and again.to_dict() == plan.to_dict()


def test_an_answer_without_bodies_and_an_operation_of_a_graph() -> None:
    assert copied(irshape.read(ATROUS)["stem"].bodies) == {}
    graph = irshape.edit(ATROUS)
    add, own = copied((graph.op.Sin, graph))
    assert add(own["stem"]).type == "Sin"


def test_a_graph_goes_on_before_and_after_its_facts() -> None:
    """A layer that no file has is left out of what is inferred again; constants that were added are read from the copy."""
    graph = irshape.edit(ATROUS)
    for _ in range(2):
        again = copied(graph)
        for one in (graph, again):
            one.result(one.constant(1.0, name="new"), name="out")
            one.simplify()
        assert bytes(again) == bytes(graph)


def test_a_session_whose_layers_have_sizes_of_their_own_goes_on() -> None:
    """The memo says of such a layer that its outcomes are not shared, also after a pickle."""
    session = irshape.Session(str(EXAMPLES / "detector.xml"))
    before = session.infer().to_dict()
    again = copied(session)
    again._session._plans.engine._question = None  # as after an interrupt: the next pass is a whole one
    assert again.infer().to_dict() == before


def test_a_session_of_a_file_of_operations_goes_on() -> None:
    session = irshape.Session(str(EXAMPLES / "extension.xml"), extensions=str(EXAMPLES / "patches.toml"))
    before = session.infer()
    assert copied(session).infer().to_dict() == before.to_dict()
