"""Explanations: from a number of a port back to the inputs, constants and attributes that it is computed from."""
