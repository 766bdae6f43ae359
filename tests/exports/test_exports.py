"""Programs that TensorFlow and PyTorch exported, with their own results: read, run, and printed as plain StableHLO."""

from pathlib import Path

import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.ir.errors import ParseError
from tests.exports.exported_file import read
from tests.oracle import official_parse

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.mlir"))

TOLERANCE = {"eigenvectors": 1e-3}


def close(found, expected, tolerance):
    assert len(found) == len(expected)
    for x, y in zip(found, expected, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x, y, tolerance, tolerance)


@pytest.mark.parametrize("path", FILES, ids=[f"{path.parent.name} {path.stem}" for path in FILES])
def test_results_are_the_exporters(path):
    text, arrays, expected = read(path)
    module = stablehlo.parse(text, path.name)
    tolerance = TOLERANCE.get(path.stem, 2e-5)
    function = module.callable()
    close(function.interpret(*arrays), expected, tolerance)
    if "!quant." not in text:  # jaxlib's parser has no such types
        official_parse(module.as_text())


def test_any_number_of_rows():
    text, (x,), (expected,) = read(HERE / "tensorflow" / "any_network.mlir")
    function = stablehlo.parse(text).callable()
    close([function(x[:1])], [expected[:1]], 2e-5)
    close([function(x)], [expected], 2e-5)


VARIABLES = """module {
  func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
    %w = ml_program.global_load @w.0 : tensor<2xf32>
    %0 = mhlo.copy %w : tensor<2xf32>
    %1 = stablehlo.add %x, %0 : tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  ml_program.global public mutable @w.0(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
}"""


def test_variables():
    module = stablehlo.parse(VARIABLES)
    official_parse(module.as_text())
    assert module.callable()(np.ones(2, np.float32)).tolist() == [2, 3]
    for old, new, message in (
        ("load @w.0", "load @v", "variable @v is not defined in this text"),
        ("load @w.0 : tensor<2xf32>", "load @w.0 : tensor<3xf32>", r"the variable is of type tensor<2xf32>, not tensor<3xf32>"),
        ("%0 = mhlo.copy", "ml_program.global_store @w.0 = %x : tensor<2xf32>\n%0 = mhlo.copy", "changes its variables"),
        ("(dense<[1.0, 2.0]> : tensor<2xf32>)", "", "the variable @w.0 has no value"),
    ):  # fmt: skip
        with pytest.raises(ParseError, match=message):
            stablehlo.parse(VARIABLES.replace(old, new))
