"""`jax.test_util`: derivatives compared with differences of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.compat.jax.arrays import canonical
from numhlo.compat.jax.transformations import jvp, vjp
from numhlo.tracer.trees.pytrees import tree_leaves, tree_map

__all__ = ["check_grads", "check_jvp", "check_vjp"]

TOLERANCES = {2: 1e-1, 4: 6e-3, 8: 1e-5}
"""Of comparisons, by the number of bytes of a real number."""


def _narrowest(*trees: Any) -> int:
    """Return the number of bytes of the narrowest real numbers."""
    return min((_width(canonical(np.asarray(leaf)).dtype) for leaf in tree_leaves(trees)), default=8)


def _step(args: Any, eps: float | None) -> float:
    usual = 1e-4 if _narrowest(args) == 8 else 1e-2
    return usual if eps is None else eps


def _width(dtype: np.dtype) -> int:
    return dtype.itemsize // (2 if dtype.kind == "c" else 1)


def _random_like(generator: np.random.Generator, tree: Any) -> Any:
    def one(leaf: Any) -> Any:
        array = canonical(np.asarray(leaf))
        drawn = generator.standard_normal(array.shape)
        if array.dtype.kind == "c":
            drawn = drawn + 1j * generator.standard_normal(array.shape)
        return np.asarray(drawn, array.dtype)

    return tree_map(one, tree)


def _differences(f: Callable[..., Any], args: Any, tangents: Any, eps: float) -> Any:
    above, below = (tree_map(lambda x, t, s=s: np.asarray(x + s * eps * t), args, tangents) for s in (0.5, -0.5))
    return tree_map(lambda a, b: (np.asarray(a) - np.asarray(b)) / eps, f(*above), f(*below))


def _require_close(found: Any, wanted: Any, atol: float | None, rtol: float | None, message: str, width: int) -> None:
    usual = TOLERANCES.get(width, 1e-5)
    for mine, other in zip(tree_leaves(found), tree_leaves(wanted), strict=True):
        np.testing.assert_allclose(
            np.asarray(mine),
            np.asarray(other),
            atol=usual if atol is None else atol,
            rtol=usual if rtol is None else rtol,
            err_msg=message,
        )


def check_jvp(
    f: Callable[..., Any],
    f_jvp: Callable[..., Any],
    args: tuple[Any, ...],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compare a function's derivative along random tangents with a difference of its values.

    Parameters
    ----------
    f : callable
    f_jvp : callable
        Of primals and tangents, as ``partial(jax.jvp, f)``.
    args : tuple
    atol, rtol, eps : float, optional
        Tolerances, and the length of the step.
    err_msg : str, optional

    Raises
    ------
    AssertionError
        If they differ.

    Notes
    -----
    Source: `jax.test_util.check_jvp`.
    """
    generator = np.random.default_rng(0)
    tangents = _random_like(generator, args)
    value, slope = f_jvp(args, tangents)
    prefix = f"{err_msg} " if err_msg else ""
    _require_close(value, f(*args), atol, rtol, f"{prefix}JVP primal", _narrowest(args))
    _require_close(
        slope, _differences(f, args, tangents, _step(args, eps)), atol, rtol, f"{prefix}JVP tangent", _narrowest(args)
    )


def check_vjp(
    f: Callable[..., Any],
    f_vjp: Callable[..., Any],
    args: tuple[Any, ...],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compare what a function pulls back of random cotangents with a difference of its values.

    Parameters
    ----------
    f : callable
    f_vjp : callable
        Of the arguments, as ``partial(jax.vjp, f)``.
    args : tuple
    atol, rtol, eps : float, optional
        Tolerances, and the length of the step.
    err_msg : str, optional

    Raises
    ------
    AssertionError
        If they differ.

    Notes
    -----
    Source: `jax.test_util.check_vjp`.
    """
    generator = np.random.default_rng(0)
    tangents = _random_like(generator, args)
    value, pull = f_vjp(*args)
    prefix = f"{err_msg} " if err_msg else ""
    _require_close(value, f(*args), atol, rtol, f"{prefix}VJP primal", _narrowest(args))
    cotangents = _random_like(generator, value)
    slope = _differences(f, args, tangents, _step(args, eps))
    found, wanted = _product(tangents, pull(cotangents)), _product(slope, cotangents)
    _require_close(found, wanted, atol, rtol, f"{prefix}VJP cotangent projection", _narrowest(args))


def _product(left: Any, right: Any) -> Any:
    pairs = zip(tree_leaves(left), tree_leaves(right), strict=True)
    return np.real(sum((np.sum(np.asarray(a) * np.asarray(b)) for a, b in pairs), np.zeros(())))


def check_grads(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare a function's derivatives up to an order, forwards and backwards, with differences of values.

    Parameters
    ----------
    f : callable
    args : tuple
        Arrays, or pytrees of them.
    order : int
        Of derivatives; each mode is tried on those of the lower order.
    modes : sequence of str, optional
        ``"fwd"``, ``"rev"``.
    atol, rtol, eps : float, optional
        Tolerances, and the length of the step.

    Raises
    ------
    AssertionError
        If they differ.

    Notes
    -----
    Source: `jax.test_util.check_grads`.

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> check_grads(lambda x: jax.numpy.sin(x) * x, (1.5,), order=2)
    """
    args = tuple(args)
    generator = np.random.default_rng(1)

    def check(function: Callable[..., Any], arguments: tuple[Any, ...], depth: int, message: str) -> None:
        if "fwd" in modes:
            forward = _forward(function)
            check_jvp(function, forward, arguments, atol, rtol, eps, f"{message}fwd")
            if depth > 1:
                tangents = _random_like(generator, arguments)
                check(lambda *xs: forward(xs, tangents), arguments, depth - 1, f"{message}fwd of ")
        if "rev" in modes:
            check_vjp(function, lambda *xs: vjp(function, *xs), arguments, atol, rtol, eps, f"{message}rev")
            if depth > 1:
                cotangents = _random_like(generator, function(*arguments))
                check(lambda *xs: vjp(function, *xs)[1](cotangents), arguments, depth - 1, f"{message}rev of ")

    check(f, args, order, "")


def _forward(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda primals, tangents: jvp(function, tuple(primals), tuple(tangents))
