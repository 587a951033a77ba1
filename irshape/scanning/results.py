"""Tables of results: written in durable batches, continued after a kill, read again as a cache, in JSON lines, Parquet or SARIF.

An unfinished table is a journal beside the output, `OUTPUT.partial`: JSON lines in the order in which files were finished, each batch of
which is on the disk before the next is begun. A finished run becomes the output at once, and the journal is gone.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import islice
from time import monotonic
from typing import IO, Any, Final

from irshape.files.reading import open_file
from irshape.files.writing import Kept, write_atomic
from irshape.report.diagnostic import Diagnostic, Where
from irshape.report.documents import Checked
from irshape.scanning.place import MissingError, digest
from irshape.scanning.table import COUNTS, FAILED, FAULT, FAULTS, FIELDS, MOST, NUMBER, SECONDS, TEXT, TEXTS, VALID, VERDICTS, Row, RowField
from irshape.version import __version__

# The most bytes of a line. A row lists 200 faults at most, whose texts are short.
LONGEST: Final = 1 << 24


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= MOST


# Whether a value is of a kind, and the words for those that are.
_KINDS: Final[dict[str, tuple[Callable[[Any], bool], str]]] = {
    TEXT: (lambda value: isinstance(value, str), "a text"),
    NUMBER: (_is_count, "a whole number"),
    SECONDS: (lambda value: type(value) in (int, float) and 0 <= value < 1e12, "a number"),
    COUNTS: (lambda value: isinstance(value, dict) and all(map(_is_count, value.values())), "an object of whole numbers"),
    TEXTS: (lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value), "an array of texts"),
    FAULTS: (lambda value: isinstance(value, list), "an array of faults"),
}


class RowFault(ValueError):
    """Something that is no row; the message says what was found and what was expected, and quotes nothing."""


def parsed(line: bytes) -> Any:
    """The JSON on a line. Raises `RowFault`."""
    if len(line) > LONGEST:
        raise RowFault(f"the line has more than {LONGEST:,} bytes")
    try:
        return json.loads(line)
    except RecursionError:
        raise RowFault("the JSON nests too deeply") from None
    except ValueError:
        raise RowFault("expected JSON, an object on each line") from None


def checked(found: Any, fields: tuple[RowField, ...] = FIELDS) -> Row:
    """A row, after every column was looked at. Raises `RowFault`."""
    if not isinstance(found, dict):
        raise RowFault(f"expected an object, found {_kind(found)}")
    for field in fields:
        if field.name not in found:
            raise RowFault(f"the column {field.name!r} is missing")
        value, (fits, words) = found[field.name], _KINDS[field.kind]
        if not (fits(value) or (value is None and field.is_optional)):
            raise RowFault(f"the column {field.name!r} must be {words}, found {_kind(value)}")
        if field.kind == FAULTS:
            for fault in value:
                checked(fault, FAULT)
    if fields is FIELDS and found["verdict"] not in VERDICTS:
        raise RowFault(f"the column 'verdict' must be one of {', '.join(VERDICTS)}")
    return found


def rows(file: IO[bytes]) -> Iterator[Row]:
    """The rows of JSON lines, also of an unfinished table, whose first line says how it is made. Raises `RowFault`."""
    number = 0
    while line := file.readline(LONGEST + 1):
        number += 1
        try:
            found = parsed(line)
            if not (number == 1 and isinstance(found, dict) and "unfinished" in found):
                yield checked(found)
        except RowFault as fault:
            raise RowFault(f"line {number}: {fault}") from None


def _kind(value: Any) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "an array", dict: "an object"}
    return names.get(type(value), "null")


PARTIAL: Final = ".partial"
FORMATS: Final = (".jsonl", ".parquet", ".csv", ".sarif")
# The forms for other programs, from which no later run reads the rows.
OTHERS: Final = (".csv", ".sarif")
# The rows of a batch that is written and made durable at once, and of a group in a Parquet file.
BATCH: Final = 256
# After so many seconds a batch is written, however few rows it has.
SECONDS_OF_BATCH: Final = 1.0
_GROUP: Final = 4096


class ResultsError(Exception):
    """A table of results that cannot be used; the message names the file."""


class UnfinishedRows:
    """The rows of a run that has not finished, in a file beside the output.

    `identity` says which run makes the rows, with its files and options: the unfinished run of another one is not continued. `done` is the
    number of rows that an earlier run has left. A file there that no run of irshape has left is never changed, nor is one that a link
    there leads to. The file is locked while it is open. Raises `ResultsError`.
    """

    def __init__(self, output: str, identity: str, *, restarts: bool = False) -> None:
        self.path = output + PARTIAL
        self.count = 0
        self._files: set[bytes] = set()
        self._waiting: list[str] = []
        self._written = monotonic()
        try:
            self._file = Kept(self.path)
        except BlockingIOError:
            raise ResultsError(f"{self.path}: another run writes this file") from None
        except OSError as error:
            advice = "; move it away, because it is not an unfinished table" if os.path.lexists(self.path) else ""
            raise ResultsError(f"{self.path}: {error.strerror}{advice}") from None
        try:
            end = self._continue(identity, restarts=restarts)
            self._file.cut(end)
            if end == 0:
                self._write(json.dumps({"unfinished": identity}) + "\n")
        except ResultsError:
            self._file.close()
            raise
        self.done = self.count

    def _continue(self, identity: str, *, restarts: bool) -> int:
        """Read the whole rows of an earlier run; the offset behind them."""
        file = self._file.file
        if not (first := file.readline(LONGEST + 1)):
            return 0
        try:
            header = parsed(first)
        except RowFault:
            header = None
        known = header.get("unfinished") if isinstance(header, dict) else None
        if not isinstance(known, str) or not first.endswith(b"\n"):
            raise ResultsError(f"{self.path}: this is not an unfinished table of irshape scan; move it away")
        if restarts:
            return 0
        if known != identity:
            raise ResultsError(
                f"{self.path}: the unfinished run has other files, options or version of irshape; repeat its command, or add --restart"
            )
        end = len(first)
        while line := file.readline(LONGEST + 1):
            try:
                row = checked(parsed(line)) if line.endswith(b"\n") else None
            except RowFault:
                row = None
            if row is None:  # the run was killed while it wrote this line
                break
            self._files.add(digest(row["file"]))
            self.count += 1
            end += len(line)
        return end

    def __contains__(self, file: str) -> bool:
        return digest(file) in self._files

    def add(self, row: Row) -> None:
        """Add a row, which is durable when its batch is full or `flush` is called. A second row of a file is left out."""
        key = digest(row["file"])
        if key in self._files:
            return
        self._files.add(key)
        self.count += 1
        self._waiting.append(json.dumps(row, ensure_ascii=False) + "\n")
        if len(self._waiting) >= BATCH or monotonic() > self._written + SECONDS_OF_BATCH:
            self.flush()

    def flush(self) -> None:
        """Make all rows durable."""
        self._written = monotonic()
        if self._waiting:
            self._write("".join(self._waiting))
            self._waiting.clear()

    def _write(self, text: str) -> None:
        try:
            self._file.append(text.encode("utf-8", "surrogatepass"))
        except OSError as error:
            raise ResultsError(f"{self.path}: {error.strerror}") from None

    def rows(self) -> Iterator[Row]:
        self.flush()
        with open_file(self.path) as file:
            yield from map(json.loads, islice(file, 1, None))

    def finish(self, output: str, *, force: bool = False) -> None:
        """Make the journal the output, in the format that the output's name tells, and remove it."""
        self.flush()
        try:
            write_atomic(output, partial(_write, self.rows(), format_of(output)), force=force)
        except OSError as error:
            raise ResultsError(f"{output}: {error.strerror}; the rows are in {self.path}") from None
        self.remove()

    def remove(self) -> None:
        self._file.remove()

    def close(self) -> None:
        """Close the file, and leave it for a later run."""
        self._file.close()


