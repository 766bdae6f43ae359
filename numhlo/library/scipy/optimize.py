"""The least value of a smooth function, by Broyden, Fletcher, Goldfarb and Shanno's method.

Sources: Nocedal and Wright, "Numerical Optimization", 2nd edition, algorithm 6.1 (the method); Lewis and Overton,
"Nonsmooth optimization via quasi-Newton methods", Mathematical Programming 141 (2013), algorithm 2.6 (how far to go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.scipy.operands import MEANINGS
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError, UnsupportedError
from numhlo.tracer.building import asarray, while_loop
from numhlo.tracer.building.derivatives import value_and_grad

__all__ = ["OptimizeResults", "minimize"]

NEEDED = MEANINGS
"""NumPy's functions have a meaning on traced arrays."""

DECREASE, FLATTENING = 1e-4, 0.9
"""How much of the linear decrease a step must reach, and how much of the slope may be left: Wolfe's conditions."""

DEFAULTS: dict[str, Any] = {"maxiter": None, "norm": np.inf, "gtol": 1e-5, "line_search_maxiter": 30}
CONVERGED, TOO_MANY_STEPS, NO_STEP = 0, 1, 5
"""What `OptimizeResults.status` says."""


class OptimizeResults(NamedTuple):
    """What a minimization found.

    Attributes
    ----------
    x : (n,) Array
    success : bool Array
    status : int Array
        0: the gradient is small; 1: too many steps; 5: no step leads further down.
    fun : Array
        The value at ``x``.
    jac : (n,) Array
        The gradient there.
    hess_inv : (n, n) Array
        An estimate of the inverse of the matrix of second derivatives.
    nfev, njev, nit : int Array
        Numbers of values, gradients and steps.

    Examples
    --------
    >>> int(minimize(lambda x: (x * x).sum(), np.ones(2)).status)
    0
    """

    x: Any
    success: Any
    status: Any
    fun: Any
    jac: Any
    hess_inv: Any
    nfev: Any
    njev: Any
    nit: Any


class _State(NamedTuple):
    x: Any
    value: Any
    slope: Any
    inverse: Any
    steps: Any
    calls: Any
    failed: Any


class _Search(NamedTuple):
    low: Any
    high: Any
    step: Any
    value: Any
    slope: Any
    tries: Any
    is_done: Any


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str = "BFGS",
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """Return where a function has its least value, found from a first guess.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)``, a real number; it is differentiated.
    x0 : (n,) array_like
        Of real numbers.
    args : tuple, optional
        What else ``fun`` takes.
    method : {"BFGS"}, optional
    tol : float, optional
        The greatest element of the gradient at the end; 1e-5 by default.
    options : mapping, optional
        ``maxiter`` (200 n by default), ``gtol`` (as ``tol``), ``norm`` (the order of the norm that the gradient is
        measured by; infinite by default), ``line_search_maxiter`` (30).

    Returns
    -------
    OptimizeResults

    Raises
    ------
    UnsupportedError
        For another method.
    ArgumentError
        If ``args`` is no tuple, or an option is unknown.
    ShapeError
        If ``x0`` is no line.

    Notes
    -----
    As in JAX there are no bounds, no constraints and no derivatives of the result; steps differ from SciPy's and from
    JAX's, the minimum does not.

    Examples
    --------
    >>> found = minimize(lambda x: ((x - np.array([1.0, 2.0])) ** 2).sum(), np.zeros(2))
    >>> bool(found.success), found.x.round(4).tolist()
    (True, [1.0, 2.0])
    """
    if method.lower() != "bfgs":
        raise UnsupportedError(f"minimize({method=})", where=capture_location(), fix='use method="BFGS"')
    if not isinstance(args, tuple):
        raise ArgumentError(f"minimize(args={args!r})", where=capture_location(), fix="give a tuple: args=(a,)")
    chosen = {**DEFAULTS, **({} if tol is None else {"gtol": tol}), **(options or {})}
    if unknown := set(chosen) - set(DEFAULTS):
        names = ", ".join(sorted(unknown))
        raise ArgumentError(
            f"minimize with options {names}", where=capture_location(), fix=f"use {', '.join(DEFAULTS)}"
        )
    start = asarray(x0)
    if start.ndim != 1:
        raise ShapeError(f"minimize from x0 of shape {start.shape}", where=capture_location(), fix="give a line")
    start = start if start.dtype.kind == "f" else start.astype(np.float64)
    evaluate = value_and_grad(lambda x: fun(x, *args))
    return _bfgs(evaluate, start, chosen)


