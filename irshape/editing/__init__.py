"""Models that change: a graph that is edited, its facts, its text and its weights."""
