"""Nets of shape arithmetic, and every verb on each of them: `python -m tests.fuzz.arithmetic --first N --count N`.

A seed makes a net: sizes of inputs that are added, multiplied, divided and compared again and again, in nested minima and maxima, with
constants of any magnitude, and used as shapes, slices, pads and ranges; some nets have a state, a body or data that decide a size. Every
command of the command line and every function of the library then answers, with questions that a seed makes, too. An answer must be no
traceback, hold no words of Python, and end with an exit code that fits what was printed.
"""

import contextlib
import io
import json
import pickle
import random
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import irshape
from irshape.cli.main import main as run
from irshape.shape.range import number_text
from tests.fuzz.apart import main
from tests.fuzz.work import TENSOR, called, size
from tests.support.ir import Net

# What Python says, and no message of irshape.
PYTHON: Final = re.compile(
    r"Traceback|internal error|\bI101\b|\b\w+Error\b(?! of)|object has no attribute|invalid literal|list index|tuple index|"
    r"out of range for|(?<!V106 )division by zero|modulo by zero|not subscriptable|unsupported operand|4300 digits|"
    r"integer string conversion|unhashable|<\w+ object at|cannot reshape array|could not broadcast|maximum recursion|NoneType'|"
    r"argument of type|unexpected keyword"
)
NUMBERS: Final = [0, 1, 2, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100, 1000, -1, -2, -3, -7, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63)]
KINDS: Final = ("Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum", "Mod", "FloorMod")
SIZES: Final = ("?", "?", "?", "1..", "2..9", "..7", "0..", "1..8", "64", "1", "3", "8..64")
TEXTS: Final = ("?", "N", "H", "2*H", "H+1", "H+W", "N//2", "1..", "..64", "8..16", "0", "1", "7", "255", str(2**63 - 1), "9" * 5000)
GIVEN: Final = ("1", "7", "64", "1..9", "2*k", "224", str(2**62), "9" * 30, "9" * 5000, "0", "-1", "x")