def _bfgs(evaluate: Callable[[Any], Any], start: Any, options: Mapping[str, Any]) -> OptimizeResults:
    most = 200 * start.shape[0] if options["maxiter"] is None else options["maxiter"]
    value, slope = evaluate(start)
    zero = np.zeros((), np.int64)

    def is_flat(state: _State) -> Any:
        return np.linalg.norm(state.slope, options["norm"]) < options["gtol"]

    def goes_on(state: _State) -> Any:
        return ~is_flat(state) & ~state.failed & (state.steps < most)

    def improve(state: _State) -> _State:
        direction = -(state.inverse @ state.slope)
        found = _step_along(evaluate, state, direction, options["line_search_maxiter"])
        moved, turned = found.step * direction, found.slope - state.slope
        return _State(
            np.where(found.is_done, state.x + moved, state.x),
            np.where(found.is_done, found.value, state.value),
            np.where(found.is_done, found.slope, state.slope),
            _updated(state.inverse, moved, turned, found.is_done),
            state.steps + 1,
            state.calls + found.tries,
            ~found.is_done,
        )

    first = _State(start, value, slope, np.eye(start.shape[0], dtype=start.dtype), zero, zero + 1, np.zeros((), bool))
    last: Any = while_loop(goes_on, improve, first)
    good = is_flat(last)
    status = np.where(good, CONVERGED, np.where(last.failed, NO_STEP, TOO_MANY_STEPS))
    return OptimizeResults(
        last.x, good, status, last.value, last.slope, last.inverse, last.calls, last.calls, last.steps
    )


def _step_along(evaluate: Callable[[Any], Any], state: _State, direction: Any, most: int) -> _Search:
    """Return a step that leads down far enough, to where it is less steep; it is doubled, or halved between bounds."""
    dtype = state.x.dtype
    steepness = state.slope @ direction
    far = np.asarray(np.inf, dtype)

    def goes_on(search: _Search) -> Any:
        return ~search.is_done & (search.tries < most)

    def halve(search: _Search) -> _Search:
        value, slope = evaluate(state.x + search.step * direction)
        is_low = value <= state.value + DECREASE * search.step * steepness  # false for NaN: too far
        is_flat = slope @ direction >= FLATTENING * steepness
        low = np.where(is_low & ~is_flat, search.step, search.low)
        high = np.where(is_low, search.high, search.step)
        further = np.where(high < far, (low + high) / 2, 2 * low)
        done = is_low & is_flat
        return _Search(low, high, np.where(done, search.step, further), value, slope, search.tries + 1, done)

    length = np.sqrt((state.slope * state.slope).sum())
    step = np.where(state.steps == 0, np.minimum(1, 1 / length), np.ones((), dtype)).astype(dtype)
    tries = np.zeros((), np.int64)
    begin = _Search(np.zeros((), dtype), far, step, state.value, state.slope, tries, np.zeros((), bool))
    found: _Search = while_loop(goes_on, halve, begin)
    return found


def _updated(inverse: Any, moved: Any, turned: Any, is_done: Any) -> Any:
    """Return the inverse of second derivatives that fits the last step; itself where curvature isn't positive."""
    curvature = moved @ turned
    is_good = is_done & (curvature > 0)
    scale = 1 / np.where(is_good, curvature, 1)
    across = np.eye(moved.shape[0], dtype=moved.dtype) - scale * np.outer(moved, turned)
    return np.where(is_good, across @ inverse @ across.T + scale * np.outer(moved, moved), inverse)
