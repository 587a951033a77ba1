"""Signatures: which sizes of the inputs of a model are tied together, and names for those that are free."""
