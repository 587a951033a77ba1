"""The command line as a user meets it: reports, exit codes, and one line for each failed run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

import irshape
from irshape.shape.dim import IS_COMPILED
from tests.support.commands import Start
from tests.support.ir import Net
from tests.support.places import ATROUS, DATA, EXAMPLES, ROOT

SPACE_TO_DEPTH = str(EXAMPLES / "space_to_depth.xml")


@pytest.fixture
def dynamic(tmp_path: Path) -> Path:
    """A SpaceToDepth of blocks of 2 on an image of unknown size."""
    return net(tmp_path / "dynamic.xml", "f32[?,3,?,?]")


def net(path: Path, fact: str, block: int = 2, **attributes: object) -> Path:
    more = "".join(f", {name}={value}" for name, value in attributes.items())
    built = Net(f"{fact} -> SpaceToDepth(block_size={block}, mode=blocks_first{more}) -> Result")
    path.write_text(built.xml, encoding="utf-8")
    return path


# check


def test_check_gives_place_code_and_message(run: Start, tmp_path: Path) -> None:
    odd = net(tmp_path / "odd.xml", "f32[1,3,8,9]")
    done = run("check", odd, code=1)
    assert done.lines == [
        f"{odd}:10:3: S204 axis 3 must be a multiple of block_size: 9 is not a multiple of 2 [SpaceToDepth spacetodepth_1]",
        "1 file, 3 layers: 1 error",
    ]


def test_check_of_a_sound_file(run: Start) -> None:
    done = run("check", SPACE_TO_DEPTH)
    assert (done.code, done.out, done.err) == (0, "1 file, 1 layer: no faults\n", "")


def test_warnings_count_with_strict_only(run: Start, tmp_path: Path) -> None:
    file = net(tmp_path / "warned.xml", "f32[1,3,8,8]", blocksize=2)
    assert run("check", file).code == 0
    done = run("check", file, "--strict", code=1)
    assert "R104 warning: SpaceToDepth has no attribute 'blocksize'" in done.out
    assert done.out.endswith("1 file, 3 layers: 1 warning\n")


@pytest.mark.parametrize(
    ("opset", "message"), [("opset99", "G112 'opset99' is not an opset"), ("opset1", "G111 opset1 has no SpaceToBatch")]
)
def test_the_opset_of_an_example_is_named_as_it_was_given(run: Start, opset: str, message: str) -> None:
    assert message in run("check", EXAMPLES / "space_to_batch.xml", "--opset", opset, code=1).out


def test_hint_stands_below_its_fault(run: Start, tmp_path: Path) -> None:
    file = tmp_path / "old.xml"
    file.write_text((EXAMPLES / "space_to_batch.xml").read_text().replace('"SpaceToBatch"', '"SpaceToBatch" version="opset1"'))
    lines = run("check", file).lines
    assert "G111" in lines[0]
    assert lines[1] == "    hint: SpaceToBatch is available from opset2 on, which needs OpenVINO 2020.2 or later"


def test_files_are_counted_together(run: Start, tmp_path: Path) -> None:
    done = run("check", net(tmp_path / "odd.xml", "f32[1,3,9,9]"), SPACE_TO_DEPTH)
    assert done.lines[-1] == "2 files, 4 layers: 2 errors"


# infer


def test_infer_prints_a_table(run: Start, dynamic: Path) -> None:
    done = run("infer", dynamic, "--input", "[2,3,H,W]", "--set", "H=32..64", "W=224..448", code=0)
    assert done.lines == [
        f"{dynamic}  IR v11, 3 layers",
        "",
        "ID  LAYER           TYPE          SHAPE                      FORMULA",
        " 0  parameter_0     Parameter     f32[2,3,32..64,224..448]   [2,3,H,W]",
        " 1  spacetodepth_1  SpaceToDepth  f32[2,12,16..32,112..224]  [2,12,H//2,W//2]",
        " 2  result_2        Result        f32[2,12,16..32,112..224]  [2,12,H//2,W//2]",
        "",
        "valid for sizes of at least 1 where",
        "  32 <= H <= 64 and H % 2 == 0    SpaceToDepth spacetodepth_1, line 10: axis 2 must be a multiple of block_size",
        "  224 <= W <= 448 and W % 2 == 0  SpaceToDepth spacetodepth_1, line 10: axis 3 must be a multiple of block_size",
        "",
        "1 file, 3 layers: no faults",
    ]


@pytest.mark.parametrize("line", ["signature", "infer", "reshape --input [N,3,H,W]", "infer --input [2,3,?,?]"])
def test_every_command_prints_the_same_solved_conditions(run: Start, tmp_path: Path, line: str) -> None:
    """Rows that are halved twice, and joined with as many; a height that is named as even is told, too."""
    halved = Net(
        "x: f32[?,3,?,?] -> SpaceToDepth(block_size=2, mode=blocks_first) -> SpaceToDepth(block_size=2, mode=blocks_first) -> Result"
    )
    (tmp_path / "halved.xml").write_text(halved.xml)
    command, *options = line.split()
    told = run(command, tmp_path / "halved.xml", *options).out.partition("valid for sizes of at least 1 where\n")[2]
    assert re.findall(r"^  (\w) >= 4 and \1 % 4 == 0  SpaceToDepth", told, re.MULTILINE) in (["H", "W"], ["T", "L"])


def test_what_data_decide_is_listed_together(run: Start, tmp_path: Path) -> None:
    """Many conditions of one kind take two lines, behind those on the sizes of inputs."""
    found = "NonZero-3(f32[9], output_type=i64) -> Concat([[0,0]], axis=0) -> Result\n"
    built = Net(found * 8 + "_x: f32[?,2]\n" + "_x -> Concat(f32=[[1.0]], axis=1) -> Result\n" * 3)
    file = tmp_path / "found.xml"
    built.save(file)
    lines = run("infer", file, "--raw-symbols").lines
    start = lines.index("valid for sizes of at least 1 where")
    assert lines[start + 1].startswith("  d0 == 1  Concat concat_42, line 304 and 2 more layers: the inputs must be equal on axis 0")
    assert lines[start + 2 : start + 4] == ["", "valid where, for sizes known only at run time"]
    first, *others = [f"d{number} == 2" for number in range(1, 9)]
    assert lines[start + 4].startswith(f"  {first}")
    assert lines[start + 5].strip() == f"also {', '.join(others[:5])} and 2 more"
    lines = run("infer", file).lines
    start = lines.index("valid where, for sizes known only at run time")
    first, *others = [f"nonzero{number} == 2" for number in ("", *range(2, 9))]
    assert lines[start + 1].startswith(f"  {first}")
    assert lines[start + 2].strip() == f"also {', '.join(others[:5])} and 2 more"


@pytest.mark.parametrize("text", ["parameter_0[1,3,8,8]", "parameter_0=[1,3,8,8]", "parameter_0:1x3x8x8", "[1,3,8,8]"])
def test_notations_of_an_input(run: Start, dynamic: Path, text: str) -> None:
    assert "f32[1,12,4,4]" in run("infer", dynamic, "--input", text).out


def test_several_outputs_stand_below_each_other(run: Start, tmp_path: Path) -> None:
    file = tmp_path / "several.xml"
    file.write_text(Net("f32[1,4] -> _x: Unheard f32 f32\n_x -> Result\n_x.1 -> Result").xml)
    lines = run("infer", file, "--opaque", "Unheard").lines
    assert lines[4:6] == [" 1  unheard_1    Unheard    1: f32[...]", "                            2: f32[...]"]


def test_constants_are_listed_on_demand(run: Start) -> None:
    few, all_of_them = run("infer", ATROUS).out, run("infer", ATROUS, "--all").out
    assert "8 constants not listed (--all lists them)" in few
    assert "atrous/block " not in few
    assert "i64[4]" in all_of_them
    assert "not listed" not in all_of_them


def test_nothing_is_shortened_in_a_pipe(run: Start, tmp_path: Path) -> None:
    name = "encoder/" * 40
    file = tmp_path / "long.xml"
    file.write_text(net(file, "f32[1,3,8,8]").read_text().replace("spacetodepth_1", name))
    assert name in run("infer", file).out


def test_names_cannot_forge_lines(run: Start, tmp_path: Path) -> None:
    file = net(tmp_path / "forged.xml", "f32[1,3,8,9]")
    file.write_text(file.read_text().replace("spacetodepth_1", "a&#10;b&#9;\u202ec\u2028d"), encoding="utf-8")
    for command in ("check", "infer"):
        out = run(command, file).out
        assert r"a\nb\t\u202ec\u2028d" in out
        assert "\u202e" not in out


# writing


def test_output_is_written_and_read_again(run: Start, dynamic: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    done = run("infer", dynamic, "--input", "[1,3,8,8]", "-o", out, code=0)
    assert done.out.endswith(f"written: {out}\n")
    assert "f32[1,12,4,4]" in run("infer", out).out


def test_output_is_not_overwritten_unasked(run: Start, dynamic: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    out.write_text("mine")
    done = run("infer", dynamic, "-o", out)
    assert (done.code, done.err) == (2, f"irshape: {out}: already exists; --force overwrites it\n")
    assert out.read_text() == "mine"
    assert run("infer", dynamic, "-o", out, "--force").code == 0
    assert out.read_text() != "mine"


def test_the_input_is_overwritten_in_place_only(run: Start, dynamic: Path) -> None:
    before = dynamic.read_bytes()
    done = run("infer", dynamic, "--input", "[1,3,8,8]", "-o", dynamic, "--force", code=2)
    assert "--in-place" in done.err
    assert dynamic.read_bytes() == before
    assert run("infer", dynamic, "--input", "[1,3,8,8]", "--in-place").code == 0
    assert b"<dim>12</dim>" in dynamic.read_bytes()


def test_a_faulty_model_is_not_written(run: Start, tmp_path: Path) -> None:
    out = tmp_path / "out.xml"
    done = run("infer", net(tmp_path / "odd.xml", "f32[1,3,9,9]"), "-o", out)
    assert (done.code, done.err) == (1, f"irshape: {out}: not written, because the model has errors\n")
    assert not out.exists()


@pytest.mark.parametrize("how", ["link", "copy"])
def test_weights_are_placed_beside_the_output(run: Start, tmp_path: Path, how: str) -> None:
    for kind in ("xml", "bin"):
        copy(DATA / f"sound.{kind}", tmp_path)
    out = tmp_path / "out.xml"
    assert run("infer", tmp_path / "sound.xml", "-o", out, "--weights", how).code == 0
    placed, own = tmp_path / "out.bin", tmp_path / "sound.bin"
    assert placed.read_bytes() == own.read_bytes()
    assert placed.samefile(own) == (how == "link")


# ops


def test_ops_lists_types_by_category(run: Start) -> None:
    lines = run("ops").lines
    assert "movement" in lines
    assert any(line.split() == ["SpaceToBatch", "opset2-opset16"] for line in lines)


def test_ops_describes_a_type_in_any_case(run: Start) -> None:
    out = run("ops", "spacetodepth").out
    assert "operation-specs/movement/space-to-depth-1.html" in out
    assert "  attribute  mode        blocks_first | depth_first, required (OpenVINO takes blocks_first without it)" in out.splitlines()


def test_ops_as_json(run: Start) -> None:
    one = json.loads(run("ops", "SpaceToBatch", "--format", "json").out)
    assert [port["name"] for port in one["versions"][0]["inputs"]] == ["data", "block_shape", "pads_begin", "pads_end"]
    assert one in json.loads(run("ops", "--format", "json").out)


# JSON


def test_json_of_one_file_is_an_object_of_several_an_array(run: Start, dynamic: Path) -> None:
    one = json.loads(run("infer", dynamic, "--format", "json").out)
    assert one["ports"]["1:1"] == ["f32", "[?,12,?,?]"]
    assert json.loads(run("infer", dynamic, SPACE_TO_DEPTH, "--format", "json").out)[0] == one
    assert one["named"]["symbolic"]["1:1"] == "[B,12,H//2,W//2]"
    assert "named" not in json.loads(run("infer", dynamic, "--raw-symbols", "--format", "json").out)


def test_jsonl_is_a_line_for_each_file(run: Start, dynamic: Path) -> None:
    lines = run("check", dynamic, SPACE_TO_DEPTH, "--format", "jsonl").lines
    assert [json.loads(line)["file"] for line in lines] == [str(dynamic), SPACE_TO_DEPTH]


# runs that fail


def test_files_may_stand_behind_options(run: Start) -> None:
    both = [SPACE_TO_DEPTH, str(EXAMPLES / "space_to_batch.xml")]
    assert run("check", both[0], "--strict", both[1]).out == run("check", "--strict", *both).out


def test_the_command_alone_shows_the_five_main_verbs(run: Start) -> None:
    verbs = [line.split()[1] for line in run(code=2).err.splitlines() if line.startswith("  irshape ")]
    assert verbs == ["model.xml", "check", "infer", "signature", "reshape", "view"]


@pytest.mark.parametrize("command", ["check", "reshape", "view"])
def test_help_is_a_command(run: Start, command: str) -> None:
    assert run("help", command).out == run(command, "--help").out != run("help").out == run("--help").out


def test_the_other_files_are_still_done(run: Start, dynamic: Path) -> None:
    done = run("check", "absent.xml", dynamic, code=2)
    assert done.out == "1 file, 3 layers: no faults\n"


def test_a_fault_of_irshape_itself_takes_one_line(run: Start, dynamic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*inputs: object, **options: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("irshape.verbs.check", check)
    done = run("check", dynamic, code=2)
    assert done.err == f"irshape: {dynamic}: internal error; please report it with the file: KeyError: 'x'\n"


# processes


def start(*arguments: str, stdout: Any = subprocess.PIPE, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "irshape", *arguments]
    return subprocess.Popen(command, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=env)


def test_python_m_irshape() -> None:
    process = start("--version")
    out, _ = process.communicate()
    kind = "compiled" if IS_COMPILED else "interpreted"
    assert (process.returncode, out) == (0, f"irshape {irshape.__version__} ({kind})\n")


def test_a_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = start("ops", stdout=writer)
    os.close(writer)
    _, err = process.communicate()
    assert (process.returncode, err) == (141, "")


@pytest.mark.parametrize(("options", "expected"), [
    (["-m", "irshape"], "no faults\n"),
    (["-c", "import atexit; atexit.register(print, 'handled'); import irshape.__main__"], "handled\n"),
    (["-m", "cProfile", "-m", "irshape"], "function calls"),
])  # fmt: skip
def test_the_end_of_the_process_waits_for_what_others_left_to_it(options: list[str], expected: str) -> None:
    """A process in which nobody else has work ends at once."""
    command = [sys.executable, *options, "check", SPACE_TO_DEPTH]
    process = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert "no faults" in process.stdout
    assert expected in process.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = start("check", SPACE_TO_DEPTH, stdout=full)
        _, err = process.communicate()
    assert (process.returncode, err) == (2, "irshape: cannot write the report: No space left on device\n")


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="no pseudo-terminals")
@pytest.mark.parametrize(("columns", "has_room"), [(40, False), (200, True)])
def test_a_terminal_gets_colour_and_lines_that_fit(columns: int, has_room: bool) -> None:
    import fcntl
    import struct
    import termios

    terminal, end = os.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    process = start("infer", "examples/space_to_batch.xml", stdout=end, env=environment)
    os.close(end)
    assert (process.communicate()[1], process.returncode) == ("", 0)
    text = os.read(terminal, 65536).decode()
    os.close(terminal)
    assert "\x1b[36mSpaceToBatch" in text
    assert any("SpaceToBatch" in line and "[48,3,3,1,3]" in line for line in text.splitlines()) == has_room


def test_a_name_the_stream_cannot_encode_is_spelled_out(tmp_path: Path) -> None:
    file = net(tmp_path / "name.xml", "f32[1,3,8,9]")
    file.write_text(file.read_text().replace("spacetodepth_1", "größe"), encoding="utf-8")
    process = start("check", str(file), env={**os.environ, "PYTHONIOENCODING": "ascii"})
    out, err = process.communicate()
    assert err == ""
    assert r"gr\xf6\xdfe" in out


SWALLOWED = """
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("datetime")
"""


# A second interrupt does not stop what the first one cleans up.
TWICE = """
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            print("cleaned up")
"""


@pytest.mark.parametrize("name", ["irshape.cli.main", "irshape.cli.check"])
@pytest.mark.parametrize(("lines", "out"), [("raise KeyboardInterrupt", ""), (SWALLOWED, ""), (TWICE, "cleaned up\n")])
def test_an_interrupt_while_modules_are_loaded_is_no_traceback(name: str, lines: str, out: str) -> None:
    """Modules in C, such as NumPy's, tell of an interrupt by an ImportError that does not name it."""
    code = f"""
import builtins, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which a run in the background does not have
real = builtins.__import__
def interrupted(name, *rest):
    if name == "{name}":
        {lines}
    return real(name, *rest)
builtins.__import__ = interrupted
from irshape.cli.program import program
sys.exit(program())
"""
    process = subprocess.run([sys.executable, "-c", code, "check", SPACE_TO_DEPTH], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (process.returncode, process.stdout, process.stderr) == (130, out, "")
