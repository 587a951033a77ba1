"""Which module holds a type, in lower case. Made by `make generate`."""

from typing import Final

MODULES: Final = {
    "batchtospace": "movement.space_batch",
    "batchtospacend": "movement.space_batch",
    "concat": "movement.concat_split",
    "constant": "infrastructure",
    "depthtospace": "movement.space_depth",
    "parameter": "infrastructure",
    "reducel1": "reduction",
    "reducel2": "reduction",
    "reducelogicaland": "reduction",
    "reducelogicalor": "reduction",
    "reducemax": "reduction",
    "reducemean": "reduction",
    "reducemin": "reduction",
    "reduceprod": "reduction",
    "reducesum": "reduction",
    "reshape": "shape",
    "result": "infrastructure",
    "shapeof": "shape",
    "spacetobatch": "movement.space_batch",
    "spacetobatchnd": "movement.space_batch",
    "spacetodepth": "movement.space_depth",
    "squeeze": "shape",
    "unsqueeze": "shape",
}
