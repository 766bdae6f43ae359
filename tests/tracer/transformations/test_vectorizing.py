"""vmap against a Python loop over the examples, and against JAX where it composes with other transformations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.lax as jax_lax
import jax.numpy as jax_numpy
import numpy as np
import pytest

import numhlo
import numhlo.numpy as nnp
from numhlo import lax, vmap
from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import ArgumentError, MutationError, ShapeError
from numhlo.tracer.core.bind import trace_function

RNG = np.random.default_rng(7)
X = RNG.normal(size=(5, 3))
W = RNG.normal(size=(3, 4))
SQUARE = RNG.normal(size=(5, 3, 3))
INDEX = np.array([0, 2, 1, 0, 2])

EXAMPLES: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any]] = {
    "elementwise": (lambda x: nnp.tanh(x) * 2 + nnp.maximum(x, 0.1), (X,), 0),
    "shared operand": (lambda x, w: x @ w, (X, W), (0, None)),
    "left shared": (lambda w, x: w.T @ x, (W, X), (None, 0)),
    "both mapped": (lambda a, x: a @ x, (SQUARE, X), 0),
    "matrix times matrix": (lambda a, w: a @ w, (SQUARE, W), (0, None)),
    "shared times matrix": (lambda w, a: w.T @ a, (W, SQUARE), (None, 0)),
    "other axis": (lambda x: nnp.cumsum(x), (X,), 1),
    "sort": (lambda x: nnp.sort(x)[::-1], (X,), 0),
    "argmax": (lambda x: nnp.argmax(x), (X,), 0),
    "reductions": (lambda x: (x.sum(), x.max(), x.mean(), x.var()), (X,), 0),
    "integer index": (lambda x, i: x[i], (X, INDEX), 0),
    "index into shared": (lambda x, i: x[i], (X, INDEX), (None, 0)),
    "index array": (lambda x: x[np.array([2, 0])], (X,), 0),
    "at add": (lambda x, i: x.at[i].add(1.5), (X, INDEX), 0),
    "at set shared": (lambda x, i: nnp.zeros(4).at[i].set(x[0]), (X, INDEX), 0),
    "setitem": (lambda x: _written(x), (X,), 0),
    "slices and joins": (lambda x: nnp.concatenate([x[1:], x[:1], nnp.flip(x)]), (X,), 0),
    "broadcasting": (lambda x: x[:, None] * x[None, :] + nnp.arange(3), (X,), 0),
    "pad": (lambda x: nnp.pad(x, (1, 2)), (X,), 0),
    "where": (lambda x: nnp.where(x > 0, x, -x), (X,), 0),
    "transpose": (lambda a: a.T.reshape(-1)[::2], (SQUARE,), 0),
    "einsum": (lambda a, x: nnp.einsum("ij,j->i", a, x), (SQUARE, X), 0),
    "special": (lambda x: nnp.sinh(x) + nnp.arctan(x), (X,), 0),
    "scan": (lambda x: lax.scan(lambda c, a: (c * 0.5 + a, c), 0.0, x), (X,), 0),
    "reverse scan of shared": (
        lambda s, x: lax.scan(lambda c, a: (c + a * s, c), 0.0, x, reverse=True),
        (X[:, 0], X[0]),
        (0, None),
    ),
    "fori": (lambda x: lax.fori_loop(0, 4, lambda i, c: c * x + i, x), (X,), 0),
    "cond": (lambda x: lax.cond(x[0] > 0, lambda v: v * 2, lambda v: -v, x), (X,), 0),
    "shared cond": (lambda p, x: lax.cond(p, lambda v: v * 2, lambda v: -v, x), (np.True_, X), (None, 0)),
    "switch": (lambda i, x: lax.switch(i, [lambda v: v, lambda v: v * 2, lambda v: v.sum() + v * 0], x), (INDEX, X), 0),
    "while of unequal length": (
        lambda x: lax.while_loop(lambda s: s.sum() < 10, lambda s: s * 1.5 + 1, abs(x)),
        (X,),
        0,
    ),
}


def _written(x: Any) -> Any:
    y = x.copy()
    y[1:] = y[1:] * 2
    y[0] += 3
    return y


def by_loop(fun: Callable[..., Any], args: tuple[Any, ...], in_axes: Any) -> Any:
    """Return the results of one example after the other, stacked."""
    axes = in_axes if isinstance(in_axes, tuple) else (in_axes,) * len(args)
    size = next(a.shape[x] for a, x in zip(args, axes, strict=True) if x is not None)
    rows = [
        numhlo.jit(fun)(*[a if x is None else np.take(a, k, x) for a, x in zip(args, axes, strict=True)])
        for k in range(size)
    ]
    return jax.tree.map(lambda *r: np.stack(r), *rows)


def assert_same(ours: Any, expected: Any, rtol: float = 1e-12) -> None:
    mine, other = jax.tree.leaves(ours), jax.tree.leaves(expected)
    assert len(mine) == len(other)
    for a, b in zip(mine, other, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", EXAMPLES)
def test_vmap_equals_a_loop_over_examples(name: str) -> None:
    fun, args, in_axes = EXAMPLES[name]
    expected = by_loop(fun, args, in_axes)
    assert_same(vmap(fun, in_axes)(*args), expected)
    assert_same(numhlo.jit(vmap(fun, in_axes))(*args), expected)


def test_out_axes_and_pytrees() -> None:
    result = vmap(lambda d, k: {"a": d["x"] * k, "b": k}, in_axes=({"x": 1}, None), out_axes={"a": 1, "b": None})(
        {"x": X}, 2.0
    )
    np.testing.assert_array_equal(result["a"], X * 2)
    assert result["b"] == 2.0


def test_nested_vmap_is_an_outer_product() -> None:
    outer = vmap(vmap(lambda a, b: a * b, (None, 0)), (0, None))
    np.testing.assert_array_equal(outer(X[:, 0], W[0]), np.outer(X[:, 0], W[0]))


def test_vmap_of_vmapped_while_maps_lanes_of_lanes() -> None:
    def steps(n: Any) -> Any:
        halve = lambda s: (nnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)
        return lax.while_loop(lambda s: s[0] != 1, halve, (n, 0))[1]

    numbers = np.arange(1, 13).reshape(3, 4)
    expected = [[_collatz(int(n)) for n in row] for row in numbers]
    assert vmap(vmap(steps))(numbers).tolist() == expected


def _collatz(n: int) -> int:
    count = 0
    while n != 1:
        n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
    return count


@pytest.mark.parametrize("size", [0, 1, 3])
def test_lanes_of_lanes_are_one_map_unless_they_share_arrays(size: int) -> None:
    def steps(x: Any, n: Any, scale: Any, shared: Any) -> Any:
        grown = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * scale + x), (0, x))[1]
        return lax.cond(n > 2, lambda: grown + shared[0], lambda: grown)

    x, n = RNG.random((4, size)), RNG.integers(0, 6, (size, 4))
    scale, shared = RNG.random(size), RNG.random((size, 2))
    expected = np.empty((size, 4))
    for i, j in np.ndindex(size, 4):
        expected[i, j] = x[j, i]
        for _ in range(n[i, j]):
            expected[i, j] = expected[i, j] * scale[i] + x[j, i]
    own = vmap(vmap(steps, (0, 0, None, None)), (1, 0, 0, None))
    np.testing.assert_array_equal(own(x, n, scale, np.zeros(2)), expected)
    assert f"lanes = {4 * size} " in numhlo.jit(own).lower(x, n, scale, np.zeros(2)).as_text()
    expected += np.where(n > 2, shared[:, :1], 0.0)
    by_row = vmap(vmap(steps, (0, 0, None, None)), (1, 0, 0, 0))
    np.testing.assert_array_equal(by_row(x, n, scale, shared), expected)


def test_a_branch_that_is_not_taken_never_runs() -> None:
    def halve_until_small(x: Any) -> Any:
        endless = lambda v: lax.while_loop(lambda s: s > -1, lambda s: s + 1, v)
        return lax.cond(x > 100, endless, lambda v: v, x)

    assert vmap(halve_until_small)(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]


def test_python_control_flow_on_shared_values_works_outside_jit() -> None:
    assert vmap(lambda x, flag: x * 2 if flag else x, (0, None))(X[:, 0], True).tolist() == (X[:, 0] * 2).tolist()


def test_ops_on_unmapped_values_run_once() -> None:
    def traced(x: Any) -> list[Any]:
        return [vmap(lambda a, w: a + nnp.sin(w), (0, None))(x, x[0])]

    function, _ = trace_function("main", traced, [TensorType((5,), np.dtype(float))])
    shapes = [op.results[0].tensor.shape for op in function.body.ops if op.definition.name == "sine"]
    assert shapes == [()]


@pytest.mark.slow
def test_composition_with_grad_and_scan_agrees_with_jax() -> None:
    def loss(lib: Any, loops: Any) -> Callable[..., Any]:
        def of(w: Any, x: Any) -> Any:
            def step(h: Any, a: Any) -> tuple[Any, Any]:
                h = lib.tanh(w @ h + a)
                return h, (h * h).sum()

            return loops.scan(step, lib.zeros(3), x)[1].sum()

        return of

    data = RNG.normal(size=(4, 6, 3))
    ours = numhlo.jit(vmap(numhlo.grad(loss(nnp, lax)), (None, 0)))(SQUARE[0], data)
    expected = jax.vmap(jax.grad(loss(jax_numpy, jax_lax)), (None, 0))(SQUARE[0], data)
    assert_same(ours, np.asarray(expected), rtol=1e-9)


def test_mapped_extents_that_differ_are_an_error() -> None:
    with pytest.raises(ShapeError) as caught:
        vmap(lambda x, y: x)(X, W)
    assert "mapped axes have different extents: 5 (argument 0), 3 (argument 1)" in str(caught.value)


def test_no_mapped_argument_is_an_error() -> None:
    with pytest.raises(ArgumentError, match="no argument is mapped"):
        vmap(lambda x: x, in_axes=None)(X)
    assert vmap(lambda x: x, in_axes=None, axis_size=2)(1.0).tolist() == [1.0, 1.0]


def test_missing_axis_and_wrong_prefix_are_errors() -> None:
    with pytest.raises(ShapeError, match="has no axis 2"):
        vmap(lambda x: x, in_axes=2)(X)
    with pytest.raises(ArgumentError, match="in_axes has 1 entries for 2"):
        vmap(lambda x, y: x, in_axes=(0,))(X, X)
    with pytest.raises(ArgumentError, match="differs by example, but out_axes is None"):
        vmap(lambda x: x, out_axes=None)(X)
    with pytest.raises(ShapeError, match=r"out_axes=3 for a result leaf 0 of shape"):
        vmap(lambda x: x, out_axes=3)(X)


def test_python_values_that_examples_share_steer_python_code() -> None:
    power = numhlo.jit(lambda x, n: x**n if n > 1 else x, static_argnums=1)

    def fun(x: Any, n: int, options: Any) -> Any:
        kept = power(x, n) if options["way"] == "power" else x
        return kept + np.zeros(options["size"])

    x, options = np.array([1.0, 2.0]), {"way": "power", "size": 2}
    found = numhlo.vmap(fun, (0, None, None))(x, 3, options)
    np.testing.assert_array_equal(found, np.stack([x**3, x**3], 1))
    jitted = numhlo.jit(lambda x: numhlo.vmap(fun, (0, None, None))(x, 1, options))
    np.testing.assert_array_equal(jitted(x), np.stack([x, x], 1))


def test_writing_into_a_mapped_argument_is_an_error() -> None:
    def write(x: Any) -> Any:
        x[0] = 1.0
        return x

    with pytest.raises(MutationError, match="writes into argument leaf 0"):
        vmap(write)(X)


@pytest.mark.parametrize(
    "name", ["both mapped", "shared operand", "reductions", "scan", "cond", "switch", "other axis"]
)
def test_chunks_give_the_same(name):
    function, arguments, axes = EXAMPLES[name]
    wanted = vmap(function, in_axes=axes)(*arguments)
    for chunk in (1, 2, 5, 9):
        for transform in (numhlo.jit, lambda f: f):
            found = transform(vmap(function, in_axes=axes, chunk=chunk))(*arguments)
            for left, right in zip(numhlo.tree.leaves(found), numhlo.tree.leaves(wanted), strict=True):
                np.testing.assert_allclose(left, right, rtol=1e-12)


def test_chunks_keep_what_examples_share():
    shared, own = vmap(lambda x, w: (w * 2, x + w), in_axes=(0, None), out_axes=(None, 0), chunk=2)(X[:, 0], 3.0)
    assert shared == 6.0
    np.testing.assert_array_equal(own, X[:, 0] + 3.0)
    np.testing.assert_allclose(
        numhlo.grad(lambda x: vmap(lambda r: (r**3).sum(), chunk=2)(x).sum())(X), 3 * X**2, rtol=1e-12
    )


def test_chunks_bound_memory():
    """What each example needs in between is there for one chunk only."""
    x = np.ones((256, 8))

    def wide(row):
        table = nnp.sort(row[:, None] * nnp.arange(64.0), axis=1)
        return nnp.cumsum(table, axis=1).max()

    whole = numhlo.jit(vmap(wide)).lower(x).compile().memory_analysis().arena_bytes
    parts = numhlo.jit(vmap(wide, chunk=16)).lower(x).compile().memory_analysis().arena_bytes
    assert parts < whole / 8


def test_chunks_refused():
    with pytest.raises(ArgumentError, match="vmap: chunk=0"):
        vmap(lambda x: x, chunk=0)
    with pytest.raises(ArgumentError, match="chunk=4 with axis_name='i'"):
        vmap(lambda x: lax.psum(x, "i"), axis_name="i", chunk=4)


def test_custom_batching_rules() -> None:
    calls: list[Any] = []

    @numhlo.custom_vmap
    def scaled(x: Any, pair: Any) -> Any:
        return {"z": x * pair[0] + pair[1]}

    @scaled.def_vmap
    def many(size: int, batched: Any, x: Any, pair: Any) -> Any:
        calls.append((size, batched))
        a, b = (p if flag else p[None] for p, flag in zip(pair, batched[1], strict=True))
        return {"z": (x if batched[0] else x[None]) * a + b}, True

    x, y = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    np.testing.assert_array_equal(vmap(scaled, (0, (None, 0)))(x, (2.0, y))["z"], 2 * x + y)
    assert calls == [(2, [True, (False, True)])]
    np.testing.assert_array_equal(numhlo.jit(scaled)(x, (2.0, y))["z"], 2 * x + y)
    slope = numhlo.vmap(numhlo.grad(lambda x: scaled(x, (x, 1.0))["z"]))
    np.testing.assert_array_equal(slope(x), 2 * x)
    bare = numhlo.custom_vmap(lambda x: x)
    with pytest.raises(ArgumentError, match="without a rule"):
        vmap(bare)(x)
    bare.def_vmap(lambda size, batched, x: (x[0], True))
    with pytest.raises(ShapeError, match=r"\[2\] is meant"):
        vmap(bare)(x)
    bare.def_vmap(lambda size, batched, x: x)
    with pytest.raises(ArgumentError, match="a pair"):
        vmap(bare)(x)
