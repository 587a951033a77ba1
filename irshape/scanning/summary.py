"""What a table of results says: counts by verdict, code and operation, the slowest files, and the changes since an earlier table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import nlargest
from typing import Any, Final

from irshape.scanning.fields import INVALID, VALID, VERDICTS
from irshape.scanning.row import Row

MOST: Final = 10

# A fault as two tables compare it: it stays the same if lines and messages change.
_FAULT: Final = ("code", "path", "type", "name", "port")


class Summary:
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
                slow = nlargest(MOST, slow)
        self.slowest = nlargest(MOST, slow)

    def to_dict(self) -> dict[str, Any]:
        """The summary as JSON."""
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

    def by_operation(self) -> list[tuple[str, tuple[int, int]]]:
        """The operations with the number of layers and of files, those of the most layers first."""
        return sorted(self.operations.items(), key=lambda item: (-item[1][0], item[0]))


def _ordered(table: dict[str, tuple[int, int]]) -> list[tuple[str, tuple[int, int]]]:
    return sorted(table.items(), key=lambda item: (-item[1][1], -item[1][0], item[0]))


class Comparison:
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
        """The comparison as JSON."""
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
