"""Tables of results: written in durable batches, continued after a kill, read again as a cache, in JSON lines, Parquet or SARIF.

An unfinished table is a journal beside the output, `OUTPUT.partial`: JSON lines in the order in which files were finished, each batch of
which is on the disk before the next is begun. A finished run becomes the output at once, and the journal is gone.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from itertools import islice
from time import monotonic
from typing import IO, Any, Final

from irshape.report.checked import Checked
from irshape.report.diagnostic import Diagnostic, Where
from irshape.scan.fields import COUNTS, FAULT, FAULTS, FIELDS, NUMBER, SECONDS, TEXTS, VALID, Field
from irshape.scan.remote import MissingError
from irshape.scan.row import Row
from irshape.version import __version__

PARTIAL: Final = ".partial"
FORMATS: Final = (".jsonl", ".parquet", ".sarif")
# The rows of a batch that is written and made durable at once, and of a group in a Parquet file.
BATCH: Final = 256
# After so many seconds a batch is written, however few rows it has.
SECONDS_OF_BATCH: Final = 1.0
_GROUP: Final = 4096


class ResultsError(Exception):
    """A table of results that cannot be used; the message names the file."""


class Journal:
    """The rows of a run that has not finished.

    `settings` says with which options the rows are made: an unfinished run with other options is not continued. `done` is the number of
    rows that an earlier run has left. The file is locked while it is open. Raises `ResultsError`.
    """

    def __init__(self, output: str, settings: str, *, restarts: bool = False) -> None:
        self.path = output + PARTIAL
        self.count = 0
        self._files: set[bytes] = set()
        self._waiting: list[str] = []
        self._written = monotonic()
        try:
            self._file = open(self.path, "r+b" if os.path.exists(self.path) else "w+b")  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise ResultsError(f"{self.path}: {error.strerror}") from None
        try:
            _lock(self._file, self.path)
            end = 0 if restarts else self._continue(settings)
        except ResultsError:
            self._file.close()
            raise
        self._file.seek(end)
        self._file.truncate()
        if end == 0:
            self._write(json.dumps({"settings": settings}) + "\n")
        self.done = self.count

    def _continue(self, settings: str) -> int:
        """Read the whole rows of an earlier run; the offset behind them."""
        end = 0
        for line in self._file:
            try:
                row = json.loads(line) if line.endswith(b"\n") else None
            except ValueError:
                row = None
            if row is None:  # the run was killed while it wrote this line
                break
            if end == 0:
                if row.get("settings") != settings:
                    raise ResultsError(
                        f"{self.path}: the unfinished run has other options or another version of irshape; give the same, or --restart"
                    )
            else:
                self._files.add(_digest(row["file"]))
                self.count += 1
            end += len(line)
        return end

    def __contains__(self, file: str) -> bool:
        return _digest(file) in self._files

    def add(self, row: Row) -> None:
        """Add a row, which is durable when its batch is full or `flush` is called. A second row of a file is left out."""
        digest = _digest(row["file"])
        if digest in self._files:
            return
        self._files.add(digest)
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
        self._file.write(text.encode("utf-8", "surrogatepass"))
        self._file.flush()
        os.fsync(self._file.fileno())

    def rows(self) -> Iterator[Row]:
        """All rows."""
        self.flush()
        with open(self.path, "rb") as file:
            yield from map(json.loads, islice(file, 1, None))

    def finish(self, output: str) -> None:
        """Make the journal the output, in the format that the output's name tells, and remove it."""
        self.flush()
        temporary = f"{output}.{os.getpid()}.tmp"
        try:
            _write(self.rows(), output, temporary)
            os.replace(temporary, output)
        except OSError as error:
            raise ResultsError(f"{output}: {error.strerror}; the rows are in {self.path}") from None
        finally:
            with suppress(OSError):
                os.unlink(temporary)
        os.unlink(self.path)
        self.close()

    def close(self) -> None:
        """Close the file, and leave it for a later run."""
        self._file.close()


def _digest(file: str) -> bytes:
    return blake2b(file.encode("utf-8", "surrogatepass"), digest_size=12).digest()


def _lock(file: IO[bytes], path: str) -> None:
    """Keep a second run from writing the same journal."""
    try:
        import fcntl
    except ImportError:  # another system than Unix
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise ResultsError(f"{path}: another run writes this file") from None


