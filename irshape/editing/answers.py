"""The answers of a reduction in a file, so that a run that was broken off goes on where it was."""

from __future__ import annotations

import json
import os

from irshape.files.writing import Kept

# The name of the file in the folder of a reduction.
JOURNAL = "journal.jsonl"


class OtherQuestion(Exception):
    """The file holds the answers to another question."""


class Answers(dict[str, bool]):
    """The answers so far by the keys of candidates; each new one is added to the file in a folder. `question` tells one run from another.

    Raises `OSError` if the file cannot be written, and `OtherQuestion`.
    """

    def __init__(self, folder: str, question: str) -> None:
        super().__init__()
        self._kept = Kept(os.path.join(folder, JOURNAL))
        try:
            lines = self._kept.file.read().decode("utf-8", "replace").splitlines(keepends=True)
            whole = [line for line in lines if line.endswith("\n")]  # the last one may be cut off
            head = json.dumps({"question": question})
            if whole and whole[0].rstrip("\n") != head:
                raise OtherQuestion
            self._kept.cut(sum(len(line.encode()) for line in whole))
            if not whole:
                self._kept.append(head.encode() + b"\n")
            for line in whole[1:]:
                answer = json.loads(line)
                super().__setitem__(answer["key"], answer["shows"])
        except (ValueError, KeyError, TypeError):
            self._kept.close()
            raise OtherQuestion from None
        except BaseException:
            self._kept.close()
            raise

    def __setitem__(self, key: str, shows: bool) -> None:
        if key not in self:
            super().__setitem__(key, shows)
            self._kept.append(json.dumps({"key": key, "shows": shows}).encode() + b"\n")

    def close(self) -> None:
        """Close the file, which a later run takes up."""
        self._kept.close()

    def remove(self) -> None:
        """Remove the file of a run that came to its end."""
        self._kept.remove()
