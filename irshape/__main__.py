"""`python -m irshape`."""

from __future__ import annotations

import sys

from irshape.cli.main import program

sys.exit(program())
