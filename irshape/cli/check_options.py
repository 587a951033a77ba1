"""The options of `irshape check`: which codes are reported, from which configuration, where, and in which form."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from irshape.cli.arguments import EFFORT, FOLLOW_LINKS, OUTPUT, SELECTION, Rare, add_target, add_watch, refused
from irshape.shape.compilation import NamedTuple

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from irshape.report.selection import Choice

_STDIN = "-"
# The formats that put all files of a run into one document, and one line for each fault, without hints.
DOCUMENTS = ("sarif", "junit", "github", "gitlab")
CONCISE = "concise"
FORMATS = ("text", "json", "jsonl", CONCISE, *DOCUMENTS)


def add_options(command: ArgumentParser) -> None:
    """Add the options of the command."""
    command.set_defaults(allowance=None, source=None)
    add = command.add_argument
    add("--fix", action="store_true", help="mend what can be mended safely, report the rest")
    add("--diff", action="store_true", help="show what --fix would change, and write nothing")
    add_target(command)
    add("--all", action="store_true", help=Rare("list the faults that follow from others, too"))
    add("--batch", metavar="N", help="prove that no layer mixes samples: N, 8")
    add("--strict", action="store_true", help="exit with 1 for warnings, too")
    add("--exit-zero", action="store_true", help=Rare("exit with 0 for faults, too"))
    add("--stdin-filename", metavar="PATH", help=Rare("the path of the file that FILE - reads from standard input"))
    _add_selection(command)
    _add_output(command)
    add = command.add_argument_group(EFFORT).add_argument
    isolate = "check each file in a process with limits of its own: --limit time=60 (seconds), --limit memory=2GiB"
    add("--isolate", action="store_true", help=isolate)


def _add_selection(command: ArgumentParser) -> None:
    add = command.add_argument_group(SELECTION).add_argument
    add_selection(add)
    levels = {"type": _level, "action": "append", "metavar": "CODE=LEVEL"}
    add("--severity", default=[], help="report codes as error, warning, note or off: R3=note", **levels)  # type: ignore[arg-type]
    add("--baseline", metavar="FILE", help="report only faults that this file does not have")
    add("--write-baseline", metavar="FILE", help="write all faults into this file")
    globs = {"type": lambda text: text.split(","), "action": "extend", "metavar": "GLOBS"}
    add("--exclude", default=[], help="skip files and folders: drafts,'old/*.xml'", **globs)  # type: ignore[arg-type]
    add("--config", metavar="FILE", help=Rare("use this configuration instead of the nearest irshape.toml or pyproject.toml"))
    add("--isolated", action="store_true", help=Rare("use no configuration"))
    add("--trust-config", action="store_true", help=Rare("let the configuration name files outside of its folder"))
    add("--ignore-suppressions", action="store_true", help=Rare("also report the faults that a file ignores by <irshape ignore=...>"))
    add("--force-exclude", action="store_true", help=Rare("apply excludes to each FILE, too"))
    add("--skip-foreign", action="store_true", help=Rare("skip each FILE that is not an IR, as in a folder; a .bin stands for its .xml"))
    add("--follow-links", action="store_true", help=Rare(FOLLOW_LINKS))


def _add_output(command: ArgumentParser) -> None:
    add = command.add_argument_group(OUTPUT).add_argument
    add("--output-format", dest="format", choices=FORMATS, default="text", metavar="FORMAT", help=Rare("the same as --format"))
    add("--statistics", action="store_true", help=Rare("count the faults of each code, list none"))
    add("-q", "--quiet", action="store_true", help="print the faults and nothing else")
    add_watch(command)
    add("--output-file", metavar="FILE", help=Rare("write the report into this file"))
    add("--report", type=_document, action="append", default=[], metavar="FORMAT=FILE", help="also write a report: sarif=irshape.sarif")
    add("--force", action="store_true", help=Rare("overwrite the files of --output-file and --report if they exist"))
    add("--show-settings", action="store_true", help=Rare("show the settings of each file, and check nothing"))


def add_selection(add: Callable[..., object]) -> None:
    """Add the options that choose codes, with the method `add_argument` of a command or a group."""
    prefixes = {"type": codes, "action": "extend", "metavar": "CODES"}
    add("--select", default=None, help="report these codes only: S201,W1,X or ALL", **prefixes)
    add("--ignore", default=[], help="do not report these codes", **prefixes)
    add("--extend-select", default=[], help=Rare("report these codes, too"), **prefixes)


def choice_of(given: Namespace) -> Choice | None:
    """The codes that the options choose; None without such an option."""
    if given.select is None and not given.ignore and not given.extend_select:
        return None
    from irshape.report.selection import Choice

    return Choice(given.select, given.ignore, given.extend_select)


def codes(text: str) -> list[str]:
    """The prefixes of codes in a text such as `S,W1`."""
    from irshape.report.selection import checked_prefix

    try:
        return [checked_prefix(one.strip()) for one in text.split(",")]
    except ValueError as error:
        raise refused(f"{error}; irshape rule lists the codes") from None


def _level(text: str) -> tuple[str, str]:
    """The prefix of codes and the severity in a text such as `W203=error`."""
    from irshape.report.diagnostic import SEVERITIES
    from irshape.report.selection import OFF

    code, _, level = text.partition("=")
    levels = (*SEVERITIES, OFF)
    if level not in levels:
        raise refused(f"{text!r} is not CODE=LEVEL; the levels are {', '.join(levels)}")
    return codes(code)[0], level


def _document(text: str) -> tuple[str, str]:
    format, _, path = text.partition("=")
    if format not in DOCUMENTS or not path:
        instead = f"; for JSON: --format json --output-file {path or 'FILE'}" if format == "json" else ""
        raise refused(f"{text!r} is not FORMAT=FILE; the formats are {', '.join(DOCUMENTS)}{instead}")
    return format, path


def misplaced(given: Namespace) -> str | None:
    """The complaint about options that cannot be combined; None if all do."""
    if (given.fix or given.diff) and (given.input or given.set):
        return "--fix and --diff use the shapes in the file: leave out --input and --set"
    if given.watch and (_STDIN in given.files or given.fix or given.output_file or given.report):
        return "--watch only reports: leave out FILE -, --fix, --output-file and --report"
    if given.diff and given.format != "text":
        return "--diff prints text: leave out --format"
    if given.statistics and (given.diff or given.format not in ("text", "json")):
        return "--statistics prints text or json: leave out --diff and other formats"
    if given.isolated and given.config is not None:
        return "--isolated uses no configuration: leave out --config"
    if given.baseline is not None and given.write_baseline is not None:
        return "--write-baseline brings a baseline up to date: leave out --baseline"
    if _STDIN in given.files:
        if len(given.files) > 1:
            return "FILE - reads standard input and takes no other FILE"
        return "--fix writes into a file: leave it out with FILE -" if given.fix and not given.diff else None
    return "--stdin-filename needs FILE -" if given.stdin_filename is not None else None


def source_of(given: Namespace) -> dict[str, Any]:
    """Standard input, if it is the file, under the name that --stdin-filename gives it."""
    if given.files != [_STDIN]:
        return {}
    content = b"" if given.show_settings else sys.stdin.buffer.read(given.limits.size + 1)
    return {"files": [given.stdin_filename or _STDIN], "source": content}


class CheckWish(NamedTuple):
    """What a check is asked for beside the files: the codes, what is mended and accepted, and how and where the faults are reported."""

    settings: Mapping[str, Any]
    suppressions: bool
    shows_settings: bool
    forgives: bool
    target: Sequence[str]
    batch: str | None
    fix: bool
    diff: bool
    baseline: str | None
    write_baseline: str | None
    format: str
    color: str
    all: bool
    statistics: bool
    quiet: bool
    strict: bool
    output_file: str | None
    report: Sequence[tuple[str, str]]
    force: bool

    @property
    def keeps(self) -> bool:
        """Whether the end of the run needs the faults of every file."""
        return self.format in DOCUMENTS or bool(self.report or self.write_baseline)

    @property
    def is_summed(self) -> bool:
        """Whether nothing is said about single files. A baseline names the faults, so they are not printed, too."""
        return self.format in DOCUMENTS or self.statistics or bool(self.write_baseline and self.format in ("text", CONCISE))


def wish_of(given: Namespace) -> CheckWish:
    """What the options of a check ask for."""
    # A file from a stranger must not choose how it is checked, so --isolate uses no configuration beside it.
    settings = {
        "config": given.config, "is_isolated": given.isolated or (given.isolate and given.config is None), "choice": choice_of(given),
        "severity": dict(given.severity), "exclude": given.exclude, "follow_links": given.follow_links, "is_trusted": given.trust_config,
    }  # fmt: skip
    suppressions, forgives = not (given.ignore_suppressions or given.isolate), bool(given.exit_zero or given.write_baseline)
    told = vars(given)
    return CheckWish(settings, suppressions, given.show_settings, forgives, *(told[name] for name in CheckWish._fields[4:]))
