"""`python -m irshape`."""

from __future__ import annotations

import sys

from irshape.cli.program import program

sys.exit(program())
