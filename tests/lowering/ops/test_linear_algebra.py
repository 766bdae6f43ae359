"""cholesky and triangular_solve: constraints, values against the definition, and XLA."""

from itertools import product

import ml_dtypes
import numpy as np
import pytest

from numhlo.lowering.ir import tensor_type_of
from numhlo.lowering.ops.linear_algebra import CHOLESKY, TRANSPOSITIONS, TRIANGULAR_SOLVE
from tests.lowering.ops.evaluation import evaluate, infer, rejection, tensor
from tests.oracle import run_on_xla

DTYPES = ["float32", "float64", "complex64", "complex128"]
TOLERANCE = {"float32": 1e-4, "float64": 1e-12, "complex64": 1e-4, "complex128": 1e-12}
SOLVE = {"left_side": True, "lower": True, "unit_diagonal": False, "transpose_a": "NO_TRANSPOSE"}


def random_matrices(rng, dtype, *shape):
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def positive_definite(rng, dtype, *batch, n=4):
    x = random_matrices(rng, dtype, *batch, n, n)
    return (x @ x.conj().swapaxes(-1, -2) + n * np.eye(n)).astype(dtype)


def test_cholesky_constraints():
    assert infer(CHOLESKY, tensor("2x3x3xf32")) == tensor("2x3x3xf32")
    assert infer(CHOLESKY, tensor("?x3xf32"), result=tensor("3x3xf32")) == tensor("3x3xf32")
    assert "(C1)" in rejection(CHOLESKY, tensor("3x3xf32"), result=tensor("3x3xf64"))
    assert "(C2)" in rejection(CHOLESKY, tensor("3xf32"))
    assert "(C3)" in rejection(CHOLESKY, tensor("2x3xf32"))
    assert "(I1)" in rejection(CHOLESKY, tensor("3x3xi32"))


def test_triangular_solve_constraints():
    a, b = tensor("5x3x3xf32"), tensor("5x3x2xf32")
    assert infer(TRIANGULAR_SOLVE, a, b, **SOLVE) == b
    assert infer(TRIANGULAR_SOLVE, a, tensor("5x2x3xf32"), **{**SOLVE, "left_side": False}) == tensor("5x2x3xf32")
    assert "(C1)" in rejection(TRIANGULAR_SOLVE, a, tensor("5x3x2xf64"), **SOLVE)
    assert "(C2)" in rejection(TRIANGULAR_SOLVE, a, tensor("3x2xf32"), **SOLVE)
    assert "(C2)" in rejection(TRIANGULAR_SOLVE, tensor("3xf32"), tensor("3xf32"), **SOLVE)
    assert "(C3)" in rejection(TRIANGULAR_SOLVE, a, tensor("4x3x2xf32"), **SOLVE)
    assert "(C3)" in rejection(TRIANGULAR_SOLVE, tensor("5x3x4xf32"), b, **SOLVE)
    assert "(C3)" in rejection(TRIANGULAR_SOLVE, a, tensor("5x2x3xf32"), **SOLVE)
    assert "(C4)" in rejection(TRIANGULAR_SOLVE, a, b, result=tensor("5x3x3xf32"), **SOLVE)
    assert "(I6)" in rejection(TRIANGULAR_SOLVE, a, b, **{**SOLVE, "transpose_a": "SIDEWAYS"})


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.specifies("cholesky, linear algebra")
def test_cholesky_is_a_factor_and_reads_one_triangle(dtype, rng):
    a = positive_definite(rng, dtype, 2, 3)
    lower = evaluate(CHOLESKY, np.tril(a), lower=True)
    upper = evaluate(CHOLESKY, np.triu(a), lower=False)
    room = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    np.testing.assert_allclose(lower @ lower.conj().swapaxes(-1, -2), a, **room)
    np.testing.assert_allclose(upper, lower.conj().swapaxes(-1, -2), **room)
    assert (np.triu(lower, 1) == 0).all()
    kind = tensor_type_of(a)
    text = "\n".join(
        f"%{k} = stablehlo.cholesky %a, lower = {word} : {kind}" for k, word in enumerate(("true", "false"))
    )
    found = run_on_xla(
        f"func.func @main(%a: {kind}) -> ({kind}, {kind}) {{\n{text}\nreturn %0, %1 : {kind}, {kind}\n}}", [a]
    )
    np.testing.assert_allclose(np.tril(found[0]), lower, **room)
    np.testing.assert_allclose(np.triu(found[1]), upper, **room)


