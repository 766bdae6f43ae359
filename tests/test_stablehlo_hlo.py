"""HLO text by way of the public names: `from_hlo`, `as_hlo_text`, `load`, and the command line."""

import pickle
import sys
from io import BytesIO, TextIOWrapper

import numpy as np
import pytest

import numhlo
from numhlo import stablehlo
from numhlo.__main__ import main
from numhlo.lowering.ir.errors import ArgumentError, ParseError, UnsupportedError

TEXT = """
HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[3]{0}, s32[])->(f32[3]{0}, s32[])}

FileNames
1 "model.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=8 end_column=28}

StackFrames
1 {file_location_id=1 parent_frame_id=1}

ENTRY %main.1 (x.1: f32[3], n.1: s32[]) -> (f32[3], s32[]) {
  %x.1 = f32[3]{0:T(256)} parameter(0), metadata={op_name="x"}
  %n.1 = s32[] parameter(1), sharding={replicated}
  %twice = f32[3]{0} add(f32[3]{0} %x.1, f32[3]{0} %x.1), metadata={op_name="jit(f)/add" stack_frame_id=1}
  ROOT %t = (f32[3]{0}, s32[]) tuple(%twice, /*index=1*/%n.1), metadata={source_file="b.py" source_line=7}
}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "x.hlo"
    path.write_text(TEXT)
    np.save(tmp_path / "x.npy", np.arange(3, dtype=np.float32))
    return path


def test_from_hlo():
    module = stablehlo.from_hlo(TEXT)
    assert repr(module).startswith("<StableHLO module @jit_f: <function @main(tensor<3xf32>, tensor<i32>)")
    twice, n = module.run("main", np.ones(3, np.float32), 5)
    np.testing.assert_array_equal(twice, [2, 2, 2])
    assert n == 5
    slope = numhlo.grad(lambda x: module.callable()(x, 1)[0].sum())(np.ones(3, np.float32))
    np.testing.assert_array_equal(slope, [2, 2, 2])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(module)).run("main", np.ones(3, np.float32), 5)[0], twice)


def test_places_come_from_the_tables_of_frames():
    text = stablehlo.from_hlo(TEXT, "x.hlo").as_text(locations=True)
    assert 'stablehlo.add %arg0, %arg0 : tensor<3xf32> loc("jit(f)/add"("model.py":12:8))' in text
    written = stablehlo.from_hlo(TEXT, "x.hlo").as_hlo_text(locations=True)
    assert 'metadata={op_name="jit(f)/add" source_file="model.py" source_line=12}' in written
    assert stablehlo.from_hlo(written).as_text(locations=True).count('"jit(f)/add"("model.py":12:0)') == 1


def test_a_traced_function_as_hlo():
    module = numhlo.export(lambda x: np.tanh(x) @ x, np.ones((2, 2))).module
    again = stablehlo.from_hlo(module.as_hlo_text())
    x = np.array([[1.0, 2.0], [3.0, -4.0]])
    np.testing.assert_array_equal(again.run("main", x)[0], module.run("main", x)[0])


def test_load(file):
    module = stablehlo.load(file)
    np.testing.assert_array_equal(module.run("main", np.ones(3, np.float32), 1)[0], [2, 2, 2])
    np.testing.assert_array_equal(numhlo.load(file)(np.ones(3, np.float32), np.int32(1))[0], [2, 2, 2])


def test_what_is_no_hlo():
    with pytest.raises(ArgumentError, match="from_hlo takes text or bytes, not a int"):
        stablehlo.from_hlo(3)
    with pytest.raises(ParseError, match="this is no HloModuleProto"):
        stablehlo.from_hlo(b"HloModule m")
    with pytest.raises(ParseError, match="is not HLO text"):
        stablehlo.from_hlo("func.func @main() { return }")
    with pytest.raises(ParseError, match="from_hlo reads it"):
        stablehlo.parse(TEXT)
    with pytest.raises(ParseError) as caught:
        stablehlo.from_hlo("HloModule m\nENTRY e {\n  x = f32[3] parameter(0)\n  ROOT y = f32[3] add(x, z)\n}", "y.hlo")
    shown = str(caught.value).splitlines()
    assert shown[0] == "z is not defined before this"
    assert shown[1] == "  at y.hlo:4:26"
    assert shown[2].endswith("ROOT y = f32[3] add(x, z)")
    assert shown[3].index("^") == shown[2].index("z")


def test_what_cant_be_written():
    text = "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"
    with pytest.raises(UnsupportedError, match=r"HLO has no type tensor<\?xf32>"):
        stablehlo.parse(text).as_hlo_text()
    text = """func.func @main(%x: tensor<2xi32>) -> tensor<?x?xf32> {
      %0 = stablehlo.dynamic_iota %x, dim = 0 : (tensor<2xi32>) -> tensor<?x?xf32>
      return %0 : tensor<?x?xf32>
    }"""
    with pytest.raises(UnsupportedError, match="dynamic_iota: the result's shape depends on the values of an argument"):
        stablehlo.parse(text).as_hlo_text()
    with pytest.raises(UnsupportedError, match=r"@g can't be written as HLO"):
        stablehlo.parse("func.func private @g(tensor<f32>) -> tensor<f32>").as_hlo_text()
    with pytest.raises(UnsupportedError, match="without functions"):
        stablehlo.parse("module {}").as_hlo_text()


def test_commands(file, capsys, monkeypatch):
    assert main(["run", str(file), "--input", str(file.parent / "x.npy"), "4"]) == 0
    assert capsys.readouterr().out == "[0., 2., 4.]\n4\n"
    assert main(["print", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "stablehlo.add %arg0, %arg0" in printed
    assert main(["convert", str(file)]) == 0
    assert capsys.readouterr().out == printed
    assert main(["convert", str(file), "--to", "hlo", "--locations"]) == 0
    written = capsys.readouterr().out
    assert written.startswith("HloModule jit_f\n")
    assert "source_line=12" in written
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(written.encode())))
    assert main(["verify", "-"]) == 0
