"""Coverage-guided fuzzing with atheris: `python -m tests.fuzz.guided TARGET FOLDER --seconds N`.

Each target turns bytes into one question to irshape and asserts what must hold of the answer, accepted or not. The seeds are the
small files of a folder; what the guide finds worth keeping goes to `--corpus`, and a file that breaks a target to `--keep`. The
process ends with the first such file, so that a run that ends by itself has found nothing.
"""

import argparse
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["irshape"]):
    import irshape.inference.batch

    import irshape.api.verbs
    import irshape.inference.blockers
    import irshape.inference.inputs
    import irshape.shape.notation
    import irshape.xml.example
    import irshape.xml.fastlane
    import irshape.xml.reader
    import irshape.xml.writer
    from irshape.ops.registry import REGISTRY

    REGISTRY.types()  # every module of operations, which would be imported without instruments later

from irshape.ops.attribute import Malformed, converter
from irshape.shape.notation import ShapeSyntaxError
from tests.fuzz.mutate import LARGEST, Mutant, Mutator, findings, seeds

_ATTRIBUTES = [converter(annotation) for annotation in (int, float, bool, tuple[int, ...], tuple[float, ...])]


def read_ir(data: bytes) -> None:
    """A document keeps its bytes, places its faults, and is the same by the fast lane and the general reader."""
    document = irshape.xml.reader.read(data)
    for diagnostic in document.diagnostics:
        where = diagnostic.where
        assert where.offset is not None and 0 <= where.offset <= len(data), diagnostic
        assert where.line is not None and where.column is not None, diagnostic
    if not document.is_complete:
        return
    assert irshape.xml.writer.annotate(document, {}) == data
    if b"<!" not in data:
        # A comment behind the document changes nothing but the lane.
        slow = irshape.xml.reader.read(data + b"<!---->")
        assert _content(document) == _content(slow), "the lanes differ"


def _content(document: irshape.xml.reader.Document) -> list[object]:
    graphs = [document.graph]
    found: list[object] = [document.version, document.name, document.encoding]
    for graph in graphs:
        found += [(e.from_layer, e.from_port, e.to_layer, e.to_port, e.offset) for e in graph.edges]
        for layer in graph.layers:
            ports = [(p.id, p.precision, p.dims, p.names, p.offset, p.end) for p in (*layer.inputs, *layer.outputs)]
            found.append((layer.id, layer.name, layer.type, layer.version, layer.offset, layer.end, layer.attributes, ports))
            graphs += (layer.bodies or {}).values()
    return found


def read_example(data: bytes) -> None:
    """An example of the specification, which is repaired before it is read, and inferred."""
    inference = irshape.check(b"<layer " + data)
    inference.to_dict()
    assert all(diagnostic.code != "I101" for diagnostic in inference.diagnostics), inference.diagnostics
    irshape.xml.example.numbers(data.decode("utf-8", "replace"))


def read_notation(data: bytes) -> None:
    """Shapes, symbols, inputs and attributes: read, or refused by an error of their own; what is read is written alike."""
    text = data.decode("utf-8", "surrogatepass" if data[:1] < b"\x80" else "replace") if _is_text(data) else data.decode("latin-1")
    notation = irshape.shape.notation
    for read in (notation.parse_shape, notation.parse_parameter_shape, notation.parse_symbol, notation.parse_symbol_range):
        try:
            read(text)
        except ShapeSyntaxError as error:
            assert 0 <= error.position <= len(text), error
    try:
        shape = notation.parse_shape(text)
    except ShapeSyntaxError:
        shape = None
    if shape is not None:
        assert notation.parse_shape(f"[{','.join(map(str, shape))}]") == shape
    irshape.inference.inputs.split_input(text, ["x", "a:b", "x[1]"])
    for read_attribute in _ATTRIBUTES:
        try:
            read_attribute(text)
        except Malformed as error:
            assert error.code in ("A102", "A103", "A104"), error


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


# An IR and its weights as one piece of bytes.
_BETWEEN = b"\n<!-- weights -->\n"


def check(data: bytes) -> None:
    """A whole check, by the invariants that mutants are held to."""
    xml, found, weights = data.partition(_BETWEEN)
    answer = findings(Mutant(xml, weights if found else None), seconds=10)
    assert not answer, answer


def packed(mutant: Mutant) -> bytes:
    """What `check` takes apart."""
    return mutant.xml if mutant.weights is None else mutant.xml + _BETWEEN + mutant.weights


def mutated(data: bytes, most: int, seed: int) -> bytes:
    """A mutant that means something to a reader of IRs, or a change of bytes."""
    chance = random.Random(seed)
    if chance.random() < 0.3:
        return atheris.Mutate(data, most)  # type: ignore[no-any-return]
    xml, found, weights = data.partition(_BETWEEN)
    return packed(Mutator(chance).mutate(Mutant(xml, weights if found else None)))[:most]


class Target:
    """What is asked, what it may start from, and how its inputs change where bytes alone would be no IR."""

    def __init__(self, ask: Callable[[bytes], None], start: Callable[[Path], list[bytes]], *, is_structured: bool = False) -> None:
        self.ask = ask
        self.start = start
        self.is_structured = is_structured


def _texts(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.rglob("*.xml")) if path.stat().st_size <= LARGEST]


def _notations(folder: Path) -> list[bytes]:
    return [b"[1,3,?,224..448]", b"1x3xHx32*k+1", b"N,..8,4..", b"H=32..1024,32*k", b"x[1,-1]", b"...", b"1.5,2e3", b"0x1", b"(1, 3,)"]


TARGETS = {
    "reader": Target(read_ir, _texts, is_structured=True),
    "example": Target(read_example, lambda folder: [text.partition(b"<layer ")[2] for text in _texts(folder)]),
    "notation": Target(read_notation, _notations),
    "check": Target(check, lambda folder: [packed(seed.mutant) for seed in seeds(folder)], is_structured=True),
}


def main() -> None:
    """Fuzz one target; does not return."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.guided", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("folder", type=Path, help="where the seeds are: small .xml files with their .bin")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="a folder for what is worth starting from the next time")
    parser.add_argument("--keep", type=Path, default=Path(), help="a folder for the file that was found out")
    given = parser.parse_args()
    target = TARGETS[given.target]
    for folder in (given.corpus, given.keep):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    start = Path(tempfile.mkdtemp(prefix="irshape-fuzz-"))
    for number, data in enumerate(target.start(given.folder)):
        (start / f"{number}").write_bytes(data)
    options = [f"-max_total_time={given.seconds}", f"-seed={given.seed}", f"-max_len={2 * LARGEST}", "-timeout=60", "-rss_limit_mb=2048"]
    options += [f"-artifact_prefix={given.keep}/", "-print_final_stats=1", "-verbosity=1", "-reload=0"]
    folders = [str(folder) for folder in (given.corpus, start) if folder is not None]
    change = {"custom_mutator": mutated} if target.is_structured else {}
    atheris.Setup([sys.argv[0], *options, *folders], target.ask, **change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
