"""`irshape reduce`: the smallest part of a model that still shows a fault, ready to attach to a report."""

from __future__ import annotations

import os
import platform
import re
from argparse import ArgumentParser, Namespace
from contextlib import closing
from hashlib import sha256
from shlex import quote

from irshape import __version__
from irshape.cli.arguments import add_colour, add_limit, add_operations, jobs, most
from irshape.cli.edit import change_of
from irshape.cli.run import CLEAN, FAULTS, RunError, complain, describe, put
from irshape.editing.draft import Draft
from irshape.editing.reduce import NotShown, Reduction
from irshape.editing.state import EditError
from irshape.editing.trial import JOURNAL, Answers, Candidate, FailingCommand, OtherQuestion, Test, content_of
from irshape.editing.verbs import KeptFault
from irshape.files.writing import write_atomic
from irshape.report.catalogue import CATALOGUE
from irshape.report.text import counted, escape

ABOUT = (
    "Make a small reproducer: leave out layers, outputs, sizes, elements and attributes as long as the fault shows. What is left "
    "is a valid model, of which no single layer can be left out."
)
EXAMPLES = """examples:
  irshape reduce model.xml --while "python run.py {}" -o reproducer/
  irshape reduce model.xml --while "benchmark_app -m {} -t 1" --match "Segmentation fault" --timeout 30 -j 2 -o reproducer/
  irshape reduce model.xml --keep S201 -o reproducer/

exit code: 0 if the reproducer is in OUT/, 1 if the fault does not show on the whole model, 2 if a file could not be read or written"""

# Of the output of the command, so many characters are in the report.
_MOST_OUTPUT = 4000


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    add = command.add_argument
    add("file", metavar="FILE", help="the .xml of an IR")
    help = "reduce while this command fails, with another exit code than 0; {} is the model"
    add("--while", dest="command_line", metavar='"CMD {}"', help=help)
    add("--keep", metavar="CODE", help="reduce while irshape reports this code with the same message")
    add("--match", metavar="REGEX", help="the output of the command, or the message of the code, must match this pattern, too")
    add("-j", "--jobs", type=jobs, default=1, metavar="N", help="commands that run at the same time (default: 1)")
    help = "end a command after this many seconds; it then counts as not failing (default: 60)"
    add("--timeout", type=most, default=60, metavar="S", help=help)
    add("-o", "--output", metavar="OUT/", help="write the reproducer into this folder: the model, the command, versions, what was removed")
    add("--resume", action="store_true", help="continue an interrupted run from its answers in OUT/")
    add("--force", action="store_true", help="overwrite files in OUT/")
    command.set_defaults(faulty=True)
    add("--weights-file", metavar="PATH", help="the .bin, if it is not beside FILE")
    add_operations(command)
    add_limit(command)
    add_colour(command)


def run(given: Namespace) -> int:
    """Reduce a file, write the reproducer, and return the exit code."""
    if (complaint := _complaint(given)) is not None:
        return complain(complaint)
    try:
        draft = change_of(given).opened()._draft
        reduction = _reduced(given, draft)
    except OSError as error:
        return complain(describe(error, given.output))
    size = f"{reduction.layers} of {counted(draft.model.layer_count, 'layer')}, {reduction.candidate.size} bytes of weights"
    put(f"written: {escape(os.path.join(given.output, ''))} ({size})")
    return CLEAN


def _complaint(given: Namespace) -> str | None:
    if (given.command_line is None) == (given.keep is None):
        return f"give either --while, a command that fails, or --keep, a code that irshape check {quote(given.file)} lists"
    if given.keep is not None and given.keep not in CATALOGUE:
        whole = "; give a whole code" if any(code.startswith(given.keep) for code in CATALOGUE) else ""
        return f"there is no code {given.keep!r}{whole}; irshape rule lists them"
    if given.command_line is not None and "{}" not in given.command_line:
        return f"the command {given.command_line!r} has no {{}}: write {{}} where the path of the model must stand"
    try:
        re.compile(given.match or "")
    except re.error as error:
        return f"--match {given.match!r} is no pattern: {error}"
    if given.output is None:
        return "no folder is given for the reproducer: add -o OUT/"
    if given.output.endswith(".xml"):
        return f"-o {given.output}: the reproducer is a folder with a model.xml: write -o {given.output.removesuffix('.xml')}/"
    if os.path.isdir(given.output) and os.listdir(given.output) and not (given.force or given.resume):
        return f"{given.output}: the folder is not empty (--force overwrites its files, --resume continues an interrupted run)"
    return None


