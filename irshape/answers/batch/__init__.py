"""Whether a model keeps the batch: the traces of axes, the proof, and the axis of the batch of each input."""
