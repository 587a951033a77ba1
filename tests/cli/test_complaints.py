"""What cannot be done is said on one line, and nothing is printed or written; faults of a file are shown whatever was asked of it."""

import os
import shlex
from pathlib import Path
from typing import Final

import pytest

from tests.support.commands import Start

ATROUS: Final = "examples/atrous.xml"
BLOCKS: Final = "examples/space_to_depth.xml"
DECODER: Final = "examples/decoder.xml"
FAULTY: Final = "examples/faulty.xml"
EITHER: Final = "give either -o OUT.xml, or --dry-run to write nothing"

# By the beginning of the line, the rest of it and what is said; OUT is an empty folder.
COMPLAINTS: Final = {
    "": [
        ("check absent.xml", "irshape: absent.xml: No such file or directory"),
        ("chekc x.xml", "irshape: there is no command 'chekc'; did you mean check? (see irshape --help)"),
        ("absent.xml", "irshape: there is no file 'absent.xml' (see irshape --help)"),
        ("infer", "irshape infer: the following arguments are required: FILE (see irshape infer --help)"),
        ("ops SpaceToBath", "irshape: there is no operation 'SpaceToBath'; did you mean SpaceToBatch"),
        ("rule S2011", "irshape: no code begins with 'S2011'; did you mean S201?; irshape rule lists the codes\n"),
        ("rule gelu", "irshape: no code begins with 'gelu'; irshape ops Gelu describes this operation; irshape rule lists the codes\n"),
    ],
    f"check {BLOCKS}": [
        ("--weights-file absent.bin", "irshape: absent.bin: No such file or directory"),
        (f"{BLOCKS} --weights-file x", "irshape: --weights-file needs exactly one FILE"),
        ("--limit time=1", "irshape: --limit time=... and --limit memory=... need --isolate"),
        ("--isolate --limit time=1s", "irshape check: argument --limit: 'time=1s': expected"),
        ("--target tpu", "there is no target 'tpu'"),
        ("--jobs 0", "irshape check: argument -j/--jobs: '0' is not an integer from 1 to 1024"),
        ("--strickt", "irshape check: there is no option '--strickt'; did you mean --strict?"),
        ("-i a[1] b[1]", "irshape check: there is no argument 'b[1]'; did you mean --input 'b[1]'?"),
        ("--fix --input x[1,3,2,2]", "irshape: --fix and --diff use the shapes in the file: leave out --input and --set\n"),
        ("--diff --set H=3", "irshape: --fix and --diff use the shapes in the file: leave out --input and --set\n"),
        ("--diff --format json", "irshape: --diff prints text: leave out --format\n"),
    ],
    "infer": [
        ("x=[1,H]", "irshape: x=[1,H]: No such file or directory; did you mean --input 'x=[1,H]'?\n"),
        ("H=3", "irshape: H=3: No such file or directory; did you mean --set 'H=3'?\n"),
    ],
    f"infer {BLOCKS}": [
        (f"{BLOCKS} -o x.xml", "irshape: -o x.xml: the results of several files need a folder: -o x.xml/"),
        ("--weights link", "irshape: --weights needs -o"),
        ("--set H", "irshape infer: argument -s/--set: 'H' is not SYMBOL=SIZE, as in B=1 or S=1..128"),
        ("--set x=[1,H]", "'x=[1,H]' is not SYMBOL=SIZE, as in B=1 or S=1..128 (did you mean --input 'x=[1,H]'?)"),
        ("--format xml", "irshape infer: argument -f/--format: invalid choice: 'xml'"),
        ("--formt=json", "irshape infer: there is no option '--formt'; did you mean --format?"),
        ("--input images[1,3,8,8]", "the model has no input 'images'; inputs of the model: none"),
    ],
    f"sizes {ATROUS}": [
        ("--input image[1,3,8,8]", "all inputs have fixed sizes; name some sizes in a shape, as in x[1,3,H,W]"),
        ("--near H", '--near \'H\': expected "NAME=SIZE", as in "H=500"'),
        ("--near H=-3", '--near \'H=-3\': expected "NAME=SIZE", as in "H=500"'),
        ("--near Z=3", "there is no symbol 'Z'; the symbols are B, H, W"),
        ("--input picture[1,3,H,W]", "the model has no input 'picture'"),
        ("--set Q=1..3", "the model has no symbol 'Q'; it has B, H, W"),
        ("--input image[1,3,H,W] --set H=0", "no value of 'H' within its range makes H at least 1"),
    ],
    f"cost {DECODER}": [
        ("--near S", 'irshape: --near \'S\': expected "NAME=SIZE", as in "H=500"\n'),
        ("--near H=3", f"irshape: {DECODER}: there is no symbol 'H'; the symbols are B, P, S\n"),
        ("--set Q=64,128", "there is no symbol 'Q'; the symbols are B, P, S"),
        ("--against H", "--against names the symbol of --plot"),
        (f"{ATROUS} --csv layers.csv", "irshape: --csv and --plot need exactly one FILE\n"),
    ],
    f"explain {ATROUS}": [
        ("upsampel:1:2", "the model has no layer 'upsampel'; did you mean 'upsample'?"),
        ("upsample:1:9", "port 1 of layer 'upsample' has no axis 9; it has axes 0 to 3"),
        ("upsample:x", "the model has no layer 'upsample:x'; did you mean 'upsample'?"),
        ("''", "the model has no layer ''"),
    ],
    f"reshape {ATROUS}": [
        ("", "no new shape: give --input, --set or --batch"),
        ("--batch 0", "a batch has at least 1 sample, not 0; a shape may be empty: --input x[0,3]"),
        ("--batch -3", "the batch must be one size, such as 8, '1..8' or 'N', not '-3'"),
        ("--batch 2..1", "the lower bound 2 is larger than the upper bound 1"),
        ("--batch 2,3", "the batch must be one size, such as 8, '1..8' or 'N', not '2,3'"),
        ("--input y[1]", "the model has no input 'y'; inputs of the model: 'image'"),
        ("--batch 2 --weights copy", "--weights needs -o"),
        ("--batch 2 --rewrite --in-place", "--rewrite and --in-place cannot be combined"),
        ("--batch 2 --rewrite --weights link -o OUT/x.xml", "--rewrite and --weights link cannot be combined"),
        ("--batch 2 --choose first", "--choose needs --rewrite"),
    ],
    f"diff {ATROUS}": [
        ("absent.xml", "irshape: absent.xml: "),
        (".", "irshape: .: "),
        ("", "give two models or two folders, or --reference DIR and one model or folder"),
        ("x.xml --reference kept", "a reference takes the place of A"),
        ("--reference kept --run", "a reference has no weights to run"),
        ("--reference kept --write-reference kept", "a reference takes the place of A"),
        *((f"{ATROUS} {one}", f"{one.split()[0]} needs --run, because it executes the models")
          for one in ("--first", "--batch 2", "--rtol 1", "--data x.npz")),
    ],
    "check": [("models/*.xml", "irshape: models/*.xml: No such file or directory; irshape expands no patterns: give the folder")],
    "scan": [("models/*.xml -o OUT/t.csv", "directory; irshape expands no patterns: give the folder, which is searched")],
    "diff": [(f"absent.xml {ATROUS}", "irshape: absent.xml: "), (f". {ATROUS}", "irshape: .: ")],
    f"edit {ATROUS}": [
        ("", "no edit is given: add --add-output, --set-attribute, --rename, --name, --freeze, --bypass, --remove"),
        ("--bypass stem --in-place -o OUT/x.xml", "-o and --in-place cannot be combined"),
        ("--trim --in-place", "--trim and --in-place cannot be combined"),
        ("-o OUT/x.xml --bypass stam", "--bypass stam: the model has no layer 'stam'; did you mean 'stem'?"),
        ("-o OUT/x.xml --bypass stem --bypass stem", "--bypass stem: the model has no layer 'stem'"),
        ("-o OUT/x.xml --set-attribute stem", "the form is LAYER:ATTRIBUTE=VALUE"),
        ("-o OUT/x.xml --set-attribute stem:stride=1", "Convolution has no attribute 'stride'"),
        ("-o OUT/x.xml --rename stem", "the form is LAYER=NAME"),
        ("-o OUT/x.xml --rename stem=image", "'image' is already the name of layer 0"),
        ("-o OUT/x.xml --add-output nothing", "no tensor 'nothing'; irshape infer lists the layers"),
    ],
    "extract": [
        (f"{ATROUS} --to x", "no file is given for the part: add -o OUT.xml"),
        (f"{ATROUS} -o OUT/p.xml", "give one of --from and --to, --around, or --layers"),
        (f"{ATROUS} -o OUT/p.xml --to featurs", "no tensor 'featurs'; did you mean 'features'?"),
        (f"{ATROUS} -o OUT/p.xml --around stm", "no layer 'stm'; did you mean 'stem'?"),
        (f"{ATROUS} -o OUT/p.xml --around stem --distance -1", "'-1' is not a whole number from 0"),
        (f"{ATROUS} -o OUT/p.xml --layers q*", "no layer has a name like 'q*'"),
        ("examples/space_to_batch.xml --to x -o OUT/p.xml", "only a whole IR can be edited"),
        ("nowhere.xml --to x -o OUT/p.xml", "nowhere.xml: No such file"),
    ],
    f"simplify {ATROUS}": [
        ("", EITHER),
        ("-o OUT/o.xml --dry-run", EITHER),
        ("--dry-run --set Q=1", "the model has no symbol 'Q'"),
        ("--dry-run --input y[1]", "the model has no input 'y'"),
        ("--dry-run --only noop", "invalid choice: 'noop'"),
        ("-i a[1] b[1]", "irshape simplify: there is no argument 'b[1]'; did you mean --input 'b[1]'?"),
        ("B=1", "irshape simplify: there is no argument 'B=1'; did you mean --set 'B=1'?"),
        ("a=[1]", "irshape simplify: there is no argument 'a=[1]'; did you mean --input 'a=[1]'?"),
    ],
    f"reduce {ATROUS}": [
        ("--keep S201", "no folder is given for the reproducer: add -o OUT/"),
        ("-o OUT/r", f"or --keep, a code that irshape check {ATROUS} lists"),
        ("-o OUT/small.xml --keep S201", "the reproducer is a folder with a model.xml: write -o "),
        ("-o OUT/r --keep S999", "there is no code 'S999'; irshape rule lists them"),
        ("-o OUT/r --keep S", "there is no code 'S'; give a whole code; irshape rule lists them"),
        ("-o OUT/r --while false", "has no {}: write {} where the path of the model must stand"),
        ("-o OUT/r --while 'false {}' --match '('", "--match '(' is no pattern"),
    ],
}  # fmt: skip
LINES: Final = [(f"{start} {rest}", message) for start, rows in COMPLAINTS.items() for rest, message in rows]


