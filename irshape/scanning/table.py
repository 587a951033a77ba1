"""A table of results: its columns, and what it says: counts by verdict, code and operation, the slowest files, and the changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import nlargest
from typing import Any, Final, NamedTuple

Row = dict[str, Any]

TEXT: Final = "text"
NUMBER: Final = "number"
SECONDS: Final = "seconds"
COUNTS: Final = "counts"
TEXTS: Final = "texts"
FAULTS: Final = "faults"

# A number of a row is at most this one, which every format can hold; a hostile file may declare more.
MOST: Final = 2**63 - 1

VALID: Final = "valid"
INVALID: Final = "invalid"
FOREIGN: Final = "foreign"
FAILED: Final = "failed"
VERDICTS: Final = (VALID, INVALID, FOREIGN, FAILED)


class RowField(NamedTuple):
    """A column: its name, its kind, its meaning, and whether a row may have no value there."""

    name: str
    kind: str
    about: str
    is_optional: bool = False


FIELDS: Final = (
    RowField("file", TEXT, "the path or URL of the .xml; of a signed URL, without its query"),
    RowField(
        "verdict", TEXT, "valid, invalid (it has errors), foreign (XML that is no IR), failed (it could not be read or checked whole)"
    ),
    RowField("size", NUMBER, "the bytes of the .xml", True),
    RowField("weights_size", NUMBER, "the bytes of the .bin; null if there is none", True),
    RowField("hash", TEXT, "the SHA-256 of the .xml", True),
    RowField("version", TEXT, "the versions of the .xml and the .bin: the ETag, else time and size", True),
    RowField("ir_version", NUMBER, "the version of the IR", True),
    RowField("oldest", TEXT, "the oldest release of OpenVINO that is known to read the model", True),
    RowField("layers", NUMBER, "the number of layers, those of bodies included"),
    RowField("opsets", COUNTS, "the number of layers of each opset"),
    RowField("operations", COUNTS, "the number of layers of each type"),
    RowField("parameters", NUMBER, "the number of elements of all constants"),
    RowField("parameter_bytes", NUMBER, "the bytes of all constants"),
    RowField("dynamic_inputs", TEXTS, "the inputs with open sizes, each with its shape"),
    RowField("signature", TEXT, "the inputs and outputs in as few symbols as possible; null without open sizes or with errors", True),
    RowField("macs", NUMBER, "with --cost: the multiply-accumulates of an inference, at the sizes `cost_at`", True),
    RowField(
        "flops", NUMBER, "with --cost: two for each multiply-accumulate and one for each other operation, at the sizes `cost_at`", True
    ),
    RowField("peak_memory", NUMBER, "with --cost: the most bytes that activations take at one time, at the sizes `cost_at`", True),
    RowField("cost_at", TEXT, "with --cost: the sizes of the symbols of the signature at which a model with open sizes is counted", True),
    RowField(
        "macs_formula", TEXT, "with --cost: the multiply-accumulates of a model with open sizes, in the symbols of the signature", True
    ),
    RowField("errors", NUMBER, "the number of errors"),
    RowField("warnings", NUMBER, "the number of warnings"),
    RowField("notes", NUMBER, "the number of notes"),
    RowField("diagnostics", FAULTS, "the faults, as in a report; those beyond a limit are in the numbers only"),
    RowField("bytes_read", NUMBER, "the bytes read of the .xml and the .bin"),
    RowField("seconds", SECONDS, "the time of reading and checking"),
    RowField("settings", TEXT, "the version of irshape and a digest of the options; rows of a cache with other settings are not used"),
)

FAULT: Final = (
    RowField("code", TEXT, "the code"),
    RowField("severity", TEXT, "error, warning or note"),
    RowField("message", TEXT, "what is wrong"),
    RowField("layer", TEXT, "the id of the layer", True),
    RowField("name", TEXT, "the name of the layer", True),
    RowField("type", TEXT, "the type of the layer", True),
    RowField("path", TEXT, "the layers and bodies around the layer", True),
    RowField("port", TEXT, "the id of the port", True),
    RowField("line", NUMBER, "the line in the .xml", True),
    RowField("column", NUMBER, "the column in the line", True),
    RowField("hint", TEXT, "the next step", True),
    RowField("count", NUMBER, "the number of faults that this one stands for"),
)

# The most entries of a list of the summary.
LISTED: Final = 10

# A fault as two tables compare it: it stays the same if lines and messages change.
_FAULT: Final = ("code", "path", "type", "name", "port")


class TableCounts:
    """The counts of a table.

    `verdicts` counts files. `codes` has, for each code, the number of faults and of files that have it; `operations` the number of layers
    and of files. `slowest` are the files that took longest. `size`, `bytes_read` and `bytes_there` are bytes: those of all .xml, those that
    were read, and those of all .xml and .bin.
    """

    def __init__(self, rows: Iterable[Row]) -> None:
        self.files = self.layers = self.bytes_read = self.bytes_there = 0
        self.seconds = 0.0
        self.verdicts: Counter[str] = Counter()
        self.codes: dict[str, tuple[int, int]] = {}
        self.operations: dict[str, tuple[int, int]] = {}
        slow: list[tuple[float, str]] = []
        for row in rows:
            self.files += 1
            self.layers += row["layers"]
            self.bytes_read += row["bytes_read"]
            self.bytes_there += (row["size"] or 0) + (row["weights_size"] or 0)
            self.seconds += row["seconds"]
            self.verdicts[row["verdict"]] += 1
            kinds: Counter[str] = Counter()
            for fault in row["diagnostics"]:
                kinds[fault["code"]] += fault["count"]
            for counts, table in ((kinds, self.codes), (row["operations"], self.operations)):
                for name, count in counts.items():
                    number, files = table.get(name, (0, 0))
                    table[name] = number + count, files + 1
            slow.append((row["seconds"], row["file"]))
            if len(slow) > 1000:
                slow = nlargest(LISTED, slow)
        self.slowest = nlargest(LISTED, slow)

    def to_dict(self) -> dict[str, Any]:
        return {
            "files": self.files,
            "verdicts": {verdict: self.verdicts[verdict] for verdict in VERDICTS},
            "layers": self.layers,
            "seconds": round(self.seconds, 3),
            "bytes_read": self.bytes_read,
            "bytes_there": self.bytes_there,
            "codes": [{"code": code, "count": count, "files": files} for code, (count, files) in _ordered(self.codes)],
            "operations": [{"type": type, "count": count, "files": files} for type, (count, files) in _ordered(self.operations)],
            "slowest": [{"file": file, "seconds": seconds} for seconds, file in self.slowest],
        }

    def by_code(self) -> list[tuple[str, tuple[int, int]]]:
        """The codes with the number of faults and of files, those of the most files first."""
        return _ordered(self.codes)


def _ordered(table: dict[str, tuple[int, int]]) -> list[tuple[str, tuple[int, int]]]:
    return sorted(table.items(), key=lambda item: (-item[1][1], -item[1][0], item[0]))


class TableChanges:
    """What has changed from one table to another.

    `added`, `gone` and `changed` are files: new ones, missing ones, and those with another content. `broken` and `mended` are files whose
    verdict changed from valid and to valid. `new` and `fixed` are faults, each with its file.
    """

    def __init__(self, before: Iterable[Row], after: Iterable[Row]) -> None:
        self.added: list[str] = []
        self.changed: list[str] = []
        self.broken: list[str] = []
        self.mended: list[str] = []
        self.new: list[tuple[str, Row]] = []
        self.fixed: list[tuple[str, Row]] = []
        known = {row["file"]: (row["verdict"], row["hash"], row["version"], row["diagnostics"]) for row in before}
        for row in after:
            file = row["file"]
            if file not in known:
                self.added.append(file)
                self.new += ((file, fault) for fault in row["diagnostics"])
                continue
            verdict, hash, version, faults = known.pop(file)
            if hash != row["hash"] or (version != row["version"] and None not in (version, row["version"])):
                self.changed.append(file)
            if verdict != row["verdict"]:
                if row["verdict"] == VALID:
                    self.mended.append(file)
                elif verdict == VALID or row["verdict"] == INVALID:
                    self.broken.append(file)
            self.new += ((file, fault) for fault in _without(row["diagnostics"], faults))
            self.fixed += ((file, fault) for fault in _without(faults, row["diagnostics"]))
        self.gone = list(known)

    def to_dict(self) -> dict[str, Any]:
        return {
            "added": self.added, "gone": self.gone, "changed": self.changed, "broken": self.broken, "mended": self.mended,
            "new": [{"file": file, **fault} for file, fault in self.new],
            "fixed": [{"file": file, **fault} for file, fault in self.fixed],
        }  # fmt: skip


def _without(faults: Iterable[Row], others: Iterable[Row]) -> list[Row]:
    """The faults that are not among others. Of equal ones, so many are left as there are more of them."""
    left = Counter(tuple(fault[name] for name in _FAULT) for fault in others)
    found = []
    for fault in faults:
        key = tuple(fault[name] for name in _FAULT)
        if left[key]:
            left[key] -= 1
        else:
            found.append(fault)
    return found
