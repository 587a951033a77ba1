"""The unit of work: one file becomes one row; and the verb that gives the rows of many files."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Final, NamedTuple

from irshape.answers.cost.cost import Cost
from irshape.answers.cost.counting import Parameters
from irshape.answers.info import counts, oldest_release
from irshape.answers.roots import outputs
from irshape.diagnosis.diagnosis import choose
from irshape.files.reading import Path, stamp
from irshape.inference.inference import Inference
from irshape.inference.inputs import InputError
from irshape.model.build import build
from irshape.model.model import Model
from irshape.report.diagnostic import ERROR, NOTE, WARNING, Diagnostic, Where
from irshape.report.selection import Choice, Selection, checked_prefix
from irshape.report.surface import knowing
from irshape.scanning.archive import BOUNDS, Bounds
from irshape.scanning.place import MissingError, Place, TransportError
from irshape.scanning.places import Places, Stored, StoredWeights, stored
from irshape.scanning.table import FAILED, FIELDS, FOREIGN, INVALID, MOST, NUMBER, VALID, Row
from irshape.shape.limits import DEFAULT, Limits
from irshape.verbs import check, cost, read, signature
from irshape.version import __version__
from irshape.xml.document import Document
from irshape.xml.weights import Weights

if TYPE_CHECKING:
    from irshape.ops.extensions import Extensions


# A row lists so many faults; the numbers of a row count all.
_MOST_FAULTS: Final = 200
# Constants of these types and at most so many bytes are shapes, axes and the like, so rules will probably read them.
_SMALL: Final = 512
_WHOLE: Final = frozenset(("i32", "i64"))
_COSTS: Final = ("macs", "flops", "peak_memory", "cost_at", "macs_formula")
# A file that changes while it is read is read again so many times.
_TURNS: Final = 3


class Scan(NamedTuple):
    """The check of one file, and its row. It can be pickled for another process or machine.

    `choice` selects the codes, `targets` are further policies; `opaque`, `extensions` and `limits` are those of `irshape.check`.
    `has_cost` also counts what each valid model costs. What files themselves ask to ignore is reported: a scan reads other people's files.
    """

    choice: Choice | None = None
    targets: Sequence[str] = ()
    opaque: Sequence[str] = ()
    extensions: Sequence[str] = ()
    limits: Limits = DEFAULT
    has_cost: bool = False
    bounds: Bounds = BOUNDS

    @property
    def settings(self) -> str:
        """The version of irshape and a digest of the options, which every row records."""
        return f"{__version__} {hashlib.sha256(json.dumps(self).encode()).hexdigest()[:12]}"

    def __call__(self, place: Place) -> Row:
        """The row of a file. Any content gives a row; only `MemoryError` is left to the caller."""
        for turn in range(1, _TURNS + 1):
            started = time.perf_counter()
            try:
                row = self._local(place) if place.is_local else self._stored(place)
            except TransportError as error:
                if turn < _TURNS and "changed" in str(error):
                    continue
                row = self.lost(place, "I105", str(error), None)
            except MissingError as error:
                row = self.lost(place, "I105", str(error), None)
            except FileNotFoundError:
                row = self.lost(place, "I105", "the file does not exist", None)
            except OSError as error:
                row = self.lost(place, "I105", f"the file cannot be read: {error.strerror or 'the system does not say why'}", None)
            except MemoryError:
                raise
            except Exception as error:
                message = f"internal error; please report it with the file: {type(error).__name__}: {error}"
                row = self.lost(place, "I101", message, None)
            row["seconds"] = round(time.perf_counter() - started, 6)
            for field in FIELDS:
                if field.kind == NUMBER and (row[field.name] or 0) > MOST:
                    row[field.name] = MOST
            return row
        raise AssertionError

    def version(self, place: Place) -> str | None:
        """The version of a file and its weights, without reading them; None if it is not known."""
        try:
            if place.is_local:
                return _versions(stamp(place.root), stamp(place.beside().root))
            own = self._opened(place).version
            try:
                weights = self._opened(place.beside()).version
                return _versions(own, weights) if weights else None
            except FileNotFoundError:
                return _versions(own, None)
        except (OSError, TransportError):
            return None

    def _opened(self, place: Place) -> Stored:
        return stored(place, self.limits.size, self.bounds)

    def lost(self, place: Place, code: str, message: str, hint: str | None) -> Row:
        """The row of a file that could not be read or checked whole."""
        path = place.name
        document = Document(b"", path)
        document.is_complete = False
        row = self._row(path, check(build(document)))
        row.update(verdict=FAILED, size=None, hash=None, errors=1, warnings=0, notes=0)
        row["diagnostics"] = [_fault(Diagnostic(code, message, Where(path), hint=hint))]
        return row

    def _local(self, place: Place) -> Row:
        path, beside = place.root, place.beside().root
        before = stamp(path)
        model = read(Path(path), limits=self.limits, extensions=self.extensions)
        with Weights.beside(path, follow_links=self.bounds.follow_links) as weights:
            row = self._checked(place.name, model, weights)
            size = os.stat(beside).st_size if os.path.exists(beside) else None
            row.update(weights_size=size, bytes_read=row["size"] + weights.bytes_read, version=_versions(before, stamp(beside)))
        if stamp(path) != before:
            raise TransportError("the file changed while it was read")
        return row

    def _stored(self, place: Place) -> Row:
        file = self._opened(place)
        if file.size is not None and file.size > self.limits.size:
            return self.lost(place, "X111", f"the file has {file.size:,} bytes; the limit size is {self.limits.size:,}", "--limit size=N")
        model = read(file.read(self.limits.size), path=place.name, limits=self.limits, extensions=self.extensions)
        source = StoredWeights(place.beside(), lambda: list(_wanted(model.document)), self.limits.size, self.bounds)
        row = self._checked(place.name, model, Weights(source))
        row["weights_size"] = source.size
        if source.fault is not None:
            raise source.fault
        file.unchanged()
        if (weights := source.file) is not None:
            weights.unchanged()
        row["bytes_read"] = file.bytes_read + (weights.bytes_read if weights is not None else 0)
        row["version"] = _versions(file.version, weights.version if weights is not None else None)
        return row

    def _checked(self, path: str, model: Model, weights: Weights) -> Row:
        if not (model.nodes and model.document.is_complete):
            inference = check(model, targets=self.targets, suppressions=False)
        else:
            inference = check(model, weights=weights, opaque=self.opaque, targets=self.targets, suppressions=False)
        if self.choice is not None:
            choose(inference, Selection([self.choice]))
        row = self._row(path, inference)
        if row["dynamic_inputs"] and not row["errors"]:
            found = signature(model, weights=weights, opaque=self.opaque)
            if found.ok:
                inputs, results = ("  ".join(map("".join, side.items())) for side in (found.inputs, found.outputs))
                row["signature"] = f"{inputs} -> {results}"
        if self.has_cost and inference.ok and inference.model.parameters:
            row.update(_cost(cost(model, weights=weights, opaque=self.opaque)))
        return row

    def _row(self, path: str, inference: Inference) -> Row:
        document, model = inference.document, inference.model
        nodes = [node for graph, _ in inference.graphs for node in graph]
        constants = Parameters(model)
        severities = dict.fromkeys((ERROR, WARNING, NOTE), 0)
        for diagnostic in inference.diagnostics:
            severities[diagnostic.severity] += diagnostic.count
        extended = {node for several in model.extensions.values() for node in several}
        types = {fact.element_type for _, _, fact in outputs(inference)}
        is_known = bool(nodes) and not document.is_example
        named = ((node.type, node.version) for node in nodes if node not in extended)
        return {
            "file": path,
            "verdict": FOREIGN if document.is_foreign else INVALID if severities[ERROR] else VALID,
            "size": len(document.source),
            "weights_size": None,
            "hash": hashlib.sha256(document.source).hexdigest(),
            "version": None,
            "ir_version": model.ir_version if is_known else None,
            "oldest": oldest_release(model.ir_version, named, types).release if is_known else None,
            "layers": len(nodes),
            "opsets": counts(node.version for node in nodes),
            "operations": counts(node.type for node in nodes),
            "parameters": constants.elements,
            "parameter_bytes": constants.bytes,
            "dynamic_inputs": list(_dynamic_inputs(inference)),
            "signature": None,
            **dict.fromkeys(_COSTS),
            "errors": severities[ERROR],
            "warnings": severities[WARNING],
            "notes": severities[NOTE],
            "diagnostics": [_fault(diagnostic) for diagnostic in inference.diagnostics[:_MOST_FAULTS]],
            "bytes_read": len(document.source),
            "seconds": 0.0,
            "settings": self.settings,
        }


def _cost(found: Cost) -> Row:
    """The columns of the cost of a model; none where no usual sizes give numbers."""
    try:
        amounts = {name: found.at(getattr(found, name)) for name in ("macs", "flops", "peak_memory")}
    except InputError:
        return {}
    is_open = not isinstance(found.macs, int)
    sizes = ",".join(f"{name}={size}" for name, size in found.near.items())
    return {**amounts, "cost_at": sizes or None, "macs_formula": str(found.macs) if is_open else None}


def _dynamic_inputs(inference: Inference) -> Iterator[str]:
    for node in inference.model.parameters:
        for port in inference.view(node).outputs:
            if port.shape is None or not all(type(size) is int for size in port.shape):
                yield f"{node.name}{port.text}"


def _fault(diagnostic: Diagnostic) -> Row:
    where = diagnostic.where
    return {
        "code": diagnostic.code, "severity": diagnostic.severity, "message": diagnostic.message,
        "layer": where.layer_id, "name": where.layer_name, "type": where.layer_type, "path": where.path or None, "port": where.port,
        "line": where.line, "column": where.column, "hint": diagnostic.hint, "count": diagnostic.count,
    }  # fmt: skip


def _versions(own: str | None, weights: str | None) -> str | None:
    return None if own is None else f"{own} {weights or '-'}"


def _wanted(document: Document) -> Iterator[tuple[int, int]]:
    """The ranges of the .bin that rules will probably read: small constants of whole numbers."""
    for _, graph in document.graphs():
        for layer in graph.layers:
            given = layer.signature.attributes
            size = given.get("size", "")
            if layer.weights_at is not None and given.get("element_type") in _WHOLE and size.isdecimal() and 0 < int(size[:9]) <= _SMALL:
                yield layer.weights_at, layer.weights_at + int(size)


Files = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, a folder, an archive or a URL, or several of these."""


