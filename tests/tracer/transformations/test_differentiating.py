"""Derivatives against JAX and against central differences, in all modes, eagerly and compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.lax as jax_lax
import jax.numpy as jax_numpy
import jax.scipy.special as jax_special
import numpy as np
import pytest

import numhlo
import numhlo.numpy as nnp
from numhlo import lax
from numhlo.compat import jax as compat
from numhlo.lowering.ir.errors import ArgumentError, ConcretizationError, DTypeError, ShapeError, UnsupportedError
from numhlo.scipy import special
from numhlo.tracer.core.named_functions import composite
from numhlo.tracer.transformations.differentiating import stop_gradient

pytestmark = pytest.mark.usefixtures("first_answers")

RNG = np.random.default_rng(11)
X = RNG.normal(size=(4, 3))
POSITIVE = RNG.uniform(0.2, 0.9, size=(4, 3))
W = RNG.normal(size=(3, 4))
ROWS = np.array([0, 2, 2])

Library = tuple[Any, Any]
OURS: Library = (nnp, lax)
THEIRS: Library = (jax_numpy, jax_lax)


def _scan(m: Library, x: Any) -> Any:
    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        state, count = carry
        state = m[0].tanh(state * row + x[0])
        return (state, count + 1), (state * state).sum()

    (state, _), ys = m[1].scan(step, (m[0].ones(3), 0), x, reverse=True)
    return (ys * ys).sum() + state.sum()


def _cond(m: Library, x: Any) -> Any:
    scaled = m[1].cond(x[0, 0] > 0, lambda v: v * v * x[1], lambda v: m[0].sin(v) + x[2], x[0])
    other = m[1].switch(2, [lambda v: v, lambda v: v * 2, lambda v: m[0].exp(v)], x[1])
    return (scaled * other).sum()


def _fori(m: Library, x: Any) -> Any:
    return m[1].fori_loop(0, 5, lambda i, c: c * 0.5 + m[0].sin(x[0]) * x[1] + i, x[2]).sum()


SCALAR_FUNCTIONS: dict[str, Callable[[Library, Any], Any]] = {
    "mlp": lambda m, x: (m[0].tanh(x @ W) ** 2).sum(),
    "two products": lambda m, x: ((x.T @ x) @ W * W).sum(),
    "max": lambda m, x: x.max(axis=1).sum() + m[0].maximum(x, 0.3).sum() + m[0].minimum(x, x * 0.5).sum(),
    "product": lambda m, x: x.prod(axis=0).sum() + (x * (x > 0)).prod(),
    "sort": lambda m, x: (m[0].sort(x, 0)[2] * W[:, 0]).sum(),
    "cumsum": lambda m, x: (m[0].cumsum(x, 1) * x).sum(),
    "moments": lambda m, x: x.mean() + x.std(axis=0).sum() + x.var(),
    "gather": lambda m, x: (x[ROWS] ** 2).sum() + (x[:, 1] * x[0, 0]).sum() + x[ROWS, [0, 1, 0]].sum(),
    "at": lambda m, x: (x.at[ROWS].add(3.0 * x[0]) * x).sum() + (x.at[1].set(x[0] * 2.0) ** 2).sum(),
    "dynamic slice": lambda m, x: (m[1].dynamic_slice(x * x, (1, 0), (2, 2)) * W[:2, :2]).sum(),
    "layout": lambda m, x: (m[0].flip(x.T, 0).reshape(2, 6)[:, ::2] * m[0].pad(x, 1)[1:3, 1:4]).sum(),
    "concatenate": lambda m, x: (m[0].concatenate([x[1:], x * x], 0) ** 3).sum(),
    "where": lambda m, x: m[0].where(x > 0, x * x, m[0].exp(x)).sum(),
    "power": lambda m, x: (m[0].abs(x) ** 1.7).sum() + (x**3).sum() + (2.0**x).sum(),
    "division": lambda m, x: (1 / (1 + x * x) + x / (2 + x[0] ** 2)).sum(),
    "softmax": lambda m, x: (
        m[0].exp(x - x.max(1, keepdims=True)) / m[0].exp(x).sum(1, keepdims=True) * W.T[:, :3]
    ).sum(),
    "argmax value": lambda m, x: (x * (m[0].argmax(x, 0) == 1)).sum(),
    "scan": _scan,
    "cond": _cond,
    "fori": _fori,
}


ELEMENTWISE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    name: (getattr(nnp, name), getattr(jax_numpy, name))
    for name in (
        "abs", "arccos", "arcsin", "arcsinh", "arctan", "arctanh", "cbrt", "cos", "cosh", "exp", "exp2", "expm1", "log",
        "log1p", "log2", "log10", "reciprocal", "sin", "sinh", "sqrt", "square", "tan", "tanh",
    )
}  # fmt: skip
ELEMENTWISE["erf"] = (lambda x: composite("erf", x), jax_special.erf)
ELEMENTWISE["lgamma"] = (lambda x: composite("lgamma", x), jax_special.gammaln)


def assert_same(ours: Any, expected: Any, rtol: float = 1e-9) -> None:
    mine, other = jax.tree.leaves(ours), jax.tree.leaves(expected)
    assert len(mine) == len(other)
    for a, b in zip(mine, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("name", SCALAR_FUNCTIONS)
def test_gradients_and_tangents_agree_with_jax(name: str) -> None:
    fun = SCALAR_FUNCTIONS[name]
    value, gradient = jax.jit(jax.value_and_grad(lambda x: fun(THEIRS, x)))(jax_numpy.array(X))
    both = numhlo.value_and_grad(lambda x: fun(OURS, x))
    assert_same(both(X), (value, gradient))
    assert_same(numhlo.jit(both)(X), (value, gradient))
    direction = RNG.normal(size=X.shape)
    assert_same(numhlo.jvp(lambda x: fun(OURS, x), (X,), (direction,)), (value, (gradient * direction).sum()))


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_derivatives(name: str) -> None:
    ours, theirs = ELEMENTWISE[name]
    point = POSITIVE[0]
    expected = jax.grad(lambda x: theirs(x).sum())(point)
    assert_same(numhlo.grad(lambda x: ours(x).sum())(point), expected)
    step = 1e-6
    differences = (np.asarray(ours(point + step)) - np.asarray(ours(point - step))) / (2 * step)
    np.testing.assert_allclose(expected, differences, rtol=1e-5)


@pytest.mark.slow
def test_second_derivatives() -> None:
    fun = lambda m: lambda x: _scan(m, x)
    once = lambda lib, g: lambda x: (g(fun(lib))(x) ** 2).sum()
    assert_same(numhlo.grad(once(OURS, numhlo.grad))(X), jax.jit(jax.grad(once(THEIRS, jax.grad)))(X))
    quartic = lambda lib: lambda x: (lib[0].exp(x) * x**2).sum()
    assert_same(numhlo.hessian(quartic(OURS))(X[0]), jax.jit(jax.hessian(quartic(THEIRS)))(X[0]))


def test_jacobians_of_pytrees_agree_with_jax_in_both_modes() -> None:
    def fun(lib: Any) -> Callable[..., Any]:
        return lambda p, x: {"y": lib.sin(p["a"]) @ x, "z": (p["b"] * x).sum()}

    point = {"a": W.T, "b": X[0]}
    expected = jax.jit(jax.jacrev(fun(jax_numpy)))(point, X[1])
    assert_same(numhlo.jacrev(fun(nnp))(point, X[1]), expected)
    assert_same(numhlo.jacfwd(fun(nnp))(point, X[1]), expected)
    assert_same(
        numhlo.jit(numhlo.jacfwd(fun(nnp), argnums=(0, 1)))(point, X[1]),
        jax.jit(jax.jacfwd(fun(jax_numpy), (0, 1)))(point, X[1]),
    )


def test_vjp_and_linearize_return_pytrees() -> None:
    x = np.array([1.0, 2.0])
    wave = lambda x: nnp.sin(x) * 2
    slope = 2 * np.cos(x)
    _, pull = numhlo.jit(lambda x: numhlo.vjp(wave, x))(x)
    np.testing.assert_allclose(pull(x)[0], slope * x)
    np.testing.assert_allclose(numhlo.jit(lambda f, c: f(c))(pull, x)[0], slope * x)
    _, push = numhlo.jit(lambda x: numhlo.linearize(wave, x))(x)
    np.testing.assert_allclose(push(x), slope * x)
    _, pulls = numhlo.vmap(lambda x: numhlo.vjp(wave, x))(x)
    np.testing.assert_allclose(numhlo.vmap(lambda f, c: f(c)[0])(pulls, x), slope * x)


def test_vjp_and_linearize_can_be_used_later_and_often() -> None:
    outputs, pull = numhlo.vjp(lambda x, y: (x * y, nnp.sin(x)), 2.0, 3.0)
    assert [float(v) for v in outputs] == [6.0, pytest.approx(np.sin(2.0))]
    assert [float(v) for v in pull((1.0, 0.0))] == [3.0, 2.0]
    assert float(pull((0.0, 1.0))[0]) == pytest.approx(np.cos(2.0))
    value, push = numhlo.linearize(lambda x: x**3, 2.0)
    assert (float(value), float(push(1.0)), float(push(2.0))) == (8.0, 12.0, 24.0)


def test_python_control_flow_on_values_works_outside_jit() -> None:
    def fun(x: Any) -> Any:
        total = x
        while total < 100:
            total = total * x
        return total if total > 200 else -total

    assert float(numhlo.grad(fun)(5.0)) == -3 * 5.0**2
    assert float(numhlo.jvp(fun, (7.0,), (1.0,))[1]) == 3 * 7.0**2


def test_forward_mode_through_a_loop_of_unknown_length() -> None:
    fun = lambda lib: lambda x: lib[1].while_loop(lambda s: s < 10, lambda s: s * x, x)
    assert_same(numhlo.jvp(fun(OURS), (1.7,), (1.0,)), jax.jvp(fun(THEIRS), (1.7,), (1.0,)))
    jitted = numhlo.jit(lambda x: numhlo.grad(fun(OURS))(x))
    with pytest.raises(UnsupportedError) as caught:
        jitted(1.7)
    assert "reverse-mode differentiation of a while loop with an unknown number of steps" in str(caught.value)
    assert "test_differentiating.py" in str(caught.value)
    assert "use lax.scan or lax.fori_loop with a static number of steps" in str(caught.value)


def test_steps_are_counted_outside_jit() -> None:
    """Newton's method for a root: the derivative of what it has after as many steps as it takes."""

    def root(a: Any, start: Any) -> Any:
        far = lambda s: abs(s[0] * s[0] - a[0]) > 1e-9 * a[1]
        return lax.while_loop(far, lambda s: ((s[0] + a[0] / s[0]) / 2, s[1] + 1), (start, 0))

    def unrolled(a: Any, start: Any, steps: int) -> Any:
        for _ in range(steps):
            start = (start + a[0] / start) / 2
        return start

    a = np.array([7.0, 1.0])
    steps = int(root(a, 3.0)[1])
    assert steps > 2
    found = numhlo.grad(lambda *args: root(*args)[0], (0, 1))(a, 3.0)
    assert_same(found, jax.grad(lambda *args: unrolled(*args, steps), (0, 1))(a, 3.0))
    for second in (numhlo.hessian, lambda f: numhlo.grad(lambda a: numhlo.grad(f)(a)[0])):
        derive = lambda f, second=second: np.ravel(second(f)(a))[:2]
        np.testing.assert_allclose(
            derive(lambda a: root(a, 3.0)[0]), derive(lambda a: unrolled(a, 3.0, steps)), rtol=1e-9
        )
    with pytest.raises(UnsupportedError, match="under jit and vmap their number is not known"):
        numhlo.vmap(numhlo.grad(lambda a: root(a, 3.0)[0]))(np.stack([a, a]))
    inside = lambda x: lax.scan(
        lambda c, _: (lax.while_loop(lambda s: s < 10, lambda s: s * 2, c) / 8, None), x, None, 2
    )[0]
    with pytest.raises(UnsupportedError, match="unknown number of steps"):
        numhlo.grad(inside)(1.5)


