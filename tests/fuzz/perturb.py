"""Rows of the operations, changed in a place or two, beside OpenVINO: `python -m tests.fuzz.perturb --first N --count N`.

A seed chooses an operation, one of its rows, and what changes: a size, a rank, an element type, the elements of a constant, a constant
that becomes a Parameter or the other way round, an input too many or too few, an attribute, the version. irshape must accept what
OpenVINO accepts, with the same element types and no looser shapes. OpenVINO runs in a process of its own, because some files end it.
"""

import random
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from irshape.shape.element_type import ElementType
from tests.fuzz.apart import main
from tests.fuzz.beside import differences
from tests.support.ir import FORMATS, Const, Net
from tests.support.oracle import EXTENDED
from tests.support.rows import WITHOUT_OPENVINO, Differs, Table, attributes_of, inputs_of, is_refused, outputs_of, tables

SIZES = ["?", "?", "?", "1..", "2..5", "..7", "0", "1", "2", "3", "4", "5", "8", "1..3", "..3"]
INTS = [0, 1, -1, 2, -2, 3, 4, 5, 7, 100]
REALS = [0.0, 1.0, -1.0, 0.5, 2.5, 3.0]
# Types of 4 bits and less are left out, because OpenVINO reads their packed elements as whole bytes.
TYPES = ["f32", "f16", "bf16", "f64", "i64", "i32", "i16", "i8", "u8", "u16", "u32", "u64", "boolean", "string", "f8e4m3", "dynamic"]
VERSIONS = [f"opset{number}" for number in range(1, 17)]


@cache
def seeds() -> dict[str, list[Table]]:
    """The tables of rows that OpenVINO and irshape accept alike, by operation."""
    found: dict[str, list[Table]] = {}
    for table in tables():
        if table.version not in (*WITHOUT_OPENVINO, *EXTENDED):
            rows = [row for row in table.rows if not isinstance(row[-1], Differs) and not is_refused(row)]
            if rows:
                found.setdefault(table.type, []).append(table._replace(rows=rows))
    return found


@cache
def values(type: str) -> dict[str, list[Any]]:
    """What the rows of an operation give each attribute."""
    found: dict[str, list[Any]] = {}
    for table in seeds()[type]:
        for row in table.rows:
            for name, value in attributes_of(row).items():
                if value not in found.setdefault(name, []):
                    found[name].append(value)
    return found


