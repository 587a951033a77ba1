"""The assertions for tests of models, and the pytest plugin, whose failures read as irshape's reports."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import irshape
from irshape.report.section import paragraph
from irshape.testing import _cut, assert_same, assert_shape, assert_valid
from tests.cli.test_cli import net
from tests.support.ir import Net
from tests.support.places import ATROUS, EXAMPLES, ROOT

IMAGE = {"image": "[N,3,H,W]"}


def failure(call: object, *arguments: object, **options: object) -> str:
    """The text with which an assertion fails."""
    assert callable(call)
    with pytest.raises(AssertionError) as error:
        call(*arguments, **options)
    return str(error.value)


# assert_valid


def test_a_valid_model() -> None:
    assert assert_valid(ATROUS, inputs={"image": "[1,3,256,256]"}, targets=["static-shapes"]).ok


def test_a_faulty_model_fails_with_the_report() -> None:
    path = str(EXAMPLES / "faulty.xml")
    assert failure(assert_valid, path, select=["T", "G110"]).splitlines() == [
        f"{path}: 2 errors",
        f"{path}:38:17: T102 data[1] has element type u8, data has f32 [Concat join, port 1]",
        f"{path}:44:9: G110 no opset has an operation 'Reluu' [Reluu activate]",
        "    hint: did you mean Relu?",
    ]
    assert_valid(path, select=["R"])
    assert_valid(path, ignore=["A", "G", "S", "T"])
    assert "R302 warning" in failure(assert_valid, path, select=["R"], strict=True)


def test_a_code_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="no code begins with 'S9'"):
        assert_valid(ATROUS, select=["S9"])


# assert_shape


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("mask", "[N,2,2*((H + 1)//2),2*((W+1)//2)]"),
        ("mask", "f32[N,2,?,4..]"),
        ("mask", "f32[...]"),
        ("mask", "[batch,2,?,-1]"),
        ("stem", "[N,4,ceil_div(H, 2),max((W + 1)//2, 0)]"),
        ("stem/weights", "[4,3,3,3]"),
        ("image", "[N,3,H - 0,W]"),
        (0, "f32[N,2,?,4..]"),
        (-1, "f32[N,2,?,4..]"),
    ],
)
def test_shapes_that_fit(name: str | int, expected: str) -> None:
    assert_shape(irshape.infer(ATROUS, inputs=IMAGE), name, expected)


@pytest.mark.parametrize(
    ("expected", "marked"),
    [
        ("[N,3,?,?]", ["3"]),
        ("[N,2,H,W]", ["H", "W"]),
        ("[W,2,?,?]", ["W"]),
        ("[N,N,?,?]", ["N"]),
        ("[n,2,n,?]", ["n"]),
        ("[8,2,?,?]", ["8"]),
        ("[N,2,?,8..16]", ["8..16"]),
        ("[N,2,2*(H//2),(W+3)//2]", ["2*(H//2)", "(W+3)//2"]),
    ],
)
def test_the_axes_that_differ_are_marked(expected: str, marked: list[str]) -> None:
    _, _, wanted, _, marks = failure(assert_shape, ATROUS, "mask", expected, inputs=IMAGE).splitlines()
    assert [wanted[index:].split()[0] for index, sign in enumerate(marks) if sign == "^" and marks[index - 1] == " "] == marked


def test_a_name_of_the_signature_is_that_size() -> None:
    """The inputs have no names in the file: the signature calls them `image[B,3,H,W]`."""
    assert_shape(ATROUS, "image", "[N,3,H,W]")
    assert_shape(ATROUS, "image", "[N,3,height,width]")
    assert "^" in failure(assert_shape, ATROUS, "image", "[N,3,W,H]")


def test_a_shape_is_without_what_conditions_resolve(tmp_path: Path) -> None:
    """A table of 64 rows is cut to the length, S, which may then be at most 64: the sum has S rows."""
    net = Net("""
        _x: f32[?,8]
        ShapeOf-3(_x, output_type=i64) -> _size: Gather-8([0], 0)
        Slice-8(f32=0[64,8], [0], _size, [1]) -> sum: Add(_x) -> Result
        """)
    (tmp_path / "m.xml").write_text(net.xml)
    (tmp_path / "m.bin").write_bytes(net.bin)
    assert_shape(tmp_path / "m.xml", "sum", "[B,8]")


@pytest.mark.parametrize("call", [
    lambda: assert_valid("none.xml"),
    lambda: assert_valid(ATROUS, inputs={"image": "[1,3"}),
    lambda: assert_shape(ATROUS, "maks", "[1]"),
    lambda: assert_shape(ATROUS, "mask", 5),  # type: ignore[arg-type]
    lambda: assert_shape(ATROUS, 7, "[1]"),
    lambda: assert_shape(ATROUS, None, "[1]"),  # type: ignore[arg-type]
    lambda: assert_same("none.xml", ATROUS),
])  # fmt: skip
def test_pytest_shows_no_frame_of_irshape(call: Callable[[], None]) -> None:
    with pytest.raises((AssertionError, OSError, TypeError, ValueError)) as error:
        call()
    assert error.value.__cause__ is None and error.value.__suppress_context__
    assert [entry.name for entry in error.traceback if not entry.frame.f_locals.get("__tracebackhide__")][2:] == []


def test_a_shape_that_differs_reads_well() -> None:
    assert failure(assert_shape, ATROUS, "mask", "f16[N,2,H,W]", inputs={"image": "[N,3,H,8]"}).splitlines() == [
        f"{ATROUS}: mask is not f16[N,2,H,W]",
        "  the element type is f32, not f16",
        "  axis      0  1  2                      3",
        "  expected  N  2  H                      W",
        "  inferred  N  2  2*((H + 1)//2) in 4..  8",
        "                  ^^^^^^^^^^^^^^^^^^^^^  ^",
    ]
    assert failure(assert_shape, ATROUS, "stem/weights", "[4,3,3]").splitlines()[1:] == [
        "  the rank is 4, not 3",
        "  axis      0  1  2  3",
        "  expected  4  3  3",
        "  inferred  4  3  3  3",
        "                     ^",
    ]


def test_errors_of_the_model_follow_the_shapes(tmp_path: Path) -> None:
    path = net(tmp_path / "odd.xml", "f32[1,3,8,9]")
    text = failure(assert_shape, path, "spacetodepth_1", "[1,12,4,4]")
    assert "S204 axis 3 must be a multiple of block_size: 9 is not a multiple of 2" in text


def test_names_are_those_of_tensors_and_layers() -> None:
    decoder = irshape.infer(EXAMPLES / "decoder.xml")
    tensor = next(port.names[0] for node in decoder.model.nodes for port in node.outputs if port.names)
    assert_shape(decoder, tensor, "[...]")
    assert_shape(decoder, decoder.model.results[0].name, "[...]")
    assert_shape(ATROUS, "atrous/conv", "[?,4,?,?]", port=2)
    assert "has no tensor or layer 'maks'; did you mean 'mask'?" in failure(assert_shape, ATROUS, "maks", "[...]")
    for inputs in ({}, {"image": "[N,3,32,32]"}):  # a formula names a symbol that the model never had, or has no more
        told = failure(assert_shape, ATROUS, "mask", "[N,2,2*Q,?]", inputs=inputs)
        assert "no input has the symbol 'Q'; the inputs are" in told and "expected  N  2  2*Q" in told
    assert "has no tensor or layer 7; its outputs are mask" in failure(assert_shape, ATROUS, 7, "[...]")
    assert "has no tensor or layer 'xyz'; its outputs are " in failure(assert_shape, ATROUS, "xyz", "[...]")
    assert "has no tensor or layer 'stem' with port 9" in failure(assert_shape, ATROUS, "stem", "[...]", port=9)


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ("1,2", "'1,2' is not a shape"),
        ("float[1]", "'float[1]' is not a shape"),
        ("[N,2,2**8,?]", "'2**8' is not a size; write"),
        ("[N,2,__import__('os'),?]", "is not a size"),
        ("[N,2,1//0,?]", "is not a size"),
    ],
)
def test_expectations_that_cannot_be_read(expected: str, message: str) -> None:
    with pytest.raises(ValueError) as error:
        assert_shape(ATROUS, "mask", expected, inputs=IMAGE)
    assert message in str(error.value)


# assert_same


def test_models_that_are_the_same_and_models_that_differ(tmp_path: Path) -> None:
    assert_same(ATROUS, ATROUS)
    text = failure(assert_same, net(tmp_path / "a.xml", "f32[1,3,8,8]"), net(tmp_path / "b.xml", "f32[1,3,8,16]"))
    assert "parameter_0: shape [1,3,8,8] -> [1,3,8,16]" in text


def test_a_long_difference_is_cut() -> None:
    shown = failure(assert_same, ATROUS, ATROUS.with_name("decoder.xml")).splitlines()
    assert len(shown) <= 22 and "--all" not in "".join(shown)
    assert shown[-3:-1] == ["and 29 more lines", "40 layers added, 17 layers removed, 1 layer replaced"]
    assert shown[-1] == "all of it: irshape.diff(a, b).changes"


@pytest.mark.parametrize("length", range(19, 25))
def test_no_heading_is_left_without_a_row(length: int) -> None:
    """Each section of the report has an empty line, a heading and two rows; the last line is kept in any case."""
    report = ["first", *["", "heading", "  row", "  row"] * 10][:length]
    shown = _cut([paragraph(*report, "last")], "x").splitlines()
    kept = shown[: shown.index("last")]
    more = kept.pop() if kept[-1].startswith("and ") else "and 0 more lines"
    assert kept == report[: len(kept)] and len(report) == len(kept) + int(more.split()[1])
    assert kept[-1] in ("  row", report[-1]) and len(shown) <= 22


def test_models_whose_weights_are_missing_are_not_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(ATROUS.read_bytes())
    assert "does not exist" in failure(assert_same, ATROUS, tmp_path / "a.xml")


# the plugin


def collected(folder: Path, *options: str) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--no-header", "--tb=short", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a sound model, a faulty one, an excluded one, and XML of another format."""
    net(tmp_path / "sound.xml", "f32[1,3,8,8]")
    net(tmp_path / "odd.xml", "f32[1,3,8,9]")
    (tmp_path / "drafts").mkdir()
    net(tmp_path / "drafts" / "c.xml", "f32[1,3,8,9]")
    (tmp_path / "pom.xml").write_text("<project/>")
    (tmp_path / "irshape.toml").write_text('exclude = ["drafts"]\n')
    return tmp_path