def test_complex_functions() -> None:
    z = np.array([1.0 + 2.0j, 0.5 - 1.0j])
    real = lambda lib: lambda v: (lib.abs(v * v) + lib.real(v) * lib.imag(v)).sum()
    assert_same(numhlo.grad(real(nnp))(z), jax.grad(real(jax_numpy))(z))
    assert_same(
        numhlo.grad(lambda v: (v * v * v).sum(), holomorphic=True)(z),
        jax.grad(lambda v: (v**3).sum(), holomorphic=True)(z),
    )


def test_aux_argnums_and_stop_gradient() -> None:
    (value, aux), slope = numhlo.value_and_grad(lambda x, y: (x * y, y + 1), argnums=1, has_aux=True)(2.0, 3.0)
    assert (float(value), float(aux), float(slope)) == (6.0, 4.0, 2.0)
    assert float(numhlo.grad(lambda x: x * stop_gradient(x))(3.0)) == 3.0
    assert float(numhlo.jit(numhlo.grad(lambda x: x * stop_gradient(x)))(3.0)) == 3.0
    per_example = numhlo.grad(lambda x: numhlo.vmap(lambda a: a * stop_gradient(a))(x).sum())(X[0])
    np.testing.assert_array_equal(per_example, X[0])


def test_reverse_mode_of_n_ops_yields_order_n_ops() -> None:
    def count(n: int) -> int:
        def fun(x: Any) -> Any:
            for _ in range(n):
                x = nnp.sin(x) * x
            return x

        return len(numhlo.jit(numhlo.grad(fun)).trace(1.0).module.main.body.ops)

    small, large = count(20), count(80)
    assert large < 4.2 * small


