"""Runs the snippets of the catalogue, and writes them as the page of diagnostics shows them."""

import contextlib
import io
import os
import shlex
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from tempfile import TemporaryDirectory

from irshape.cli.main import main
from irshape.report.snippets.snippet import Run, Snippet


def printed(run: Run, *options: str) -> str:
    """What the command of a run prints, in a folder that holds the file and its weights, with further options."""
    before = Path.cwd()
    with TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
        Path(folder, "model.xml").write_text(run.xml, encoding="utf-8")
        if run.weights:
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
    if snippet.condition:
        yield from (f"Reported if {snippet.condition}:", "")
        yield from ("```console", f"$ {bad.command}", "```")
    else:
        yield from ("```console", f"$ {bad.command}", printed(bad).rstrip("\n"))
        if good.command != bad.command:
            yield from (f"$ {good.command}", printed(good).rstrip("\n"))
        yield "```"
    if bad.xml == good.xml:
        yield from ("", "```xml", bad.xml.rstrip("\n"), "```")
    else:
        yield from ("", "```diff", *changed_lines(bad.xml, good.xml), "```")
    if bad.weights != good.weights:
        yield from ("", f"`model.bin` with the fault: {bytes_text(bad.weights)}. Without it: {bytes_text(good.weights)}.")
    elif bad.weights:
        yield from ("", f"`model.bin`: {bytes_text(bad.weights)}.")


def changed_lines(bad: str, good: str) -> Iterator[str]:
    """All lines of both texts: those of the bad one alone after `-`, those of the good one alone after `+`."""
    old, new = bad.splitlines(), good.splitlines()
    for tag, i, i_end, j, j_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield from (f"  {line}" for line in old[i:i_end])
        else:
            yield from (f"- {line}" for line in old[i:i_end])
            yield from (f"+ {line}" for line in new[j:j_end])


def bytes_text(data: bytes) -> str:
    """The bytes of a `.bin`, as text where they are text."""
    if not data:
        return "there is none"
    shown = data.decode("ascii") if data.isascii() and data.decode("ascii").isprintable() else data.hex(" ")
    return f"`{shown}` ({len(data)} bytes)"
