"""The page that `irshape view` shows."""