def _reduced(given: Namespace, draft: Draft) -> Reduction:
    """The reduction of a file, and its folder. Raises `RunError`."""
    fault = KeptFault(draft, given.command_line, given.keep, given.match, given.timeout)
    try:
        whole = content_of(draft)
    except EditError as error:
        raise RunError(f"{given.file}: {error}") from None
    is_new = not os.path.isdir(given.output)
    os.makedirs(given.output, exist_ok=True)
    journal = os.path.join(given.output, JOURNAL)
    if not given.resume and os.path.lexists(journal):
        os.unlink(journal)
    question = sha256(repr((whole.key, given.command_line, given.keep, given.match, given.timeout, __version__)).encode()).hexdigest()
    try:
        answers = Answers(given.output, question)
    except BlockingIOError:
        raise RunError(f"{given.output}: another run writes into this folder") from None
    except OtherQuestion:
        raise RunError(f"{journal}: the answers are those of another model or command; run without --resume, with --force") from None

    told = ""

    def say(step: str, candidate: Candidate) -> None:
        nonlocal told
        candidate.write(given.output)
        if told and told.partition(":")[0] != step.partition(":")[0]:
            put(told)
        told = step

    with closing(answers):
        try:
            reduction = fault.reduction(answers, given.jobs, say)
        except NotShown:
            answers.remove()  # so that the next run finds the folder as this one found it
            if is_new:
                os.rmdir(given.output)
            what = f"irshape does not report {given.keep}" if given.keep else "the command does not fail"
            others = ", ".join(dict.fromkeys(one.code for one in fault.found)) if given.keep else ""
            told = f"; --keep may name {others}" if others else ""
            raise RunError(f"{given.file}: {what} on the whole model{' with a match' if given.match else ''}{told}", FAULTS) from None
        put(told)
        write_atomic(os.path.join(given.output, "README.md"), _report(given, draft, reduction, fault.test).encode(), force=True)
        answers.remove()
    return reduction


def _report(given: Namespace, draft: Draft, reduction: Reduction, test: Test) -> str:
    """The text beside the model: what shows the fault, with which versions, and what was removed."""
    name = os.path.basename(given.file)
    lines = [
        "# Reproducer",
        "",
        f"`model.xml` is what is left of `{name}`: no single layer can be left out without the fault.",
        "",
        "## The fault",
        "",
    ]
    if isinstance(test, FailingCommand):
        code, output = test.run(reduction.candidate)
        text = output.decode("utf-8", "replace").rstrip()[-_MOST_OUTPUT:]
        command = given.command_line.replace("{}", "model.xml")
        said = ["It prints:", "", _block(text)] if text.strip() else ["It prints nothing."]
        lines += [f"This command ends with the code {code}{_matched(given)}:", "", _block(command), "", *said]
    else:
        lines += [f"irshape reports {given.keep}{_matched(given)}:", "", _block("irshape check model.xml")]
    lines += ["", "## Versions", "", *(f"- {name} {version}" for name, version in _versions()), "", "## What was removed", ""]
    lines += [f"- the whole model: {counted(draft.model.layer_count, 'layer')}", *(f"- {step}" for step in reduction.steps[1:]), ""]
    return "\n".join(lines)


def _matched(given: Namespace) -> str:
    return f", with a match of `{given.match}`" if given.match else ""


def _block(text: str) -> str:
    """A text as a block of Markdown, whatever it holds."""
    fence = "`" * max(3, 1 + max((len(found) for found in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def _versions() -> list[tuple[str, str]]:
    from importlib.metadata import PackageNotFoundError, version

    found = [("irshape", __version__), ("Python", platform.python_version()), ("platform", platform.platform())]
    for package in ("openvino", "openvino-tokenizers"):
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found