def test_the_first_of_equal_elements_has_the_slope_of_a_distinct_one() -> None:
    fun = lambda lib: lambda x: (lib.unique(x, size=4, fill_value=7.0) * np.arange(1.0, 5.0)).sum()
    x = np.array([1.0, 3.0, 3.0, 2.0, 3.0])
    assert_same(numhlo.grad(fun(nnp))(x), jax.grad(fun(jax_numpy))(x))


def test_integer_arguments_are_an_error() -> None:
    with pytest.raises(DTypeError) as caught:
        numhlo.grad(lambda x: x * 2.0)(3)
    lines = str(caught.value).splitlines()
    assert lines[0] == "grad: the derivative with respect to an argument of dtype int64"
    assert "test_differentiating.py" in lines[1]
    assert lines[2].endswith("convert it (x.astype(float), 3.0 for 3), or leave it out of argnums")


def test_results_that_are_not_real_scalars_are_errors() -> None:
    with pytest.raises(ShapeError, match=r"must return a scalar, got shape \[3\]"):
        numhlo.grad(lambda x: x * 2)(X[0])
    with pytest.raises(DTypeError, match="must return a float, got int64"):
        numhlo.grad(lambda x: nnp.argmax(x))(X[0])
    with pytest.raises(ArgumentError, match="argnums=2 for a call with 1"):
        numhlo.grad(lambda x: x, argnums=2)(1.0)
    with pytest.raises(ShapeError, match="a primal of shape"):
        numhlo.jvp(lambda x: x, (X,), (X[0],))


