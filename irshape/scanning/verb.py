"""The verb of a program that checks many files."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from typing import TYPE_CHECKING

from irshape.report.selection import Choice, checked_prefix
from irshape.scanning.archive import BOUNDS, Bounds
from irshape.scanning.places import Places
from irshape.scanning.row import Scan
from irshape.scanning.table import Row
from irshape.shape.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from irshape.ops.extensions import Extensions

Files = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, a folder, an archive or a URL, or several of these."""


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
) -> list[Row]:
    """Check many files, local or remote, and return a row for each: a `dict` with the columns of `irshape scan`.

    The rows go into `pandas.DataFrame(rows)` and `pyarrow.Table.from_pylist(rows)`. A file that cannot be read has a row, too, whose
    `verdict` is `failed`. The arguments are the options of the command, which also works in several processes, within limits of time and
    memory. Raises `FileNotFoundError` if a folder or an archive cannot be listed or holds no `.xml`, and `InputError` for an unknown
    target.
    """
    from irshape.answers.policies import find_policies

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
        extensions=[os.fspath(extensions)] if isinstance(extensions, (str, os.PathLike)) else [os.fspath(path) for path in extensions],
        limits=limits,
        has_cost=cost,
        bounds=Bounds(max_members, max_expansion),
    )
    named = [files] if isinstance(files, (str, os.PathLike)) else files
    with closing(Places([os.fspath(path) for path in named], limits.size, one.bounds)) as places:
        if places.complaints:
            raise FileNotFoundError(places.complaints[0])
        return [one(place) for place in places]