def format_of(path: str) -> str:
    """The format of a table by the end of its name. Raises `ResultsError`."""
    found = next((end for end in FORMATS if path.lower().endswith(end)), None)
    if found is None:
        raise ResultsError(f"{path}: the name of a table ends with {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    if found == ".parquet":
        _arrow()
    return found


class StoredTable:
    """The rows of a finished table, or of an unfinished one. It stays as it is while it is open, even if its path gets another table.

    Raises `ResultsError`.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._file = open_file(path)
        except OSError as error:
            raise ResultsError(f"{path}: {error.strerror}") from None

    def __iter__(self) -> Iterator[Row]:
        try:
            self._file.seek(0)
            yield from _read_parquet(self._file) if self._path.lower().endswith(".parquet") else rows(self._file)
        except OSError as error:
            raise ResultsError(f"{self._path}: {error.strerror or 'the table is damaged'}") from None
        except RowFault as fault:
            told = "of its tables, irshape reads those in .jsonl and .parquet again, and not those in .csv and .sarif"
            raise ResultsError(f"{self._path}: this is not a table of irshape scan: {fault}; {told}") from None

    def check(self) -> None:
        for _ in self:
            pass

    def close(self) -> None:
        self._file.close()


def read(path: str) -> Iterator[Row]:
    """The rows of a table. Raises `ResultsError`."""
    with closing(StoredTable(path)) as table:
        yield from table


def _write(found: Iterator[Row], format: str, file: IO[bytes]) -> None:
    if format == ".parquet":
        _write_parquet(found, file)
    elif format == ".csv":
        _write_csv(found, file)
    elif format == ".sarif":
        from irshape.report.sarif import render

        text = render([_checked(row) for row in found if row["diagnostics"]], __version__)
        file.write(text.encode("utf-8", "surrogatepass"))
    else:
        file.writelines((json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass") for row in found)


def _write_csv(found: Iterator[Row], file: IO[bytes]) -> None:
    """Write the rows for a spreadsheet: a cell holds a number or a text, so that of faults only the codes are written."""
    import csv
    import io

    text = io.TextIOWrapper(file, "utf-8", "backslashreplace", newline="")
    writer = csv.writer(text)
    writer.writerow([field.name for field in FIELDS])
    writer.writerows([_cell(field, row[field.name]) for field in FIELDS] for row in found)
    text.detach()  # the file stays open


def _cell(field: RowField, value: Any) -> Any:
    """A value as a cell of a spreadsheet, in which no text of a file is taken for a formula."""
    if field.kind == COUNTS:
        value = " ".join(f"{name}={count}" for name, count in value.items())
    elif field.kind == TEXTS:
        value = " ".join(value)
    elif field.kind == FAULTS:
        value = " ".join(sorted({fault["code"] for fault in value}))
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _checked(row: Row) -> Checked:
    """The faults of a row as reports take them."""
    found = []
    for fault in row["diagnostics"]:
        layer, name, type, port = (fault[one] for one in ("layer", "name", "type", "port"))
        where = Where(row["file"], layer, name, type, port, fault["line"], fault["column"], path=fault["path"] or "")
        found.append(Diagnostic(fault["code"], fault["message"], where, fault["severity"], fault["hint"], count=fault["count"]))
    return Checked(row["file"], found, is_passed=row["verdict"] == VALID)


class Cache:
    """The rows of an earlier table by file, on the disk: memory stays flat however many there are. Raises `ResultsError`."""

    def __init__(self, path: str) -> None:
        self._data = sqlite3.connect("")  # a file of its own that is gone when it is closed
        self._data.execute("CREATE TABLE rows (file BLOB PRIMARY KEY, version TEXT, settings TEXT, row TEXT) WITHOUT ROWID")
        try:
            self._data.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)", map(_cached, read(path)))
        except BaseException as error:
            self.close()  # from Python 3.13 on, a connection that is left open warns
            if isinstance(error, sqlite3.Error):
                raise ResultsError(f"{path}: the rows cannot be kept on the disk: {error}") from None
            raise

    def version(self, file: str, settings: str) -> str | None:
        """The version that a file had, if its row was made with these settings; None if there is no such row."""
        found = self._data.execute("SELECT version FROM rows WHERE file = ? AND settings = ?", (digest(file), settings)).fetchone()
        return json.loads(found[0]) if found else None

    def close(self) -> None:
        """Remove the rows from the disk."""
        self._data.close()

    def row(self, file: str) -> Row:
        (text,) = self._data.execute("SELECT row FROM rows WHERE file = ?", (digest(file),)).fetchone()
        row: Row = json.loads(text)
        return row


def _cached(row: Row) -> tuple[bytes, str, str, str]:
    """A row as the database keeps it; texts may have characters that UTF-8 has not. Nothing is known of a failed file."""
    version = None if row["verdict"] == FAILED else row["version"]
    return digest(row["file"]), json.dumps(version), row["settings"] or "", json.dumps(row)


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingError("Parquet needs pyarrow: pip install 'irshape[scan]'; a .csv or .jsonl file needs no package") from None
    return pyarrow


def arrow_schema() -> Any:
    """The schema of the columns in a Parquet file."""
    arrow = _arrow()

    def kind(field: RowField) -> Any:
        if field.kind == FAULTS:
            return arrow.list_(arrow.struct([column(one) for one in FAULT]))
        return {
            NUMBER: arrow.int64(),
            SECONDS: arrow.float64(),
            COUNTS: arrow.map_(arrow.string(), arrow.int64()),
            TEXTS: arrow.list_(arrow.string()),
        }.get(field.kind, arrow.string())

    def column(field: RowField) -> Any:
        return arrow.field(field.name, kind(field), nullable=field.is_optional, metadata={"description": field.about})

    return arrow.schema([column(field) for field in FIELDS], metadata={"irshape": __version__})


def _write_parquet(found: Iterator[Row], file: IO[bytes]) -> None:
    arrow = _arrow()
    schema = arrow_schema()
    with arrow.parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        while group := list(islice(found, _GROUP)):
            for row in group:
                for field in FIELDS:
                    if field.kind == COUNTS:
                        row[field.name] = list(row[field.name].items())
            try:
                table = arrow.Table.from_pylist(group, schema=schema)
            except UnicodeEncodeError:
                table = arrow.Table.from_pylist(_encodable(group), schema=schema)
            writer.write_table(table)


def _encodable(value: Any) -> Any:
    """A value whose texts UTF-8 can encode: names of files may hold bytes that no encoding has."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode() if not value.isascii() else value
    if isinstance(value, list | tuple):
        return type(value)(map(_encodable, value))
    return {name: _encodable(one) for name, one in value.items()} if isinstance(value, dict) else value


def _read_parquet(file: IO[bytes]) -> Iterator[Row]:
    arrow = _arrow()
    try:
        with arrow.parquet.ParquetFile(file) as table:
            missing = [field.name for field in FIELDS if field.name not in table.schema_arrow.names]
            if missing:
                raise RowFault(f"the column {missing[0]!r} is missing")
            if table.metadata.num_rows > os.fstat(file.fileno()).st_size:  # each has a hash of its own
                raise RowFault("it has more rows than bytes")
            number = 0
            for batch in table.iter_batches(BATCH, columns=[field.name for field in FIELDS]):
                if batch.nbytes > LONGEST * 16:
                    raise RowFault("its rows are too large")
                for row in batch.to_pylist():
                    number += 1
                    yield _unfolded(row, number)
    except RowFault:
        raise
    except (arrow.ArrowException, ValueError, KeyError, TypeError):
        raise RowFault("expected a Parquet file that is whole") from None


def _unfolded(row: Row, number: int) -> Row:
    """A row of Parquet, in which an object is a list of pairs."""
    try:
        for field in FIELDS:
            if field.kind == COUNTS:
                row[field.name] = dict(row[field.name])
    except (TypeError, ValueError):
        raise RowFault(f"row {number}: the column {field.name!r} must be an object of whole numbers") from None
    try:
        return checked(row)
    except RowFault as fault:
        raise RowFault(f"row {number}: {fault}") from None