def test_numbers_taken_out_of_a_derivative_are_errors() -> None:
    """They would count as constants."""
    losing: list[Callable[[Any], Any]] = [
        lambda x: float(x) * x,
        lambda x: math.sin(x * 2),
        lambda x: x * abs(complex(x)),
        lambda x: numhlo.grad(lambda y: y * float(x))(1.0),
    ]
    for fun in losing:
        for derive in (numhlo.grad(fun), numhlo.jacfwd(fun), lambda x, fun=fun: numhlo.linearize(fun, x)):
            with pytest.raises(ConcretizationError, match="under a derivative"):
                derive(1.5)
    with pytest.raises(ConcretizationError) as caught:
        compat.grad(lambda x: np.asarray(x * 2) * x)(1.5)
    lines = str(caught.value).splitlines()
    assert lines[0] == "conversion to a NumPy array of a traced array float64[] under a derivative"
    assert "test_differentiating.py" in lines[1]
    assert lines[2].startswith("  what is computed from the plain number would count as constant")
    assert lines[2].endswith("where a constant is meant, say lax.stop_gradient(x) first")

    @numhlo.custom_jvp
    def outside(x: Any) -> Any:
        return math.exp(x)

    outside.defjvps(lambda t, ans, x: t * ans)
    keeping: list[tuple[Callable[[Any], Any], float]] = [
        (lambda x: float(stop_gradient(x)) * x, 1.5),
        (lambda x: x.item() * x, 3.0),
        (lambda x: x * nnp.sum(x * nnp.ones(2)).tolist(), 6.0),
        (lambda x: x * int(x) * (2 if x > 1 else 3) * len(f"{x}"[:3]), 6.0),
        (lambda x: x * float(nnp.sum(nnp.ones(2))), 2.0),
        (outside, math.exp(1.5)),
        (lambda x: numhlo.vmap(lambda a, b: a * float(b), (0, None))(x * np.ones(2), 2.0).sum(), 4.0),
    ]
    for fun, slope in keeping:
        np.testing.assert_allclose(numhlo.grad(fun)(1.5), slope)