def test_every_ir_is_a_test(models: Path) -> None:
    out = collected(models, "--irshape", "-v")
    assert "odd.xml::irshape FAILED" in out
    assert "sound.xml::irshape PASSED" in out
    assert "1 failed, 1 passed in" in out
    report = "odd.xml:10:3: S204 axis 3 must be a multiple of block_size: 9 is not a multiple of 2 [SpaceToDepth spacetodepth_1]"
    assert report in out.splitlines()
    assert "Traceback" not in out


def test_nothing_is_collected_without_the_option(models: Path) -> None:
    assert "no tests ran" in collected(models)


@pytest.mark.slow("take long")
def test_a_file_that_is_an_argument_is_a_test_in_any_case(models: Path) -> None:
    assert "1 failed" in collected(models, "--irshape", "drafts/c.xml")
    assert "X104 the root element is <project>" in collected(models, "--irshape", "pom.xml")


@pytest.mark.slow("take long")
def test_faults_of_configuration_and_baseline(models: Path) -> None:
    (models / "irshape.toml").write_text('selct = ["S"]')
    assert "irshape.toml:1: selct: there is no such key; did you mean 'select'?" in collected(models, "--irshape")
    (models / "irshape.toml").write_text('baseline = "absent.json"')
    out = collected(models, "--irshape", "sound.xml")
    assert "absent.json: No such file or directory" in out
    assert "Traceback" not in out


def test_the_plugin_costs_other_runs_nothing() -> None:
    code = "import sys, pytest_irshape; sys.exit(any(name == 'irshape' or name.startswith('irshape.') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_a_failure_begins_with_an_error() -> None:
    """pytest quotes the first line of a failure in its summary; the first fault in the file is a warning."""
    from irshape.cli.check import checked_text

    first, *others = checked_text("examples/faulty.xml").splitlines()
    assert "A103 attribute 'mode'" in first
    assert any("R302 warning:" in line for line in others)
