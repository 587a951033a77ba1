"""The last word of a run: which tests were left out, and why."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest

from tests.support.commands import Start, start

# The option -m of pyproject.toml.
DEFAULT = "not slow"
LEFT_OUT = pytest.StashKey[Counter[str]]()
_SENT = "irshape_left_out"


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT_OUT] = Counter()


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    for item in items:
        slow = item.get_closest_marker("slow")
        if slow is not None and item.config.option.markexpr == DEFAULT:
            item.config.stash[LEFT_OUT][slow.args[0]] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what a worker of xdist has left out to the process that reports it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput[_SENT] = dict(session.config.stash[LEFT_OUT])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take what a worker has left out; every worker collects all tests, so one of them tells."""
    node.config.stash[LEFT_OUT] |= Counter(getattr(node, "workeroutput", {}).get(_SENT, {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    found = config.stash[LEFT_OUT]
    if found:
        why = ", ".join(f"{count} {reason}" for reason, count in found.most_common())
        terminalreporter.write_line(f"left out: {sum(found.values())} tests ({why}).")
        terminalreporter.write_line("They need the packages of '.[whole]' and, for the page, Chromium: python -m pytest -q -n auto -m slow")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Start:
    """Runs a command."""
    return partial(start, capsys)
