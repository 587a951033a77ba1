"""Diagnostics of a file and the formats of reports."""

from __future__ import annotations