def test_cholesky_of_what_is_not_positive_definite():
    good, bad = np.eye(2), -np.eye(2)
    found = evaluate(CHOLESKY, np.stack([good, bad]), lower=True)
    np.testing.assert_array_equal(found[0], good)
    np.testing.assert_array_equal(found[1], [[np.nan, 0], [np.nan, np.nan]])
    assert evaluate(CHOLESKY, np.zeros((0, 0)), lower=True).shape == (0, 0)


def test_narrow_floats_are_rounded_once(rng):
    a = positive_definite(rng, "float32").astype(ml_dtypes.bfloat16)
    wide = np.linalg.cholesky(a.astype(np.float32)).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(evaluate(CHOLESKY, a, lower=True), wide)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.specifies("triangular_solve")
def test_triangular_solve(dtype, rng):
    a = positive_definite(rng, dtype, 2, n=3)
    b = {True: random_matrices(rng, dtype, 2, 3, 2), False: random_matrices(rng, dtype, 2, 4, 3)}
    cases, lines = [], []
    for left, lower, unit, turn in product(
        (True, False), (True, False), (True, False), ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")
    ):
        options = {"left_side": left, "lower": lower, "unit_diagonal": unit, "transpose_a": turn}
        triangle = (np.tril if lower else np.triu)(a)
        if unit:
            triangle = triangle - triangle * np.eye(3, dtype=dtype) + np.eye(3, dtype=dtype)
        turned = triangle if turn == "NO_TRANSPOSE" else triangle.swapaxes(-1, -2)
        turned = turned.conj() if turn == "ADJOINT" else turned
        found = evaluate(TRIANGULAR_SOLVE, a, b[left], **options)
        back = turned @ found if left else found @ turned
        np.testing.assert_allclose(back, b[left], rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])
        kinds = tensor_type_of(a), tensor_type_of(b[left])
        spelled = ", ".join(f"{k} = {str(v).lower()}" for k, v in options.items() if k != "transpose_a")
        lines.append(
            f'%{len(cases)} = "stablehlo.triangular_solve"(%a, %b{int(left)}) <{{{spelled}, transpose_a = '
            f"#stablehlo<transpose {turn}>}}> : ({kinds[0]}, {kinds[1]}) -> {kinds[1]}"
        )
        cases.append((kinds[1], found))
    types = ", ".join(str(kind) for kind, _ in cases)
    arguments = f"%a: {tensor_type_of(a)}, %b0: {tensor_type_of(b[False])}, %b1: {tensor_type_of(b[True])}"
    names = ", ".join(f"%{k}" for k in range(len(cases)))
    text = f"func.func @main({arguments}) -> ({types}) {{\n" + "\n".join(lines) + f"\nreturn {names} : {types}\n}}"
    for on_xla, (_, found) in zip(run_on_xla(text, [a, b[False], b[True]]), cases, strict=True):
        np.testing.assert_allclose(found, on_xla, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_a_large_stack_is_solved_as_its_matrices_are(rng):
    a, b = positive_definite(rng, "complex128", 3, 5, n=3), random_matrices(rng, "complex128", 3, 5, 3, 3)
    for left, lower, unit, turn in product((True, False), (True, False), (True, False), TRANSPOSITIONS):
        options = {"left_side": left, "lower": lower, "unit_diagonal": unit, "transpose_a": turn}
        found = evaluate(TRIANGULAR_SOLVE, a, b, **options)
        alone = evaluate(TRIANGULAR_SOLVE, a[1, 2], b[1, 2], **options)
        np.testing.assert_allclose(found[1, 2], alone, rtol=1e-12)


def test_a_singular_triangle_gives_no_error():
    found = evaluate(TRIANGULAR_SOLVE, np.diag([1.0, 0.0]), np.ones((2, 1)), **SOLVE)
    assert found[0, 0] == 1
    assert not np.isfinite(found[1, 0])
