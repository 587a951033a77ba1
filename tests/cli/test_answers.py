"""`diff`, `info` and `--target` as a user meets them."""

import json
from pathlib import Path

import pytest

import irshape
from irshape.cli.main import main
from tests.answers.sketch import Layer, Sketch
from tests.report.test_formats import FILES
from tests.support.commands import Start
from tests.support.ir import Net
from tests.support.places import ATROUS
from tests.support.schemas import validator


def save(folder: Path, name: str, **layers: Layer) -> Path:
    written = Sketch(**layers).write()
    (folder / f"{name}.xml").write_bytes(written.xml)
    (folder / f"{name}.bin").write_bytes(written.weights)
    return folder / f"{name}.xml"


@pytest.fixture
def quantised(tmp_path: Path) -> tuple[Path, Path]:
    """A net of two layers with weights, and the same compressed to f16 and quantised before its second layer."""
    common = {"x": Layer("Parameter", value="f32[?,2]"), "first": Layer("Add", "x", "w"), "out": Layer("Result", "second")}
    plain = {**common, "w": Layer("Const", value=[0.1, 0.2], of="f32"), "second": Layer("ReLU", "first")}
    small = {
        **common,
        "w_compressed": Layer("Const", value=[0.1, 0.2], of="f16"),
        "w": Layer("Convert", "w_compressed", destination_type="f32"),
        "low": Layer("Const", value=[0.0], of="f32"),
        "high": Layer("Const", value=[1.0], of="f32"),
        "fq": Layer("FakeQuantize", "first", "low", "high", "low", "high", levels=256),
        "second": Layer("ReLU", "fq"),
    }
    return save(tmp_path, "plain", **plain), save(tmp_path, "small", **small)


