"""Which module holds a type, in lower case. Made by `make generate`."""

from typing import Final

MODULES: Final = {
    "batchtospace": "movement.space_batch",
    "batchtospacend": "movement.space_batch",
    "concat": "movement.concat_split",
    "constant": "infrastructure",
    "depthtospace": "movement.space_depth",
    "parameter": "infrastructure",
    "result": "infrastructure",
    "spacetobatch": "movement.space_batch",
    "spacetobatchnd": "movement.space_batch",
    "spacetodepth": "movement.space_depth",
}
