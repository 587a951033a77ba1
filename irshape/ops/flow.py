"""The flow of axes through a layer, as the method `flow` of its operation tells it, and the rules that many operations share.

The trace of an axis is the sequence of factors that row-major order put into it. A Parameter's axis is one factor. A Reshape moves the
bars between axes, and a Transpose permutes axes. A polynomial such as `12*N` does not say whether N lies outside or inside; the trace does:
`(N, 12)` is not `(12, N)`.

A rule says which axis of an input is which axis of an output, and why the axes that it does not name are put together. The framework
concludes: a layer keeps the batch N if every axis that holds N is an axis of every output, at one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

from irshape.ops.port import Input
from irshape.shape.compilation import NamedTuple
from irshape.shape.dim import Dim, Size, brief_text, expression_of, le_unasked, product, symbols
from irshape.shape.value import Real


class Factor(NamedTuple):
    """One factor of an axis: its formula, and the size that the file records, None if it is not known."""

    size: Size
    recorded: int | None = None


class Even(Factor):
    """A factor along which all elements are equal, so that samples may lie anywhere in it."""

    __slots__ = ()


Axis: TypeAlias = tuple[Factor, ...]
Trace: TypeAlias = tuple[Axis, ...]


class Term(NamedTuple):
    """A factor of an axis along which elements grow by equal steps."""

    size: Size
    step: Size


class Law(NamedTuple):
    """The law of integers: the element at a place is `base`, and for each term of the axes its step times the place along it.

    A number that is computed from data, of which it is only known that it is at least 0 and less than `within`, may be added to each.
    """

    base: Size
    axes: tuple[tuple[Term, ...], ...]
    within: Size = 1


class Held(NamedTuple):
    """What is known of the axes and of the values of a tensor.

    `trace` is None if the rank is not known. `taint` names the layer that makes a value of the size of the batch, if the tensor's values
    are computed from this value; else it is empty. `law` tells the elements, if they follow one. `is_given` says that it is an input of
    the model.
    """

    trace: Trace | None
    taint: str = ""
    law: Law | None = None
    is_given: bool = False


class _Claim(NamedTuple):
    """An axis of an input that is an axis `to` of an output, where it has these factors; an axis of -1 is a part of some."""

    out: int
    to: int
    port: Input
    axis: int
    factors: Axis


# No tensor has so many axes that are sliced.
_MOST_LIMITS: Final = 1_000


class Mixed(Exception):
    """A layer puts samples of the batch together. The text says how, with the layer as its subject."""


class Counted(Mixed):
    """A layer computes with the size of the batch: nothing need be mixed, but it is not known whether samples stay apart."""


class Unproven(Exception):
    """It is not known whether a layer keeps the batch. The text says why."""


class Random(Unproven):
    """A layer draws random numbers, whatever it reads."""


class Flow:
    """The flow of axes through one layer: what a rule `flow` talks to.

    `layer` names the layer. `batch` is the symbol of the batch, None if there is none: then axes are traced, and nothing is mixed. `ports`
    and `inputs` are the tensors that the layer reads, by position; `outputs` the traces that the shapes of the outputs alone give.
    `orders` is the input of the model that orders the samples, if the layer takes them by one. With `is_lawful`, a law tells how the
    elements of the output depend on the number of the sample: data and values of the size of the batch may meet, as the output is no data.
    """

    __slots__ = (
        "_claims", "_ignored", "_inputs", "_layer", "_measured", "_numbered", "_outputs", "_repeats", "_sizes", "_whys", "batch",
        "is_lawful", "orders", "ports",
    )  # fmt: skip

    def __init__(
        self, layer: str, ports: Sequence[Input], inputs: Sequence[Held], outputs: Sequence[Trace | None], batch: str | None
    ) -> None:
        self.batch = batch
        self.is_lawful = False
        self.ports = ports
        self.orders: Input | None = None
        self._layer = layer
        self._ignored: set[int] = set()
        self._measured: Input | None = None
        self._inputs = inputs
        self._outputs = outputs
        self._claims: list[_Claim] = []
        self._whys: dict[int, str] = {}
        self._sizes: set[int] = set()
        self._repeats = False
        self._numbered: set[int] = set()

    # What a rule says.

    def keep(self, port: Input, axis: int, to: int, *, out: int | None = None, factors: Axis | None = None) -> None:
        """An axis of an input is axis `to` of an output; of all outputs, unless `out` names one.

        `factors` are those of the axis of the output, if it has other ones than the axis of the input.
        """
        trace = self.trace(port)
        if not trace:
            return
        axis %= len(trace)
        for position, own in enumerate(self._outputs):
            if own is not None and (out is None or out == position):
                place = to if to >= 0 else to + len(own)
                if 0 <= place < len(own):
                    self._claims.append(_Claim(position, place, port, axis, trace[axis] if factors is None else factors))

    def keep_all(self, port: Input, *, but: Iterable[int] = (), why: str = "") -> None:
        """Each axis of an input is the same axis of all outputs, apart from those of `but`, of which `why` says what the layer does."""
        rank, others = len(self.trace(port)), set(but)
        for axis in range(rank):
            if axis not in others and axis - rank not in others:
                self.keep(port, axis, axis)
        if why:
            self.mixes(port, why)

    def broadcast(self, *ports: Input | None, last: int = 0, behind: int = 0) -> None:
        """The axes of the inputs are those of the outputs, counted from the last one, but not the `last` ones, `behind` in an output."""
        for port in ports:
            if port is not None:
                rank = len(self.trace(port))
                for axis in range(rank - last):
                    self.keep(port, axis, axis - rank + last - behind)

    def regroup(self, port: Input) -> None:
        """The output has the elements of an input in their order, with other bars between its axes."""
        trace, own = self.trace(port), self._outputs[0]
        if own is None:
            raise Unproven("the rank of its output is not known")
        found = regrouped(trace, own, self.batch)
        held = [axis for axis, factors in enumerate(trace) if self.holds(factors)]
        if found is None:
            if held:
                self.mixed(f"makes {_sizes(own)} of {_sizes(trace)}, so samples of {{batch}} run into other axes")
            return
        for to, factors in enumerate(found):
            self._claims.append(_Claim(0, to, port, held[0] if held and self.holds(factors) else -1, factors))

    def slices(self, port: Input, taken: Mapping[int, Sequence[Size | None]], kept: Mapping[int, int]) -> None:
        """The output has ranges of axes: `taken` are begin, end and step by axis, `kept` the axes of the output by axis."""
        trace, own = self.trace(port), self._outputs[0]
        for axis, factors in enumerate(trace):
            to = kept.get(axis)
            is_whole = axis not in taken
            if to is not None and not is_whole and own is not None and to < len(own) and taken[axis][2] == 1:
                is_whole = same(_product(factors), _product(own[to]))
            if is_whole and to is not None:
                self.keep(port, axis, to)
            elif self.batch is not None and any(holds((Factor(one),), self.batch) for one in taken[axis] if one is not None):
                self.mixed("takes a part that depends on the size of the batch {batch} out of axis " + str(axis))
        self.mixes(port, "takes a part of")

    def picks(self, port: Input, axis: int, indices: Input, to: int) -> bool:
        """Whether indices take of each sample along an axis elements of its own; the output has the axes of the indices from `to` on.

        The axis is (A, N, S), and the indices are `(a*N + n)*S + s` with an s from 0 to S - 1. Or the axis is N, and the indices are an
        input of the model with a number of a sample for each sample: who runs the model orders the samples, as a beam search does.
        """
        factors, (trace, _, law, is_given) = self.trace(port)[axis], self._inputs[indices.index]
        if not _is_alone(factors, self.batch or ""):
            return False
        if is_given and len(factors) == 1 and trace is not None and [is_symbol(one, self.batch or "") for one in trace] == [True]:
            self.orders = indices
            self.ignores(indices)
            self.keep(port, axis, to)
            return True
        law = law and _parted(factors, law, self.batch or "")
        if law is None or (place := self._numbering(factors, law)) is None:
            return False
        self.ignores(indices)
        self._claims.append(_Claim(0, to + place, port, axis, tuple([Factor(term.size) for term in law.axes[place]])))
        return True

    def writes(self, port: Input, indices: Input, updates: Input) -> bool:
        """Whether indices put elements of each sample into places of its own in a tensor of one axis; the output has this axis.

        The indices are those that `picks` takes, and the elements lie in their order: the axis of `updates` has N at the same place.
        """
        (factors,), law, (source, *_) = self.trace(port), self._inputs[indices.index].law, self.trace(updates)
        batch = self.batch or ""
        law = _parted(factors, law, batch) if law and _is_alone(factors, batch) and _is_alone(source, batch) else None
        if (
            law is None
            or self._numbering(factors, law) != 0
            or not _agree(source, tuple([Factor(term.size) for term in law.axes[0]]), batch)
        ):
            return False
        self.ignores(indices)
        self.keep(port, 0, 0)
        self.keep(updates, 0, 0, factors=factors)
        return True

    def bags(self, offsets: Input, *ports: Input) -> bool:
        """Whether each range between two offsets has elements of one sample: where an axis is (N, S), they are `n*S`, or divide an S.

        The output has the axis of the offsets.
        """
        law, batch = self._inputs[offsets.index].law, self.batch or ""
        for port in ports:
            (factors,) = self.trace(port)
            parted = _parted(factors, law, batch) if law and _is_alone(factors, batch) else None
            if parted is None or (parted.base, parted.within, self._numbering(factors, parted)) != (0, 1, 0):
                return False
            own = tuple([Factor(term.size) for term in parted.axes[0]])
            if not is_symbol(own[:1], batch) or not same(_around(factors, batch)[0], 1):
                return False
            self.keep(port, 0, 0, factors=own)
        self.ignores(offsets)
        return True

    def _numbering(self, factors: Axis, law: Law) -> int | None:
        """The axis of indices by a law that numbers the samples of an axis (A, N, S), None if they do not stay within their samples."""
        outer, inner = _around(factors, self.batch or "")
        batched = next(one.size for one in factors if self.holds((one,))) * inner
        first, base = _shared(law.base, batched)
        last, place = base + law.within - 1, None
        for at, terms in enumerate(law.axes):
            for size, step in terms:
                if place is None and is_symbol((Factor(size),), self.batch or "") and same(step, inner):
                    place = at
                elif (times := quotient(step, batched)) is not None and le_unasked(1, times) is True:
                    first = first + times * (size - 1)
                elif le_unasked(0, step) is True:
                    last = last + step * (size - 1)
                else:
                    return None
        is_apart = le_unasked(0, base) is True and le_unasked(last + 1, inner) is True and le_unasked(first + 1, outer) is True
        return place if is_apart and not self.holds((Factor(last), Factor(first))) else None

    def measures(self, port: Input) -> None:
        """The elements of the outputs are the sizes of an input, whose elements are not read."""
        self.ignores(port)
        self._measured = port

    def ignores(self, port: Input) -> None:
        """The elements of an input are not read."""
        self._ignored.add(port.index)

    def mixed(self, how: str) -> NoReturn:
        """The layer puts samples together; the text may name the `{batch}`."""
        raise Mixed(how.format(batch=self.batch))

    def mixes(self, port: Input | None, why: str) -> None:
        """What the layer does with the axes of an input that are no axes of the output: `sums over`."""
        if port is not None:
            self._whys[port.index] = why

    def sizes(self, *ports: Input | None) -> None:
        """These inputs are read as sizes only, and the shapes of the outputs show all of them."""
        self._sizes.update([port.index for port in ports if port is not None])

    def repeats(self) -> None:
        """An axis of the output that no axis of an input is has equal elements along it."""
        self._repeats = True

    def numbers_samples(self, out: int) -> None:
        """The elements of an output depend on the place of the sample in the batch."""
        self._numbered.add(out)

    def unproven(self, why: str) -> NoReturn:
        """Nothing is known of the batch."""
        raise Unproven(why)

    # What a rule asks.

    @property
    def shape(self) -> tuple[Size, ...]:
        """The shape of the first output."""
        if self._outputs[0] is None:
            raise Unproven("the rank of its output is not known")
        return tuple([_product(axis) for axis in self._outputs[0]])

    def trace(self, port: Input) -> Trace:
        """The trace of an input."""
        found = self._inputs[port.index].trace
        if found is None:
            raise Unproven(f"the rank of {port.name} is not known")
        return found

    def holds(self, factors: Axis) -> bool:
        """Whether an axis holds the batch."""
        return self.batch is not None and holds(factors, self.batch)

    def is_batched(self, port: Input | None) -> bool:
        """Whether an input holds the batch."""
        return port is not None and any(map(self.holds, self.trace(port)))

    def elements(self, port: Input | None, default: Sequence[Size] = ()) -> tuple[Any, ...]:
        """The elements of an input; `default` if it is absent. They are needed: the batch is not proved where they are not known."""
        if port is None:
            return tuple(default)
        if port.elements is None or any(isinstance(one, Real) for one in port.elements):
            raise Unproven(f"the elements of {port.name} are not known")
        return tuple(port.elements)

    def limits(self, port: Input | None, default: Sequence[Size] = ()) -> tuple[Size | None, ...]:
        """The elements of an input that is read as limits of slices; each is None if they are not known."""
        if port is None or port.elements is not None:
            self.sizes(port)
            return self.elements(port, default)
        if port.count is None or port.count > _MOST_LIMITS:
            raise Unproven(f"it is not known how many elements {port.name} has")
        return (None,) * port.count

    def axes(self, port: Input, rank: int) -> list[int]:
        """The axes that the elements of an input name."""
        named = self.elements(port)
        if not all(isinstance(axis, int) for axis in named):
            raise Unproven(f"the elements of {port.name} are not known")
        return [axis + rank if axis < 0 else axis for axis in named]

    # What follows.

    def concluded(self) -> list[Held]:
        """The tensors that the layer gives. Raises `Mixed` and `Unproven`."""
        read = [(index, held) for index, held in enumerate(self._inputs) if index not in self._ignored]
        places = [(index, [axis for axis, factors in enumerate(held.trace or ()) if self.holds(factors)]) for index, held in read]
        batched = {index: axes for index, axes in places if axes and not self._inputs[index].taint}
        taint = next((held.taint for index, held in read if held.taint and index not in self._sizes), "")
        if self._measured is not None:
            taint = self._layer if self.is_batched(self._measured) else self._inputs[self._measured.index].taint
        if taint and batched and not self.is_lawful:
            raise Counted(f"computes with the size of the batch {self.batch}, which {taint} reads")
        found = []
        for position, own in enumerate(self._outputs):
            trace = None if own is None else self._traced(position, own, batched, taint)
            found.append(Held(trace, self._layer if batched and position in self._numbered else taint))
        return found

    def _traced(self, position: int, own: Trace, batched: Mapping[int, Sequence[int]], taint: str) -> Trace:
        """The trace of an output."""
        found, lead = list(own), None
        claims = [claim for claim in self._claims if claim.out == position and claim.to < len(own)]
        for claim in claims:
            is_same = same(_product(claim.factors), _product(own[claim.to]))
            if not self.holds(claim.factors) or taint:
                if is_same and len(claim.factors) > len(found[claim.to]) and not self.holds(found[claim.to]):
                    found[claim.to] = claim.factors
                continue
            if not is_same or not (_is_even(claim.factors) or _is_alone(claim.factors, self.batch or "")):
                self.mixed(f"makes {_size(own[claim.to])} of {self._place(claim.port, claim.axis)}, which holds the batch {{batch}}")
            if lead is None or (lead.to == claim.to and _is_even(lead.factors)):
                lead = claim
                found[claim.to] = claim.factors
            elif lead.to != claim.to or not (_is_even(claim.factors) or _agree(lead.factors, claim.factors, self.batch or "")):
                first, other = (self._place(one.port, one.axis) for one in (lead, claim))
                self.mixed(f"puts samples of {{batch}} together: {first} and {other} hold them")
        claimed = {(claim.port.index, claim.axis) for claim in claims}
        for index, axis in [(index, axis) for index, axes in batched.items() for axis in axes]:
            if index < len(self.ports) and (index, axis) not in claimed:  # a surplus input of IR version 10 is not read
                why = self._whys.get(index, "puts together")
                self.mixed(f"{why} {self._place(self.ports[index], axis)}, which holds the batch {{batch}}")
        new = [axis for axis, factors in enumerate(own) if self.holds(factors) and (lead is None or axis != lead.to)]
        is_new = lead is None and self._repeats and len(new) == 1
        if is_new and not is_symbol(own[new[0]], self.batch or ""):
            found[new[0]] = tuple([Even(*one) for one in own[new[0]]])
        if new and not taint and not is_new:
            self.mixed(f"gives an axis of size {_size(own[new[0]])}, which depends on the size of the batch {{batch}}")
        return tuple(found)

    def _place(self, port: Input, axis: int) -> str:
        """An axis in words, with its factors if there are several: `axis 1 (N, 9) of matrix_a`."""
        factors = self.trace(port)[axis]
        return f"axis {axis}{f' {_size(factors)}' if len(factors) > 1 else ''} of {port.name}"


def holds(factors: Axis, batch: str) -> bool:
    """Whether an axis holds a symbol."""
    return any(isinstance(one.size, Dim) and batch in symbols(one.size) for one in factors)


def _is_even(factors: Axis) -> bool:
    """Whether all elements along an axis are equal."""
    return all(isinstance(one, Even) for one in factors)


def _is_alone(factors: Axis, batch: str) -> bool:
    return [is_symbol((one,), batch) for one in factors if holds((one,), batch)] == [True]


def _agree(one: Axis, other: Axis, batch: str) -> bool:
    """Whether the factors outside and inside of the batch have the same products in two axes."""
    (before, behind), (outer, inner) = (_around(factors, batch) for factors in (one, other))
    return same(before, outer) and same(behind, inner)


def _around(factors: Axis, batch: str) -> tuple[Size, Size]:
    at = next(place for place, one in enumerate(factors) if holds((one,), batch))
    return _product(factors[:at]), _product(factors[at + 1 :])


def is_symbol(factors: Axis, batch: str) -> bool:
    """Whether an axis is one factor, the symbol itself."""
    return len(factors) == 1 and isinstance(factors[0].size, Dim) and str(factors[0].size) == batch


def same(a: Size, b: Size) -> bool:
    """Whether two sizes have one formula."""
    return a is b or expression_of(a) == expression_of(b)


def quotient(a: Size, b: Size) -> Size | None:
    """The size that times `b` is the formula `a`; None if there is none."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b if b and a % b == 0 else None
    if isinstance(a, int) or b == 0:
        return None
    found = a // b
    return found if same(found * b, a) else None