def test_tangents_and_results_that_do_not_fit_are_errors() -> None:
    x = X[0]
    mistakes: list[tuple[Callable[[], Any], type, str]] = [
        (
            lambda: numhlo.vjp(np.sin, x)[1](np.ones(4)),
            ShapeError,
            r"cotangent of shape \[4\] for results of shape \[3\]",
        ),
        (lambda: numhlo.vjp(np.sin, x)[1](x * 1j), DTypeError, "cotangent of dtype complex128"),
        (lambda: numhlo.vjp(lambda x: (x, x), x)[1](x), ArgumentError, "cotangent of structure"),
        (lambda: numhlo.linearize(np.sin, x)[1](np.ones(4)), ShapeError, r"tangent of shape \[4\]"),
        (lambda: numhlo.linearize(np.sin, x)[1](x, x), ArgumentError, "tangent of structure"),
        (lambda: numhlo.linear_transpose(lambda x: x[:2], x)(x), ShapeError, r"cotangent of shape \[3\]"),
        (lambda: numhlo.jvp(np.sin, x, x), ArgumentError, "jvp: primals of class ndarray"),
        (lambda: numhlo.jacrev(lambda x: x * 1j)(x), DTypeError, r"jacrev\(holomorphic=False\) .* complex128"),
        (lambda: numhlo.jacfwd(np.abs, holomorphic=True)(x + 1j), DTypeError, "returns float64"),
        (
            lambda: numhlo.grad(np.sin, holomorphic=True)(1.0),
            DTypeError,
            r"(?s)argument of dtype float64.*astype\(complex",
        ),
        (lambda: numhlo.jvp(np.sin, (x,), (x[:1],)), ShapeError, r"(?s)tangent of shape \[1\].*of the primal's shape"),
        (lambda: numhlo.linear_transpose(np.sin, x)(x), UnsupportedError, "(?s)transpose of sine.*use vjp or grad"),
        (lambda: numhlo.grad(np.abs, holomorphic=True)(1j), DTypeError, "must return a complex scalar, got float64"),
        (lambda: numhlo.grad(np.sum, has_aux=True)(x), ArgumentError, r"grad\(has_aux=True\): the function returns a"),
        (lambda: numhlo.jvp(np.sum, (x,), (x,), has_aux=True), ArgumentError, "taken for a pair"),
        (lambda: numhlo.grad(np.multiply, argnums=(0, -2))(1.0, 2.0), ArgumentError, "names an argument twice"),
        (lambda: numhlo.grad(np.sin, argnums="x")(1.0), ArgumentError, "give positions of arguments"),
    ]
    for mistake, error, text in mistakes:
        with pytest.raises(error, match=text) as caught:
            mistake()
        assert "test_differentiating.py" in str(caught.value)
    turned = numhlo.jacfwd(lambda x: x * 1j)(x)
    np.testing.assert_array_equal(turned, 1j * np.eye(3))


def test_forward_jacobians_run_the_function_once() -> None:
    runs: list[Any] = []

    def fun(x: Any) -> Any:
        runs.append(x)
        return lax.while_loop(lambda s: s.sum() < 9, lambda s: s * 2, x), {"aux": x[0]}

    jacobian, aux = numhlo.jacfwd(fun, has_aux=True)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(jacobian, 4 * np.eye(2))
    assert len(runs) == 1 and float(aux["aux"]) == 1
    assert numhlo.jacfwd(lambda x: x.sum() * np.ones(2))(np.zeros(0)).shape == (2, 0)


def test_auxiliary_results_may_be_anything() -> None:
    thing = object()

    def fun(x: Any) -> Any:
        return x * x, {"x": x + 1, "text": "name", "f": len, "things": [thing, np.array(["a"])]}

    results: list[Any] = [
        numhlo.grad(fun, has_aux=True)(3.0),
        numhlo.value_and_grad(fun, has_aux=True)(3.0)[0],
        numhlo.jacrev(fun, has_aux=True)(3.0),
        numhlo.jacfwd(fun, has_aux=True)(3.0),
        numhlo.vjp(fun, 3.0, has_aux=True)[::2],
        numhlo.jvp(fun, (3.0,), (1.0,), has_aux=True)[1:],
        numhlo.linearize(fun, 3.0, has_aux=True)[::2],
        numhlo.fwd_and_bwd(fun, 0, has_aux=True)[0](3.0)[::2],
    ]
    for _, aux in results:
        assert aux["x"] == 4 and aux["text"] == "name" and aux["f"] is len and aux["things"] == [thing, np.array(["a"])]
    slope = numhlo.jit(lambda x: numhlo.grad(lambda y: numhlo.grad(fun, has_aux=True)(y)[0] * y)(x))(3.0)
    y, push, _ = numhlo.linearize(fun, 3.0, has_aux=True)
    assert slope == 12 and y == 9 and push(2.0) == 12


