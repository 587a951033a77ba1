"""What `irshape` gives to programs: the verbs, and the objects that they return."""

from irshape.api.inference import Inference, InferredLayer, InferredPort
from irshape.api.session import Session
from irshape.api.verbs import check, cost, diff, explain, fix, infer, info, read, reshape, signature, valid_sizes

__all__ = [
    "Inference",
    "InferredLayer",
    "InferredPort",
    "Session",
    "check",
    "cost",
    "diff",
    "explain",
    "fix",
    "infer",
    "info",
    "read",
    "reshape",
    "signature",
    "valid_sizes",
]
