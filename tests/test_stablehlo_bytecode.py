"""MLIR bytecode and portable artifacts: what jax.export writes, what numhlo writes, and a machine without jaxlib."""

import io
import sys

import jax
import numpy as np
import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import mhlo

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ir.structure import structurally_equal

TEXT = """func.func public @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}"""
X = np.arange(3, dtype=np.float32)


def plain_bytecode():
    with jax_mlir.make_ir_context():
        data = io.BytesIO()
        ir.Module.parse(TEXT).operation.write_bytecode(data)
    return data.getvalue()


@pytest.mark.specifies("bytecode")
def test_what_is_written_is_read(tmp_path):
    module = stablehlo.parse(TEXT)
    data = module.serialize()
    assert data.startswith(b"ML\xefR\rStableHLO_v")
    path = tmp_path / "model.mlir.bc"
    path.write_bytes(data)
    for found in (stablehlo.deserialize(data), stablehlo.load(path), stablehlo.deserialize(plain_bytecode())):
        assert structurally_equal(found.graph, module.graph)
        assert found.interpret("main", X)[0].tolist() == [0, 2, 4]
    assert b"StableHLO_v1.0.0" in module.serialize("1.0.0")[:40]


def test_what_jax_exports_is_read():
    exported = jax.export.export(jax.jit(lambda x: jax.numpy.cumsum(jax.lax.erf(x)) + 1))(X)
    module = stablehlo.deserialize(exported.mlir_module_serialized)
    np.testing.assert_allclose(module.interpret("main", X)[0], exported.call(X), rtol=1e-6)
    assert any("test_stablehlo_bytecode" in op.location.filename for op in module.graph.main.body.ops)


@pytest.mark.parametrize("function", [jax.lax.erf, lambda x: jax.numpy.linalg.cholesky(jax.numpy.diag(x + 1))])
def test_other_dialects_are_written_as_they_are(function):
    module = stablehlo.parse(jax.jit(function).lower(X).as_text())
    assert structurally_equal(stablehlo.deserialize(module.serialize()).graph, module.graph)


def test_ops_of_mhlo_are_read():
    text = """func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xi1>, tensor<2x3xf32>) {
      %0 = "mhlo.compare"(%x, %x) {comparison_direction = #mhlo<comparison_direction GE>} :
        (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
      %1 = "mhlo.negate"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      return %0, %1 : tensor<2x3xi1>, tensor<2x3xf32> }"""
    data = io.BytesIO()
    with jax_mlir.make_ir_context() as context:
        mhlo.register_mhlo_dialect(context)
        ir.Module.parse(text).operation.write_bytecode(data)
    found = stablehlo.deserialize(data.getvalue()).run("main", np.ones((2, 3), np.float32))
    np.testing.assert_array_equal(found[0], np.ones((2, 3), bool))
    np.testing.assert_array_equal(found[1], -np.ones((2, 3)))


def test_what_cannot_be_read_or_written(capfd):
    for data in (b"ML\xefR\rStableHLO_v1.0.0\x00\xff", b"ML\xefR\rMLIR23\x00\xff"):
        with pytest.raises(UnsupportedError, match="jaxlib can't read this bytecode"):
            stablehlo.deserialize(data)
    with pytest.raises(UnsupportedError, match="jaxlib can't write this program as a portable artifact"):
        stablehlo.parse(TEXT.replace("stablehlo.add %x, %x", "stablehlo.sine %x")).serialize("nonsense")
    for wrong in (TEXT, b"x"):
        with pytest.raises(ArgumentError, match="deserialize takes MLIR bytecode"):
            stablehlo.deserialize(wrong)


@pytest.mark.specifies("bytecode")
def test_without_jaxlib(monkeypatch, tmp_path):
    data = stablehlo.parse(TEXT).serialize()
    path = tmp_path / "model.mlir.bc"
    path.write_bytes(data)
    monkeypatch.setitem(sys.modules, "jaxlib", None)
    for call in (lambda: stablehlo.load(path), lambda: stablehlo.parse(TEXT).serialize()):
        with pytest.raises(UnsupportedError) as caught:
            call()
        assert str(caught.value) == (
            "MLIR bytecode is read and written by jaxlib, which can't be imported\n"
            "  no module named jaxlib; install jaxlib; or use text: "
            "str(exported.mlir_module()) for jax.export, or stablehlo-translate --deserialize"
        )
