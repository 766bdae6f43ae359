"""Convolutions and windows against JAX: values, lanes and gradients, for every way of laying them out."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import numhlo
import numhlo.numpy as nhp
from numhlo import lax, nn
from tests.library.agreement import run_traced

SHAPES = {
    "same": ((2, 3, 7, 6), (4, 3, 3, 2), {"window_strides": (2, 1), "padding": "SAME"}),
    "dilated": (
        (2, 3, 7, 6),
        (4, 3, 3, 2),
        {
            "window_strides": (2, 1),
            "padding": ((1, 2), (-1, 3)),
            "lhs_dilation": (1, 2),
            "rhs_dilation": (2, 3),
        },
    ),
    "NHWC": (
        (2, 7, 6, 3),
        (3, 2, 3, 4),
        {"window_strides": (1, 2), "padding": "SAME", "dimension_numbers": ("NHWC", "HWIO", "NHWC")},
    ),
    "odd layout": (
        (6, 3, 2, 7),
        (2, 4, 3, 3),
        {"window_strides": (1, 2), "padding": "SAME_LOWER", "dimension_numbers": ("WCNH", "HOWI", "HCWN")},
    ),
    "features": (
        (2, 7, 6, 4),
        (3, 2, 2, 6),
        {
            "window_strides": (2, 1),
            "padding": "SAME",
            "dimension_numbers": ("NHWC", "HWIO", "NHWC"),
            "feature_group_count": 2,
        },
    ),
    "depthwise": (
        (2, 7, 6, 4),
        (3, 2, 1, 8),
        {
            "window_strides": (1, 1),
            "padding": "VALID",
            "dimension_numbers": ("NHWC", "HWIO", "NHWC"),
            "feature_group_count": 4,
        },
    ),
    "batches": ((4, 3, 7, 6), (6, 3, 3, 2), {"window_strides": (1, 2), "padding": "SAME", "batch_group_count": 2}),
    "one dimension": ((2, 3, 9), (4, 3, 3), {"window_strides": (2,), "padding": ((1, 1),)}),
    "no window": ((2, 3), (4, 3), {"window_strides": (), "padding": ()}),
    "empty": ((2, 3, 2, 6), (4, 3, 3, 2), {"window_strides": (1, 1), "padding": "VALID"}),
}


def close(found, expected, tolerance=1e-12):
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, tolerance, tolerance)


def weighted(result, module):
    return module.sum(result * module.cos(module.arange(result.size).reshape(result.shape)))


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.specifies("Conv")
def test_convolution(name, rng):
    shape, kernel_shape, options = SHAPES[name]
    x, k = rng.standard_normal(shape), rng.standard_normal(kernel_shape)
    xs, ks = rng.standard_normal((3, *shape)), rng.standard_normal((3, *kernel_shape))

    def everything(lax_, np_, transform):
        def conv(x, k):
            return lax_.conv_general_dilated(x, k, **options)

        def loss(x, k):
            return weighted(conv(x, k), np_)

        def every(x, k, xs, ks):
            gradients = transform.grad(loss, (0, 1))
            results = [conv(x, k), gradients(x, k)]
            results += [transform.vmap(conv, axes)(*a) for axes, a in (((0, None), (xs, k)), ((None, 0), (x, ks)))]
            results.append(transform.vmap(conv)(xs, ks))
            if name in ("dilated", "one dimension"):
                results += [transform.vmap(gradients)(xs, ks), transform.jvp(loss, (x, k), (x + 1, k - 1))]
            return results

        return every

    theirs = jax.jit(everything(jax.lax, jnp, jax))(x, k, xs, ks)
    close(run_traced(everything(lax, nhp, numhlo), [x, k, xs, ks])[0], theirs)
    close(lax.conv_general_dilated(x, k, **options), theirs[0])


def test_kinds_of_convolution(rng):
    x, k = rng.standard_normal((2, 3, 8, 7)), rng.standard_normal((4, 3, 3, 2))
    image, kernel = rng.standard_normal((2, 5, 6, 3)), rng.standard_normal((3, 2, 3, 4))

    def every(lax_):
        def transposed(padding, **options):
            return lax_.conv_transpose(image, kernel, (2, 3), padding, **options)

        return [
            lax_.conv(x, k, (2, 1), "SAME"),
            lax_.conv_with_general_padding(x, k, (2, 1), ((0, 1), (2, 0)), (1, 2), (2, 1)),
            transposed("SAME"),
            transposed("VALID", rhs_dilation=(2, 1)),
            transposed(((1, 1), (0, 2))),
            lax_.conv_transpose(image, kernel.swapaxes(2, 3), (1, 1), "SAME", transpose_kernel=True),
            lax_.conv_general_dilated_patches(x, (3, 2), (2, 1), "SAME"),
            lax_.conv_general_dilated_patches(
                image, (2, 2), (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
            ),
        ]

    close(run_traced(lambda: every(lax), [])[0], every(jax.lax))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.float16, jnp.bfloat16, np.float32, np.complex128])
def test_element_types(dtype, rng):
    x, k = (4 * rng.standard_normal(shape) for shape in ((2, 9, 8, 3), (3, 3, 3, 5)))
    x, k = x.astype(dtype), k.astype(dtype)
    options = {"dimension_numbers": ("NHWC", "HWIO", "NHWC")}
    found, _ = run_traced(lambda x, k: lax.conv_general_dilated(x, k, (1, 2), "SAME", **options), [x, k])
    expected = jax.lax.conv_general_dilated(x, k, (1, 2), "SAME", **options)
    tolerance = {2: 2e-2, 4: 1e-5}.get(np.dtype(dtype).itemsize, 1e-12)
    if np.dtype(dtype).kind in "iu":
        assert found.tolist() == expected.tolist()
    else:
        close([np.asarray(found, np.complex128)], [np.asarray(expected, np.complex128)], tolerance)
        assert found.dtype == dtype


WINDOWS = {
    "pooling": ((1, 2, 2, 1), (1, 2, 2, 1), "VALID", None, None),
    "overlapping": ((1, 3, 3, 1), (1, 2, 1, 1), "SAME", None, None),
    "dilated": ((2, 2, 3, 1), (1, 2, 1, 1), ((0, 1), (2, 0), (1, 1), (0, 0)), (1, 2, 1, 1), (1, 1, 2, 1)),
    "cumulative": ((1, 1, 6, 1), None, ((0, 0), (0, 0), (5, 0), (0, 0)), None, None),
}


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.specifies("ReduceWindow")
def test_windows(name, rng):
    x = rng.standard_normal((2, 7, 6, 3))
    xs = rng.integers(-3, 3, (2, 2, 7, 6, 3)).astype(float)  # with elements that are equal
    options = WINDOWS[name]

    def everything(lax_, np_, transform):
        def add(x):
            return lax_.reduce_window(x, 0.0, lax_.add, *options)

        def largest(x):
            return lax_.reduce_window(x, -np.inf, lax_.max, *options)

        def least(x):
            return lax_.reduce_window(x, np.inf, lax_.min, *options)

        def loss(x):
            if name == "dilated":  # JAX has no gradient of extremes then
                return weighted(add(x) ** 2, np_)
            return weighted(add(x), np_) + weighted(largest(x) ** 2, np_) + weighted(least(x), np_)

        def every(x, xs):
            lanes = [transform.vmap(f)(xs) for f in (add, largest, least)]
            plain = [add(x), largest(x), least(x), transform.grad(loss)(x), transform.jvp(loss, (x,), (x + 1,))]
            if name == "pooling":
                plain += [
                    transform.jvp(transform.grad(loss), (x,), (np_.cos(x),)),
                    transform.vmap(transform.grad(loss))(xs),
                ]
            return plain, lanes

        return every

    def finite(tree):  # windows that see padding alone
        return jax.tree.map(lambda a: np.where(np.isfinite(a), a, 0), tree)

    close(
        finite(run_traced(everything(lax, nhp, numhlo), [x, xs])[0]),
        finite(jax.jit(everything(jax.lax, jnp, jax))(x, xs)),
    )
    close(lax.reduce_window(x, 0.0, lax.add, *options), jax.lax.reduce_window(x, 0.0, jax.lax.add, *options))


def test_windows_of_pairs_and_other_bodies(rng):
    x, n = rng.standard_normal((4, 9)), rng.integers(0, 9, (4, 9))

    def every(lax_, np_):
        def best(a, b):
            better = a[0] >= b[0]
            return np_.where(better, a[0], b[0]), np_.where(better, a[1], b[1])

        return (
            lax_.reduce_window((x, n), (-np.inf, np.int64(0)), best, (1, 3), (1, 2), "SAME"),
            lax_.reduce_window(n, np.int64(1), lax_.mul, (2, 2)),
            lax_.reduce_window(n > 4, np.False_, lax_.bitwise_or, (1, 4)),
            lax_.reduce_window(x.astype(np.float32), np.float32(0), lax_.add, (4, 4), (1, 1), "SAME"),
        )

    close(run_traced(lambda: every(lax, nhp), [])[0], every(jax.lax, jnp), 1e-6)


@pytest.mark.specifies("ReduceWindow")
def test_pooling():
    x = np.arange(2 * 5 * 4 * 3.0).reshape(2, 5, 4, 3) % 7
    found = numhlo.jit(
        lambda x: (
            nn.avg_pool(x, (2, 2), (2, 2)),
            nn.avg_pool(x, (3, 3), padding="SAME", count_include_pad=False),
            nn.max_pool(x, (2, 2), padding=((1, 0), (0, 1))),
            nn.min_pool(x[0], (2, 2)),
        )
    )(x)
    np.testing.assert_allclose(found[0], x[:, :4].reshape(2, 2, 2, 2, 2, 3).mean((2, 4)))
    inside = np.ones_like(x)
    totals = [jax.lax.reduce_window(a, 0.0, jax.lax.add, (1, 3, 3, 1), (1,) * 4, "SAME") for a in (x, inside)]
    np.testing.assert_allclose(found[1], totals[0] / totals[1])
    padded = np.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0)), constant_values=-np.inf)
    corners = [padded[:, i : i + 5, j : j + 4] for i in (0, 1) for j in (0, 1)]
    np.testing.assert_array_equal(found[2], np.max(corners, 0))
    np.testing.assert_array_equal(found[3], np.min([x[0, i : i + 4, j : j + 3] for i in (0, 1) for j in (0, 1)], 0))


def test_gradients_agree_with_finite_differences(rng):
    x, k = rng.standard_normal((2, 6, 5, 2)), rng.standard_normal((3, 2, 2, 3))

    @numhlo.jit
    def loss(x, k):
        y = lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (nn.max_pool(y, (2, 2), (2, 2)) * nn.avg_pool(y * y, (2, 2), (2, 2))).sum()

    for argument, gradient in enumerate(numhlo.grad(loss, (0, 1))(x, k)):
        step = rng.standard_normal(gradient.shape)
        step = step / np.abs(step).max()
        ends = [loss(*[a + h * step if n == argument else a for n, a in enumerate((x, k))]) for h in (1e-6, -1e-6)]
        np.testing.assert_allclose((gradient * step).sum(), (ends[0] - ends[1]) / 2e-6, 1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lax.conv(np.ones((1, 2, 3)), np.ones((1, 2, 3), "f4"), (1,), "SAME"), "differ in dtype"),
        (lambda: lax.conv(np.ones((1, 2, 3)), np.ones((1, 2)), (1,), "SAME"), "3 and 2 dimensions"),
        (lambda: lax.conv(np.ones((1, 2, 3)), np.ones((1, 2, 3)), (1,), "SOME"), "SAME_LOWER"),
        (lambda: lax.conv(np.ones((1, 2, 3)), np.ones((1, 3, 3)), (1,), "SAME"), r"\(C14\)"),
        (lambda: lax.conv(np.ones((1, 2, 3)), np.ones((1, 2, 3)), (1, 1), "SAME"), "window_strides"),
        (
            lambda: lax.conv_general_dilated(
                np.ones((1, 2)), np.ones((1, 2)), (), (), dimension_numbers=("NC", "OX", "NC")
            ),
            "OX must have",
        ),
        (lambda: lax.reduce_window(np.ones(3), 0.0, lax.add, (1, 1)), "window_dimensions"),
        (lambda: nn.max_pool(np.ones(3), (2, 2)), "last axis holds features"),
    ],
)
def test_what_does_not_fit_is_explained(call, message):
    with pytest.raises(Exception, match=message) as caught:
        call()
    assert type(caught.value).__module__.startswith("numhlo")
