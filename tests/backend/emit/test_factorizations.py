"""Factorizations in native code: LAPACK by address, small matrices inline, against NumPy and the definitions."""

import ctypes

import numpy as np
import pytest
from scipy.linalg.lapack import dorgqr

import numhlo
from numhlo import lax
from numhlo.backend import fortran
from numhlo.backend.executable import Executable
from numhlo.lowering.interpreter import interpret
from numhlo.lowering.ir import tensor_type_of
from numhlo.lowering.ops import FunctionBuilder, control_flow
from numhlo.lowering.ops.factorizations import make
from numhlo.lowering.ops.linear_algebra import CHOLESKY, TRANSPOSITIONS, TRIANGULAR_SOLVE
from tests.backend.plain_engine import run_plain
from tests.backend.programs import evaluated, launched, plan

pytestmark = pytest.mark.slow

DTYPES = ("float32", "float64", "complex64", "complex128")


def random(rng, dtype, *shape):
    x = rng.normal(size=shape)
    return (x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def positive(rng, dtype, *shape):
    x = random(rng, dtype, *shape)
    return (x @ x.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def program(cases):
    """A function of every case ``(op or composite's name, arrays, attributes)``, each on arguments of its own."""
    b = FunctionBuilder("main", [tensor_type_of(x) for _, arrays, _ in cases for x in arrays])
    arguments, results = iter(b.arguments), []
    for op, arrays, attributes in cases:
        operands = [next(arguments) for _ in arrays]
        if isinstance(op, str):
            made = make(op, [v.tensor for v in operands], **attributes)
            types = made["decomposition"].result_types
            results += b.ops(control_flow.COMPOSITE, *operands, results=types, **made)
        else:
            results += b.ops(op, *operands, **attributes)
    return b.finish(results)


def run(cases, *, plain=False):
    """Return each case's results, native and as meant; ``plain`` runs the kernels as Python, too."""
    function, arrays = program(cases), [x for _, found, _ in cases for x in found]
    planned = plan(function)
    assert not evaluated(planned)
    executable = Executable(planned)
    assert executable.wait(120)
    found = [np.asarray(x) for x in executable(arrays)]
    if plain:
        for native, python in zip(found, run_plain(planned, arrays), strict=True):
            np.testing.assert_array_equal(native, python)
    with np.errstate(all="ignore"):
        meant = interpret(function, arrays)
    return iter(found), iter(meant)


def invariants(name, arrays, results):
    """Arrays that do not depend on the signs, phases and order that an algorithm may choose."""
    if name in ("eigvals", "eig"):
        w = results[0]
        power = [w.sum(-1), (w * w).sum(-1)]
        return power if name == "eigvals" else [*power, arrays[0] @ results[1] - results[1] * w[..., None, :]]
    if name == "schur":
        form, vectors = results
        return [vectors @ form @ vectors.conj().swapaxes(-1, -2)]
    if name in ("svd", "eigh"):
        return [abs(x) for x in results]
    return results


@pytest.mark.parametrize("dtype", DTYPES)
def test_composites_and_ops_agree_with_their_meaning(dtype, rng):
    cases = []
    for batch, n in (((), 6), ((3, 30), 3)):
        a, h = random(rng, dtype, *batch, n, n), positive(rng, dtype, *batch, n, n)
        b = random(rng, dtype, *batch, n, 2)
        tall = a[..., :2].copy()
        wide = tall.swapaxes(-1, -2).copy()
        cases += [("lu", [x], {}) for x in (a, tall, wide)]
        cases += [("qr", [x], {"full": full}) for x in (tall, wide) for full in (True, False)]
        cases += [("eigh", [h], {"lower": True}), ("eigvalsh", [h], {"lower": False}), ("solve", [a, b], {})]
        cases += [(name, [a], {}) for name in ("svdvals", "eig", "eigvals", "slogdet", "det", "schur")]
        cases += [(CHOLESKY, [h], {"lower": lower}) for lower in (True, False)]
    cases += [("svd", [x], {"full": full}) for x in (tall, wide) for full in (True, False)]
    found, meant = run(cases)
    room = 2e-3 if np.dtype(dtype).name in ("float32", "complex64") else 1e-9
    for name, arrays, _ in cases:
        count = (
            len(make(name, [tensor_type_of(x) for x in arrays], **_)["decomposition"].result_types)
            if (isinstance(name, str))
            else 1
        )
        mine, theirs = [next(found) for _ in range(count)], [next(meant) for _ in range(count)]
        assert [(x.dtype, x.shape) for x in mine] == [(x.dtype, x.shape) for x in theirs], name
        for x, y in zip(invariants(name, arrays, mine), invariants(name, arrays, theirs), strict=True):
            np.testing.assert_allclose(x, y, rtol=room, atol=room * max(1, abs(y).max()), err_msg=str(name))


@pytest.mark.parametrize("dtype", DTYPES)
def test_triangular_solve_in_every_form(dtype, rng):
    cases = []
    for (n, m), batch in (((5, 3), ()), ((5, 150), ()), ((2, 3), (7,)), ((6, 2), (7,))):
        a, b = positive(rng, dtype, *batch, n, n), random(rng, dtype, *batch, n, m)
        for left in (True, False):
            for turn in TRANSPOSITIONS:
                lower, unit = (turn == "TRANSPOSE") == left, turn == "ADJOINT"
                options = {"left_side": left, "lower": lower, "unit_diagonal": unit, "transpose_a": turn}
                sides = b if left else b.swapaxes(-1, -2).copy()
                cases.append((TRIANGULAR_SOLVE, [a / n if unit else a, sides], options))
    room = 2e-3 if np.dtype(dtype).name in ("float32", "complex64") else 1e-9
    for x, y in zip(*run(cases), strict=True):
        np.testing.assert_allclose(x, y, rtol=room, atol=room * abs(y).max())


def test_kernels_are_python_too(rng):
    a, b = rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 2))
    large = random(rng, "complex128", 5, 5)
    cases = [("solve", [a, b], {}), ("lu", [a], {}), ("slogdet", [a], {}), (CHOLESKY, [positive(rng, "f8", 2, 2)], {})]
    cases += [("solve", [large, large], {}), ("eig", [a], {}), ("slogdet", [large], {}), ("qr", [a], {"full": False})]
    cases[3] = (*cases[3][:2], {"lower": True})
    run(cases, plain=True)


