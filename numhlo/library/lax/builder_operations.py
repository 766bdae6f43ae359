"""Operations of XLA's builder that have no StableHLO op, and no name of JAX's, of their own.

What XLA's builder has besides is in `numhlo.lax` under JAX's names: Collapse is `collapse`, Rev `rev`, Broadcast
`broadcast`, ConvWithGeneralPadding `conv_with_general_padding`, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.documentation import described, named
from numhlo.library.lax.arithmetic import integer_pow
from numhlo.library.lax.callbacks import debug_print
from numhlo.library.lax.elementwise import div, lt, sqrt
from numhlo.library.lax.window_arguments import padtype_to_pads
from numhlo.library.numpy.reshaping import shape_tuple
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError
from numhlo.lowering.ops import windows
from numhlo.lowering.ops.random_bits import RNG
from numhlo.lowering.ops.window_geometry import as_array
from numhlo.tracer.building import asarray, bind1, convert, runs_anywhere, shape_of, trace_region, vmap

__all__ = [
    "cross_replica_sum", "get_dimension_size", "map_elements", "reciprocal_f32", "rng_bernoulli", "rng_normal",
    "rng_uniform", "select_and_scatter", "sqrt_f32", "square_f32", "trace",
]  # fmt: skip

_RANDOM = """
Parameters
----------
shape : tuple of int

Returns
-------
Array

Raises
------
DTypeError
    If the parameters are no such scalars.

Notes
-----
StableHLO specification, section ``rng``.
"""

_FLOAT32 = """
Parameters
----------
x : array_like
    Of float32.

Returns
-------
Array
    Of float32.

Raises
------
DTypeError
    If it is of another dtype.