class Arithmetic:
    """A net of a seed."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.net = Net()
        self.sizes: list[str] = []
        self.inputs = [self._input(f"_x{number}") for number in range(chance.choice((1, 1, 2, 2, 3)))]
        for data, rank in self.inputs:
            for axis in range(rank):
                self._keep(size(data, axis))
        if chance.random() < 0.3:
            self._state()
        if chance.random() < 0.3:  # a size that data decide
            self._keep(size("f32[?] -> NonZero-3(output_type=i64)", 1))
        self._combine(chance.choice((3, 8, 8, 20, 30, 60, 300 if chance.random() < 0.2 else 12)))
        for _ in range(chance.choice((1, 2, 4))):
            self.net.add(f"{self._use()} -> Result")

    def _keep(self, text: str) -> None:
        """Give the size that a text computes a name."""
        self.sizes.append(f"_{len(self.sizes)}")
        self.net.add(called(self.sizes[-1], text) if " -> " in text else f"{self.sizes[-1]}: {text}")

    def _input(self, name: str) -> tuple[str, int]:
        rank = self.chance.choice((1, 1, 2, 3))
        self.net.add(f"{name}: f32[{','.join(self.chance.choices(SIZES, k=rank))}]")
        return name, rank

    def _state(self) -> None:
        """A variable whose length nobody knows."""
        self.net.add("""
            _read: ReadValue-6(variable_id=v, variable_type=f32, variable_shape=[1,?,4]) f32
            _joined: Concat(_read, f32[1,?,4], axis=1)
            Assign-6(_joined, variable_id=v) -> Result
        """)
        self._keep(size("_joined", 1))

    def _combine(self, rounds: int) -> None:
        """More sizes, each computed from two."""
        chance = self.chance
        kinds = chance.choice((KINDS, ("Minimum", "Maximum"), ("Minimum", "Maximum", "Add"), ("Add", "Multiply", "Divide")))
        is_chain = chance.random() < 0.5
        for _ in range(rounds):
            first = self.sizes[-1] if is_chain else chance.choice(self.sizes)
            other = chance.choice(self.sizes) if chance.random() < 0.6 else f"[{chance.choice(NUMBERS[: chance.choice((9, 24))])}]"
            pair = (first, other) if chance.random() < 0.8 else (other, first)
            self._keep(f"{chance.choice(kinds)}({', '.join(pair)})")

    def _use(self) -> str:
        """The text of an output whose shape is computed from some sizes."""
        chance = self.chance
        data, rank = chance.choice(self.inputs)
        size = self.sizes[-1] if chance.random() < 0.6 else chance.choice(self.sizes)
        several = chance.choices(self.sizes[-8:], k=chance.choice((1, 2, 3)))
        shape, ends = f"Concat({size}, {', '.join(several)}, axis=0)", f"Concat({', '.join([size] * rank)}, axis=0)"
        made, other = f"{size}{TENSOR}", f"Broadcast-3(f32=1.0, {several[0]}, mode=numpy)"
        return chance.choice((
            made,
            f"{shape}{TENSOR}",
            f"Reshape({data}, {shape}, special_zero=false)",
            f"Reshape({data}, Concat([-1], {size}, axis=0), special_zero=false)",
            f"{made} -> Add({other})",
            f"Slice-8({data}, [1], {size}, [2])",
            f"Pad-12({data}, {ends}, {ends}, pad_mode=constant)",
            f"Tile({data}, {shape})",
            f"{made} -> Concat({other}, axis=0)",
            f"Range-4(0, Squeeze({size}, [0]), 1, output_type=i64)",
            f"Interpolate-11(f32[1,3,?,?], {size}, [2], mode=nearest, shape_calculation_mode=sizes, pads_begin=0, pads_end=0)",
        ))  # fmt: skip


class Question:
    """What is asked of a file."""

    def __init__(self, xml: str, chance: random.Random) -> None:
        self.chance = chance
        layers = xml.split("<layer ")[1:]
        found = [re.search(r'name="([^"]*)" type="Parameter".*?shape="([^"]*)"', text, re.DOTALL) for text in layers]
        self.names = [one[1] for one in found if one]
        self.ranks = {one[1]: len(one[2].split(",")) for one in found if one}
        self.layers = [text.partition('name="')[2].partition('"')[0] for text in layers] or ["none"]
        self.shapes = {name: f"[{','.join(chance.choices(TEXTS, k=self.ranks[name]))}]" for name in self.names if chance.random() < 0.6}
        self.set = {name: chance.choice(GIVEN) for name in chance.sample(("N", "H", "W", "B", "S", "d0", "no"), 2) if chance.random() < 0.4}
        self.options = [word for name, shape in self.shapes.items() for word in ("--input", name + shape)]
        self.options += ["--set", *(f"{name}={size}" for name, size in self.set.items())] if self.set else []
        self.near = ",".join(f"{name}={chance.choice(GIVEN)}" for name in chance.sample(("N", "H", "W", "B", "S", "n_state", "L"), 2))

    def layer(self) -> str:
        return self.chance.choice(self.layers)


def commands(path: str, question: Question, chance: random.Random) -> Iterator[list[str]]:
    """Every command, plain and with a question."""
    own = question.options
    out = ["-o", f"{path}.out.xml", "--force"]
    for options in ([], own) if own else ([],):
        yield ["check", path, *options]
        yield ["infer", path, *options, *chance.choice(([], ["--format", "json"], out, ["--raw-symbols"]))]
        yield ["info", path, *options, *chance.choice(([], ["--all"], ["--format", "json"]))]
        yield ["signature", path, *options, *chance.choice(([], ["--all", "--why"], ["--format", "json"]))]
        yield ["sizes", path, *options, *chance.choice(([], ["--near", question.near], ["--format", "json"]))]
        yield ["summary", path, *options]
        yield ["cost", path, *options, *chance.choice(([], ["--all", "--views"], ["--near", question.near], ["--format", "json"]))]
        yield ["explain", path, question.layer(), *options]
        yield ["reshape", path, *options, *chance.choice((out, ["--batch", "3", *out], ["--rewrite", *out]))]
        yield ["view", path, *options, "-o", f"{path}.html", "--force"]
        yield ["simplify", path, *options, "--dry-run"]
    yield [path]
    yield ["check", path, "--target", "static-shapes", "--target", "bounded", "--target", "npu"]
    yield ["check", path, "--write-baseline", f"{path}.baseline"]
    yield ["check", path, "--baseline", f"{path}.baseline", "--select", "ALL", "--format", "json"]
    yield ["diff", path, f"{path}.other.xml", *chance.choice(([], ["--cost"], ["--format", "json", "--cost"]))]
    yield ["view", path, f"{path}.other.xml", "-o", f"{path}.html", "--force"]
    yield ["edit", path, "--bypass", question.layer(), "--prune", *out]
    yield ["extract", path, "--to", question.layer(), *out]
    yield ["extract", path, "--around", question.layer(), "--distance", "3", *out]
    yield ["scan", path, "-o", f"{path}.jsonl", "--force", "--jobs", "1", "--cost"]
    yield ["reduce", path, "--keep", chance.choice(("S201", "S204", "R401")), "-o", f"{path}.reduced", "--force"]


def said_by(arguments: list[str]) -> Iterator[str]:
    """What is wrong with the answer of a command."""
    out, err = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run(arguments)
    except BaseException as error:
        yield f"{type(error).__name__}: {str(error)[:200]}"
        return
    printed, complaints = out.getvalue(), err.getvalue()
    if found := PYTHON.search(printed + complaints):
        yield f"prints {found[0]!r}: {(printed + complaints)[max(found.start() - 80, 0) : found.end() + 200]!r}"
    if code not in (0, 1, 2):
        yield f"exit code {code}"
    is_said = ": error" in printed or "compared" in printed  # `diff` says which constants were not compared
    if code == 2 and not complaints.strip() and not is_said:
        yield "exit code 2 without a complaint"
    if code == 1 and arguments[0] == "check" and "error" not in printed and "baseline" not in " ".join(arguments):
        yield "exit code 1 without an error"
    if "--format" in arguments and code != 2:
        try:
            json.loads(printed)
        except ValueError:
            yield f"prints no JSON: {printed[:100]!r}"


# What callers give by mistake.
ODD: Final[list[Any]] = [[1, 3, 255], 5, "x", b"x", 1.5, None, {3: 4}, {"H": None}, [None], [[1]], 10**5000, -1, {1}, True, object]
REFUSALS: Final = (irshape.InputError, irshape.EditError, irshape.WeightsError)


def functions(path: str, question: Question, chance: random.Random) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every function of the library: plain, with a question, and with what no caller should give."""
    near = {name: chance.choice((1, 7, 2**40, 10**30)) for name in ("N", "H") if chance.random() < 0.2}
    for given in ({}, {"inputs": question.shapes, "symbols": question.set}):
        ask = partial(_asked, path, given)
        yield "infer", ask(irshape.infer, partial(asked, chance))
        yield "check", ask(irshape.check, lambda found: found.to_dict(named=True), targets=["bounded", "static-shapes"])
        yield "reshape", ask(irshape.reshape, lambda found: found.to_dict(named=True))
        yield "info", ask(irshape.info, answered)
        yield "signature", ask(irshape.signature, partial(asked_of_signature, chance))
        yield "summary", ask(irshape.summary, answered, near=near)
        yield "cost", ask(irshape.cost, partial(asked_of_cost, chance), near=near)
        yield "sizes", ask(irshape.sizes, partial(asked_of_sizes, chance))
        yield "explain", ask(irshape.explain, answered, layer=question.layer())
    for name in ("infer", "check", "reshape", "info", "signature", "summary", "cost", "sizes"):
        verb, kind = getattr(irshape, name), chance.choice(("inputs", "symbols"))
        yield f"{name} of odd {kind}", partial(verb, path, **{kind: chance.choice(ODD)})
        yield f"{name} of odd sizes", partial(verb, path, **{kind: {chance.choice([*question.names, "H"]): chance.choice(ODD)}})
    yield "cost near odd sizes", partial(irshape.cost, path, near=chance.choice((*ODD, {"H": chance.choice(ODD)})))
    yield "explain an odd axis", partial(irshape.explain, path, question.layer(), axis=chance.choice(ODD))
    yield "diff", lambda: answered(irshape.diff(path, f"{path}.other.xml", cost=True))
    yield "edit", lambda: edited(irshape.edit(path), chance)
    yield "Session", lambda: reshaped(irshape.Session(path), question, chance)


