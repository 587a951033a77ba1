"""Diagnostics of a file and the formats of reports."""
