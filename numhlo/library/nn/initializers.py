"""Initializers of weights, under JAX's names: functions of a key, a shape and a dtype.

Each function of this file returns one, but for `ones` and `zeros`, which are initializers themselves. Sources: LeCun et
al., 1998; Glorot and Bengio, 2010; He et al., 2015; Saxe et al., 2014; Xiao et al., 2018 (`delta_orthogonal`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.documentation import described, named
from numhlo.library.lax.slices import dynamic_update_slice
from numhlo.library.numpy import elementwise as ufuncs
from numhlo.library.numpy import filled_arrays as creation
from numhlo.library.numpy.axis_order import moveaxis
from numhlo.library.numpy.reshaping import reshape
from numhlo.library.random import continuous
from numhlo.library.random.keys import split
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import as_dtype, full_of, normalize_axis, operand_of

__all__ = [
    "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal",
    "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal", "ones", "orthogonal", "truncated_normal", "uniform",
    "variance_scaling", "xavier_normal", "xavier_uniform", "zeros",
]  # fmt: skip

_ARRAY = """
Parameters
----------
key : (2,) uint32
    Not used.
shape : sequence of int
dtype : dtype_like, optional
    float64 by default.

Returns
-------
Array
"""

_AS_VARIANCE_SCALING = """
Parameters
----------
in_axis, out_axis, batch_axis, dtype : optional
    As those of `variance_scaling`.
"""

_INITIALIZER = """
Parameters
----------
scale, stddev : float, optional
dtype : dtype_like, optional
    float64 by default.

Returns
-------
callable
    ``init(key, shape, dtype=dtype) -> array``.
