"""`irshape completion`: the script by which a shell completes commands, options, codes, and the layers and inputs of a file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from typing import Any

from irshape.cli.arguments import COMMANDS
from irshape.cli.run import CLEAN, complain
from irshape.model.finding import end_name
from irshape.model.model import Model
from irshape.ops.registry import REGISTRY
from irshape.report.catalogue import CATALOGUE

ABOUT = "Print the script by which a shell completes commands, options, codes, and the layers and inputs of a file."
EXAMPLES = """examples:
  irshape completion bash >> ~/.bash_completion
  irshape completion zsh > ~/.zfunc/_irshape
  irshape completion fish > ~/.config/fish/completions/irshape.fish
  irshape completion powershell | Out-String | Invoke-Expression

exit code: 0, or 2 if the package argcomplete is missing"""

_SHELLS = ("bash", "zsh", "fish", "powershell")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))


def run(given: argparse.Namespace) -> int:
    """Print the script."""
    try:
        from argcomplete.shell_integration import shellcode
    except ImportError:
        return complain("completion needs the package argcomplete: pip install 'irshape[complete]'")
    print(shellcode(["irshape"], shell=given.shell))
    return CLEAN


def complete() -> None:
    """Answer the question of a shell, which stands in the environment, and end the process."""
    from argcomplete import autocomplete
    from argcomplete.lexers import split_line

    from irshape.cli.parser import parser

    *_, words, _ = split_line(os.environ["COMP_LINE"], int(os.environ["COMP_POINT"]))
    words = words[1:]
    top = parser(words if words and words[0] in COMMANDS else ["--help"])
    for one in top._actions:
        if isinstance(one, argparse._SubParsersAction):
            for command in one.choices.values():
                for action in command._actions:
                    _describe(action)
    autocomplete(top, always_complete_options="long")


def _describe(action: argparse.Action) -> None:
    """Tell argcomplete what the values of an argument are."""
    from argcomplete.completers import FilesCompleter

    metavar = str(action.metavar or "")
    for begin, completer in _COMPLETERS.items():
        if metavar == begin or (metavar.startswith(begin) and len(begin) > 1):
            action.completer = completer  # type: ignore[attr-defined]
            return
    if metavar.endswith((".xml", "FILE")):
        action.completer = FilesCompleter(["xml"] if metavar != "PATH" else [])  # type: ignore[attr-defined]


def _layers(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    model = _model(parsed_args)
    return [] if model is None else [node.name for node in model.nodes if node.type not in ("Const", "Result")]


def _inputs(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
    model = _model(parsed_args)
    return [] if model is None else [f"{end_name(node)}[" for node in model.parameters]


def _codes(prefix: str, **_: Any) -> Iterable[str]:
    before = prefix[: prefix.rfind(",") + 1]
    return [before + code for code in CATALOGUE]


def _policies(**_: Any) -> Iterable[str]:
    from irshape.answers.policies import MAX_RANK, POLICIES

    return [*POLICIES, f"{MAX_RANK}="]


def _types(**_: Any) -> Iterable[str]:
    return REGISTRY.types()


def _model(given: argparse.Namespace) -> Model | None:
    from irshape import verbs

    found = getattr(given, "files", None) or getattr(given, "file", None)
    path = found[0] if isinstance(found, list) else found
    try:
        return verbs.read(path) if path and os.path.isfile(path) else None
    except OSError:
        return None


# How the values of an argument are completed, by the beginning of the word that stands for them.
_COMPLETERS = {"LAYER": _layers, "T": _layers, "GLOB": _layers, "NAME[SHAPE]": _inputs, "CODE": _codes, "POLICY": _policies, "TYPE": _types}