def regrouped(trace: Trace, own: Trace, batch: str | None) -> Trace | None:
    """The factors of a trace in their order, put into the axes of a shape; None if an axis that holds the batch does not stay together.

    Numbers and formulas that the axes of the shape divide are cut. `own` is the trace of which each axis is one factor.
    """
    rest = [one for axis in trace for one in axis if one.size != 1]
    found: list[Axis] = []
    for axis in own:
        taken = _taken(rest, axis, batch)
        if taken is None:
            return _placed(trace, own, batch)
        found.append(taken)
    return tuple(found) if not rest else _placed(trace, own, batch)


def _parted(factors: Axis, law: Law, batch: str) -> Law:
    """The same law for an axis (A, N, S): a term of A*N*q elements is split into terms of A, of N and of q."""
    inner = _around(factors, batch)[1]
    size = next(one.size for one in factors if holds((one,), batch))
    axes: list[tuple[Term, ...]] = []
    for terms in law.axes:
        found: list[Term] = []
        for term in terms:
            q = quotient(inner, term.step)
            left = None if q is None else quotient(term.size, size * q)
            if q is None or left is None:
                found.append(term)
            else:
                found += [one for one in (Term(left, inner * size), Term(size, inner), Term(q, term.step)) if one.size != 1]
        axes.append(tuple(found))
    return law._replace(axes=tuple(axes))


