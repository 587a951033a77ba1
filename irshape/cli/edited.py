"""The file that a command edits, and where the result is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from irshape.cli.arguments import add_colour, add_limit, add_operations
from irshape.cli.run import FAULTS, RunError, describe
from irshape.editing.graph import Graph, edit
from irshape.editing.state import EditError
from irshape.files.reading import Path
from irshape.ops.registry import ExtensionError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def add_target_arguments(command: ArgumentParser) -> None:
    """Add the file, how it is read, and where the result goes."""
    add = command.add_argument
    add("file", metavar="FILE", help="the .xml of an IR")
    add("-o", "--output", metavar="OUT.xml", help="write the result to this file, and its weights beside it")
    add("--force", action="store_true", help="overwrite files of the output that exist, and write a model with new errors")
    add("--weights-file", metavar="PATH", help="the .bin file, if it is not next to FILE")
    add_operations(command)
    add_limit(command)
    add_colour(command)


def opened(given: Namespace) -> Graph:
    """A graph of the file. Raises `RunError`."""
    try:
        return edit(Path(given.file), weights=given.weights_file, opaque=given.opaque, limits=given.limits, extensions=given.extensions)
    except OSError as error:
        raise RunError(describe(error, given.file)) from None
    except (EditError, ExtensionError) as error:
        raise RunError(f"{given.file}: {error}") from None


def written(given: Namespace, graph: Graph, *, in_place: bool = False, trim: bool = False) -> None:
    """Write the graph. Raises `RunError`."""
    target = given.file if in_place else given.output
    try:
        graph.write(target, force=given.force, in_place=in_place, trim=trim)
    except FileExistsError as error:
        existing = os.fspath(error.filename or target)
        advice = "" if error.strerror != "already exists" else " (--force overwrites it)"
        raise RunError(f"{describe(error, existing)}{advice}") from None
    except OSError as error:
        raise RunError(describe(error, target)) from None
    except ValueError as error:
        raise RunError(
            f"{target}: not written: {str(error).partition('; force')[0]} (--force writes the model all the same)", FAULTS
        ) from None
