"""Prior boxes."""

from tests.support.rows import Rows, differs, row_tests

PRIOR = {"min_size": "16", "max_size": "38", "aspect_ratio": "2", "flip": "true", "offset": "0.5"}
CLUSTERED = {"width": "86,13,57", "height": "44,10,30", "offset": "0.5"}

ROWS: Rows = {
    ("PriorBox", "opset1"): [
        ("specification", "[24,42] [384,672]", PRIOR, "f32[2,16128]"),
        ("ratios that agree", "[1,1] [5,5]", {**PRIOR, "aspect_ratio": "1,1.0000001,2,0.5"}, "f32[2,16]"),
        ("ratios in single precision", "[1,1] [5,5]", {**PRIOR, "aspect_ratio": "1.0000005"}, "f32[2,12]"),
        ("ratio of 0", "[1,1] [5,5]", {**PRIOR, "aspect_ratio": "0"}, "f32[2,16]"),
        ("infinite ratio", "[1,1] [5,5]", {**PRIOR, "aspect_ratio": "inf,nan"}, "f32[2,16]"),
        ("not all sizes", "[1,1] [5,5]", {**PRIOR, "scale_all_sizes": "false", "min_size": "16,32"}, "f32[2,16]"),
        ("fixed sizes", "[1,1] [5,5]", {**PRIOR, "fixed_size": "8,16", "density": "2,2.9"}, "f32[2,96]"),
        ("fixed ratios", "[1,1] [5,5]", {**PRIOR, "fixed_size": "8", "fixed_ratio": "1,2", "density": "3"}, "f32[2,76]"),
        ("fewer than none", "[1,1] [5,5]", {"offset": "0", "density": "0,0"}, "f32[2,0]"),
        ("any number of rows", "[-1,3] [5,5]", PRIOR, "f32[2,?]"),
        ("negative rows", "[-2,3] [5,5]", PRIOR, "f32[2,0]"),
        ("not constant", "i64[2] i64[2]", PRIOR, "f32[2,?]"),
        ("length not 2, not constant", "i64[3] i64[2]", PRIOR, "f32[2,?]"),
        ("unranked", "i64[...] i64[...]", PRIOR, "f32[2,?]"),
        ("unranked size, image of rank 2", "i64[...] i64[2,2]", PRIOR, "f32[2,?]"),
        ("three sizes", "[24,42,1] [384,672]", PRIOR, "V103"),
        ("scalar size", "24 [384,672]", PRIOR, "S101"),
        ("scalar image", "[24,42] 384", PRIOR, "S101"),
        ("float size", "f32[2] [384,672]", PRIOR, "T101"),
        ("float image", "[24,42] f32[2]", PRIOR, "T101"),
        ("infinite density", "[24,42] [384,672]", {**PRIOR, "density": "inf"}, differs("A104", "f32[2,4032]")),
    ],
    ("PriorBox", "opset8"): [
        ("specification", "[24,42] [384,672]", {**PRIOR, "min_max_aspect_ratios_order": "false"}, "f32[2,16128]"),
        ("float size", "f32[2] [384,672]", PRIOR, "T101"),
    ],
    ("PriorBoxClustered", "opset1"): [
        ("specification", "[10,19] [180,320]", CLUSTERED, "f32[2,2280]"),
        ("no boxes", "[10,19] [180,320]", {"offset": "0.5"}, "f32[2,0]"),
        ("not constant", "i32[2] i32[2]", CLUSTERED, "f32[2,?]"),
        ("unranked", "i32[...] i32[...]", CLUSTERED, "f32[2,?]"),
        ("one size", "[10] [180,320]", CLUSTERED, "V103"),
        ("fewer heights", "[10,19] [180,320]", {**CLUSTERED, "height": "44,10"}, "A105"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