def _shared(base: Size, batched: Size) -> tuple[Size, Size]:
    """A place as a number of parts with so many elements, and the rest; in all of it if it is no multiple."""
    times = quotient(base, batched)
    return (times, 0) if times is not None and le_unasked(1, times) is True else (0, base)


def _taken(rest: list[Factor], axis: Axis, batch: str | None) -> Axis | None:
    """The first factors of `rest`, which make up an axis; they are taken away. None if no first factors do."""
    need, recorded = _product(axis), _recorded(axis)
    taken: list[Factor] = []
    while need != 1:
        if not rest:
            return None
        first = rest[0]
        left = quotient(need, first.size)
        if left is not None:
            taken.append(rest.pop(0))
            need, recorded = left, _ratio(recorded, first.recorded)
            continue
        left = quotient(first.size, need)
        if left is not None:
            taken.append(Factor(need, recorded))
            rest[0] = Factor(left, _ratio(first.recorded, recorded))
            return tuple(taken)
        # `2*(H//4)` is no factor of the formula `H*(W//4)`, which is its product with `2*(W//4)` for multiples of 4.
        several = next((count for count in range(2, len(rest) + 1) if same(_product(rest[:count]), need)), 0)
        if several:
            taken += rest[:several]
            del rest[:several]
            return tuple(taken)
        if len(rest) < 2 or (batch is not None and holds(tuple(rest[:2]), batch)):
            return None
        second = rest.pop(1)
        rest[0] = Factor(first.size * second.size, _times(first.recorded, second.recorded))
    return tuple(taken) or axis


