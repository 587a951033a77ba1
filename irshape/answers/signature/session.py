"""A session whose inputs take sizes for the symbols of the signature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irshape.inference.inference import Inference
from irshape.inference.inputs import Inputs, ShapeLike, Shapes, Symbols, asked_inputs
from irshape.inference.session import Session

if TYPE_CHECKING:
    from irshape.answers.signature.knobs import Knobs, Sizes


class SymbolSession(Session):
    """A session that also takes sizes for the symbols of the signature. They hold until the symbols, or the inputs, get others."""

    def __init__(self, *source: Any, **options: Any) -> None:
        super().__init__(*source, **options)
        self._knobs: tuple[Knobs, Sizes] | None = None

    def reshape(
        self,
        inputs: Shapes | None = None,
        /,
        *,
        symbols: Symbols | None = None,
        batch: int | str | None = None,
        patch_constants: bool = False,
        **named: ShapeLike,
    ) -> Inference:
        """Give inputs other shapes, or symbols other sizes. Raises `InputError`."""
        self._work.renew()
        asked = asked_inputs(self.model, {**(inputs or {}), **named}, symbols or {})
        if self._inputs.updated(asked).are_named:
            inference = self._reshaped(asked, batch, patch_constants=patch_constants)
            self._knobs = None if inference.ok else self._knobs
            return inference
        before, (knobs, sizes) = (self.model, self._inputs), self._turned(asked)
        is_ok = False
        try:
            model, asked = knobs.set(sizes)
            if model is not self.model:  # a variable has another shape
                self.model, self._inputs, self._plans = model, self._inputs.of(model), None
            inference = self._reshaped(asked, batch, patch_constants=patch_constants)
            is_ok = inference.ok
        finally:
            if not is_ok and self.model is not before[0]:
                (self.model, self._inputs), self._plans = before, None
        if is_ok:
            self._knobs = knobs, sizes
        return inference

    def _turned(self, asked: Inputs) -> tuple[Knobs, Sizes]:
        """The symbols, and their sizes: those of the reshape before count, too, unless this one also gives shapes."""
        from irshape.answers.signature.knobs import Knobs

        if self._knobs is not None and not asked.shapes:
            knobs, sizes = self._knobs
            return knobs, {**sizes, **asked.sizes}
        return Knobs(self.model, self._inputs.updated(asked), self._weights, self._opaque), asked.sizes
