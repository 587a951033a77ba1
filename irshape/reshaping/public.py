"""A model whose inputs take one shape after the other, as programs see it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Unpack, cast

from irshape.api.inference import Inference
from irshape.api.reading import Reading, named, taken
from irshape.editing.graph import Graph, edit
from irshape.editing.state import EditError
from irshape.inference.inputs import InputError, ShapeLike, Shapes, Symbols
from irshape.model.public import Model, published
from irshape.report.diagnostic import ERROR
from irshape.report.surface import Guessed, knowing

if TYPE_CHECKING:
    from irshape.inference.plan.plan import Plan
    from irshape.reshaping.session import Choose, How
    from irshape.xml.source import Source


class Session(Guessed):
    """A model whose inputs can be given other shapes, again and again.

    A session remembers the results for earlier shapes, and infers only the layers whose inputs change. From the second change of the same
    inputs on, a plan answers where it can: formulas for the sizes of all tensors. A session belongs to one thread at a time; each answer
    stays as it is, whatever comes after it.
    """

    @knowing
    def __init__(self, source: Source | Model, **reading: Unpack[Reading]) -> None:
        """Takes a model, or what `irshape.read` takes. Raises the errors of `irshape.read`."""
        from irshape.reshaping.session import Session as Inner

        model, weights, opaque = taken(source, reading)
        self._session = Inner(model._graph, weights=weights, opaque=opaque)

    @property
    def model(self) -> Model:
        """The model; after a reshape that has rewritten it, the rewritten one."""
        return published(self._session.model)

    @property
    def plan(self) -> Plan | None:
        """The plan that answered last, or was made last: the sizes of all tensors as a function of the sizes that change.

        None until the inputs have changed twice. `plan.source` is its text in Python, `plan.to_dict()` its JSON for other languages.
        """
        return self._session.plan

    def infer(self) -> Inference:
        """The element type and shape of every port, for the shapes that the inputs have now."""
        return Inference(self._session.infer())

    def reshape(
        self,
        inputs: Shapes | None = None,
        /,
        *,
        symbols: Symbols | None = None,
        batch: int | str | None = None,
        rewrite: bool = False,
        like: Source | Model | None = None,
        choose: Choose = None,
        recorded: Shapes | None = None,
        **named: ShapeLike,
    ) -> Inference:
        """Give inputs other shapes, by name (`image="[1,3,H,W]"`) or as a mapping; those that are not named keep theirs.

        `symbols` gives the ranges of symbols, `batch` the size of the batch axis of the inputs that are not named; a note says which axis
        that is, and how it is known. Raises `InputError` if no shape is given, an input does not exist, a shape does not parse or the batch
        axis is not clear.
        If the model cannot have these shapes, the errors of the answer list every layer in the way, with the constants at fault; then the
        session stays as it was.

        With `rewrite`, whatever holds an old size is changed: a constant, or a few layers that compute the size from a tensor that has it.
        `mends` in `Inference.to_dict` lists the changes, and the session goes on with the rewritten model. Where the file does not decide,
        the answer has errors (S208), and lists them as `choices`, `kept` and `unproven`; `like`, a second export at other sizes, decides,
        and `choose="first"` takes the first way and says so in a note for each. `recorded` are the shapes of the export, for a file whose
        inputs are open although its constants hold sizes, as `torch.export` leaves it.
        """
        if inputs is None and symbols is None and batch is None and not (named or rewrite):
            raise InputError("no new shape: give inputs, symbols or batch")  # None is also what Signature.assign gives for refused sizes
        how = _how({"rewrite": rewrite, "like": like, "choose": choose, "recorded": recorded})
        return Inference(self._session.reshape(inputs, symbols=symbols, batch=batch, how=how, **named))

    def __repr__(self) -> str:
        return f"<Session of {self.model!r}>"


class Reshaping(Reading, total=False):
    """The arguments of `reshape`: those of `Session.reshape`, and those of `irshape.read`."""

    symbols: Symbols | None
    batch: int | str | None
    rewrite: bool
    like: Source | Model | None
    choose: Choose
    recorded: Shapes | None
    targets: str | Iterable[str]


@knowing
def reshape(source: Source | Model, inputs: Shapes | None = None, **asked: Unpack[Reshaping]) -> Inference:
    """Infer the model with other input shapes, as `Session.reshape` does; `Inference.write` writes the reshaped file.

    Takes and raises what `infer` and `Session.reshape` do. Where a shape makes an axis of size 1 larger and the model mixes samples along
    it, a warning names the layer (P110). Where all inputs of a model with state become fixed and a second inference cannot run, an error
    says so (P106). `targets` are policies that the reshaped model must meet, as `irshape.check` takes them.
    """
    from irshape.answers.policies import find_policies, judge

    symbols, batch, how = asked.pop("symbols", None), asked.pop("batch", None), _how(asked)
    policies = find_policies(named(asked.pop("targets", ())))
    inference = Session(source, **cast("Reading", asked))._session.reshape_once(inputs, symbols, batch, how)
    if policies and inference.ok:
        judge(inference, policies)
    return Inference(inference)


def _how(asked: Reshaping) -> How:
    """How the reshape is to go on; its arguments are taken out of those that are asked."""
    from irshape.reshaping.session import How

    rewrite, like = asked.pop("rewrite", False), asked.pop("like", None)
    other = None if like is None else taken(like, {})[0]._graph
    return How(rewrite, other, asked.pop("choose", None), asked.pop("recorded", None))


@knowing
def simplify(
    source: Source | Model,
    *,
    only: str | Iterable[str] | None = None,
    inputs: Shapes | None = None,
    symbols: Symbols | None = None,
    **reading: Unpack[Reading],
) -> Graph:
    """Leave out the layers that the outputs do not need, and return the graph, whose `steps` tell what went.

    `only` names some of the rules of `Graph.simplify`. With `inputs` and `symbols`, the model first takes these shapes, as `reshape` gives
    them. Raises `EditError` for an unknown rule, or if the model cannot have the shapes, and the errors of `irshape.edit` and
    `irshape.reshape`.
    """
    graph = reshaped(edit(source, **reading), inputs, symbols)
    graph.simplify(only)
    return graph


def reshaped(graph: Graph, inputs: Shapes | None, symbols: Symbols | None) -> Graph:
    """The graph with these shapes of its inputs. Raises `EditError` if the model cannot have them, and `InputError`."""
    if inputs is None and not symbols:
        return graph
    from irshape.reshaping.session import Session as Inner

    draft = graph._draft
    session = Inner(draft.model, weights=draft.original, opaque=draft.opaque)
    inference = session.reshape(inputs, symbols=symbols)
    if errors := [one for one in inference.diagnostics if one.severity == ERROR]:
        raise EditError(f"the model cannot have these shapes: {errors[0].message}")
    if session.model is not draft.model:  # a variable has another shape
        graph = edit(published(session.model), opaque=draft.opaque)
    for node in session.model.parameters:
        layer, shape = graph[node.id], inference.view(inference.model.node(node.id)).outputs[0].text
        if layer.output.text != shape:
            layer.set(shape=shape)
    return graph