def format_of(path: str) -> str:
    """The format of a table by the end of its name. Raises `ResultsError`."""
    found = next((end for end in FORMATS if path.lower().endswith(end)), None)
    if found is None:
        raise ResultsError(f"{path}: the name of a table ends with {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    if found == ".parquet":
        _arrow()
    return found


def read(path: str) -> Iterator[Row]:
    """The rows of a finished table, or of an unfinished one. Raises `ResultsError`."""
    try:
        if path.lower().endswith(".parquet"):
            yield from _read_parquet(path)
            return
        with open(path, "rb") as file:
            for number, line in enumerate(file, 1):
                row = json.loads(line)
                if "file" in row:
                    yield row
                elif number > 1:
                    raise ValueError(f"line {number} is no row")
    except OSError as error:
        raise ResultsError(f"{path}: {error.strerror}") from None
    except (ValueError, TypeError) as error:
        raise ResultsError(f"{path}: this is no table of irshape scan: {error}") from None


def _write(rows: Iterator[Row], output: str, temporary: str) -> None:
    format = format_of(output)
    if format == ".parquet":
        _write_parquet(rows, temporary)
        return
    with open(temporary, "w", encoding="utf-8", errors="surrogatepass") as file:
        if format == ".sarif":
            from irshape.report.sarif import render

            file.write(render([_checked(row) for row in rows if row["diagnostics"]], __version__))
        else:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        file.flush()
        os.fsync(file.fileno())


def _checked(row: Row) -> Checked:
    """The faults of a row as reports take them."""
    found = []
    for fault in row["diagnostics"]:
        where = Where(
            row["file"],
            fault["layer"],
            fault["name"],
            fault["type"],
            fault["port"],
            fault["line"],
            fault["column"],
            path=fault["path"] or "",
        )
        found.append(Diagnostic(fault["code"], fault["message"], where, fault["severity"], fault["hint"], count=fault["count"]))
    return Checked(row["file"], found, is_passed=row["verdict"] == VALID)


class Cache:
    """The rows of an earlier table by file, on the disk: memory stays flat however many there are."""

    def __init__(self, path: str) -> None:
        self._data = sqlite3.connect("")  # a file of its own that is gone when it is closed
        self._data.execute("CREATE TABLE rows (file TEXT PRIMARY KEY, version TEXT, settings TEXT, row TEXT) WITHOUT ROWID")
        self._data.executemany(
            "INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?)",
            ((row["file"], row["version"], row["settings"], json.dumps(row)) for row in read(path) if row["verdict"] != "failed"),
        )

    def version(self, file: str, settings: str) -> str | None:
        """The version that a file had, if its row was made with these settings; None if there is no such row."""
        found = self._data.execute("SELECT version FROM rows WHERE file = ? AND settings = ?", (file, settings)).fetchone()
        return found[0] if found else None

    def close(self) -> None:
        """Remove the rows from the disk."""
        self._data.close()

    def row(self, file: str) -> Row:
        """The row of a file."""
        (text,) = self._data.execute("SELECT row FROM rows WHERE file = ?", (file,)).fetchone()
        row: Row = json.loads(text)
        return row


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingError("Parquet needs pyarrow: pip install 'irshape[scan]'; a .jsonl file needs nothing") from None
    return pyarrow


def arrow_schema() -> Any:
    """The schema of the columns in a Parquet file."""
    arrow = _arrow()

    def kind(field: Field) -> Any:
        if field.kind == FAULTS:
            return arrow.list_(arrow.struct([column(one) for one in FAULT]))
        return {
            NUMBER: arrow.int64(),
            SECONDS: arrow.float64(),
            COUNTS: arrow.map_(arrow.string(), arrow.int64()),
            TEXTS: arrow.list_(arrow.string()),
        }.get(field.kind, arrow.string())

    def column(field: Field) -> Any:
        return arrow.field(field.name, kind(field), nullable=field.is_optional, metadata={"description": field.about})

    return arrow.schema([column(field) for field in FIELDS], metadata={"irshape": __version__})


def _write_parquet(rows: Iterator[Row], path: str) -> None:
    arrow = _arrow()
    schema = arrow_schema()
    with arrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while group := list(islice(rows, _GROUP)):
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


def _read_parquet(path: str) -> Iterator[Row]:
    arrow = _arrow()
    try:
        file = arrow.parquet.ParquetFile(path)
    except arrow.ArrowInvalid as error:
        raise ValueError(str(error)) from None
    with file:
        if missing := [field.name for field in FIELDS if field.name not in file.schema_arrow.names]:
            raise ValueError(f"the column {missing[0]!r} is missing")
        for batch in file.iter_batches(_GROUP):
            for row in batch.to_pylist():
                for field in FIELDS:
                    if field.kind == COUNTS:
                        row[field.name] = dict(row[field.name])
                yield row
