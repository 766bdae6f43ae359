"""MLIR bytecode and portable artifacts: what jax.export writes, what numhlo writes, on machines without jaxlib, too."""

import io
import sys

import jax
import numpy as np
import pytest
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ArgumentError, ParseError
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


def test_what_cannot_be_read_or_written():
    for data in (b"ML\xefR\rStableHLO_v1.0.0\x00\xff", b"ML\xefR\rMLIR23\x00\xff"):
        with pytest.raises(ParseError, match="is no bytecode that can be read: there is no section 127"):
            stablehlo.deserialize(data)
    with pytest.raises(ArgumentError, match="'nonsense' is no version of StableHLO"):
        stablehlo.parse(TEXT).serialize("nonsense")
    for wrong in (TEXT, b"x"):
        with pytest.raises(ArgumentError, match="deserialize takes MLIR bytecode"):
            stablehlo.deserialize(wrong)


@pytest.mark.specifies("bytecode")
def test_without_jaxlib(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "jaxlib", None)
    path = tmp_path / "model.mlir.bc"
    path.write_bytes(stablehlo.parse(TEXT).serialize())
    assert stablehlo.load(path).interpret("main", X)[0].tolist() == [0, 2, 4]
