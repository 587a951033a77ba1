"""A formula as layers: the size of an axis that some tensor has, else arithmetic on such sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from irshape.editing.layers import Tensor
from irshape.editing.state import Value
from irshape.shape.dim import Dim, Size, dim_of, expression_of, formula_text
from irshape.shape.polynomial import Atom

if TYPE_CHECKING:
    from irshape.reshaping.bench import Bench

# A formula with more terms is no size that a person would recognise.
_MOST_TERMS: Final = 12
_LARGEST: Final = 2**62
_LAYERS: Final = {"floor": "Divide", "min": "Minimum", "max": "Maximum", "add": "Add", "multiply": "Multiply"}


def vector(bench: Bench, sizes: Sequence[Size | Tensor], source: Value | None = None) -> Any:
    """The sizes as i64[n]: numbers as an array, else a tensor. `source` is the tensor whose axes are looked at first."""
    import numpy as np

    if all(isinstance(size, int) for size in sizes):
        return np.array(sizes, np.int64)
    merged: list[Any] = []
    for size in sizes:
        if isinstance(size, int):
            if merged and isinstance(merged[-1], list):
                merged[-1].append(size)
            else:
                merged.append([size])
        else:
            merged.append(size if isinstance(size, Tensor) else formula(bench, size, source))
    pieces = [np.array(one, np.int64) if isinstance(one, list) else one for one in merged]
    return pieces[0] if len(pieces) == 1 else bench.add("Concat", *pieces, axis=0, name=f"{bench.item.name}/shape")


def formula(bench: Bench, size: Size, source: Value | None = None) -> Tensor:
    """A tensor i64[1] with the value of a size. Refuses a formula that no layers compute."""
    import numpy as np

    if isinstance(size, int):
        return bench.graph.constant(np.array([size], np.int64), name=f"{bench.item.name}/number")
    key = "formula", expression_of(size)
    known = bench.notes.made.get(key)
    if known is None:
        found = _axis_with(bench, size, source)
        known = bench.notes.made[key] = _axis(bench, *found) if found else _computed(bench, size)
    return known


def scalar(bench: Bench, size: Size, source: Value | None = None) -> Any:
    """A size as a tensor without axes."""
    import numpy as np

    if isinstance(size, int):
        return np.array(size, np.int64)
    return bench.add("Squeeze", formula(bench, size, source), np.array([0], np.int64), name=f"{bench.item.name}/scalar")


def _axis_with(bench: Bench, size: Dim, source: Value | None) -> tuple[Value, int] | None:
    """An axis with this formula: of an input of the model, else of the given tensor, else of the nearest one before the layer."""
    wanted = expression_of(size)
    state = bench.draft.state
    places = list(bench.notes.places_of(wanted))
    near = [(source, axis) for axis, own in enumerate(bench.shape(source) or ()) if expression_of(own) is wanted] if source else []
    first = [place for place in reversed(places) if place[0].item.type == "Parameter"]
    for value, axis in (*first, *near, *places):
        if not state.is_live(value.item) or value.item.label >= bench.item.label:
            continue
        shape = bench.shape(value)
        if shape is not None and axis < len(shape) and expression_of(shape[axis]) is wanted:
            return value, axis
    return None


def _axis(bench: Bench, value: Value, axis: int) -> Tensor:
    """The size of an axis of a tensor, i64[1]."""
    import numpy as np

    key = "shape", value.slot
    name = value.item.name
    shape = bench.notes.made.get(key)
    if shape is None:
        shape = bench.notes.made[key] = bench.add(
            "ShapeOf", bench.tensor(value), output_type="i64", name=f"{name}/shape_of", version="opset3"
        )
    zero = np.array(0, np.int64)
    return bench.add("Gather", shape, np.array([axis], np.int64), zero, name=f"{name}/axis_{axis}", version="opset8", batch_dims=0)


def _computed(bench: Bench, size: Dim) -> Tensor:
    """A formula by arithmetic on the sizes that it is made of."""
    polynomial = size.polynomial
    if abs(polynomial.constant) >= _LARGEST or len(polynomial.terms) > _MOST_TERMS:
        bench.refuse(f"would need the size {formula_text(size)}, which is too long to be computed by layers")
    name = f"{bench.item.name}/size"
    total = formula(bench, polynomial.constant) if polynomial.constant else None
    for monomial, factor in polynomial.terms:
        term = None if factor == 1 else formula(bench, factor)
        for index in monomial:
            one = _of_atom(bench, size, polynomial.table.atoms[index])
            term = one if term is None else bench.add("Multiply", term, one, name=name)
        assert term is not None
        total = term if total is None else bench.add("Add", total, term, name=name)
    assert total is not None
    return total


def _of_atom(bench: Bench, size: Dim, atom: Atom) -> Tensor:
    """The value of an atom of a formula."""
    own = dim_of(size.scope, atom)
    key = "formula", expression_of(own)
    if key in bench.notes.made:
        return bench.notes.made[key]
    if isinstance(own, Dim) and (found := _axis_with(bench, own, None)):
        made = _axis(bench, *found)
    elif atom.kind not in _LAYERS:
        bench.refuse(f"would need {atom.name or atom.kind}, which is the size of no tensor before the layer")
    else:
        a, b = (formula(bench, one if isinstance(one, int) else dim_of(size.scope, one)) for one in atom.arguments)
        made = bench.add(_LAYERS[atom.kind], a, b, name=f"{bench.item.name}/size")
    bench.notes.made[key] = made
    return made