def _placed(trace: Trace, own: Trace, batch: str | None) -> Trace | None:
    """The trace of a shape in which the batch alone has its place; None if it has none, or there is no batch."""
    flat = [one for axis in trace for one in axis]
    at = next((place for place, one in enumerate(flat) if batch is not None and holds((one,), batch)), None)
    to = [place for place, axis in enumerate(own) if batch is not None and holds(axis, batch)]
    if at is None or len(to) != 1:
        return None
    before, behind = _product(flat[:at]), _product(flat[at + 1 :])
    sizes = [_product(axis) for axis in own]
    size, batched = sizes[to[0]], flat[at].size
    # Both tensors have equally many elements, so that the factors on one side of the batch decide those on the other one.
    outer, inner = quotient(before, product(sizes[: to[0]])), quotient(behind, product(sizes[to[0] + 1 :]))
    if outer is not None:
        inner = quotient(size, outer * batched)
    elif inner is not None:
        outer = quotient(size, batched * inner)
    if outer is None or inner is None:
        return None
    factors = tuple([one for one in (Factor(outer), flat[at], Factor(inner)) if one.size != 1])
    return (*own[: to[0]], factors, *own[to[0] + 1 :])


def _product(factors: Iterable[Factor]) -> Size:
    return product([one.size for one in factors])