class Perturbed:
    """A row that has been changed, as a net."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.type = chance.choice(sorted(seeds()))
        table = chance.choice(seeds()[self.type])
        row = chance.choice(table.rows)
        self.version = table.version
        self.inputs = inputs_of(row)
        self.attributes = dict(attributes_of(row))
        edits = [self.resize, self.resize, self.rerank, self.retype, self.change_elements, self.change_elements, self.open, self.close,
                 self.drop, self.add, self.change_attribute, self.change_attribute, self.change_version]  # fmt: skip
        for edit in chance.choices(edits, k=chance.choice((1, 1, 2))):
            edit()
        self.net = Net()
        refs = [self.net.const(*one) if isinstance(one, Const) else self.net.parameter(one) for one in self.inputs]
        for ref in self.net.layer(self.type, refs, ["FP32"] * len(outputs_of(row)), self.version, **self.attributes):
            self.net.result(ref)

    def __str__(self) -> str:
        return f"{self.type} {self.version} {' '.join(map(str, self.inputs))} {self.attributes}"

    def place(self, kind: type) -> int | None:
        """The position of an input that is a fact or a constant."""
        places = [index for index, one in enumerate(self.inputs) if isinstance(one, kind)]
        return self.chance.choice(places) if places else None

    def reshape(self, change: Any) -> None:
        """Change the sizes of a Parameter of known rank."""
        if (place := self.place(str)) is not None and not str(self.inputs[place]).endswith("[...]"):
            element_type, _, sizes = str(self.inputs[place])[:-1].partition("[")
            self.inputs[place] = f"{element_type}[{','.join(change(sizes.split(',') if sizes else []))}]"

    def resize(self) -> None:
        def change(sizes: list[str]) -> list[str]:
            if sizes:
                sizes[self.chance.randrange(len(sizes))] = self.chance.choice(SIZES)
            return sizes

        self.reshape(change)

    def rerank(self) -> None:
        def change(sizes: list[str]) -> list[str]:
            at = self.chance.randint(0, len(sizes))
            return self.chance.choice((["..."], sizes[:at] + sizes[at + 1 :], [*sizes[:at], self.chance.choice(SIZES), *sizes[at:]]))

        self.reshape(change)

    def retype(self) -> None:
        place = self.chance.randrange(len(self.inputs)) if self.inputs else None
        if place is None:
            return
        one = self.inputs[place]
        if isinstance(one, Const):
            element_type = self.chance.choice([name for name in TYPES if name in FORMATS])
            self.inputs[place] = Const(_cast(one.values, element_type), element_type)
        else:
            self.inputs[place] = f"{self.chance.choice(TYPES)}[{one.partition('[')[2]}"

    def change_elements(self) -> None:
        if (place := self.place(Const)) is None:
            return
        elements, element_type = self.inputs[place]
        number = self.chance.choice(REALS if element_type[0] in "fb" else INTS)
        if not isinstance(elements, list):
            elements = number
        elif all(not isinstance(element, list) for element in elements):
            at = self.chance.randint(0, len(elements))
            elements = self.chance.choice(([*elements[:at], number, *elements[at + 1 :]], [*elements, number], elements[:-1]))
        self.inputs[place] = Const(_cast(elements, element_type), element_type)

    def open(self) -> None:
        """Make a Parameter of a constant."""
        if (place := self.place(Const)) is not None:
            elements, element_type = self.inputs[place]
            shape = []
            while isinstance(elements, list):
                shape.append(self.chance.choice((str(len(elements)), "?", "..4", "2..5")))
                elements = elements[0] if elements else 0
            self.inputs[place] = f"{element_type}[{self.chance.choice((','.join(shape), ','.join(shape), '...', '1'))}]"

    def close(self) -> None:
        """Make a constant of a small Parameter."""
        place = self.place(str)
        element_type, _, text = str(self.inputs[place])[:-1].partition("[") if place is not None else ("", "", "?")
        if place is not None and element_type in FORMATS and text.isdigit() and int(text) < 9:
            self.inputs[place] = Const([_cast(self.chance.choice(INTS[:4]), element_type) for _ in range(int(text))], element_type)

    def drop(self) -> None:
        self.inputs = self.inputs[:-1]

    def add(self) -> None:
        self.inputs = [
            *self.inputs,
            self.chance.choice(["i64[]", "i32[2]", "f32[?]", "f32[...]", Const([1], "i64"), Const(0, "i32"), *self.inputs]),
        ]

    def change_attribute(self) -> None:
        known = values(self.type)
        if known:
            name = self.chance.choice(sorted(known))
            value = self.chance.choice([None, *known[name]])
            if isinstance(value, int) and self.chance.random() < 0.5:
                value += self.chance.choice((-1, 1))
            self.attributes[name] = value

    def change_version(self) -> None:
        self.version = self.chance.choice(VERSIONS)


def _cast(elements: Any, element_type: str) -> Any:
    """Elements in another type, in its range."""
    if isinstance(elements, list):
        return [_cast(element, element_type) for element in elements]
    known = ElementType.BY_NAME[element_type]
    if known.is_real:
        return float(max(min(elements, 60_000), -60_000))
    if element_type == "boolean":
        return bool(elements)
    least = -(1 << known.bits - 1) if known.is_signed else 0
    return max(min(int(elements), least + (1 << known.bits) - 1), least)


def findings(seed: int) -> Iterator[str]:
    """What irshape says of the net of a seed that OpenVINO does not."""
    perturbed = Perturbed(random.Random(seed))
    for one in differences(perturbed.net, perturbed.chance):
        yield f"{one} ({perturbed})"


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.perturb", __doc__, findings, 1000))
