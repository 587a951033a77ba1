"""The pytest plugin of irshape: `pytest --irshape` collects every `.xml` file as a test, checked as `irshape check` does.

pytest loads this module in every run, so it imports irshape only where the option is given.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--irshape`."""
    group = parser.getgroup("irshape", "OpenVINO IRs")
    group.addoption("--irshape", action="store_true", help="check every OpenVINO IR (.xml) as irshape check does, as a test of its own")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect an `.xml` file that the configuration of irshape does not exclude."""
    if not parent.config.getoption("irshape") or file_path.suffix.lower() != ".xml":
        return None
    collected: pytest.Collector = ModelFile.from_parent(parent, path=file_path)
    return collected


class ModelFile(pytest.File):
    """An `.xml` file."""

    def collect(self) -> Iterable[pytest.Item]:
        """Its check, unless the file is excluded or is XML of another format."""
        from irshape.cli.check import is_checked

        try:
            is_wanted = is_checked(str(self.path), is_argument=self.session.isinitpath(self.path))
        except ValueError as error:  # a faulty configuration
            raise self.CollectError(str(error)) from None
        if is_wanted:
            yield ModelItem.from_parent(self, name="irshape")


class ModelItem(pytest.Item):
    """The check of one IR."""

    def runtest(self) -> None:
        """Check the file with its configuration. Raises `ModelError` if `irshape check` would not exit with 0."""
        from irshape.cli.check import checked_text

        try:
            text = checked_text(os.path.relpath(self.path))
        except ValueError as error:  # a faulty baseline
            raise ModelError(str(error)) from None
        if text:
            raise ModelError(text)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The report of irshape, without a traceback."""
        return str(excinfo.value) if isinstance(excinfo.value, ModelError) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """The heading of a failure."""
        return self.path, None, f"irshape check {self.path.name}"


class ModelError(Exception):
    """A model with errors; the text is irshape's report."""