def _recorded(axis: Axis) -> int | None:
    total: int | None = 1
    for one in axis:
        total = _times(total, one.recorded)
    return total


def _times(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a * b


def _ratio(a: int | None, b: int | None) -> int | None:
    return a // b if a is not None and b and a % b == 0 else None


def _size(factors: Axis) -> str:
    """The factors of an axis as text: `N`, `N*12`."""
    texts = [brief_text(one.size) for one in factors]
    return texts[0] if len(texts) == 1 else "*".join([text if text.isalnum() else f"({text})" for text in texts])


def _sizes(trace: Trace) -> str:
    return f"[{','.join(map(_size, trace))}]"


# Rules that many operations share.


def elementwise(self: object, flow: Flow, *inputs: Any) -> None:
    """Each element of the output depends on the elements of the inputs at its own place; inputs are broadcast."""
    flow.broadcast(*flow.ports)


def alike(self: object, flow: Flow, first: Input, *inputs: Any) -> None:
    """Each axis of the first input is the same axis of every output."""
    flow.keep_all(first)


def along_first(why: str, *names: str) -> Callable[..., None]:
    """The rule of an operation that works on each slice along the first axis of its first input, or of the inputs with these names.

    `why` tells of the other axes.
    """

    def flow(self: object, flow: Flow, first: Input, *inputs: Any) -> None:
        for port in [port for port in flow.ports if port.name in names] if names else [first]:
            flow.keep(port, 0, 0)
            flow.mixes(port, why)

    return flow


def within(factors: Axis, size: Size) -> Axis:
    """The factors of an axis inside of its first ones, whose product is a size; all factors if no first ones have this product."""
    for count in range(len(factors) + 1):
        if same(_product(factors[:count]), size):
            return factors[count:]
    return factors


def mixing(why: str) -> Callable[..., None]:
    """The rule of an operation that puts all axes of its inputs together; `why` says how."""

    def flow(self: object, flow: Flow, *inputs: Any) -> None:
        for port in flow.ports:
            flow.mixes(port, why)

    return flow


def random(self: object, flow: Flow, *inputs: Any) -> None:
    """The elements of the output are drawn at random."""
    raise Random("it draws random numbers")


OWN: Final = Factor(1, 1)
