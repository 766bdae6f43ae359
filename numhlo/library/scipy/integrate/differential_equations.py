"""Solutions of ordinary differential equations by Dormand and Prince's method, with steps that adapt.

Sources: Dormand and Prince, "A family of embedded Runge-Kutta formulae", Journal of Computational and Applied
Mathematics 6 (1980), for the tableau; Hairer, Nørsett and Wanner, "Solving Ordinary Differential Equations I", section
II.4, for the first step and its control; Shampine, "Some practical Runge-Kutta formulas", Mathematics of Computation 46
(1986), for the value in the middle of a step; Chen et al., "Neural ordinary differential equations", NeurIPS 2018, for
derivatives by the adjoint equation, which is solved backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numhlo.library.lax.raveling import ravel_pytree
from numhlo.library.scipy.operands import MEANINGS
from numhlo.library.transformations.closures import closure_convert
from numhlo.library.transformations.custom_backward import custom_vjp
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError, ShapeError
from numhlo.tracer.building import as_traced, asarray, scan, tree_map, vmap, while_loop
from numhlo.tracer.building.derivatives import vjp

__all__ = ["odeint"]

NEEDED = MEANINGS
"""NumPy's functions have a meaning on traced arrays."""

TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
ERROR = (71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40)
MIDDLE = (
    6025192743 / 60171106304, 0.0, 51252292925 / 130801643196, -2691868925 / 90256659456, 187940372067 / 3189068634112,
    -1776094331 / 39487288512, 11237099 / 470086768,
)  # fmt: skip
"""What slopes are weighed by: for the times of a step's stages, its error, and half of its way."""

SAFETY, MOST_GROWTH, MOST_SHRINKAGE, ORDER = 0.9, 10.0, 0.2, 5.0


class Control(NamedTuple):
    """How exact a solution is to be: tolerances, the most steps to each time, and the longest."""

    rtol: Any
    atol: Any
    mxstep: Any
    hmax: Any


class _State(NamedTuple):
    y: Any
    slope: Any
    time: Any
    step: Any
    before: Any
    curve: Any


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """Return the solution of ``dy/dt = func(y, t, *args)`` at given times.

    Parameters
    ----------
    func : callable
        Gives the slope, a pytree like ``y0``.
    y0 : pytree of array_like
        The solution at ``t[0]``, of floats.
    t : (n,) array_like
        Times, each later than the one before; of floats.
    *args : pytree
        What else ``func`` takes, arrays.
    rtol, atol : float, optional
        The error that a step may have, relative to the solution and absolute.
    mxstep : float, optional
        The most steps from one time to the next.
    hmax : float, optional
        The longest step.

    Returns
    -------
    pytree of Array
        As ``y0``, with a new first axis of extent n.

    Raises
    ------
    DTypeError
        If times are not floats.
    ShapeError
        If there is no line of times.

    Notes
    -----
    Derivatives with respect to ``y0``, ``t``, ``args``, and to what ``func`` closes over, are found by the adjoint
    equation: memory does not grow with the number of steps. Forward-mode derivatives there are none.

    Examples
    --------
    >>> odeint(lambda y, t: -y, np.ones(()), np.array([0.0, 1.0, 2.0])).round(6)
    Array([1.      , 0.367879, 0.135335])
    """
    times = asarray(t)
    if times.dtype.kind != "f":
        raise DTypeError(f"odeint at times of {times.dtype}", where=capture_location(), fix="give floats")
    if times.ndim != 1 or not times.shape[0]:
        raise ShapeError(f"odeint at times of shape {times.shape}", where=capture_location(), fix="give a line")
    converted, captured = closure_convert(func, y0, times[0], *args)
    flat, unravel = ravel_pytree(y0)

    def slope(y: Any, time: Any, *rest: Any) -> Any:
        return ravel_pytree(converted(unravel(y), time, *rest))[0]

    found = _solution(slope, Control(rtol, atol, mxstep, hmax), flat, times, *args, *captured)
    return vmap(unravel)(found)


def _weighed(slopes: list[Any], weights: tuple[float, ...]) -> Any:
    terms = [weight * slope for weight, slope in zip(weights, slopes, strict=False) if weight]
    return sum(terms[1:], start=terms[0])


def _one_step(f: Callable[[Any, Any], Any], state: _State) -> tuple[Any, Any, Any, Any]:
    """Return the solution after a step, its slope there, its error, and the solution halfway."""
    slopes, y = [state.slope], state.y
    for share, weights in zip(TIMES, STAGES, strict=True):
        y = state.y + state.step * _weighed(slopes, weights)
        slopes.append(f(y, state.time + state.step * share))
    error = state.step * _weighed(slopes, ERROR)
    return y, slopes[-1], error, state.y + state.step * _weighed(slopes, MIDDLE)


def _curve(state: _State, y: Any, slope: Any, middle: Any) -> Any:
    """Return the coefficients, highest power first, of the quartic through both ends, with slopes, and halfway."""
    first, last, step = state.y, y, state.step
    return np.stack([
        2 * step * (slope - state.slope) - 8 * (first + last) + 16 * middle,
        step * (5 * state.slope - 3 * slope) + 18 * first + 14 * last - 32 * middle,
        step * (slope - 4 * state.slope) - 11 * first - 5 * last + 16 * middle,
        step * state.slope,
        first,
    ])  # fmt: skip


