"""Runs the snippets of the catalogue, and writes them as the page of diagnostics shows them."""

import contextlib
import io
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from irshape.cli.main import main
from irshape.report.snippet import Invocation, Snippet, bytes_text, changed_lines


def printed(run: Invocation, *options: str) -> str:
    """What the command of a run prints, in a folder that holds the file and its weights, with further options."""
    before = Path.cwd()
    with TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        Path(folder, "model.xml").write_text(run.xml, encoding="utf-8")
        if run.weights is not None:
            Path(folder, "model.bin").write_bytes(run.weights)
        os.chdir(folder)
        try:
            main([*shlex.split(run.command)[1:], *options])
        finally:
            os.chdir(before)
    return out.getvalue()


def snippet_markdown(snippet: Snippet) -> Iterator[str]:
    """The lines of a page that show a snippet: the commands, what they print, the file and the change that removes the fault."""
    bad, good = snippet.bad, snippet.good
    runs = [bad] if good.command == bad.command else [bad, good]
    if snippet.condition:
        commands = [f"$ {run.command}" for run in runs if run.command]
        yield from (*(["```console", *commands, "```", ""] if commands else []), snippet.condition)
    else:
        outputs = [f"$ {run.command}\n{printed(run).rstrip()}" for run in runs]
        yield from ("```console", *outputs, "```")
    if bad.xml != good.xml:
        yield from ("", "```diff", *changed_lines(bad.xml, good.xml), "```")
    elif not snippet.condition:
        yield from ("", "```xml", bad.xml.rstrip("\n"), "```")
    if bad.weights != good.weights:
        yield from ("", f"`model.bin` with the fault: {bytes_text(bad.weights)}. Without it: {bytes_text(good.weights)}.")
    elif bad.weights is not None:
        yield from ("", f"`model.bin`: {bytes_text(bad.weights)}.")
