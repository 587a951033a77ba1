"""Proposals of regions."""

from tests.support.rows import Rows, row_tests

PROPOSAL = {"base_size": "16", "pre_nms_topn": "12000", "post_nms_topn": "200", "nms_thresh": "0.6", "feat_stride": "16", "min_size": "16"}
PROPOSALS = {"min_size": "0", "nms_threshold": "0.7", "pre_nms_count": "1000", "post_nms_count": "10"}

ROWS: Rows = {
    ("Proposal", "opset1"): [
        ("specification", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "f32[1400,5]"),
        ("unranked", "f32[...] f32[...] f32[...]", PROPOSAL, "f32[?,5]"),
        ("integers", "i32[7,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "T101"),
    ],
    ("Proposal", "opset4"): [
        ("specification", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "f32[1400,5] f32[1400]"),
        ("types differ", "f32[7,24,28,28] f16[7,48,28,28] f64[4]", PROPOSAL, "f32[1400,5] f32[1400]"),
        ("bounds", "f32[2..,1..9,?,?] f32[..3,12..,?,?] f32[?]", PROPOSAL, "f32[400..600,5] f32[400..600]"),
        ("unranked probabilities", "f32[...] f32[2,8,5,5] f32[3]", PROPOSAL, "f32[400,5] f32[400]"),
        ("no limit", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", {**PROPOSAL, "post_nms_topn": "-1"}, "f32[?,5] f32[?]"),
        ("below no limit", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", {**PROPOSAL, "post_nms_topn": "-2"}, "f32[0,5] f32[0]"),
        ("batches differ", "f32[6,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "S201"),
        ("anchors differ", "f32[7,24,28,28] f32[7,24,28,28] f32[3]", PROPOSAL, "S201"),
        ("image of 2 numbers", "f32[7,24,28,28] f32[7,48,28,28] f32[2]", PROPOSAL, "S201"),
        ("image of 5 numbers", "f32[7,24,28,28] f32[7,48,28,28] f32[5..9]", PROPOSAL, "S201"),
        ("image of rank 2", "f32[7,24,28,28] f32[7,48,28,28] f32[1,3]", PROPOSAL, "S101"),
        ("rank", "f32[7,24,28] f32[7,48,28,28] f32[3]", PROPOSAL, "S101"),
    ],
    ("Proposal", "extension"): [
        ("the newest class", "f32[7,24,28,28] f32[7,48,28,28] f32[3]", PROPOSAL, "f32[1400,5] f32[1400]"),
    ],
    ("GenerateProposals", "opset9"): [
        ("specification", "f32[8,3] f32[50,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "f32[..80,4] f32[..80] i64[8]"),
        (
            "bounds",
            "f16[2..,4] f16[?,5,3,4] f16[..3,?,7..,?] f16[?,3,..9,5]",
            {**PROPOSALS, "roi_num_type": "i32"},
            "f16[..30,4] f16[..30] i32[2..3]",
        ),
        ("unranked", "f32[...] f32[...] f32[...] f32[...]", PROPOSALS, "f32[?,4] f32[?] i64[?]"),
        ("any type", "i32[2,3] u8[5,6,3,4] f32[...] f32[2,3,5,6]", PROPOSALS, "i32[..20,4] i32[..20] i64[2]"),
        ("batches differ", "f32[7,3] f32[50,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("batch of the scores differs", "f32[8,3] f32[50,84,3,4] f32[8,12,50,84] f32[7,3,50,84]", PROPOSALS, "S201"),
        ("5 numbers", "f32[8,5] f32[50,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("anchors differ", "f32[8,3] f32[50,84,2,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("5 coordinates", "f32[8,3] f32[50,84,3,5] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("deltas differ", "f32[8,3] f32[50,84,3,4] f32[8,11,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("heights differ", "f32[8,3] f32[51,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("widths differ", "f32[8,3] f32[50,84,3,4] f32[8,12,50,85] f32[8,3,50,84]", PROPOSALS, "S201"),
        ("rank", "f32[3] f32[50,84,3,4] f32[8,12,50,84] f32[8,3,50,84]", PROPOSALS, "S101"),
        ("nms_eta", "f32[...] f32[...] f32[...] f32[...]", {**PROPOSALS, "nms_eta": "0.5"}, "A104"),
        ("no count", "f32[...] f32[...] f32[...] f32[...]", {**PROPOSALS, "post_nms_count": "0"}, "A104"),
        ("count type", "f32[...] f32[...] f32[...] f32[...]", {**PROPOSALS, "roi_num_type": "f32"}, "A103"),
    ],
}

test_row, test_row_with_openvino = row_tests(ROWS)