def test_diff_says_just_that(run: Start, quantised: tuple[Path, Path]) -> None:
    a, b = quantised
    assert run("diff", a, b, code=1).lines == [
        f"{a}  IR v11, 5 layers",
        f"{b}  IR v11, 9 layers",
        "",
        "layers replaced",
        "  1 Const f32 -> Convert(Const f16), the same values rounded",
        "    w",
        "",
        "edges rewired",
        "  1 first -> FakeQuantize(first, 4 Const f32)",
        "    second:0",
        "",
        "layers added",
        "  4 layers that the rows above name",
        "",
        "4 layers added, 1 layer replaced, 1 edge rewired",
    ]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("edit FILE --freeze pixels=0.5 -o FILE.new", "input 'pixels' has the shape [2,8]"),
        ("reshape FILE --input image[1,8]", "inputs of the model: 'pixels', 'tokens'"),
        ("reshape FILE --batch N", "axis 0 of 'pixels' or axis 0 of 'tokens'; give the shape of an input, as in pixels[N,8]"),
        ("reshape FILE --set B=2", '--input "pixels['),
        ("check FILE --input pixels[?,8] --target npu", "of input 'pixels'"),
        ("sizes FILE --input pixels[A,8] --input tokens[A,3]", "pixels[A,8], tokens[A,3]"),
    ],
)
def test_an_input_is_called_by_its_tensor(command: str, told: str, run: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = Net("a: f32[2,8] -> ReLU -> Result\nb: f32[3,3] -> ReLU -> Result")
    for layer, name in (("a", "pixels"), ("b", "tokens")):
        number = net.named[layer][0].layer
        net.layers[number] = net.layers[number].replace("<port ", f'<port names="{name}" ')
    path = net.save(tmp_path / "m.xml")
    main(command.replace("FILE", str(path)).split())
    assert told in "".join(capsys.readouterr())


def test_an_input_is_called_by_its_layer_if_its_tensor_is(run: Start, tmp_path: Path) -> None:
    net = Net("f32[?,8] -> ReLU -> Result")
    net.layers[0] = net.layers[0].replace("<port ", '<port names="mul,parameter_0" ')
    assert run("signature", net.save(tmp_path / "m.xml"), code=0).lines[2].startswith("parameter_0[B,8]")


def test_diff_names_an_input_that_took_the_place_of_another(run: Start, tmp_path: Path) -> None:
    net = {"conv": Layer("ReLU", "x"), "out": Layer("Result", "conv")}
    before = save(tmp_path, "before", x=Layer("Parameter", value="f32[1,3]"), **net)
    bytes_in = {"rgb": Layer("Parameter", value="u8[1,3]"), "x": Layer("Convert", "rgb", destination_type="f32")}
    lines = run("diff", before, save(tmp_path, "after", **bytes_in, **net), code=1).lines
    assert lines[3:6] == ["inputs", "  x f32[1,3]: removed", "  rgb u8[1,3]: added"]


def test_diff_lists_an_input_that_lacks_its_output(run: Start, tmp_path: Path) -> None:
    net = {"conv": Layer("ReLU", "x"), "out": Layer("Result", "conv"), "x": Layer("Parameter", value="f32[1,3]")}
    before, after = (save(tmp_path, name, **net, **more) for name, more in (("a", {}), ("b", {"y": Layer("Parameter", value="f32[2]")})))
    text = after.read_text("utf-8")
    begin = text.index("<output>", text.index('name="y"'))
    after.write_text(text[:begin] + text[text.index("</output>", begin) + len("</output>") :], "utf-8")
    lines = run("diff", before, after, code=1).lines
    assert lines[lines.index("layers added") :][:3] == ["layers added", "  1 Parameter", "    y"]


def test_diff_names_the_constants_that_are_more_than_rounded_first(run: Start, tmp_path: Path) -> None:
    net = {"x": Layer("Parameter", value="f32[2]"), "sum": Layer("Add", "x", "v"), "out": Layer("Result", "last")}
    net |= {"product": Layer("Multiply", "sum", "w"), "last": Layer("Add", "product", "u")}
    plain = save(tmp_path, "plain", **net, **{name: Layer("Const", value=[0.1, 0.2], of="f32") for name in "vwu"})
    halves = {f"{name}_f16": Layer("Const", value=[0.1, second], of="f16") for name, second in (("v", 0.2), ("w", 0.3), ("u", 9))}
    small = save(tmp_path, "small", **net, **halves, **{name: Layer("Convert", f"{name}_f16", destination_type="f32") for name in "vwu"})
    assert run("diff", plain, small, code=1).lines[3:8] == [
        "layers replaced",
        "  2 Const f32 -> Convert(Const f16), values that differ by more than rounding",
        "    u, w",
        "  1 Const f32 -> Convert(Const f16), the same values rounded",
        "    v",
    ]


def test_diff_lists_the_constants_that_differ_the_most_first(run: Start, tmp_path: Path) -> None:
    net = {"x": Layer("Parameter", value="f32[2]"), "sum": Layer("Add", "x", "v"), "out": Layer("Result", "product")}
    net["product"] = Layer("Multiply", "sum", "w")
    a, b = [save(tmp_path, name, **net, **{one: Layer("Const", value=[2.0, to * k], of="f32") for one, k in (("v", 1), ("w", 5))})
            for name, to in (("a", 1.0), ("b", 3.0))]  # fmt: skip
    assert run("diff", a, b, code=1).lines[3:8:2] == ["constants", "    w", "    v"]


def test_diff_of_a_reshaped_model(run: Start, tmp_path: Path) -> None:
    reshaped = tmp_path / "reshaped.xml"
    run("reshape", ATROUS, "--input", "image[1,3,64,H]", "-o", reshaped, "--weights", "copy")
    assert run("diff", ATROUS, reshaped, code=1).lines[3:] == [
        "inputs",
        "  image: shape [?,3,?,?] -> [1,3,64,?]",
        "",
        "effects",
        "  mask: [?,2,4..,4..] -> [1,2,64,4..]",
        "  shapes of 8 other layers follow, first stem: [?,4,2..,2..] -> [1,4,32,2..]",
        "",
        "1 input changed, shapes of 9 layers follow",
    ]
    assert "features: [?,8,2..,2..] -> [1,8,32,2..]" in run("diff", ATROUS, reshaped, "--all").out


def test_diff_shows_a_renamed_beginning_once(run: Start, tmp_path: Path) -> None:
    graph = irshape.edit(ATROUS)
    for layer in [one for one in graph if one.name.startswith("atrous/")]:
        layer.rename(f"net.{layer.name.removeprefix('atrous/')}")
    graph["stem"].rename("first")
    renamed = tmp_path / "renamed.xml"
    graph.write(renamed)
    lines = run("diff", ATROUS, renamed, code=1).lines
    rows = lines[lines.index("layers renamed") + 1 :]
    assert rows[0].endswith(" atrous/… -> net.…") and rows[2] == "  Convolution stem -> first"


def test_diff_of_conditions_on_symbols(run: Start, tmp_path: Path) -> None:
    """irshape wrote a multiple of 32, or one symbol twice, into the input's port; the shape of the Parameter is the same."""
    for name, shape, *symbols in (("free", "image[N,3,H,W]"), ("even", "image[N,3,H,W]", "--set", "H=32*k"), ("square", "image[N,3,H,H]")):
        run("reshape", ATROUS, "--input", shape, *symbols, "-o", tmp_path / f"{name}.xml", "--weights", "copy")
    run("diff", ATROUS, tmp_path / "free.xml", code=0)
    for name, written in (("even", "[N,3,H,W] in [?,3,32..,3..] where H=32*k"), ("square", "[N,3,H,H] in [?,3,3..,3..]")):
        out = run("diff", tmp_path / "free.xml", tmp_path / f"{name}.xml", code=1).out
        assert f"  image: symbols [N,3,H,W] in [?,3,3..,3..] -> {written}" in out.splitlines()
        assert out.splitlines()[-1] == "1 input changed, shapes of 9 layers follow"


def test_diff_of_an_annotated_model(run: Start, tmp_path: Path) -> None:
    annotated = tmp_path / "annotated.xml"
    run("infer", ATROUS, "-o", annotated, "--weights", "copy")
    assert run("diff", ATROUS, annotated, code=0).lines[-1] == "the same model"


def test_diff_without_weights_is_not_certain(run: Start, tmp_path: Path) -> None:
    bare = tmp_path / "bare.xml"
    bare.write_bytes(ATROUS.read_bytes())
    assert run("diff", ATROUS, bare, code=2).lines[-3:] == [
        f"  constants were not compared: the weights file '{bare.with_suffix('.bin')}' does not exist",
        "",
        "no difference found",
    ]


def test_diff_as_json(run: Start, quantised: tuple[Path, Path]) -> None:
    a, b = quantised
    for pair in ((a, b), (b, a), (a, a)):
        report = json.loads(run("diff", *pair, "--format", "json").out)
        validator("diff").validate(report)
        assert report["is_same"] == (pair == (a, a))


def test_diff_with_what_is_no_ir(run: Start, tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text("<net")
    code, out, err = run("diff", ATROUS, tmp_path / "x.xml")
    assert (code, out) == (2, [])
    assert err == f"irshape: {tmp_path / 'x.xml'}: this file cannot be read as an IR; run irshape check on it to see why\n"


def test_info_fits_a_screen(run: Start) -> None:
    out = run("info", ATROUS, code=0).out
    lines = out.splitlines()
    assert len(lines) < 24
    assert "needs       OpenVINO 2022.1 or later: IR version 11" in lines
    assert "  image axis 0  9 ports  ?" in lines


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_info_as_json(run: Start, path: Path) -> None:
    done = run("info", path, "--format", "json")
    report = json.loads(done.out)
    validator("info").validate(report)
    assert done.code == (1 if report["errors"] else 0)


def test_targets_are_faults(run: Start) -> None:
    run("check", ATROUS, code=0)
    out = run("check", ATROUS, "--target", "npu", "--target", "max-rank=4", code=1).out
    assert out.count("P102") == 3
    run("check", ATROUS, "--target", "npu", "--input", "image[1..8,3,3..64,3..64]", code=0)