def test_what_fails_gives_nan_and_leaves_the_others_alone():
    good, singular = np.diag([2.0, 4.0, 1.0]), np.zeros((3, 3))
    for n in (3, 6):  # inline, and by LAPACK
        good, singular, bad = np.eye(n) * 4, np.ones((n, n)), np.full((n, n), np.nan)
        stack = np.stack([good, singular])
        cases = [("solve", [stack, stack], {}), (CHOLESKY, [-stack], {"lower": True})]
        cases += [(CHOLESKY, [np.stack([good, -good])], {"lower": lower}) for lower in (True, False)]
        cases += [("det", [stack], {}), ("slogdet", [stack], {}), ("lu", [stack], {})]
        cases += [("svdvals", [np.stack([good, bad])], {}), ("eigh", [np.stack([good, bad])], {"lower": True})]
        for k, (x, y) in enumerate(zip(*run(cases), strict=True)):
            np.testing.assert_allclose(x, y, rtol=1e-14, err_msg=f"result {k} of {n} rows")


def test_pivots_are_the_first_of_the_largest_and_zero_pivots_leave_their_column():
    a = np.array([[1.0, 2.0, 3.0], [-1.0, 5.0, 1.0], [1.0, 2.0, -7.0]])
    stack = np.stack([a, a[::-1], np.array([[0.0, 1, 2], [0, 3, 4], [0, 5, 6]])])
    for x, y in zip(*run([("lu", [stack], {}), ("lu", [stack.astype(np.float32)], {})]), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_views_are_read_where_they_are(rng):
    a, b = positive(rng, "float64", 8, 8), rng.normal(size=(8, 3))
    compiled = numhlo.jit(lambda a, b: lax.linalg.triangular_solve(a.T, b, left_side=True, lower=False)).lower(a, b)
    assert sorted(compiled.compile().kernels) == ["copy", "triangular_solve_f64"]  # of the right-hand sides
    np.testing.assert_allclose(compiled.compile()(a, b), np.linalg.solve(np.triu(a.T), b), rtol=1e-9)


REFLECTORS = """
func.func @main(%a: tensor<5x4xf64>, %scales: tensor<2xf64>) -> tensor<5x4xf64> {
  %q = stablehlo.custom_call @lapack_dorgqr_ffi(%a, %scales) {
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>]
  } : (tensor<5x4xf64>, tensor<2xf64>) -> tensor<5x4xf64>
  return %q : tensor<5x4xf64>
}
"""


def test_fewer_reflectors_than_columns(rng):
    packed, scales = rng.normal(size=(5, 4)), rng.normal(size=8)[2:4]  # there is more behind
    product = numhlo.jit(numhlo.stablehlo.parse(REFLECTORS).callable("main")).lower(packed, scales).compile()
    np.testing.assert_allclose(product(packed, scales), dorgqr(packed, scales)[0], rtol=1e-12)


def kalman(ys, transition, noise):
    """A filter of four states and two measurements."""

    def step(carry, y):
        mean, covariance = carry
        mean, covariance = transition @ mean, transition @ covariance @ transition.T + noise
        spread = covariance[:2, :2] + np.eye(2)
        gain = np.linalg.solve(spread, covariance[:2]).T
        mean = mean + gain @ (y - mean[:2])
        return (mean, covariance - gain @ spread @ gain.T), np.linalg.slogdet(spread)[1]

    return step


@pytest.mark.not_every_call  # other inputs make matrices singular, whose solutions have no digits
def test_loops_with_solutions_inside_stay_native(rng):
    transition, noise, ys = np.eye(4) + 0.1 * np.eye(4, k=2), 0.1 * np.eye(4), rng.normal(size=(20, 2))
    filtered = numhlo.jit(lambda ys: lax.scan(kalman(ys, transition, noise), (np.zeros(4), np.eye(4)), ys))
    compiled = filtered.lower(ys).compile()
    assert compiled.cost_analysis()["python steps"] == 0
    assert [name for name in compiled.kernels if "loop" in name or "solve" in name] == ["while_loop"]
    carry, expected = (np.zeros(4), np.eye(4)), []
    for y in ys:
        carry, out = kalman(ys, transition, noise)(carry, y)
        expected.append(out)
    (mean, _), logarithms = compiled(ys)
    np.testing.assert_allclose(mean, carry[0], rtol=1e-12)
    np.testing.assert_allclose(logarithms, expected, rtol=1e-12)

    large = rng.normal(size=(9, 9)) / 9

    def body(_, x):
        return np.linalg.solve(np.eye(9) + large * x[0], x)

    looped = numhlo.jit(lambda x: lax.fori_loop(0, 5, body, x)).lower(ys[:9, 0]).compile()
    assert looped.cost_analysis()["python steps"] == 0
    x = ys[:9, 0]
    for _ in range(5):
        x = body(_, x)
    np.testing.assert_allclose(looped(ys[:9, 0]), x, rtol=1e-12)


def test_stacks_are_cut_into_units_by_shape_alone(rng):
    a = rng.normal(size=(1000, 5, 5))
    program_ = plan(program([("solve", [a, a], {})]))
    (step,) = program_.steps
    assert launched(program_) == ["solve_f64"]
    assert step.extent == 63  # of 16 matrices each
    (step,) = plan(program([("eigh", [np.zeros((100, 300, 300))], {"lower": True})])).steps
    assert step.extent == 100  # long ones alone, so that the user can stop between any two


@pytest.mark.not_every_call  # other inputs make matrices singular, whose solutions have no digits
def test_stacks_of_small_matrices_are_simd_code(rng):
    """LLVM sees how far matrices lie apart, and units are of some; each gives the bits that it gives alone."""
    a, b = rng.normal(size=(77, 3, 3)), rng.normal(size=(77, 3, 2))
    a[5], a[40, 1] = 0, a[40, 2]
    solve = numhlo.jit(lambda a, b: (np.linalg.solve(a, b), np.linalg.slogdet(a)))
    with numhlo.debugging(engine="compiled"):
        compiled = solve.lower(a, b).compile()
        x, (sign, logarithm) = compiled(a, b)
        assert sum("(in0, matrix * 9 + 8)" in text for text in compiled.kernels.values()) == 2
        for k in (0, 5, 40, 64, 76):
            alone, (one, other) = solve(a[k : k + 1], b[k : k + 1])
            for found, expected in ((x[k], alone[0]), (sign[k], one[0]), (logarithm[k], other[0])):
                np.testing.assert_array_equal(found, expected)
    (step,) = plan(program([("solve", [a, b], {})])).steps
    assert step.extent == 3


def test_library_calls_from_python():
    assert fortran.subroutine("dgetrf")
    assert fortran.subroutine("dnothing") == 0
    x = np.array([[4.0]])
    fortran.call("dpotrf", "L", 1, x, 1, np.zeros(1, np.int32))
    assert x[0, 0] == 2
    assert fortran.first_symbol(ctypes.CDLL(None), ["no such name", "strlen"])
    assert fortran._shared_by_scipy("dgetrf")
    assert fortran._shared_by_scipy("dgemm")