"""


def _draw(name: str, first: Any, second: Any, shape: Any, distribution: str, kinds: str) -> Any:
    a, b = asarray(first), asarray(second)
    dtype = np.result_type(a.dtype, b.dtype)
    if dtype.kind not in kinds or shape_of(a) != () or shape_of(b) != ():
        raise DTypeError(
            f"lax.{name}: the parameters are {a.dtype}{list(shape_of(a))} and {b.dtype}{list(shape_of(b))}",
            where=capture_location(),
            fix="use two scalars of a float type" + (", or of an integer type" if "i" in kinds else ""),
        )
    extents = shape_tuple(shape)
    wanted = np.asarray(extents, np.int64)
    attributes = {"rng_distribution": distribution}
    result = TensorType(extents, dtype)
    return bind1(RNG, convert(a, dtype), convert(b, dtype), asarray(wanted), attributes=attributes, results=[result])


@runs_anywhere
@described(_RANDOM)
def rng_uniform(a: Any, b: Any, shape: Any) -> Any:
    """Return numbers that are uniform over ``[a, b)``, other ones at each run; `numhlo.random` has repeatable ones.

    Parameters
    ----------
    a, b : scalar
        Of one float or integer type.

    Examples
    --------
    >>> dice = rng_uniform(np.int32(1), np.int32(7), (100,))
    >>> bool((dice >= 1).all() and (dice < 7).all())
    True
    """
    return _draw("rng_uniform", a, b, shape, "UNIFORM", "fiuV")


@runs_anywhere
@described(_RANDOM)
def rng_normal(mu: Any, sigma: Any, shape: Any) -> Any:
    """Return normal numbers of mean ``mu`` and standard deviation ``sigma``, other ones at each run.

    Parameters
    ----------
    mu, sigma : scalar
        Of one float type.

    Examples
    --------
    >>> rng_normal(np.float32(0), np.float32(1), (2, 3)).shape
    (2, 3)
    """
    return _draw("rng_normal", mu, sigma, shape, "NORMAL", "fV")


@runs_anywhere
def rng_bernoulli(mean: Any, shape: Any) -> Any:
    """Return zeros and ones, other ones at each run.

    Parameters
    ----------
    mean : float32 scalar
        The frequency of ones, from 0 to 1.
    shape : tuple of int

    Returns
    -------
    uint32 array

    Examples
    --------
    >>> rng_bernoulli(np.float32(1), (2, 2))
    Array([[1, 1],
           [1, 1]], dtype=uint32)
    """
    threshold = convert(asarray(mean), np.float32)
    drawn = _draw("rng_bernoulli", np.float32(0), np.float32(1), shape, "UNIFORM", "f")
    return convert(lt(drawn, threshold), np.uint32)


def _float32(name: str, x: Any) -> Any:
    array = asarray(x)
    if array.dtype != np.float32:
        raise DTypeError(f"lax.{name}({array.dtype})", where=capture_location(), fix="convert to float32")
    return array


def _of_float32(name: str, formula: Callable[[Any], Any], summary: str, example: str) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        return formula(_float32(name, x))

    return runs_anywhere(named(function, name, summary, example, _FLOAT32))


sqrt_f32 = _of_float32(
    "sqrt_f32",
    sqrt,
    "Return the square root of float32 numbers.",
    ">>> sqrt_f32(np.float32(9))\nArray(3., dtype=float32)",
)
square_f32 = _of_float32(
    "square_f32",
    lambda x: integer_pow(x, 2),
    "Return the square of float32 numbers.",
    ">>> square_f32(np.float32(3))\nArray(9., dtype=float32)",
)
reciprocal_f32 = _of_float32(
    "reciprocal_f32",
    lambda x: div(np.ones(shape_of(x), np.float32), x),
    "Return one by float32 numbers.",
    ">>> reciprocal_f32(np.float32(4))\nArray(0.25, dtype=float32)",
)


@runs_anywhere
def cross_replica_sum(operand: Any) -> Any:
    """Return the sum over all replicas, which is the operand: numhlo runs one. Inside `vmap`, `psum` adds lanes up.

    Parameters
    ----------
    operand : array_like

    Returns
    -------
    Array

    Examples
    --------
    >>> cross_replica_sum(np.array([1, 2]))
    Array([1, 2])
    """
    return asarray(operand)


@runs_anywhere
def get_dimension_size(operand: Any, dimension: int) -> Any:
    """Return an extent as an int32.

    Parameters
    ----------
    operand : array_like
    dimension : int
        Not negative.

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If there is no such dimension.

    Notes
    -----
    StableHLO specification, section ``get_dimension_size``.

    Examples
    --------
    >>> get_dimension_size(np.zeros((2, 5)), 1)
    Array(5, dtype=int32)
    """
    shape = shape_of(asarray(operand))
    if not 0 <= dimension < len(shape):
        raise ArgumentError(
            f"lax.get_dimension_size: dimension {dimension}", where=capture_location(), why=f"there are {len(shape)}"
        )
    return asarray(np.int32(shape[dimension]))


def trace(tag: str, operand: Any) -> Any:
    """Print a value with a tag when the program runs, and return it as it is.

    Parameters
    ----------
    tag : str
    operand : array_like

    Returns
    -------
    Array

    Examples
    --------
    >>> trace("x", np.array([1, 2]))
    x: [1 2]
    array([1, 2])
    """
    debug_print(f"{tag}: ".replace("{", "{{").replace("}", "}}") + "{}", operand)
    return operand


def map_elements(computation: Callable[..., Any], *operands: Any, static_operands: Sequence[Any] = ()) -> Any:
    """Return a function of scalars applied to every position of arrays of one shape.

    Parameters
    ----------
    computation : callable
        Takes a scalar of each operand, then the static operands.
    *operands : array
        Of one shape.
    static_operands : sequence, optional
        The same for every position.

    Returns
    -------
    Array

    Raises
    ------
    ArgumentError
        If there are no operands, or shapes differ.
    TypeError
        If the function returns anything but one array.

    Notes
    -----
    StableHLO specification, section ``map``.

    Examples
    --------
    >>> map_elements(lambda x, y, s: x * s + y, np.array([1, 2]), np.array([10, 20]), static_operands=(3,))
    Array([13, 26])
    """
    shapes = {tuple(np.shape(x)) for x in operands}
    if len(shapes) != 1:
        raise ArgumentError(
            f"lax.map_elements: operands of shapes {sorted(shapes)}",
            where=capture_location(),
            fix="give at least one array, all of one shape",
        )
    (shape,) = shapes
    if not shape:
        return computation(*operands, *static_operands)
    found = vmap(lambda *scalars: computation(*scalars, *static_operands))(*[np.ravel(x) for x in operands])
    if not hasattr(found, "reshape"):
        raise TypeError(f"lax.map_elements: computation returns one array, not a {type(found).__name__}")
    return found.reshape(shape)


@runs_anywhere
def select_and_scatter(
    operand: Any,
    select: Callable[[Any, Any], Any],
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Any,
    source: Any,
    init_value: Any,
    scatter: Callable[[Any, Any], Any],
) -> Any:
    """Return an array like ``operand``, in which each window's selected element has got that window's source.

    Parameters
    ----------
    operand : array
    select : callable
        Takes two scalars, and says whether the first is selected; of ties, the first element.
    window_dimensions, window_strides : sequence of int
        One for each dimension.
    padding : str or sequence of (int, int)
        ``"SAME"``, ``"VALID"``, or widths before and after each dimension. Padding is never selected.
    source : array
        An element for each window.
    init_value : scalar
        Where nothing is scattered.
    scatter : callable
        Combines what is there with what comes.

    Returns
    -------
    Array
        Of the operand's shape and dtype.

    Raises
    ------
    VerificationError
        If windows and source do not fit.

    Notes
    -----
    StableHLO specification, section ``select_and_scatter``.

    Examples
    --------
    >>> x, source = np.array([1, 5, 2, 4]), np.array([10, 20])
    >>> select_and_scatter(x, lambda a, b: a >= b, (2,), (2,), "VALID", source, 0, lambda a, b: a + b)
    Array([ 0, 10,  0, 20])
    """
    array = asarray(operand)
    values, initial = (convert(asarray(x), array.dtype) for x in (source, init_value))
    sizes, strides = tuple(window_dimensions), tuple(window_strides)
    pairs = padtype_to_pads(shape_of(array), sizes, strides, padding) if isinstance(padding, str) else padding
    scalars = [TensorType((), array.dtype)] * 2
    regions = [
        trace_region(lambda a, b: [convert(asarray(select(a, b)), np.bool_)], scalars),
        trace_region(lambda a, b: [convert(asarray(scatter(a, b)), array.dtype)], scalars),
    ]
    attributes = {
        "window_dimensions": sizes,
        "window_strides": strides,
        "padding": as_array(tuple([(int(low), int(high)) for low, high in pairs])),
    }
    return bind1(windows.SELECT_AND_SCATTER, array, values, initial, attributes=attributes, regions=regions)
