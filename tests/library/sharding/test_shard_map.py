"""`shard_map` on whole arrays of NumPy's: compiled programs give what the same computation without devices gives."""

from __future__ import annotations

import numpy as np
import pytest

import numhlo
from numhlo import distributed
from numhlo.distributed import PartitionSpec as P
from numhlo.errors import ArgumentError, ShapeError
from tests.every_call.harness import check_every_call

LINE = distributed.make_mesh((4,), ("x",))
SQUARE = distributed.make_mesh((2, 2), ("x", "y"))


def near(*shapes):
    """Return two sets of arguments."""
    return [tuple(np.sin(np.arange(np.prod(s)) * k + len(s)).reshape(s) for s in shapes) for k in (1.0, 0.7)]


def test_neighbours_and_sums_compiled():
    ring = [(k, (k + 1) % 4) for k in range(4)]

    def part(a):
        before = distributed.ppermute(a[-1:], "x", ring)
        return a - np.concatenate([before, a[:-1]]), distributed.psum(np.sum(a * a, axis=0), "x")

    mapped = distributed.shard_map(part, mesh=LINE, in_specs=P("x"), out_specs=(P("x"), P()))
    check_every_call(
        numhlo.jit(mapped), near((12, 3)), reference=lambda a: (a - np.roll(a, 1, 0), np.sum(a * a, axis=0)), written=()
    )


def test_derivatives_inside_compiled():
    def part(w, x, y):
        return numhlo.value_and_grad(lambda w: distributed.pmean(np.mean((np.tanh(x @ w) - y) ** 2), "x"))(w)

    def whole(w, x, y):
        found = np.tanh(x @ w)
        slope = 2 * (found - y) * (1 - found**2) / len(y)
        return np.mean((found - y) ** 2), x.T @ slope

    mapped = distributed.shard_map(part, mesh=LINE, in_specs=(P(), P("x"), P("x")), out_specs=P())
    check_every_call(numhlo.jit(mapped), near((3,), (8, 3), (8,)), reference=whole, written=())


def test_a_product_over_two_axes():
    mapped = distributed.shard_map(
        lambda a, b: distributed.psum_scatter(a @ b, "y", scatter_dimension=1, tiled=True),
        mesh=SQUARE,
        in_specs=(P("x", "y"), P("y")),
        out_specs=P("x", "y"),
    )
    for a, b in near((4, 6), (6, 8)):
        np.testing.assert_allclose(mapped(a, b), a @ b, rtol=1e-13)
        np.testing.assert_allclose(numhlo.jit(mapped)(a, b), a @ b, rtol=1e-13)


def test_functions_called_with_different_arguments_differ_only_where_they_do():
    square = numhlo.jit(lambda w, x: numhlo.grad(lambda w: np.sum(w * x))(w))

    def part(w, x):
        return square(w, x), square(x, w)[None], square(w, w)

    mapped = distributed.shard_map(part, mesh=LINE, in_specs=(P(), P("x")), out_specs=(P(), P("x"), P()))
    w, x = np.array([2.0, 3.0]), np.arange(8.0)
    parts, own, same = mapped(w, x)
    assert parts.tolist() == [0 + 2 + 4 + 6, 1 + 3 + 5 + 7]
    assert own.tolist() == [[2, 3]] * 4 and same.tolist() == [2, 3]


@pytest.mark.parametrize("check_vma", [True, False])
def test_derivatives_inside_of_one_mesh_in_another(check_vma):
    weights = np.array([1.0, 2.0])

    def slope(w, b):
        return numhlo.grad(lambda w: distributed.pmean(np.sum(np.sin(b * w)), "y"))(w)

    def part(w, a):
        options = {"mesh": SQUARE, "axis_names": {"y"}, "check_vma": check_vma}
        return distributed.shard_map(slope, in_specs=(P(), P("y")), out_specs=P(), **options)(w, a)

    mapped = distributed.shard_map(part, mesh=SQUARE, in_specs=(P(), P("x")), out_specs=P(), axis_names={"x"})
    a = np.arange(8.0).reshape(4, 2)
    slopes = a * np.cos(a * weights)
    wanted = slopes.sum(0) / 2 if check_vma else slopes[::2].sum(0)  # a mean over y; or y's first device's own
    np.testing.assert_allclose(mapped(weights, a), wanted, rtol=1e-13)


def test_a_wrong_specification_says_what_to_write():
    def mapped(body, **options):
        return distributed.shard_map(body, mesh=LINE, in_specs=P("x"), **options)

    x = np.arange(8.0)
    with pytest.raises(ArgumentError) as caught:
        mapped(lambda a: a * 2, out_specs=P())(x)
    assert str(caught.value).startswith(
        "shard_map: out_specs has P() for a result that may differ along the axis 'x'\n  at test_shard_map.py:"
    )
    assert str(caught.value).endswith(
        "what is not cut along an axis must be the same on all its devices; name the axis in out_specs, reduce the "
        "result with lax.psum(x, 'x'), or pass check_vma=False, which takes the first device's"
    )
    with pytest.raises(ShapeError, match=r"axis 0 of extent 6 can't be cut into 4 equal parts"):
        mapped(lambda a: a, out_specs=P("x"))(x[:6])
    with pytest.raises(ArgumentError, match=r"a specification 'x'\n.*\n.*use a PartitionSpec"):
        mapped(lambda a: a, out_specs="x")
    with pytest.raises(ArgumentError, match=r"a cotangent differs along the axis 'x', and what it belongs to does not"):
        mapped(lambda a: numhlo.vjp(lambda b: b, np.ones(2))[1](a)[0], out_specs=P("x"))(x)
    with pytest.raises(NameError, match=r"unbound axis name: 'y'\n.*\n  axes of .* around here: 'x'"):
        mapped(lambda a: distributed.psum(a, "y"), out_specs=P("x"))(x)
    assert mapped(lambda a: a * 2, out_specs=P(), check_vma=False)(x).tolist() == [0, 2]
