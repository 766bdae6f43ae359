"""What JAX exports for any number of rows, with the custom calls that stand for ops without a dynamic form."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

from numhlo import stablehlo
from numhlo.lowering.ir.errors import UnsupportedError

FUNCTIONS = {
    "windows": lambda x: (jnp.cumsum(x, 0), lax.cummax(x, 0, reverse=True), lax.cumlogsumexp(x, 0)),
    "largest": lambda x: (*lax.top_k(x.T, x.shape[0]), *lax.approx_max_k(x, 2)),
    "random bits": lambda x: jax.random.bits(jax.random.key(3, impl="rbg"), x.shape),
    "factorizations": lambda x: (jnp.linalg.cholesky(x.T @ x), *jnp.linalg.svd(x, compute_uv=False)[None]),
    "square": lambda x: jnp.linalg.eigvalsh(x @ x.T + jnp.eye(x.shape[0])),
}
TARGETS = {
    "windows": "@stablehlo.dynamic_reduce_window(",
    "largest": "@stablehlo.dynamic_top_k(",
    "random bits": "@stablehlo.dynamic_rng_bit_generator(",
    "factorizations": "indices_of_shape_operands",
    "square": "@lapack_dsyevd_ffi(",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_any_number_of_rows(name):
    (rows,) = export.symbolic_shape("rows")
    checks = [export.DisabledSafetyCheck.custom_call("ApproxTopK")]
    exported = export.export(jax.jit(FUNCTIONS[name]), disabled_checks=checks)(
        jax.ShapeDtypeStruct((rows, 3), np.float64)
    )
    text = exported.mlir_module()
    assert TARGETS[name] in text
    module = stablehlo.parse(text)
    for rows in (4, 7):
        x = np.random.default_rng(rows).normal(size=(rows, 3))
        expected = jax.tree.leaves(exported.call(x))
        for results in (module.run("main", x), module.interpret("main", x)):
            for found, wanted in zip(results, expected, strict=True):
                assert found.dtype == wanted.dtype
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_shapes_that_nobody_says():
    text = """func.func public @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %0 = stablehlo.custom_call @some.target(%x) : (tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    with pytest.raises(UnsupportedError) as caught:
        stablehlo.parse(text).run("main", np.ones(3, np.float32))
    assert str(caught.value) == (
        "custom_call: the extents of its result tensor<?xf32> are not known\n  at <string>:2:12\n"
        "  they follow neither from the operands nor from a shape that is computed"
    )
