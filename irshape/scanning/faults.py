"""The faults of places that no verdict follows from."""

from __future__ import annotations


class TransportError(Exception):
    """A file that could not be fetched whole; the message says what failed and holds no secret."""


class MissingError(Exception):
    """The scan needs a package that is not installed, or knows no such protocol; the message says what to install."""
