"""The operations of openvino-tokenizers. OpenVINO runs the rows with the extension loaded."""

from tests.support.rows import Rows, row_tests

STRINGS = "i32[?] i32[?] u8[?]"
ROWS_OF_STRINGS = "i32[?] i32[?] i32[?] i32[?] u8[?]"
RAGGED = "i32[?] i32[?] i32[?]"
# A SentencePiece model with the token <unk> alone.
MODEL = "u8=[10,9,10,5,60,117,110,107,62,24,2]"

ROWS: Rows = {
    ("RaggedTensorPack", "extension"): [
        ("values", "i32[3] i32[3] f32[7,2..5]", "f32[7,2..5]"),
        ("unranked", "i32[3] i32[...] i64[...]", "i64[...]"),
        ("type of the begins", "i64[3] i32[3] f32[7]", "T101"),
    ],
    ("CaseFold", "extension"): [
        ("strings", "i32[2..4] i32[?] u8[?]", "i32[2..4] i32[2..4] u8[?]"),
        ("unranked", "i32[...] i32[...] u8[...]", "i32[...] i32[...] u8[?]"),
        ("skips", "i32[3] i32[3] u8[?] boolean[5]", {"encoding": ""}, "i32[3] i32[3] u8[?] boolean[5]"),
        ("skips of unknown rank", "i32[3] i32[3] u8[?] u8[...]", "i32[3] i32[3] u8[?] u8[...]"),
        ("upper case of bytes", STRINGS, {"encoding": "", "lower": False}, "i32[?] i32[?] u8[?]"),
        ("upper case of UTF-8", STRINGS, {"lower": False}, "A103"),
        ("encoding", STRINGS, {"encoding": "latin-1"}, "A103"),
        ("case of the encoding", STRINGS, {"encoding": "UTF-8"}, "A103"),
        ("type of the begins", "i64[?] i32[?] u8[?]", "T101"),
        ("dynamic type of the ends", "i32[?] dynamic[?] u8[?]", "T101"),
        ("type of the chars", "i32[?] i32[?] i8[?]", "T101"),
    ],
    ("NormalizeUnicode", "extension"): [
        ("strings", STRINGS, {"normalization_form": "NFKC"}, "i32[?] i32[?] u8[?]"),
        ("skips", "i32[3,4] i32[...] u8[2,3] boolean[?]", "i32[3,4] i32[3,4] u8[?] boolean[?]"),
        ("form", STRINGS, {"normalization_form": "nfc"}, "A103"),
        ("type of the begins", "f32[?] i32[?] u8[?]", "T101"),
    ],
    ("CharsMapNormalization", "extension"): [
        ("strings", STRINGS, {"normalization_form": "nfc"}, "i32[?] i32[?] u8[?]"),
        ("table", f"{STRINGS} u8[9]", "i32[?] i32[?] u8[?]"),
        ("skips", f"{STRINGS} boolean[5]", {"normalization_form": "nfkc"}, "i32[?] i32[?] u8[?] boolean[5]"),
        ("skips and table", f"{STRINGS} boolean[5] u8[9]", "i32[?] i32[?] u8[?] boolean[5]"),
        ("skips of another type and table", "i32[2] i32[2] u8[?] i32[...] u8[9]", "i32[2] i32[2] u8[?] i32[...]"),
        ("type of the chars", "i32[?] i32[?] i8[?]", "T101"),
    ],
    ("RegexNormalization", "extension"): [
        ("strings", f"{STRINGS} u8[4] u8[2]", {"global_replace": False}, "i32[?] i32[?] u8[?]"),
        ("skips", "i32[1..3] i32[?] u8[?] boolean[7] u8[4] u8[0]", "i32[1..3] i32[1..3] u8[?] boolean[7]"),
        ("pattern of unknown rank", f"{STRINGS} u8[...] u8[2]", "i32[?] i32[?] u8[?]"),
        ("rank of a pattern", f"{STRINGS} u8[4] u8[2,1]", "S101"),
        ("type of a pattern", f"{STRINGS} i8[4] u8[2]", "T101"),
        ("number of inputs", STRINGS, "G107"),
    ],
    ("ByteFallback", "extension"): [
        ("strings", "i32[2,3] i32[?] u8[?]", "i32[2,3] i32[2,3] u8[?]"),
        ("type of the begins", "u8[2,3] i32[?] u8[?]", "T101"),
    ],
    ("UTF8Validate", "extension"): [
        ("strings", "i32[2] i32[2] u8[?]", {"replace_mode": True}, "i32[2] i32[2] u8[?]"),
        ("type of the chars", "i32[2] i32[2] u16[?]", "T101"),
    ],
    ("RegexSplit", "extension"): [
        ("rows", "i32[2] i32[2] i32[5] i32[5] u8[?] u8[4]", "i32[2] i32[2] i32[?] i32[?] u8[?]"),
        ("skips", f"{ROWS_OF_STRINGS} boolean[5] u8[4]", {"behaviour": "isolate"}, "i32[?] i32[?] i32[?] i32[?] u8[?] boolean[5]"),
        ("skip tokens", f"{ROWS_OF_STRINGS} u8[4] {STRINGS}", {"max_splits": 3}, "i32[?] i32[?] i32[?] i32[?] u8[?]"),
        ("skips and skip tokens", f"{ROWS_OF_STRINGS} boolean[5] u8[4] {STRINGS}", "A103"),
        ("number of inputs", f"{ROWS_OF_STRINGS} boolean[5] u8[4] u8[?]", "G107"),
        ("rank of the pattern", f"{ROWS_OF_STRINGS} u8[]", "S101"),
        ("behaviour", f"{ROWS_OF_STRINGS} u8[4]", {"behaviour": "Remove"}, "A103"),
        ("max_splits", f"{ROWS_OF_STRINGS} u8[4]", {"max_splits": 0}, "A103"),
    ],
    ("SpecialTokensSplit", "extension"): [
        ("marks", "i32[2] i32[2] i32[5] i32[?] u8[?] u8[4]", "i32[2] i32[2] i32[?] i32[?] u8[?] boolean[5]"),
        ("skips", "i32[2] i32[2] i32[5] i32[?] u8[?] u8[3] u8[4]", "i32[2] i32[2] i32[?] i32[?] u8[?] u8[3]"),
        ("unranked", "i32[...] i32[2] i32[...] i32[?] u8[?] u8[4]", "i32[...] i32[...] i32[?] i32[?] u8[?] boolean[...]"),
        ("rank of the pattern", f"{ROWS_OF_STRINGS} u8[4,1]", "S101"),
        ("type of the rows", "i64[2] i32[2] i32[5] i32[5] u8[?] u8[4]", "T101"),
    ],
    ("BytesToChars", "extension"): [
        ("rows", "i32[2] i32[2] i32[5] i32[5] u8[?]", "i32[2] i32[2] i32[?] i32[?] u8[?]"),
        ("skips", "i32[2] i32[2] i32[5] i32[5] u8[?] boolean[5]", "i32[2] i32[2] i32[?] i32[?] u8[?] boolean[5]"),
        ("type of the chars", "i32[2] i32[2] i32[5] i32[5] i8[?]", "T101"),
    ],
    ("CharsToBytes", "extension"): [
        ("rows", "i32[2,1..3] i32[2] i32[5] i32[5] u8[?]", "i32[2,1..3] i32[2,1..3] u8[?]"),
        ("type of the begins", "i32[2] i32[2] i64[5] i32[5] u8[?]", "T101"),
    ],
    ("FuzeRagged", "extension"): [
        ("rows", "i32[2] i32[2] i32[5] i32[5]", "i32[2] i32[2]"),
        ("characters", "i32[...] i32[2] i32[5] i32[5] u8[?]", "i32[...] i32[...]"),
        ("type of the rows", "i32[2] u32[2] i32[5] i32[5]", "T101"),
    ],
    ("WordpieceTokenizer", "extension"): [
        ("rows", f"i32[2] i32[2] i32[5] i32[5] u8[?] {STRINGS} i32[]", "i32[2] i32[2] i32[?]"),
        ("unranked", f"i32[...] i32[2] i32[5] i32[5] u8[?] {STRINGS} i32[]", "i32[...] i32[...] i32[?]"),
        ("type of the vocabulary", f"{ROWS_OF_STRINGS} i32[?] i32[?] i8[?] i32[]", "T101"),
        ("length of a word", f"{ROWS_OF_STRINGS} {STRINGS} i32[]", {"max_bytes_per_word": "many"}, "A102"),
    ],
    ("BPETokenizer", "extension"): [
        ("merges", f"i32[2] i32[2] i32[5] i32[5] u8[?] {STRINGS} {STRINGS}", "i32[2] i32[2] i32[?]"),
        ("pairs of merges", f"{ROWS_OF_STRINGS} {STRINGS} {STRINGS} {STRINGS}", {"unk_token": "<unk>"}, "i32[?] i32[?] i32[?]"),
        ("added tokens", f"{ROWS_OF_STRINGS} {STRINGS} {STRINGS} i32[3] i32[3] u8[9] i32[3]", "i32[?] i32[?] i32[?]"),
        ("all", f"{ROWS_OF_STRINGS} {STRINGS} {STRINGS} {STRINGS} i32[3] i32[3] u8[9] i32[3]", "i32[?] i32[?] i32[?]"),
        ("number of inputs", f"{ROWS_OF_STRINGS} {STRINGS} {STRINGS} i32[3]", "G107"),
        ("number of added tokens", f"{ROWS_OF_STRINGS} {STRINGS} {STRINGS} i32[3] i32[3] u8[9] i32[4]", "S201"),
        ("type of added tokens", f"{ROWS_OF_STRINGS} {STRINGS} {STRINGS} i32[3] i32[3] u8[9] i64[3]", "T101"),
    ],
    ("UnigramTokenizer", "extension"): [
        ("rows", f"i32[2] i32[2] i32[5] i32[5] u8[?] {STRINGS} f32[?]", {"min_score": "-12.5"}, "i32[2] i32[2] i32[?]"),
        ("type of the vocabulary", f"{ROWS_OF_STRINGS} i64[?] i32[?] u8[?] f32[?]", "T101"),
    ],
    ("TrieTokenizer", "extension"): [
        ("rows", f"i32[2] i32[2] i32[5] i32[5] u8[?] {STRINGS} i32[?]", "i32[2] i32[2] i32[?]"),
        ("type of the tokens", f"{ROWS_OF_STRINGS} {STRINGS} i64[?]", "T101"),
    ],
    ("VocabEncoder", "extension"): [
        ("strings", f"i32[3,2] i32[?] u8[?] {STRINGS} i32[?] i32[]", "i32[3,2]"),
        ("dynamic type of the default", f"i32[...] i32[?] u8[?] {STRINGS} i32[?] dynamic[]", "i32[...]"),
        ("numbers of keys and values", f"{STRINGS} i32[3] i32[3] u8[?] i32[4] i32[]", "S201"),
        ("unknown number of keys", f"{STRINGS} i32[?] i32[3] u8[?] i32[4] i32[]", "i32[?]"),
        ("unknown number of values", f"{STRINGS} i32[3] i32[3] u8[?] i32[?] i32[]", "S206"),
        ("type of the default", f"{STRINGS} {STRINGS} i32[?] i64[]", "T101"),
    ],
    ("VocabDecoder", "extension"): [
        ("tokens", f"i64[2,7] {STRINGS}", {"skip_tokens": "1, 2"}, "i32[2] i32[2] i32[?] i32[?] u8[?]"),
        ("skipped tokens", f"i32[1..3,?] {STRINGS} i32[4]", "i32[1..3] i32[1..3] i32[?] i32[?] u8[?]"),
        ("scalar", f"i32[] {STRINGS}", "S101"),
        ("unknown rank", f"i32[...] {STRINGS}", "S206"),
    ],
    ("SentencepieceTokenizer", "extension"): [
        ("strings", f"{MODEL} string[?]", {"add_bos": True}, "i64[?,2] i32[?] i64[2]"),
        ("decomposed strings", f"{MODEL} {STRINGS}", "i64[?,2] i32[?] i64[2]"),
        ("special tokens", f"{MODEL} string[?] {STRINGS} i32[?]", "i64[?,2] i32[?] i64[2]"),
        ("decomposed strings and special tokens", f"{MODEL} {STRINGS} {STRINGS} i32[?]", "i64[?,2] i32[?] i64[2]"),
        ("no strings", MODEL, "A103"),
        ("both forms", f"{MODEL} string[?] {STRINGS}", "A103"),
        ("type of the strings", f"{MODEL} u8[?]", "T101"),
        ("type of the special tokens", f"{MODEL} string[?] {STRINGS} i64[?]", "T101"),
    ],
    ("SentencepieceDetokenizer", "extension"): [
        ("tokens", f"{MODEL} i64[2,7]", "i32[2] i32[2] u8[?]"),
        ("unranked", f"{MODEL} i32[...]", "i32[?] i32[?] u8[?]"),
        ("rank", f"{MODEL} i32[2]", "S101"),
    ],
    ("SentencepieceStreamDetokenizer", "extension"): [
        ("tokens", f"{MODEL} f32[1..3,?]", "i32[1..3] i32[1..3] u8[?]"),
        ("rank", f"{MODEL} i32[2,3,4]", "S101"),
    ],
    ("Truncate", "extension"): [
        ("one", "i32[2] i32[2] f32[?] i32[] u8[5]", "i32[2] i32[2] i32[?]"),
        ("one with a mode", f"{RAGGED} i32[] u8[5] u8[9]", "i32[?] i32[?] i32[?]"),
        ("two", "i32[2] i32[2] i32[?] i32[3] i32[3] i32[?] i32[] u8[5]", "i32[2] i32[2] i32[?] i32[3] i32[3] i32[?]"),
        ("two with a mode", f"{RAGGED} {RAGGED} i32[] u8[5] u8[9]", "i32[?] i32[?] i32[?] i32[?] i32[?] i32[?]"),
        ("three", f"{RAGGED} {RAGGED} {RAGGED} i32[] u8[5]", "G108"),
        ("rank of the values", "i32[2] i32[2] f32[] i32[] u8[5]", "S101"),
        ("unknown rank of the length", f"{RAGGED} i32[...] u8[5]", "S206"),
        ("rank of the length", f"{RAGGED} i32[1] u8[5]", "S101"),
        ("type of the length", f"{RAGGED} i64[] u8[5]", "T101"),
        ("unknown rank of the second begins", f"{RAGGED} i32[...] i32[?] i32[?] i32[] u8[5]", "S206"),
    ],
    ("CombineSegments", "extension"): [
        ("one", "i32[3] i32[3] i64[?] i64[1]", "i32[3] i32[3] i32[?] i32[3] i32[3] i64[?]"),
        ("a scalar joins every row", "i32[] i32[] i32[1] i32[3] i32[3] i32[?] i32[2]", "i32[3] i32[3] i32[?] i32[3] i32[3] i32[?]"),
        ("intervals", "i32[1..4] i32[?] i32[?] i32[3..9] i32[?] i32[?] i32[2]", "i32[3..4] i32[3..4] i32[?] i32[3..4] i32[3..4] i32[?]"),
        ("scalars", "i32[] i32[] i32[1] i32[1]", "i32[...] i32[...] i32[?] i32[...] i32[...] i32[?]"),
        ("nothing", "i32[0]", "i32[...] i32[...] dynamic[?] i32[...] i32[...] i32[?]"),
        ("rows differ", "i32[2] i32[2] i32[?] i32[3] i32[3] i32[?] i32[2]", "S201"),
        ("ranks differ", "i32[2] i32[2] i32[?] i32[2,3] i32[3] i32[?] i32[2]", "S102"),
        ("rank of the values", "i32[3] i32[3] i64[?,1] i64[1]", "S101"),
        ("number of inputs", "i32[3] i32[3] i64[?] i64[1] i64[1]", "G107"),
    ],
    ("RaggedToDense", "extension"): [
        ("size", "i32[2] i32[2] i64[?] i32=[5] i64[]", "i64[2,5] boolean[2,5]"),
        ("unknown size", "i32[2,1..3] i32[2] f32[?] i32[] f32[]", "f32[2,1..3,?] boolean[2,1..3,?]"),
        ("rows of values", "i32[2] i32[2] f32[?,4,2..3] i64=7 f32[]", "f32[2,7,4,2..3] boolean[2,7,4,2..3]"),
        ("any size", f"{RAGGED} -1 i32[]", "i32[?,?] boolean[?,?]"),
        ("negative size", f"{RAGGED} -5 i32[]", "i32[?,0] boolean[?,0]"),
        ("side", f"{RAGGED} 5 i32[] boolean[]", "i32[?,5] boolean[?,5]"),
        ("unranked", "i32[...] i32[2] f32[?] i32[] f32[]", "f32[...] boolean[...]"),
        ("rank of the values", "i32[2] i32[2] f32[] i32[] f32[]", "S101"),
        ("two sizes", f"{RAGGED} [5,6] i32[]", "V103"),
        ("type of the size", f"{RAGGED} f32[] i32[]", "T101"),
        ("type of the default", f"{RAGGED} 5 i64[]", "T102"),
        ("rank of the default", f"{RAGGED} 5 i32[1]", "S101"),
        ("rank of the side", f"{RAGGED} 5 i32[] boolean[1]", "S101"),
    ],
    ("RaggedToSparse", "extension"): [
        ("rows", "i32[3] i32[3]", "i32[?,2]"),
        ("unranked", "i32[...] i32[...]", "i32[?,2]"),
        ("rows differ", "i32[3] i32[4]", "S201"),
        ("rows of which OpenVINO knows less", "i32[3] i32[?]", "S206"),
    ],
    ("RaggedToRagged", "extension"): [
        ("rows", "i32[7] i32[]", "i32[?] i32[?]"),
        ("type", "i64[7] i32[]", "T101"),
    ],
    ("EqualStr", "extension"): [
        ("strings", f"{STRINGS} i32[] i32[] i8[?]", "i32[?]"),
        ("type", f"{STRINGS} i64[] i32[] u8[?]", "T101"),
    ],
    ("StringToHashBucket", "extension"): [
        ("strings", "i32[3,2] i32[...] u8[?]", {"num_buckets": 7}, "i64[3,2]"),
        ("no bucket", STRINGS, {"num_buckets": 0}, "A104"),
        ("number of buckets is missing", STRINGS, "A101"),
    ],
    ("ContribStringJoin", "extension"): [
        ("axis", "i32[2,3,4] i32[2,3,4] u8[?] u8[1] 1", "i32[2,4] i32[2,4] u8[?]"),
        ("axis from the end", "i32[2,3,1..4] i32[...] u8[?] u8[1] i32=[-1]", "i32[2,3] i32[2,3] u8[?]"),
        ("a list of strings", "i32[2] i32[2] u8[?] u8[1] 0", "i32[] i32[] u8[?]"),
        ("unknown axis", "i32[2,3] i32[2,3] u8[?] u8[1] i64[]", "i32[?,?] i32[?,?] u8[?]"),
        ("axis out of range", "i32[2,3] i32[2,3] u8[?] u8[1] 5", "i32[2,3] i32[2,3] u8[?]"),
        ("unranked", "i32[...] i32[2,3] u8[?] u8[1] 0", "i32[...] i32[...] u8[?]"),
        ("rank of the separator", "i32[2,3] i32[2,3] u8[?] u8[] 0", "S101"),
        ("type of the axis", "i32[2,3] i32[2,3] u8[?] u8[1] f32[]", "T101"),
    ],
    ("ContribStringSplit", "extension"): [
        ("strings", "i32[2,3] i32[?] u8[?] u8[1] boolean[]", "i64[?,3] i32[?] i32[?] u8[?] i64[3]"),
        ("unranked", "i32[...] i32[?] u8[?] u8[1] u8[]", "i64[?,1..] i32[?] i32[?] u8[?] i64[1..]"),
        ("type of skip_empty", "i32[2,3] i32[?] u8[?] u8[1] i32[]", "T101"),
    ],
    ("NumericToString", "openvino_tokenizers"): [
        ("numbers", "f32[2,1..5]", "string[2,1..5]"),
        ("unranked", "i64[...]", "string[...]"),
        ("number of inputs", "", "G107"),
    ],
}  # fmt: skip

test_row, test_row_with_openvino = row_tests(ROWS)