@pytest.mark.parametrize(("line", "message"), LINES, ids=[line for line, _ in LINES])
def test_what_cannot_be_done_is_said_on_a_line(run: Start, tmp_path: Path, line: str, message: str) -> None:
    code, lines, err = run(*shlex.split(line.replace("OUT", str(tmp_path))))
    assert (code, lines, err.count("\n"), os.listdir(tmp_path)) == (2, [], 1, [])
    assert err.startswith(message) if message.startswith("irshape") else message in err


@pytest.mark.parametrize(
    ("line", "content", "said"),
    [
        (f"signature {FAULTY}", "", " A103 "),
        (f"sizes {FAULTY}", "", " A103 "),
        (f"sizes {FAULTY}", "", "are valid for no size: the model has errors\n"),
        (f"cost {FAULTY}", "", "because a layer before it has an error"),
        (f"explain {FAULTY} join:2:1", "", "Concat join, port 2 is not known\n"),
        (f"explain {FAULTY} join:2:1", "", " S201 "),
        ("signature FILE", "<net><layers>", " X101 "),
        ("sizes FILE", "<net><layers>", " X101 "),
        ("sizes FILE", "<net><layers>", "the model is valid for no size: the model has errors\n"),
        ("check FILE --input x[1]", "<net", " X101 "),
        ("explain FILE x", "<html/>", "X104"),
        ("reshape FILE --batch 2", "<html/>", "X104"),
    ],
)
def test_the_faults_of_a_file_are_shown(run: Start, tmp_path: Path, line: str, content: str, said: str) -> None:
    (tmp_path / "file.xml").write_text(content)
    assert said in run(*shlex.split(line.replace("FILE", str(tmp_path / "file.xml"))), code=1).out
