"""The folders of `irshape diff`: the models of two exports, paired by their names, or of an export and the references of a release."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from irshape import verbs
from irshape.answers import reference
from irshape.cli.road import find
from irshape.cli.run import CLEAN, FAILED, FAULTS, RunError, complain, describe, internal, put_json
from irshape.cli.texts import put_text, table
from irshape.files.writing import write_atomic
from irshape.model.model import Model
from irshape.report.section import Section, bold, paragraph
from irshape.report.text import counted

# The most changes of a model that its line names, and the words for what became of a model, each with the exit code.
_MOST = 3
_STATES = {"same": CLEAN, "written": CLEAN, "differs": FAULTS, "only in A": FAULTS, "only in B": FAULTS, "fails": FAILED}


class Row(NamedTuple):
    """What became of a model of a folder: a state, a line, every change, and the JSON of the difference if both folders have the model."""

    name: str
    state: str
    summary: str
    changes: list[str]
    difference: dict[str, Any] | None = None


Compare: TypeAlias = Callable[[str, str], tuple[int, str, dict[str, Any] | None]]
"""The exit code, the summary and the JSON of the difference of two files. Raises `RunError`."""


def compared(given: Namespace, compare: Compare) -> int:
    """Compare the folders A and B, report a line for each model, and return the exit code."""
    if not (os.path.isdir(given.a) and os.path.isdir(given.b)):
        one, other = (given.b, given.a) if os.path.isdir(given.a) else (given.a, given.b)
        return complain(f"{other}: this is a folder, but {one} is not; give two models or two folders")
    a, b = _names(given.a), _names(given.b)
    rows = []
    for name in sorted({*a, *b}):
        if name in a and name in b:
            rows.append(_tried(name, lambda name=name: _difference(name, *compare(a[name], b[name]))))  # type: ignore[misc]
        else:
            rows.append(Row(name, f"only in {'A' if name in a else 'B'}", f"{given.b if name in a else given.a} has no such model", []))
    return _report(given, rows)


def referred(given: Namespace, read: Callable[[str], Model]) -> int:
    """Compare the models of A with their references, or write these, report a line for each model, and return the exit code."""
    is_writing = given.write_reference is not None
    folder = given.write_reference if is_writing else given.reference
    if given.b is not None or (is_writing and given.reference is not None):
        return complain("a reference takes the place of A: irshape diff --reference DIR B, or irshape diff --write-reference DIR B")
    if not is_writing and not os.path.isdir(folder):
        return complain(f"{folder}: there is no such folder; --write-reference {folder} writes it")
    files = _names(given.a) if os.path.isdir(given.a) else {os.path.basename(given.a): given.a}
    kept = set(_names(folder, ".json")) if os.path.isdir(folder) and os.path.isdir(given.a) else set()

    def row(name: str) -> Row:
        path = os.path.join(folder, f"{os.path.splitext(name)[0]}.json")
        cost = verbs.cost(read(files[name]), weights=False if given.no_weights else None, opaque=given.opaque)
        now = reference.reference_of(cost)
        before = reference.read_reference(path) if os.path.lexists(path) else None
        found = [] if before is None else list(reference.changes(before, now))
        if is_writing:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write_atomic(path, reference.text_of(now), force=True)
            return Row(name, "written", "new" if before is None else _some(found) or "unchanged", found)
        if before is None:
            return Row(name, "only in B", f"{folder} has no reference of it; --write-reference {folder} adds it", [])
        return Row(name, "differs" if found else "same", _some(found) or "as in the reference", found)

    rows = [_tried(name, lambda name=name: row(name)) for name in files]  # type: ignore[misc]
    gone = {name for name in kept if f"{os.path.splitext(name)[0]}.xml" not in files}
    rows += [Row(name, "only in A", f"{given.a} has no such model; delete the reference if you removed it", []) for name in gone]
    given.a, given.b = folder, given.a
    return _report(given, sorted(rows))


def _names(folder: str, end: str = ".xml") -> dict[str, str]:
    """The files below a folder, by their paths in it. Raises `RunError`."""
    if end == ".xml":
        paths, complaints = find([folder])
        for complaint in complaints:
            raise RunError(complaint)
    else:
        paths = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names if name.endswith(end)]
    return {os.path.relpath(path, folder).replace(os.sep, "/"): path for path in paths}


def _tried(name: str, made: Callable[[], Row]) -> Row:
    """The row of a model; a model that cannot be compared has one, too."""
    try:
        return made()
    except OSError as error:
        return Row(name, "fails", describe(error, name), [])
    except (RunError, ValueError) as error:
        return Row(name, "fails", str(error), [])
    except Exception as error:
        return Row(name, "fails", internal(error), [])


def _difference(name: str, code: int, summary: str, difference: dict[str, Any] | None) -> Row:
    state = "fails" if code == FAILED else "differs" if code else "same"
    return Row(name, state, summary, [], difference)


def _some(changes: list[str]) -> str:
    more = f"; and {counted(len(changes) - _MOST, 'more change')}" if len(changes) > _MOST else ""
    return "; ".join(changes[:_MOST]) + more


def _report(given: Namespace, rows: list[Row]) -> int:
    """Print the rows, and return the worst exit code."""
    counts = Counter(row.state for row in rows)
    if given.format == "json":
        from irshape.running.results import FOLDERS

        put_json(FOLDERS({"a": given.a, "b": given.b, "files": rows}))
    else:
        put_text(given.color, _sections(given, rows, counts))
    return max((_STATES[state] for state in counts), default=CLEAN)


def _sections(given: Namespace, rows: list[Row], counts: Counter[str]) -> Iterator[Section]:
    yield paragraph(bold(f"{given.a} -> {given.b}"))
    cells = [(row.state, row.name, "; ".join(row.changes) if given.all and row.changes else row.summary) for row in rows]
    yield paragraph(table(("", "MODEL", "DIFFERENCE"), cells))
    yield paragraph(f"{counted(len(rows), 'model')}: {', '.join(f'{counts[state]} {state}' for state in _STATES if counts[state])}")
