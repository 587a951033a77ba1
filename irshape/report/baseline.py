"""Baselines: files of known faults. A run with a baseline reports the other faults only.

A fault is known by the fingerprint that SARIF has for it, so it stays known if lines, ids and messages change.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from irshape.files.reading import MOST_OF_BASELINE, read_whole
from irshape.report.diagnostic import Diagnostic
from irshape.report.documents import Checked, identified, relative

_VERSION = 1
_ANEW = "name the baseline, or write another one: --write-baseline FILE"


class BaselineError(ValueError):
    """A file that is no baseline; the message names it."""


def _is_baseline(content: Any) -> bool:
    """Whether JSON has the form of a baseline: for each model its faults, each with a text."""
    return (
        isinstance(content, dict)
        and content.get("version") == _VERSION
        and isinstance(content.get("files"), dict)
        and not any("\0" in path for path in content["files"])
        and all(isinstance(faults, dict) for faults in content["files"].values())
        and all(isinstance(text, str) for faults in content["files"].values() for text in faults.values())
    )


Reports: TypeAlias = Callable[[str, str], bool]
"""Whether the check of a file reports a code."""


def _code(text: str) -> str:
    return text.partition(" ")[0]


class Baseline:
    """The known faults in a file, by the path of the model, relative to the folder of the baseline, and by fingerprint.

    The text of a fault, its code and layer, is for people who read the file.
    """

    def __init__(self, path: str, files: Mapping[str, Mapping[str, str]], more: int = 0) -> None:
        """`more` are the faults beyond a limit, for which one text stands in `files`."""
        self.path = path
        self.files = files
        self.count = sum(map(len, files.values())) + more
        self._folder = os.path.dirname(os.path.abspath(path))

    @staticmethod
    def read(path: str) -> Baseline:
        """The baseline in a file. Raises `BaselineError` if it cannot be read or has another form."""
        try:
            content: Any = json.loads(read_whole(path, MOST_OF_BASELINE))
        except OSError as error:
            advice = f"; --write-baseline {path} makes a baseline" if isinstance(error, FileNotFoundError) else ""
            raise BaselineError(f"{path}: {error.strerror}{advice}") from None
        except (ValueError, RecursionError) as error:
            reason = "it nests too deeply" if isinstance(error, RecursionError) else "a number has too many digits"
            if isinstance(error, json.JSONDecodeError):
                reason = f"line {error.lineno}, column {error.colno}: {error.msg}"
            elif isinstance(error, UnicodeDecodeError):
                reason = "the file is not UTF-8"
            raise BaselineError(f"{path}: this is not JSON: {reason}; {_ANEW}") from None
        if not _is_baseline(content):
            raise BaselineError(f"{path}: this is not a baseline of irshape; {_ANEW}")
        return Baseline(path, content["files"])

    def parted(self, path: str, diagnostics: Sequence[Diagnostic]) -> tuple[list[Diagnostic], dict[str, int]]:
        """The diagnostics of a model that are new, and the others: how many faults there are of each fingerprint.

        irshape's own faults (I) are always new.
        """
        known = self.files.get(relative(path, self._folder), {})
        new: list[Diagnostic] = []
        accepted: dict[str, int] = {}
        for _, diagnostic, fingerprint in identified([Checked(path, diagnostics)], self._folder):
            if fingerprint in known and not diagnostic.code.startswith("I"):
                accepted[fingerprint] = diagnostic.count
            else:
                new.append(diagnostic)
        return new, accepted

    def stale(self, accepted: Mapping[str, Mapping[str, int]], reports: Reports = lambda path, code: True) -> list[str]:
        """The texts of known faults that are gone, given the accepted fingerprints of each model that was checked.

        Models that were not checked are left alone, unless they no longer exist, and so are the codes that a model does not report.
        """
        checked = {relative(path, self._folder): (path, fingerprints) for path, fingerprints in accepted.items()}
        gone: list[str] = []
        for path, faults in self.files.items():
            if path in checked:
                own, known = checked[path]
                lost = [text for fingerprint, text in faults.items() if fingerprint not in known]
                gone += [f"{path}: {text}" for text in lost if reports(own, _code(text))]
            elif not os.path.exists(os.path.join(self._folder, path)):
                gone += (f"{path}: {text}" for text in faults.values())
        return gone

    def updated(self, files: Sequence[Checked], reports: Reports = lambda path, code: True) -> Baseline:
        """The baseline with all faults of the files that were checked. Other files keep theirs while they exist.

        So do the codes that a file does not report.
        """
        checked = {relative(file.path, self._folder): file.path for file in files if not file.complaint}
        kept = {
            path: faults for path, faults in self.files.items() if path not in checked and os.path.exists(os.path.join(self._folder, path))
        }
        found: dict[str, dict[str, str]] = {}
        more = 0
        for path, own in checked.items():
            silent = {one: text for one, text in self.files.get(path, {}).items() if not reports(own, _code(text))}
            found |= {path: silent} if silent else {}
        for file, diagnostic, fingerprint in identified([file for file in files if not file.complaint], self._folder):
            context, more = diagnostic.where.about(), more + diagnostic.count - 1
            found.setdefault(relative(file.path, self._folder), {})[fingerprint] = f"{diagnostic.code} {context}".rstrip()
        return Baseline(self.path, dict(sorted({**kept, **found}.items())), more)

    def text(self) -> str:
        """The content of the file: JSON with one fault on a line, so that changes of it can be read."""
        return json.dumps({"version": _VERSION, "files": self.files}, indent=2) + "\n"
