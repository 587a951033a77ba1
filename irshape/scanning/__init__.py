"""Scan many files, local or remote: one row for each file, in a table that can be resumed, compared and summed up."""
