"""Which module holds a type, in lower case. Made by `make generate`."""

from typing import Final

MODULES: Final = {
    "adaptiveavgpool": "pooling",
    "adaptivemaxpool": "pooling",
    "avgpool": "pooling",
    "batchtospace": "movement.space_batch",
    "batchtospacend": "movement.space_batch",
    "binaryconvolution": "convolution",
    "concat": "movement.concat_split",
    "constant": "infrastructure",
    "convolution": "convolution",
    "convolutionbackpropdata": "convolution",
    "depthtospace": "movement.space_depth",
    "groupconvolution": "convolution",
    "groupconvolutionbackpropdata": "convolution",
    "interpolate": "image.interpolate",
    "maxpool": "pooling",
    "parameter": "infrastructure",
    "result": "infrastructure",
    "spacetobatch": "movement.space_batch",
    "spacetobatchnd": "movement.space_batch",
    "spacetodepth": "movement.space_depth",
}
