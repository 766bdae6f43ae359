"""Ops of chlo, written in the terms of XLA's own converter."""

import ml_dtypes
import numpy as np
import pytest

from numhlo import stablehlo
from numhlo.lowering.hlo.functions import FORMULAS
from tests.lowering.hlo.judges import assert_close, hlo_of, printed_by_xla, read_by_xla, run_hlo_on_xla, same_bits

EDGES = [
    0,
    -0.0,
    0.3,
    -0.3,
    0.49,
    0.7,
    -0.7,
    1,
    -1,
    1.2,
    2.5,
    -3,
    -3.7,
    7.25,
    30,
    88,
    -90,
    1e19,
    3e38,
    -3e38,
    np.inf,
    -np.inf,
]
OTHERS = ("bessel_i1e", "digamma", "erfc")


def program(name, type):
    return f"func.func @main(%x: {type}) -> {type} {{ %0 = chlo.{name} %x : {type} -> {type}\n return %0 : {type} }}"


SAME = [(name, dtype) for name in (*FORMULAS, "erf", "tan", "square") for dtype in (np.float32, np.float64)]
SAME.remove(("erf_inv", np.float64))  # written as numhlo's own decomposition, see below


@pytest.mark.parametrize(("name", "dtype"), SAME)
def test_the_bits_are_those_of_xlas_own_terms(name, dtype):
    x = np.array([*EDGES, np.nan], dtype)
    text = program(name, f"tensor<{x.size}xf{x.itemsize * 8}>")
    expected = run_hlo_on_xla(printed_by_xla(hlo_of(text)), [x])
    found = run_hlo_on_xla(stablehlo.parse(text).as_hlo_text(), [x])
    is_number = ~np.isnan(expected[0])
    np.testing.assert_array_equal(np.isnan(found[0]), ~is_number)
    assert same_bits([found[0][is_number]], [expected[0][is_number]])


@pytest.mark.parametrize("name", [*OTHERS, "erf_inv"])
@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_other_functions_are_calls_of_their_decompositions(name, dtype):
    x = np.array([0.1, 0.5, 0.9], dtype)
    module = stablehlo.parse(program(name, f"tensor<3xf{x.itemsize * 8}>"))
    written = module.as_hlo_text()
    assert_close(run_hlo_on_xla(written, [x]), module.run("main", x), 2e-3 if x.itemsize == 2 else 1e-13)


def test_the_largest_elements():
    text = """func.func @main(%x: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
      %0:2 = chlo.top_k(%x, k = 3) : tensor<2x5xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
      return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
    }"""
    x = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]], np.float32)
    module = stablehlo.parse(text)
    written = module.as_hlo_text()
    assert "topk(" in printed_by_xla(read_by_xla(written))
    assert same_bits(run_hlo_on_xla(written, [x]), module.run("main", x))
    assert same_bits(stablehlo.from_hlo(written).run("main", x), module.run("main", x))


def test_narrow_types_have_a_meaning_too():
    x = np.array([0.25, 0.5], ml_dtypes.bfloat16)
    module = stablehlo.parse(program("acos", "tensor<2xbf16>"))
    assert_close(run_hlo_on_xla(module.as_hlo_text(), [x]), module.run("main", x), 2e-2)
