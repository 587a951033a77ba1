"""The version of irshape, which releases and reports state."""

__version__ = "0.1.0"

# What wrote a report.
TOOL = {"name": "irshape", "version": __version__}
