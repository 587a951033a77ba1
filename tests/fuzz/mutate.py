"""Mutants of real IRs, each checked under a limit of time and memory: `python -m tests.fuzz.mutate FOLDER --seconds N --seed S`.

A mutant differs from its seed in a few places that mean something to a reader of IRs: a number, a shape, an edge, a port, an
attribute, the type of a layer, the elements of a constant. Whatever it is, irshape must answer: with diagnostics of its own, in
time, and if it accepts the file, with the same facts for what it writes. `--asked`, `--shuffled` and `--interrupted` are the shares of
mutants of which every verb is asked, and whose answer must not change with the order of their layers and by an interrupt.
"""

import argparse
import collections
import random
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from types import FrameType
from typing import NamedTuple
from xml.etree import ElementTree

from irshape import verbs
from irshape.answers.signature.naming import NamedInference, named
from irshape.inference.inference import Inference
from irshape.ops.index import MODULES
from tests.fuzz.ask import Mutant, questions
from tests.fuzz.steady import after_an_interrupt, in_another_order, is_sound

SECONDS = 1.0
MEGABYTES = 150
# The share of mutants of which more is asked, which takes as long as many checks.
ASKED = 0.01
# Seeds larger than this say nothing that smaller ones do not, and take longer.
LARGEST = 60_000

NUMBERS = [0, 1, -1, 2, -2, 3, 7, 64, 127, 255, 10_000, 10**6, 2**31 - 1, 2**31, 2**32, 10**12, 2**62, 2**63 - 1, 2**63, -(2**63), 2**64]
WORDS = ["", " ", "nan", "inf", "-inf", "1.5", "1e400", "1e-9", "?", "1..4", "..4", "3..", "-1..2", "4..1", "[1,2]", "3,4", "1,,2", "true",
         "abc", "0x10", "+1", "1_0", "٣", "9" * 400, "-" + "9" * 50, "1," * 300 + "1", "dynamic", "undefined", "f32", "i64", "u1", "string",
         "&amp;", "same_upper", "valid", "explicit", "auto", "numpy", "pdpd", "bidirectional", "none"]  # fmt: skip
PRECISIONS = ["FP32", "FP16", "I64", "I32", "U8", "BOOL", "U1", "I4", "STRING", "dynamic", "BF16", "f32", ""]
INNER = ("then_body", "else_body", "body")


class Exceeded(BaseException):
    """A limit was reached; not an `Exception`, so that no rule takes it for a fault of its own."""


class Seed(NamedTuple):
    """A file mutants are made of."""

    name: str
    mutant: Mutant


def seeds(folder: Path, largest: int = LARGEST) -> list[Seed]:
    """The small IRs below a folder, with the weights beside them."""
    found = []
    for path in sorted(folder.rglob("*.xml")):
        if path.stat().st_size <= largest:
            weights = path.with_suffix(".bin")
            found.append(Seed(str(path), Mutant(path.read_bytes(), weights.read_bytes() if weights.exists() else None)))
    return found