@knowing
def scan(
    files: Files,
    *,
    targets: Iterable[str] = (),
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    cost: bool = False,
    opaque: Iterable[str] = (),
    extensions: Extensions = (),
    limits: Limits = DEFAULT,
    max_members: int = BOUNDS.members,
    max_expansion: int = BOUNDS.expansion,
    follow_links: bool = False,
) -> list[Row]:
    """Check many files, local or remote, and return a row for each: a `dict` with the columns of `irshape scan`.

    The rows go into `pandas.DataFrame(rows)` and `pyarrow.Table.from_pylist(rows)`. A file that cannot be read has a row, too, whose
    `verdict` is `failed`. The arguments are the options of the command, which also works in several processes, within limits of time and
    memory. Raises `FileNotFoundError` if a folder or an archive cannot be listed or holds no `.xml`, `InputError` for an unknown target.
    """
    from irshape.answers.policies import find_policies
    from irshape.ops.extensions import names_of

    wanted = [targets] if isinstance(targets, str) else list(targets)
    find_policies(wanted)
    choice = None
    if select is not None or ignore:
        chosen, left_out = ([one] if isinstance(one, str) else list(one or ()) for one in (select, ignore))
        choice = Choice(None if select is None else list(map(checked_prefix, chosen)), list(map(checked_prefix, left_out)))
    one = Scan(
        choice=choice,
        targets=wanted,
        opaque=[opaque] if isinstance(opaque, str) else list(opaque),
        extensions=names_of(extensions),
        limits=limits,
        has_cost=cost,
        bounds=Bounds(max_members, max_expansion, follow_links),
    )
    named = [files] if isinstance(files, (str, os.PathLike)) else files
    with closing(Places([os.fspath(path) for path in named], limits.size, one.bounds)) as places:
        if places.complaints:
            raise FileNotFoundError(places.complaints[0])
        return [one(place) for place in places]
