"""DetectionOutput: the boxes a single-shot detector has found."""

from collections.abc import Iterable
from typing import Annotated

from irshape.ops.attribute import Ge, Stated
from irshape.ops.context import Context
from irshape.ops.op import In, Input, Op, Out, op
from irshape.shape.dim import Size, is_known
from irshape.shape.element_type import FLOAT, ElementType
from irshape.shape.shape import Shape, broadcast_shapes, merge_shapes

_REAL = FLOAT - {ElementType.dynamic}
_CODES = ("caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE")


class _DetectionOutput(Op):
    """For each box its image, class, score and four coordinates.

    With N images, P prior boxes and C classes, `box_logits` is [N, 4P] or, if classes do not share locations, [N, 4PC];
    `class_preds` is [N, PC], `proposals` [N or 1, 1 or 2, 4P or 5P], `aux_class_preds` [N, 2P].
    """

    box_logits = In(_REAL, rank=2, unranked=True)
    class_preds = In(_REAL, rank=2, unranked=True, like="box_logits")
    proposals = In(_REAL, rank=3, unranked=True)
    aux_class_preds = In(_REAL, rank=2, unranked=True, optional=True, like="box_logits")
    aux_box_preds = In(_REAL, rank=2, unranked=True, optional=True, like="box_logits")
    output = Out(like="box_logits")
    background_label_id: int = 0
    top_k: int = -1
    variance_encoded_in_target: bool = False
    keep_top_k: tuple[int, ...]
    code_type: str = _CODES[0]
    share_location: bool = True
    nms_threshold: Annotated[float, Stated] = 0.0
    confidence_threshold: float = 0.0
    clip_after_nms: bool = False
    clip_before_nms: bool = False
    decrease_label_id: bool = False
    normalized: bool = False
    input_height: int = 1
    input_width: int = 1
    objectness_score: float = 0.0
