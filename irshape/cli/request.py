"""The request of a line: what it asks for, whatever the command. It is read from the command line once, at the door, and never changed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from irshape.cli.run import RunError
from irshape.shape.compilation import NamedTuple
from irshape.shape.limits import Limits

if TYPE_CHECKING:
    from argparse import Namespace

    from irshape.running.limits import Allowance
    from irshape.settings.settings import Settings


def is_one(arguments: Sequence[str]) -> bool:
    """Whether the arguments are a single file; a folder is never one, even if it holds one file."""
    return len(arguments) == 1 and not os.path.isdir(arguments[0])


def models_of(arguments: Sequence[str]) -> list[str]:
    """The files with the `.xml` beside it in place of each `.bin`, each file once; another ending is that of no model."""
    found: dict[str, None] = {}
    for argument in arguments:
        root, end = os.path.splitext(argument)
        if end.lower() in (".xml", "") or os.path.isdir(argument):
            found[argument] = None
        elif end.lower() == ".bin" and os.path.lexists(f"{root}.xml"):
            found[f"{root}.xml"] = None
    return list(found)


class Request(NamedTuple):
    """The files, how each is read, the shapes of its inputs, and the form of the answer.

    `limited` are the names of the limits that the line sets. `weights` is a path, None for the file beside each IR, or False for none.
    `source` is the content of the only file if it comes from standard input. `allowance` bounds a worker, None for no worker of its own.
    `settings` has the configuration of each file.
    """

    files: Sequence[str]
    limits: Limits
    limited: frozenset[str]
    opset: str | None
    opaque: Sequence[str]
    extensions: Sequence[str]
    weights: Any
    inputs: Sequence[str]
    symbols: Mapping[str, str]
    format: str
    jobs: int | None
    is_verbose: bool = False
    is_strict: bool = False
    skips_foreign: bool = False
    force_exclude: bool = False
    source: bytes | None = None
    allowance: Allowance | None = None
    settings: Settings | None = None

    @property
    def is_many(self) -> bool:
        """Whether the run is over several files."""
        return not is_one(self.files)

    @property
    def reading(self) -> str:
        """The options that say how a file is read, as words of a command."""
        from shlex import quote

        own = {
            "--weights-file": [self.weights or ""],
            "--opset": [self.opset or ""],
            "--opaque": self.opaque,
            "--extensions": self.extensions,
        }
        words = [f" {option} {quote(word)}" for option, several in own.items() for word in several if word]
        return "".join(words) + " --no-weights" * (self.weights is False)


def request_of(given: Namespace, settings: Settings | None = None, **own: Any) -> Request:
    """The request of a line; `own` stands in place of what the line says. Raises `RunError` for options that cannot be combined."""
    told = vars(given)
    found = Request(
        models_of(given.files) if told.get("skip_foreign") else given.files, given.limits, given.limited, given.opset, given.opaque,
        given.extensions, False if given.no_weights else given.weights_file, given.input, dict(chain(*given.set)), given.format, given.jobs,
        told.get("verbose", False), told.get("strict", False), told.get("skip_foreign", False), told.get("force_exclude", False),
        allowance=_allowance(told.get("allowance"), is_isolated=told.get("isolate", False)), settings=settings,
    )._replace(**own)  # fmt: skip
    if found.weights and found.is_many:
        raise RunError("--weights-file needs exactly one FILE")
    return found


def _allowance(allowance: Allowance | None, *, is_isolated: bool) -> Allowance | None:
    """The limits of a worker; None without --isolate."""
    if not is_isolated:
        if allowance is not None:
            raise RunError("--limit time=... and --limit memory=... need --isolate")
        return None
    from irshape.running.limits import Allowance, can_limit

    if not can_limit():
        raise RunError("--isolate: this system cannot limit a process (Python has no module `resource` here)")
    return allowance or Allowance()