class Mutator:
    """Makes mutants of one seed; the same ones for the same random numbers."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.types = sorted(MODULES)
        self.weights: bytearray | None = None
        self.root = ElementTree.Element("net")
        self.tags: dict[str, list[ElementTree.Element]] = {}
        self.edits: list[tuple[int, Callable[[], None]]] = [
            (6, self.change_attribute), (4, self.change_shape), (3, self.change_dim), (2, self.drop), (2, self.copy), (3, self.rewire),
            (2, self.retype), (1, self.change_precision), (4, self.change_elements), (2, self.add_attribute), (1, self.change_version),
            (1, self.swap), (1, self.nest), (1, self.add_port),
        ]  # fmt: skip

    def mutate(self, seed: Mutant) -> Mutant:
        """A file that differs from the seed in one to five places."""
        chance = self.chance
        self.weights = bytearray(seed.weights) if seed.weights is not None else None
        xml = seed.xml
        try:
            self.root = ElementTree.fromstring(xml)
        except (ElementTree.ParseError, LookupError, ValueError):  # no XML, or none that Python reads
            return Mutant(self.bytes_changed(xml), seed.weights)
        self.tags = {}
        for element in self.root.iter():
            self.tags.setdefault(element.tag, []).append(element)
        weights, edits = zip(*self.edits, strict=True)
        for edit in chance.choices(edits, weights, k=chance.choice((1, 1, 1, 2, 3, 5))):
            edit()
        xml = ElementTree.tostring(self.root)
        if chance.random() < 0.06:
            xml = self.bytes_changed(xml)
        if self.weights is not None and chance.random() < 0.03:
            del self.weights[chance.randrange(len(self.weights) + 1) :]
        return Mutant(xml, None if self.weights is None else bytes(self.weights))

    def bytes_changed(self, xml: bytes) -> bytes:
        """A few bytes replaced, without regard to the XML."""
        chance, changed = self.chance, bytearray(xml)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(changed) + 1)
            changed[at : at + chance.randint(0, 6)] = chance.choice(
                (b"\0", b"<", b"]]>", b"\xff\xfe", b"&#0;", b"<!--", chance.randbytes(3))
            )
        return bytes(changed)

    def any(self, *tags: str) -> ElementTree.Element | None:
        """One of the elements of these tags."""
        found = [element for tag in tags for element in self.tags.get(tag, ())]
        return self.chance.choice(found) if found else None

    def value(self, like: str = "") -> str:
        """A value for an attribute: a number, a list of them, or a word."""
        chance = self.chance
        kind = chance.random()
        if kind < 0.5 and "," in like:
            items = like.split(",")
            items[chance.randrange(len(items))] = str(chance.choice(NUMBERS))
            return ",".join(items)
        if kind < 0.65:
            return str(chance.choice(NUMBERS))
        if kind < 0.8:
            return ",".join(str(chance.choice(NUMBERS)) for _ in range(chance.randint(0, 6)))
        return chance.choice(WORDS)

    def change_attribute(self) -> None:
        element = self.any("data", "data", "data", "input", "output", "edge", "layer", "net", "port")
        if element is not None and element.attrib:
            name = self.chance.choice([*element.attrib])
            element.set(name, self.value(element.get(name, "")))

    def add_attribute(self) -> None:
        data, other = self.any("data"), self.any("data")
        if data is not None and other is not None and other.attrib:
            name = self.chance.choice([*other.attrib])
            if self.chance.random() < 0.4:
                data.attrib.pop(name, None)
            else:
                data.set(name, other.get(name, ""))

    def change_shape(self) -> None:
        found = [data for data in self.tags.get("data", ()) if "shape" in data.attrib]
        if found:
            data, chance = self.chance.choice(found), self.chance
            items = [item for item in data.get("shape", "").split(",") if item.strip()]
            change = chance.random()
            if change < 0.2 or not items:
                items.insert(chance.randint(0, len(items)), str(chance.choice(NUMBERS)))
            elif change < 0.4:
                del items[chance.randrange(len(items))]
            elif change < 0.9:
                items[chance.randrange(len(items))] = str(chance.choice([*NUMBERS, "?", "1..4", "..8", "3..", f"1..{2**62}"]))
            else:
                items = ["..."]
            data.set("shape", ",".join(items))

    def change_dim(self) -> None:
        dim = self.any("dim")
        if dim is not None:
            dim.text = str(self.chance.choice([*NUMBERS, *WORDS]))

    def change_precision(self) -> None:
        port, data = self.any("port"), self.any("data")
        if port is not None:
            port.set("precision", self.chance.choice(PRECISIONS))
        if data is not None and "element_type" in data.attrib:
            data.set(
                "element_type", self.chance.choice(["f32", "i64", "i32", "u8", "u1", "i4", "boolean", "string", "dynamic", "f16", "u64"])
            )

    def drop(self) -> None:
        parent = self.any("net", "layers", "edges", "layer", "input", "output", "port", "port_map", "back_edges", "body")
        if parent is not None and len(parent):
            dropped = [*parent] if parent.tag in ("input", "output") and self.chance.random() < 0.3 else [self.chance.choice([*parent])]
            for child in dropped:
                parent.remove(child)

    def copy(self) -> None:
        parent = self.any("layers", "edges", "layer", "input", "output", "port_map", "back_edges", "port")
        if parent is not None and len(parent):
            parent.insert(self.chance.randint(0, len(parent)), self.chance.choice([*parent]))

    def swap(self) -> None:
        parent = self.any("layers", "input", "output", "port_map", "layer")
        if parent is not None and len(parent) > 1:
            one, other = self.chance.sample(range(len(parent)), 2)
            parent[one], parent[other] = parent[other], parent[one]

    def rewire(self) -> None:
        edge, other = self.any("edge"), self.any("edge")
        if edge is not None and other is not None and other.attrib:
            name = self.chance.choice([*other.attrib])
            edge.set(name, other.get(name, ""))

    def retype(self) -> None:
        layer, chance = self.any("layer"), self.chance
        if layer is not None:
            layer.set("type", chance.choice(self.types))
            if chance.random() < 0.7:
                layer.set("version", f"opset{chance.randint(1, 16)}")

    def change_version(self) -> None:
        layer = self.any("layer")
        if layer is not None:
            layer.set("version", self.chance.choice(["", "opset99", "experimental", *(f"opset{n}" for n in range(1, 17))]))

    def add_port(self) -> None:
        ports = self.any("input", "output")
        if ports is not None:
            ports.append(ElementTree.Element("port", id=str(self.chance.choice((0, 1, 2, 99))), precision=self.chance.choice(PRECISIONS)))

    def nest(self) -> None:
        """A graph of the file becomes the body of a layer."""
        layer, layers = self.any("layer"), self.any("layers")
        if layer is not None and layers is not None:
            inner = deepcopy(layers)
            inner.tail = None
            ElementTree.SubElement(layer, self.chance.choice(INNER)).append(inner)

    def change_elements(self) -> None:
        """Some elements of a constant become extreme."""
        chance, constants = self.chance, [data for data in self.tags.get("data", ()) if "offset" in data.attrib]
        if not constants or not self.weights:
            return
        data = chance.choice(constants)
        width = {"i64": 8, "u64": 8, "f64": 8, "i32": 4, "f32": 4, "u32": 4, "f16": 2}.get(data.get("element_type", ""), 1)
        try:
            start, size = int(data.get("offset", "")), int(data.get("size", ""))
        except ValueError:
            return
        count = min(size, len(self.weights) - start) // width
        for _ in range(chance.randint(1, 3) if start >= 0 and count > 0 else 0):
            at = start + width * chance.randrange(min(count, 16))
            value = chance.choice(NUMBERS) % (1 << 8 * width)
            self.weights[at : at + width] = value.to_bytes(width, "little")


def examine(mutant: Mutant) -> Iterator[str]:
    """What irshape does with a file that it must not do."""
    inference = verbs.check(mutant.xml, weights=mutant.weights)
    for diagnostic in inference.diagnostics:
        where = diagnostic.where
        if diagnostic.code == "I101":
            yield f"I101 {where.layer_type}: {diagnostic.message}"
        if where.offset is None and where.layer_id is None:
            yield f"{diagnostic.code} has no place"
    if not inference.ok or not inference.knows_values:
        return
    for model, run in inference.graphs:
        for node in model:
            ids = [port.id for port in node.layer.outputs]
            for index, id in enumerate(ids):
                fact = run.slots[node.first_slot + index]
                # Of two ports with one id edges mean the first; of IR version 10 OpenVINO forgives surplus ones.
                if node.is_live and model.is_live and model.ir_version != 10 and fact.is_poisoned and id not in ids[:index]:
                    yield f"nothing is known of port {id} of a {node.type} that is accepted"
                for size in fact.shape or ():
                    if type(size) is int and not 0 <= size < 2**63:
                        yield f"a {node.type} has the size {size}"
    yield from written_twice(inference, mutant.weights)
    if (in_names := named(inference)) is not inference:
        yield from written_twice(in_names, mutant.weights)


def written_twice(inference: Inference, weights: bytes | None) -> Iterator[str]:
    """What is wrong where the annotated IR is read and annotated again, in the symbols of the signature if the inference is."""
    written = inference.xml()
    again = verbs.check(written, weights=weights)
    if again.ok and isinstance(inference, NamedInference):
        again = named(again)
    if not again.ok:
        yield f"what is written is refused: {next(d for d in again.diagnostics if d.severity == 'error')}"
    elif again.to_dict()["ports"] != inference.to_dict()["ports"]:
        yield "what is written has other facts"
    elif again.xml() != written:
        yield "writing twice does not give the same"


def _stop(number: int, frame: FrameType | None) -> None:
    raise Exceeded("time" if number == signal.SIGVTALRM else "deadline")


def guarded(examination: Iterator[str], seconds: float) -> list[str]:
    """The findings of an examination, and those that end it: an exception, or more CPU seconds or memory than allowed."""
    found: list[str] = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        for finding in examination:
            found.append(finding)
    except (Exception, Exceeded) as error:
        last = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.name != _stop.__name__][-1]
        found.append(f"{type(error).__name__}: {str(error)[:80]} at {Path(last.filename).name}:{last.lineno}")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    if grown > MEGABYTES:
        found.append(f"memory: {grown} MB more")
    return found


def findings(mutant: Mutant, seconds: float = SECONDS) -> list[str]:
    """The findings of `examine`, which makes a mutant's inference more than once."""
    return guarded(examine(mutant), 3 * seconds)


