"""The check of one file for another program: what `irshape check FILE` would report."""

from __future__ import annotations

from functools import partial

from irshape.cli.check import Check, fault_lines
from irshape.cli.check_options import settings_of
from irshape.cli.examination import Examination
from irshape.cli.parser import parser
from irshape.cli.run import CLEAN
from irshape.files.reading import read
from irshape.report.text import Palette
from irshape.settings.settings import Settings
from irshape.xml.reader import root_of

# The root element of a file is looked for in its first bytes.
_HEAD = 1 << 12


def is_checked(path: str, *, is_argument: bool) -> bool:
    """Whether a run over the folder of a file would check it: not if it is excluded, or XML of another format.

    A file that is an argument itself is always checked. Raises `ConfigurationError`, a ValueError.
    """
    if is_argument:
        return True
    if Settings().excludes(path, is_found=False):
        return False
    root = root_of(read(path, _HEAD)[:_HEAD])
    return not root or root.lower() in ("net", "layer")


def checked_text(path: str) -> str:
    """The report of `irshape check`, errors first; empty if it exits with 0. Raises ValueError for a faulty configuration or baseline."""
    command = ["check", "--", path]
    given = parser(command).parse_args(command)
    settings = settings_of(given)
    check = Check(given, settings)
    check.prepare([path])
    outcome = Examination(given, check, partial(fault_lines, Palette(False), has_errors_first=True), settings=settings)(path)
    return "" if outcome.code == CLEAN else "\n".join(filter(None, (outcome.body, outcome.complaint)))
