"""A model whose inputs take one shape after the other, as programs see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irshape.api.inference import Inference
from irshape.api.reading import Reading, taken
from irshape.model.public import Model, published

if TYPE_CHECKING:
    from typing import Unpack

    from irshape.inference.inputs import ShapeLike, Shapes, Symbols
    from irshape.inference.plan.plan import Plan
    from irshape.reshaping.session import Choose
    from irshape.xml.source import Source


class Session:
    """A model whose inputs can be given other shapes, again and again.

    A session remembers the results for earlier shapes, and infers only the layers whose inputs change. From the second change of the same
    inputs on, a plan answers where it can: formulas for the sizes of all tensors. A session belongs to one thread at a time; each answer
    stays as it is, whatever comes after it.
    """

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
        **named: ShapeLike,
    ) -> Inference:
        """Give inputs other shapes, by name (`image="[1,3,H,W]"`) or as a mapping; those that are not named keep theirs.

        `symbols` gives the ranges of symbols, `batch` the size of the batch axis of the inputs that are not named; a note says which axis
        that is, and how it is known. Raises `InputError` if an input does not exist, a shape does not parse or the batch axis is not clear.
        If the model cannot have these shapes, the errors of the answer list every layer in the way, with the constants at fault; then the
        session stays as it was.

        With `rewrite`, whatever holds an old size is changed: a constant, or a few layers that compute the size from a tensor that has it.
        `mends` in `Inference.to_dict` lists the changes, and the session goes on with the rewritten model. Where the file does not decide,
        the answer has errors (S208), and lists them as `choices`, `kept` and `unproven`; `like`, a second export at other sizes, decides,
        and `choose="first"` takes the first way and says so in a note for each.
        """
        other = None if like is None else taken(like, {})[0]._graph
        found = self._session.reshape(inputs, symbols=symbols, batch=batch, rewrite=rewrite, like=other, choose=choose, **named)
        return Inference(found)

    def __repr__(self) -> str:
        return f"<Session of {self.model!r}>"


def reshape(
    source: Source | Model,
    inputs: Shapes | None = None,
    *,
    symbols: Symbols | None = None,
    batch: int | str | None = None,
    rewrite: bool = False,
    like: Source | Model | None = None,
    choose: Choose = None,
    **reading: Unpack[Reading],
) -> Inference:
    """Infer the model with other input shapes; `Inference.write` writes the reshaped file.

    If the model cannot have these shapes, the errors name what holds the old sizes. With `rewrite`, this is changed; `Session.reshape` says
    how, and what `like` and `choose` decide. `batch` is the new batch size of all inputs that `inputs` does not name. Takes and raises what
    `infer` does otherwise, and raises `InputError` if the batch axis is ambiguous. Where all inputs of a
    model with state become fixed and a second inference cannot run, an error says so (P106).
    """
    from irshape.answers.policies import refuse_outgrown

    found = Session(source, **reading).reshape(inputs, symbols=symbols, batch=batch, rewrite=rewrite, like=like, choose=choose)
    refuse_outgrown(found._inference)
    return found