def _size(x: Any) -> Any:
    return np.sqrt((np.abs(x) ** 2).mean())


def _first_step(f: Callable[[Any, Any], Any], y: Any, time: Any, slope: Any, control: Control) -> Any:
    scale = control.atol + np.abs(y) * control.rtol

    def norm(x: Any) -> Any:
        return np.sqrt((np.abs(x / scale) ** 2).sum())

    height, steepness = norm(y), norm(slope)
    is_small = (height < 1e-5) | (steepness < 1e-5)
    short = np.where(is_small, 1e-6, 0.01 * height / np.where(is_small, 1.0, steepness))
    bend = norm(f(y + short * slope, time + short) - slope) / short
    steepest = np.maximum(steepness, bend)
    is_straight = steepest <= 1e-15
    power = (0.01 / np.where(is_straight, 1.0, steepest)) ** (1 / ORDER)
    longer = np.where(is_straight, np.maximum(1e-6, short * 1e-3), power)
    return np.minimum(100 * short, longer)


def _forward(function: Callable[..., Any], control: Control, y0: Any, times: Any, *args: Any) -> Any:
    def f(y: Any, time: Any) -> Any:
        return function(y, time, *args)

    def advance(counted: tuple[Any, _State]) -> tuple[Any, _State]:
        count, state = counted
        y, slope, error, middle = _one_step(f, state)
        ratio = _size(error / (control.atol + control.rtol * np.maximum(np.abs(state.y), np.abs(y))))
        is_exact = ratio <= 1
        floor = np.where(ratio < 1, 1.0, MOST_SHRINKAGE)
        factor = np.clip(SAFETY * np.where(ratio == 0, 1.0, ratio) ** (-1 / ORDER), floor, MOST_GROWTH)
        step = np.clip(state.step * np.where(ratio == 0, MOST_GROWTH, factor), 0, control.hmax).astype(state.step.dtype)
        new = _State(y, slope, state.time + state.step, step, state.time, _curve(state, y, slope, middle))
        kept = tree_map(lambda one, other: np.where(is_exact, one, other), new, state._replace(step=step))
        return count + 1, kept

    def to_time(state: _State, target: Any) -> tuple[_State, Any]:
        def goes_on(counted: tuple[Any, _State]) -> Any:
            count, now = counted
            return (now.time < target) & (count < control.mxstep) & (now.step > 0)

        _, reached = while_loop(goes_on, advance, (np.zeros((), np.int64), state))
        share = (target - reached.before) / np.where(reached.time == reached.before, 1, reached.time - reached.before)
        value = reached.curve[0]
        for k in range(1, 5):
            value = value * share + reached.curve[k]
        return reached, value.astype(y0.dtype)

    slope = f(y0, times[0])
    step = np.clip(_first_step(f, y0, times[0], slope, control), 0, control.hmax).astype(times.dtype)
    still = np.zeros_like(y0)
    curve = np.stack([still, still, still, still, y0])
    begin = _State(y0, slope, times[0], step, times[0], curve)
    return np.concatenate([y0[None], scan(to_time, begin, times[1:])[1]])


def _kept(function: Callable[..., Any], control: Control, y0: Any, times: Any, *args: Any) -> tuple[Any, Any]:
    values: Any = _solution(function, control, y0, times, *args)  # whose derivative has a rule again
    return values, (values, times, args)


def _backward(function: Callable[..., Any], control: Control, kept: Any, given: Any) -> tuple[Any, ...]:
    """Return the cotangents of ``y0``, times and ``args``, by the adjoint equation from each time to that before."""
    *both, args = kept
    arrays: list[Any] = [as_traced(x) for x in (*both, given)]  # NumPy's, of what is known, take no traced index
    values, times, given = arrays

    def adjoint(state: Any, time: Any, *rest: Any) -> Any:
        y, share, *_ = state  # time runs backwards here
        slope, pull = vjp(lambda *x: function(x[0], x[1], *x[2:]), y, -time, *rest)
        return (-slope, *pull(share))

    def to_time_before(carry: Any, k: Any) -> tuple[Any, Any]:
        share, first, of_args = carry
        moved = (function(values[k], times[k], *args) @ given[k]).real
        interval = np.stack([-times[k], -times[k - 1]])
        state = (values[k], share, first - moved, of_args)
        solved = odeint(adjoint, state, interval, *args, **control._asdict())
        _, share, first, of_args = tree_map(lambda x: x[1], solved)
        return (share + given[k - 1], first, of_args), moved

    begin = (given[-1], np.zeros((), times.dtype), tree_map(np.zeros_like, args))
    order = np.arange(times.shape[0] - 1, 0, -1)
    (share, first, of_args), moved = scan(to_time_before, begin, order)
    return (share, np.concatenate([first[None], moved[::-1]]), *of_args)


_solution = custom_vjp(_forward, nondiff_argnums=(0, 1))
_solution.defvjp(_kept, _backward)