"""

Initializer = Callable[..., Any]
Axes = int | Sequence[int]

TRUNCATED_DEVIATION = 0.87962566103423978
"""The standard deviation of the standard normal distribution cut off at -2 and 2."""

COMPLEX_TRUNCATED_DEVIATION = 0.95311164380491208
"""That of the complex one, cut off at absolute value 2."""


def _scaled(array: Any, factor: Any) -> Any:
    return ufuncs.multiply(array, np.asarray(factor).astype(array.dtype))


def constant(value: Any, dtype: Any = None) -> Initializer:
    """Return the initializer that fills arrays with a value.

    Parameters
    ----------
    value : array_like
        It broadcasts to the shape.
    dtype : dtype_like, optional
        float64 by default.

    Returns
    -------
    callable
        ``init(key, shape, dtype=dtype) -> array``; the key is not used.

    Examples
    --------
    >>> from numhlo import random
    >>> constant(7.0)(random.key(0), (2,))
    Array([7., 7.])
    """

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        return operand_of(full_of(value, tuple(shape), as_dtype(dtype)))

    return init


@described(_ARRAY)
def zeros(key: Any, shape: Sequence[int], dtype: Any = None) -> Any:
    """Return zeros; an initializer.

    Examples
    --------
    >>> from numhlo import random
    >>> zeros(random.key(0), (2,), "float32")
    Array([0., 0.], dtype=float32)
    """
    return constant(0)(key, shape, dtype)


@described(_ARRAY)
def ones(key: Any, shape: Sequence[int], dtype: Any = None) -> Any:
    """Return ones; an initializer.

    Examples
    --------
    >>> from numhlo import random
    >>> ones(random.key(0), (2,))
    Array([1., 1.])
    """
    return constant(1)(key, shape, dtype)


@described(_INITIALIZER)
def uniform(scale: float = 1e-2, dtype: Any = None) -> Initializer:
    """Return the initializer of numbers equally likely in [0, scale).

    Examples
    --------
    >>> from numhlo import random
    >>> weights = uniform(3.0)(random.key(0), (100,))
    >>> bool(0 <= weights.min() < weights.max() < 3)
    True
    """

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        return _scaled(continuous.uniform(key, shape, as_dtype(dtype)), scale)

    return init


@described(_INITIALIZER)
def normal(stddev: float = 1e-2, dtype: Any = None) -> Initializer:
    """Return the initializer of normally distributed numbers, by default with deviation 0.01.

    Examples
    --------
    >>> from numhlo import random
    >>> normal(5.0)(random.key(0), (2, 3)).shape
    (2, 3)
    """

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        return _scaled(continuous.normal(key, shape, as_dtype(dtype)), stddev)

    return init


@described(_INITIALIZER)
def truncated_normal(stddev: float = 1e-2, dtype: Any = None, lower: float = -2.0, upper: float = 2.0) -> Initializer:
    """Return the initializer of normally distributed numbers cut off at ``lower`` and ``upper`` deviations.

    Parameters
    ----------
    stddev : float, optional
        Before they are cut off.
    lower, upper : float, optional

    Examples
    --------
    >>> from numhlo import random
    >>> weights = truncated_normal(1.0)(random.key(0), (1000,))
    >>> bool(abs(weights).max() <= 2)
    True
    """

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        return _scaled(continuous.truncated_normal(key, lower, upper, shape, as_dtype(dtype)), stddev)

    return init


def _extent(shape: Sequence[int], axes: Axes) -> int:
    return shape[axes] if isinstance(axes, int) else math.prod([shape[k] for k in axes])


def _fans(shape: Sequence[int], in_axis: Axes, out_axis: Axes, batch_axis: Axes) -> tuple[float, float]:
    """Return how many numbers a result depends on, and how many results depend on a number."""
    if isinstance(in_axis, int) and in_axis == -2 and len(shape) <= 1:
        raise ShapeError(
            f"an initializer that scales by fan: weights of shape {list(shape)}",
            where=capture_location(),
            why="its inputs lie along axis -2",
            fix="make the weights at least two-dimensional, or pass in_axis=",
        )
    ins, outs = _extent(shape, in_axis), _extent(shape, out_axis)
    field = math.prod(shape) / ins / outs / _extent(shape, batch_axis)
    return ins * field, outs * field


def _complex_disc(key: Any, shape: Sequence[int], dtype: np.dtype, radius: Callable[[Any], Any]) -> Any:
    """Return complex numbers of uniform angle, whose radius is a function of uniform numbers."""
    radius_key, angle_key = split(key)
    real = np.dtype(f"f{dtype.itemsize // 2}")
    length = radius(continuous.uniform(radius_key, shape, real))
    angle = ufuncs.multiply(continuous.uniform(angle_key, shape, real), real.type(2 * np.pi))
    return ufuncs.multiply(length, ufuncs.exp(ufuncs.multiply(angle, dtype.type(1j))))


def _truncated(key: Any, shape: Sequence[int], dtype: np.dtype) -> Any:
    """Return numbers of deviation 1 from the normal distribution cut off at two deviations."""
    if dtype.kind != "c":
        return _scaled(continuous.truncated_normal(key, -2, 2, shape, dtype), 1 / TRUNCATED_DEVIATION)
    cut = 1 - math.exp(-4.0)
    disc = _complex_disc(key, shape, dtype, lambda u: ufuncs.sqrt(ufuncs.negative(ufuncs.log1p(_scaled(u, -cut)))))
    return _scaled(disc, 1 / COMPLEX_TRUNCATED_DEVIATION)


def _even(key: Any, shape: Sequence[int], dtype: np.dtype) -> Any:
    """Return numbers of variance 1, equally likely in an interval around 0, complex ones in a disc."""
    if dtype.kind == "c":
        return _complex_disc(key, shape, dtype, lambda u: ufuncs.sqrt(_scaled(u, 2.0)))
    return _scaled(continuous.uniform(key, shape, dtype, -1), math.sqrt(3))


DISTRIBUTIONS: dict[str, Callable[..., Any]] = {
    "truncated_normal": _truncated,
    "normal": continuous.normal,
    "uniform": _even,
}
DENOMINATORS: dict[str, Callable[[float, float], float]] = {
    "fan_in": lambda fan_in, fan_out: fan_in,
    "fan_out": lambda fan_in, fan_out: fan_out,
    "fan_avg": lambda fan_in, fan_out: (fan_in + fan_out) / 2,
    "fan_geo_avg": lambda fan_in, fan_out: (fan_in * fan_out) ** 0.5,
}


def _chosen(table: dict[str, Any], name: str, value: str) -> Any:
    if value not in table:
        raise ArgumentError(
            f"variance_scaling({name}={value!r})", where=capture_location(), fix=f"use one of {', '.join(table)}"
        )
    return table[value]


@described(_INITIALIZER)
def variance_scaling(
    scale: float,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: Any = None,
) -> Initializer:
    """Return the initializer of random numbers whose variance is ``scale`` over the number of inputs or outputs.

    Parameters
    ----------
    scale : float
    mode : str
        What to divide by: ``"fan_in"``, ``"fan_out"``, their mean ``"fan_avg"`` or ``"fan_geo_avg"``.
    distribution : str
        ``"truncated_normal"``, ``"normal"`` or ``"uniform"``.
    in_axis, out_axis, batch_axis : int or sequence of int, optional
        Axes of inputs, of outputs, and those that count for neither; the rest is the receptive field.
    dtype : dtype_like, optional

    Raises
    ------
    ArgumentError
        If there is no such mode or distribution.
    ShapeError
        By the initializer, if a shape has no axis -2 and ``in_axis`` was left out.

    Examples
    --------
    >>> from numhlo import random
    >>> weights = variance_scaling(2.0, "fan_in", "normal")(random.key(0), (200, 300))
    >>> round(float(weights.var() * 200), 1)
    2.0
    """
    divide_by = _chosen(DENOMINATORS, "mode", mode)
    draw = _chosen(DISTRIBUTIONS, "distribution", distribution)

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        extents, wanted = tuple(shape), as_dtype(dtype)
        variance = scale / divide_by(*_fans(extents, in_axis, out_axis, batch_axis))
        return _scaled(draw(key, extents, wanted), math.sqrt(variance))

    return init


def _named(name: str, scale: float, mode: str, distribution: str, source: str) -> Callable[..., Initializer]:
    def rule(in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: Any = None) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    summary = f"Return the initializer ``variance_scaling({scale}, {mode!r}, {distribution!r})`` ({source})."
    example = f'>>> from numhlo import random\n>>> {name}()(random.key(0), (2, 3), "float32").shape\n(2, 3)'
    return named(rule, name, summary, example, _AS_VARIANCE_SCALING, _INITIALIZER)


xavier_uniform = glorot_uniform = _named("glorot_uniform", 1.0, "fan_avg", "uniform", "Glorot and Bengio, 2010")
xavier_normal = glorot_normal = _named("glorot_normal", 1.0, "fan_avg", "truncated_normal", "Glorot and Bengio, 2010")
lecun_uniform = _named("lecun_uniform", 1.0, "fan_in", "uniform", "LeCun et al., 1998")
lecun_normal = _named("lecun_normal", 1.0, "fan_in", "truncated_normal", "LeCun et al., 1998")
kaiming_uniform = he_uniform = _named("he_uniform", 2.0, "fan_in", "uniform", "He et al., 2015")
kaiming_normal = he_normal = _named("he_normal", 2.0, "fan_in", "truncated_normal", "He et al., 2015")


@described(_INITIALIZER)
def orthogonal(scale: float = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Return the initializer of matrices whose columns (or rows, where those are fewer) are orthogonal.

    Parameters
    ----------
    column_axis : int, optional
        The axis of columns; all others together are that of rows.
    dtype : dtype_like, optional

    Raises
    ------
    ShapeError
        By the initializer, if the weights have less than two dimensions.

    Examples
    --------
    >>> from numhlo import random
    >>> weights = orthogonal()(random.key(0), (3, 3))
    >>> bool(np.allclose(weights @ weights.T, np.eye(3)))
    True
    """

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        extents, wanted = tuple(shape), as_dtype(dtype)
        if len(extents) < 2:
            raise ShapeError(
                f"the orthogonal initializer: weights of shape {list(extents)}",
                where=capture_location(),
                fix="make them at least two-dimensional",
            )
        if 0 in extents:
            return creation.zeros(extents, wanted)
        axis = normalize_axis(column_axis, len(extents))
        columns = extents[axis]
        matrix = continuous.orthogonal(key, math.prod(extents) // columns, (), wanted, columns)
        others = [n for k, n in enumerate(extents) if k != axis]
        return _scaled(moveaxis(reshape(matrix, (*others, columns)), -1, axis), scale)

    return init


@described(_INITIALIZER)
def delta_orthogonal(scale: float = 1.0, column_axis: int = -1, dtype: Any = None) -> Initializer:
    """Return the initializer of convolution kernels that are zero but for an orthogonal matrix in the middle.

    Shapes have one to three axes of space, then those of inputs and of outputs.

    Parameters
    ----------
    scale, column_axis, dtype : optional
        As those of `orthogonal`.

    Raises
    ------
    ShapeError
        By the initializer, if the shape has not three to five axes, or fewer outputs than inputs.

    Examples
    --------
    >>> from numhlo import random
    >>> kernel = delta_orthogonal()(random.key(0), (3, 2, 2))
    >>> bool(np.allclose(kernel[1] @ kernel[1].T, np.eye(2))), float(abs(kernel[0]).max())
    (True, 0.0)
    """

    def init(key: Any, shape: Sequence[int], dtype: Any = dtype) -> Any:
        extents, wanted = tuple(shape), as_dtype(dtype)
        if not 3 <= len(extents) <= 5 or extents[-1] < extents[-2]:
            raise ShapeError(
                f"the delta_orthogonal initializer: weights of shape {list(extents)}",
                where=capture_location(),
                fix="give 3 to 5 axes, the last of which is not shorter than the one before",
            )
        matrix = orthogonal(scale, column_axis)(key, extents[-2:], wanted)
        middle = [(n - 1) // 2 for n in extents[:-2]]
        lifted = reshape(matrix, (*[1] * len(middle), *extents[-2:]))
        return dynamic_update_slice(creation.zeros(extents, wanted), lifted, (*middle, 0, 0))

    return init
