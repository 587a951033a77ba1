"""For each code of the catalogue a run that reports it and one that does not; `docs/diagnostics.md` shows them, and a test runs them.

The tables are loaded by whoever shows a snippet, never by a run that examines a file.
"""

from __future__ import annotations

from irshape.report.snippets.snippet import Snippet


def snippets() -> dict[str, Snippet]:
    """The snippet of every code."""
    from irshape.report.snippets import graph, operations, runs, xml

    return {**xml.SNIPPETS, **runs.SNIPPETS, **graph.SNIPPETS, **operations.SNIPPETS}