def answers(mutant: Mutant, original: Mutant, chance: random.Random, seconds: float = SECONDS) -> list[str]:
    """The findings of all that is asked of a mutant beyond its check; a question makes more than one inference, too."""
    return [finding for question in questions(mutant, original, chance) for finding in guarded(question, 3 * seconds)]


def _steady(question: Callable[[Mutant, random.Random], Iterator[str]]) -> Callable[[Mutant, Mutant, random.Random], list[str]]:
    """The findings of a question about a mutant without errors, else about its seed, within the time of a few answers."""

    def ask(mutant: Mutant, original: Mutant, chance: random.Random) -> list[str]:
        one = next((one for one in (mutant, original) if is_sound(one)), None)
        return [] if one is None else guarded(question(one, chance), 10 * SECONDS)

    return ask


# What is asked of mutants beyond their check.
MORE: dict[str, Callable[[Mutant, Mutant, random.Random], list[str]]] = {
    "asked": answers,
    "shuffled": _steady(in_another_order),
    "interrupted": _steady(after_an_interrupt),
}


def fuzz(
    found_seeds: list[Seed], seconds: float, seed: int, keep: Path | None = None, most: int | None = None, **shares: float
) -> tuple[dict[str, int], dict[str, str]]:
    """How many mutants there were of each kind, and the findings, each with the name of its seed; mutants go to `keep`.

    It ends after so many seconds, or after `most` mutants. `shares` are those of the kinds of `MORE`; `asked` is `ASKED` by default.
    """
    chance, chance_to_ask = random.Random(seed), random.Random(seed)
    mutator = Mutator(chance)
    end = time.monotonic() + seconds
    counts = dict.fromkeys(("mutants", *MORE), 0)
    found: dict[str, str] = {}
    while time.monotonic() < end and counts["mutants"] != most:
        one = chance.choice(found_seeds)
        mutant = mutator.mutate(one.mutant)
        counts["mutants"] += 1
        new = findings(mutant)
        for kind, more in MORE.items():
            if chance_to_ask.random() < shares.get(kind, ASKED if kind == "asked" else 0):
                counts[kind] += 1
                new += more(mutant, one.mutant, chance_to_ask)
        for finding in new:
            if finding in found:
                continue
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{seed}-{len(found)}.xml").write_bytes(mutant.xml)
                (keep / f"{seed}-{len(found)}.bin").write_bytes(mutant.weights or b"")
            found[finding] = one.name
    return counts, found


def main() -> int:
    """Fuzz a folder; 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.mutate", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the seeds are: small .xml files with their .bin")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    for kind in MORE:
        parser.add_argument(f"--{kind}", type=float, default=ASKED if kind == "asked" else 0, help=f"the share of mutants that are {kind}")
    parser.add_argument("--keep", type=Path, help="a folder for the mutants that were found out")
    arguments = parser.parse_args()
    # What asks for all the memory there is shall be a finding, and not the end of the machine.
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    found_seeds = seeds(arguments.folder)
    shares = {kind: getattr(arguments, kind) for kind in MORE}
    counts, found = fuzz(found_seeds, arguments.seconds, arguments.seed, arguments.keep, **shares)
    for (finding, name), times in collections.Counter(found.items()).items():
        print(f"{finding}\n    from {name}" + (f" ({times} times)" if times > 1 else ""))
    print(f"{', '.join([f'{count} {kind}' for kind, count in counts.items()])}, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