def _asked(path: str, given: dict[str, Any], verb: Callable[..., Any], use: Callable[[Any], Any], **others: Any) -> Callable[[], Any]:
    return lambda: use(verb(path, **given, **others))


def answered(answer: Any) -> None:
    """Ask an answer for all that it has, and once more after a pickle."""
    text = json.dumps(answer.to_dict())
    assert json.dumps(pickle.loads(pickle.dumps(answer)).to_dict()) == text, "the pickle answers otherwise"
    _ = repr(answer), str(answer), answer._repr_html_() if hasattr(answer, "_repr_html_") else None


def asked(chance: random.Random, inference: irshape.Inference) -> None:
    answered(inference)
    _ = inference.xml(), inference.formulas, inference.to_records(), inference.to_dot(), [str(guard) for guard in inference.guards]
    nodes = [node for node in inference.model.nodes if node.outputs]
    for node in chance.sample(nodes, min(len(nodes), 3)):
        answered(inference.explain(node.key))


def asked_of_signature(chance: random.Random, signature: irshape.Signature) -> None:
    answered(signature)
    for number in (0, 1, 7, 10**5000, chance.choice(ODD)):
        with contextlib.suppress(irshape.InputError):
            signature.assign(dict.fromkeys(signature.symbols, number))


def asked_of_cost(chance: random.Random, cost: irshape.Cost) -> None:
    answered(cost)
    _ = cost.to_records(), cost.intensity, cost.peak_memory
    for symbol in list(cost.symbols)[:2]:
        _ = cost.stretches(symbol), cost.sweep({symbol: [1, 7, chance.choice((64, 10**20))]})


