"""Why a size is what it is: from a number of a port back to the inputs, constants and attributes that make it."""

from __future__ import annotations
