"""Models of other sizes: the traces of axes, and what they prove."""
