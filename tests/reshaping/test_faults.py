"""What a reshape grants: nothing that cannot hold, with and without a rewriting."""

from typing import Any

import pytest

import irshape
from tests.support.ir import Net

# OpenVINO writes a Transpose that moves an axis of size 1 as a Reshape.
TRANSPOSED = Net("Reshape(f32[5,1,16], [1,5,16], special_zero=false) -> Softmax-8(axis=2) -> Result")
# The -1 takes up whatever is baked in elsewhere.
LEAK = Net("Reshape(f32[1,64,14,14], [1,64,-1], special_zero=false) -> Softmax-8(axis=2) -> Result")
FIXED = Net("Reshape(f32[1,136,6], [1,136,6], special_zero=false) -> Relu -> Result")


def asked(net: Net, shape: str, **options: Any) -> irshape.Inference:
    return irshape.reshape(irshape.read(net.xml.encode()), {"parameter_0": shape}, weights=net.bin, **options)


def errors(inference: irshape.Inference) -> list[str]:
    return [f"{one.code} {one.message}" for one in inference.diagnostics if one.severity == "error"]


def output(inference: irshape.Inference) -> str:
    result = inference.model.results[0]
    return str(inference.layer(str(result.id)).inputs[0].text)


def test_a_reshape_that_moved_the_batch_is_a_transpose_again() -> None:
    """Fault A: the pattern [1,5,48] would run, and mix the samples into the channels."""
    found = asked(TRANSPOSED, "[5,3,16]", rewrite=True)
    assert errors(found) == []
    assert output(found) == "[3,5,16]"
    assert [mend["port"] for mend in found.to_dict()["mends"]] == ["data", "pattern"]


def test_the_batch_of_a_model_that_holds_it_is_found() -> None:
    """Fault C: without the rewriting, no axis can be the batch."""
    found = irshape.reshape(irshape.read(LEAK.xml.encode()), weights=LEAK.bin, batch=4, rewrite=True)
    assert errors(found) == []
    assert output(found) == "[4,64,196]"
    assert any(one.code == "N101" and "axis 0 of 'parameter_0'" in one.message for one in found.diagnostics)


def test_a_token_is_repeated_for_the_batch() -> None:
    """Fault D: axis 0 of the token is 1, so its elements are known for every batch."""
    net = Net(f"_x: f32[1,4,8]\nConcat(f32={[[[0.5 * at for at in range(8)]]]}, _x, axis=1) -> Result")
    found = asked(net, "[3,4,8]", rewrite=True)
    assert errors(found) == []
    assert output(found) == "[3,5,8]"


@pytest.mark.parametrize("shape", ["[1,136..272,6]", "[1,S,6]", "[1,?,6]"])
def test_a_size_that_keeps_one_value_is_refused(shape: str) -> None:
    """Fault E: OpenVINO would fail at 272."""
    found = asked(FIXED, shape)
    assert errors(found) == ["S207 Reshape 'reshape_2' holds an old size: pattern is [1,136,6], and [1,-1,6] would fit"]
    rewritten = asked(FIXED, shape, rewrite=True)
    assert errors(rewritten) == []
    assert output(rewritten) == shape.replace("S", "?")


def test_a_leading_size_that_leaks_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    """Fault F: [1,64,784] is no batch of 4."""
    from irshape.cli.main import main

    (tmp_path / "leak.xml").write_text(LEAK.xml)
    (tmp_path / "leak.bin").write_bytes(LEAK.bin)
    main(["reshape", str(tmp_path / "leak.xml"), "--input", "parameter_0[4,64,14,14]"])
    assert "P110 warning: the batch is mixed: Reshape 'reshape_2'" in capsys.readouterr().out
    assert output(asked(LEAK, "[4,64,14,14]", rewrite=True)) == "[4,64,196]"


@pytest.mark.parametrize("rewrite", [False, True])
def test_an_equation_with_a_number_is_refused_with_the_constant(rewrite: bool) -> None:
    """A table of 196 positions is added to the tokens of an image."""
    table = [[[float(row * 196 + at * at) for at in range(196)] for row in range(3)]]
    net = Net(f"Reshape(f32[1,3,14,14], [0,3,-1], special_zero=true) -> Add(f32={table}) -> Result")
    (found,) = errors(asked(net, "[1,3,H,W]", rewrite=rewrite))
    assert found.startswith("S207 Add 'add_4' needs H*W elements along axis 2 of Const 'const_3' [1,3,196], and the elements differ")


def test_conditions_that_leave_many_sizes_are_listed() -> None:
    net = Net("SpaceToDepth(f32[1,3,32,32], block_size=32, mode=blocks_first) -> Result")
    found = asked(net, "[1,3,H,W]")
    assert errors(found) == []
    assert [str(guard.requirement) for guard in found.guards] == ["H % 32 == 0", "W % 32 == 0"]


def test_an_index_behind_the_end_is_refused() -> None:
    """OpenVINO would meet it only when the model runs."""
    net = Net("Gather-8(f32[1,8], [0,7], 1, batch_dims=0) -> Result")
    assert errors(asked(net, "[1,9]")) == []
    assert errors(asked(net, "[1,4]")) == ["R401 indices must be in [-4, 3], got 7"]


def test_a_batch_that_is_folded_into_rows_is_refused() -> None:
    """Fault B: the first axis of the output may be N, and yet the samples attend to each other."""
    net = Net("""
        Reshape(f32[1,9,16], [-1,4,4], special_zero=false) -> _heads: Transpose([1,0,2])
        MatMul(_heads, _heads, transpose_a=false, transpose_b=true) -> Softmax-8(axis=2) -> Result
    """)
    found = irshape.reshape(irshape.read(net.xml.encode()), weights=net.bin, batch=3)
    (error,) = [one for one in found.diagnostics if one.severity == "error"]
    assert error.code == "P110" and "MatMul" in error.message
    assert error.hint is not None and error.hint.startswith("Reshape 'reshape_2' (line ")


def test_a_plain_shape_that_mixes_samples_is_told_in_python() -> None:
    found = asked(LEAK, "[4,64,14,14]")
    assert [(one.code, one.severity) for one in found.diagnostics] == [("P110", "warning")]
    assert found.diagnostics[0].hint is not None and "--batch N --rewrite" in found.diagnostics[0].hint


def test_the_recorded_shape_of_an_open_input_can_be_given() -> None:
    """`torch.export` leaves an input open although its constants hold the sizes."""
    net = Net("Reshape(f32[?,4,9], [1,36], special_zero=false) -> Result")
    (error,) = errors(asked(net, "[N,4,9]", rewrite=True))
    assert "demands N == 1" in error
    found = asked(net, "[N,4,9]", rewrite=True, recorded={"parameter_0": "[1,4,9]"})
    assert errors(found) == []
    assert output(found) == "[?,36]"
