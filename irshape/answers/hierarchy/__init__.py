"""The hierarchy of a graph: layers in nested groups, with equal blocks together."""