def asked_of_sizes(chance: random.Random, sizes: irshape.ValidSizes) -> None:
    answered(sizes)
    for number in (0, 1, 7, 64, 10**30, 10**5000, -1):
        given = {name: chance.choice((number, 1, 8)) for name in sizes.symbols}
        for found in sizes.nearest(given):
            assert found is None or sizes.admits({**given, **found}), f"sizes nearest to {number_text(number)} are not admitted"
        sizes.admits(given)
    with contextlib.suppress(irshape.InputError):
        chance.choice((sizes.admits, sizes.nearest))(chance.choice(ODD))


def edited(graph: irshape.Graph, chance: random.Random) -> None:
    layers = list(graph)
    names = ("size", "offset", "shape", "element_type", "axis")
    for layer in chance.sample(layers, min(len(layers), 8)):
        edits: list[Callable[[], Any]] = [
            layer.bypass, partial(layer.remove, cascade=True), partial(layer.rename, "again"), partial(graph.result, layer),
            partial(layer.connect, 0, chance.choice(layers)),
            *[partial(layer.set, **{name: value}) for name in names for value in (4, [4, -1], "x")],
        ]  # fmt: skip
        for edit in chance.sample(edits, 2):
            with contextlib.suppress(*REFUSALS):
                edit()
            with contextlib.suppress(*REFUSALS):
                _ = hasattr(layer, "data") and layer.data.tolist()
            with contextlib.suppress(*REFUSALS):
                _ = layer.faults, [(tensor.text, tensor.elements) for tensor in layer.outputs], dict(layer.attributes)
    for end in (graph.check, graph.__bytes__, graph.diff, graph.simplify):
        with contextlib.suppress(*REFUSALS):
            end()


def reshaped(session: irshape.Session, question: Question, chance: random.Random) -> None:
    for _ in range(5):
        shapes = {name: [chance.choice((1, 2, 4, 8, 30)) for _ in range(rank)] for name, rank in question.ranks.items()}
        before = session.reshape(shapes).to_dict()
        again = pickle.loads(pickle.dumps(session))
        assert again.reshape(shapes).to_dict() == before, f"a pickled session answers otherwise to {shapes}"


def findings(seed: int) -> Iterator[str]:
    """What is wrong with the answers to the questions of a seed."""
    chance = random.Random(seed)
    nets = [Arithmetic(chance).net for _ in range(2)]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/m.xml"
        for one, suffix in zip(nets, ("", ".other.xml"), strict=True):
            one.save(Path(path + suffix))
        question = Question(nets[0].xml, chance)
        for arguments in commands(path, question, chance):
            for one in said_by(arguments):
                yield f"{' '.join(arguments)[:300].replace(folder, '')}: {one}"
        for name, call in functions(path, question, chance):
            try:
                call()
            except REFUSALS as error:
                if found := PYTHON.search(str(error)):
                    yield f"{name}: says {found[0]!r}: {str(error)[:200]!r}"
            except Exception as error:
                frame = traceback.extract_tb(error.__traceback__)[-1]
                yield f"{name}: {type(error).__name__} in {frame.name}: {str(error)[:200] if len(error.args) else ''}"


if __name__ == "__main__":
    sys.exit(main("tests.fuzz.arithmetic", __doc__, findings, 100))
