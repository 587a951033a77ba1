"""What is said of a file and how it is shown."""

from __future__ import annotations