def test_spots_without_a_derivative_as_documented() -> None:
    """The table of `docs/derivatives.md`."""
    root = lambda x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)
    bare = lambda x: np.where(x > 0, np.sqrt(x), 0.0)
    spots: list[tuple[Callable[[Any], Any], Any, Any]] = [
        (np.abs, 0.0, 0.0),
        (np.sign, 0.0, 0.0),
        (lambda x: np.maximum(x, 1.0), 1.0, 0.5),
        (lambda x: np.clip(x, 0.0, 1.0), 0.0, 0.5),
        (np.max, [1.0, 2.0, 2.0], [0, 0.5, 0.5]),
        (lambda x: np.sort(x)[0], [1.0, 1.0], [1, 0]),
        (np.round, 0.5, 0.0),
        (lambda x: x**2.0, 0.0, 0.0),
        (lambda x: x**0.0, 0.0, 0.0),
        (lambda x: 0.0**x, 2.0, 0.0),
        (lambda x: np.mod(x[0], x[1]), [-6.0, -2.0], [1, -3]),
        (lambda x: nnp.mod(x[0], x[1]) + x[0] // x[1], [6.0, -3.0], [1, 2]),
        (lambda x: special.xlog1py(x[0], x[1]) + special.xlogy(x[0], x[1]), [0.0, 1.0], [np.log(2), 0]),
        (lambda x: special.xlogy(x, 0.0), 0.0, 0.0),
        (np.prod, [0.0, 2.0, 3.0], [6, 0, 0]),
        (np.prod, [0.0, 2.0, 0.0], [0, 0, 0]),
        (np.sqrt, 0.0, np.inf),
        (np.linalg.norm, [0.0, 0.0], [np.nan, np.nan]),
        (root, 0.0, 0.0),
        (bare, 0.0, np.nan),
        (lambda x: lax.cond(x > 0, np.sqrt, lambda x: x * 0, x), 0.0, 0.0),
        (lambda x: nnp.zeros(3).at[np.array([1, 1])].set(x)[1], [1.0, 2.0], [0, 1]),
        (lambda x: nnp.zeros(3).at[np.array([1, 7])].add(x).sum(), [1.0, 2.0], [1, 0]),
        (lambda x: np.sqrt(x, out=nnp.zeros(3), where=x > 0).sum(), [0.0, 4.0, np.nan], [0, 0.25, 0]),
        (lambda x: np.divide(1.0, x, out=nnp.zeros(3), where=x != 0).sum(), [0.0, 0.5, 1.0], [0, -4, -1]),
        (
            lambda x: np.power(x, 0.5, out=nnp.ones((2, 3)), where=[[True], [False]]).sum(),
            [1, 0.25, 4.0],
            [0.5, 1, 0.25],
        ),
        (np.nanvar, [np.nan, 1.0, 3.0], [0, -1, 1]),
        (lambda x: np.std(x, where=[True, False, True]), [-1.0, np.inf, 1.0], [-0.5, 0, 0.5]),
    ]
    for number, (fun, point, slope) in enumerate(spots):
        np.testing.assert_array_equal(numhlo.grad(fun)(np.array(point)), slope, err_msg=f"spot {number}")
        np.testing.assert_array_equal(numhlo.jit(numhlo.grad(fun))(np.array(point)), slope, err_msg=f"spot {number}")
    twice = numhlo.hessian(np.prod)(np.array([0.0, 2.0, 0.0]))
    np.testing.assert_array_equal(twice, [[0, 0, 2], [0, 0, 0], [2, 0, 0]])


@pytest.mark.parametrize("x", [2.0, -2.0, 0.3, -3.7])
def test_derivatives_of_functions_that_look_at_bits(x):
    sign = np.sign(x)
    assert float(numhlo.grad(lambda v: np.copysign(v, -1.5))(x)) == -sign
    assert float(numhlo.grad(lambda v: np.copysign(1.5, v))(x)) == 0
    assert float(numhlo.grad(lambda v: np.modf(v)[0])(x)) == 1
    assert float(numhlo.grad(lambda v: np.modf(v)[1])(x)) == 0
    assert float(numhlo.grad(lambda v: np.frexp(v)[0])(x)) == 2.0 ** -np.frexp(x)[1]
    assert float(numhlo.grad(np.spacing)(x)) == 0
