"""Functions of slices: apply_along_axis, apply_over_axes, vectorize, over `vmap`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy.axis_order import moveaxis
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ShapeError
from numhlo.tracer.building import (
    FUNCTIONS,
    are_arrays_immutable,
    as_arrays,
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    current_trace,
    expand,
    normalize_axes,
    normalize_axis,
    reshape_to,
    shape_of,
    stands_for,
    unshared,
    vmap,
)

__all__ = ["apply_along_axis", "apply_over_axes", "vectorize"]


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a function of all slices along an axis; while tracing it is called once, on a slice of them all.

    Parameters
    ----------
    func1d : callable
        Takes a vector; returns a scalar or an array of any shape.
    axis : int
    arr : array_like
    *args, **kwargs
        For the function.

    Returns
    -------
    Array
        What it returns stands in the place of the axis.

    Raises
    ------
    numpy.exceptions.AxisError
        If there is no such axis.
    ValueError
        If there is no slice.

    Examples
    --------
    >>> apply_along_axis(lambda line: line.sum(), 0, np.ones((2, 3)))
    Array([2., 2., 2.])
    """
    if current_trace() is None:
        return as_arrays(np.apply_along_axis(func1d, axis, arr, *args, **kwargs))
    array = asarray(arr)
    shape = shape_of(array)
    place = normalize_axis(axis, len(shape))
    if 0 in (*shape[:place], *shape[place + 1 :]) and not are_arrays_immutable():
        raise ArgumentError("Cannot apply_along_axis when any iteration dimensions are 0", where=capture_location())
    mapped: Callable[..., Any] = functools.partial(_call_on, func1d, args, kwargs)
    for _ in range(len(shape) - 1):
        mapped = vmap(mapped)
    result = unshared(mapped(moveaxis(array, place, -1)))
    lead = len(shape) - 1
    added = len(shape_of(result)) - lead
    return moveaxis(result, tuple(range(lead, lead + added)), tuple(range(place, place + added)))


def _call_on(function: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any], line: Any) -> Any:
    return function(line, *args, **options)


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: Any) -> Any:
    """Return a function that reduces one axis, applied to several axes in turn; reduced axes are kept.

    Parameters
    ----------
    func : callable
        Takes an array and an axis, and returns an array with or without it.
    a : array_like
    axes : int or sequence of int

    Returns
    -------
    Array
        Of as many dimensions as ``a``.

    Raises
    ------
    ValueError
        If the function returns an array of other dimensions.

    Examples
    --------
    >>> apply_over_axes(np.sum, np.ones((2, 3)), [0, 1])
    Array([[6.]])
    """
    if current_trace() is None:
        return as_arrays(np.apply_over_axes(func, a, axes))
    result = asarray(a)
    ndim = len(shape_of(result))
    for axis in normalize_axes(axes, ndim):
        reduced = func(result, axis)
        if len(shape_of(reduced)) == ndim - 1:
            reduced = expand(reduced, axis)
        if len(shape_of(reduced)) != ndim:
            raise ValueError("function is not returning an array of the correct shape")
        result = reduced
    return result


FUNCTIONS.update({np.apply_along_axis: apply_along_axis, np.apply_over_axes: apply_over_axes})


@stands_for(np.vectorize)
class vectorize:  # noqa: N801 - NumPy's name
    """A function of scalars (or, with a signature, of small arrays) made one of arrays that broadcast.

    Parameters
    ----------
    pyfunc : callable
    otypes, cache : optional
        Accepted and ignored: the function is traced, not called for each element.
    doc : str, optional
    excluded : sequence of int or str, optional
        Arguments that are passed on whole.
    signature : str, optional
        Core dimensions, such as ``"(n),(n)->()"``.

    Examples
    --------
    >>> vectorize(lambda x, y: x * y)(np.arange(3), 2)
    Array([0, 2, 4])
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Sequence[int | str] = (),
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        functools.update_wrapper(self, pyfunc, updated=())
        self.pyfunc, self.excluded, self.signature = pyfunc, frozenset(excluded or ()), signature
        self.__doc__ = doc or pyfunc.__doc__
        self._cores = _core_ranks(signature) if signature else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function for all elements of arrays that broadcast."""
        names = [*range(len(args)), *kwargs]
        values = dict(zip(names, [*args, *kwargs.values()], strict=True))
        mapped = [name for name in names if name not in self.excluded]
        arrays = [asarray(values[name]) for name in mapped]

        def call(*elements: Any) -> Any:
            given = {**values, **dict(zip(mapped, elements, strict=True))}
            return self.pyfunc(*[given[k] for k in range(len(args))], **{k: given[k] for k in kwargs})

        return _spread(call, arrays, self._cores or [0] * len(arrays))


def _core_ranks(signature: str) -> list[int]:
    """Return the number of core dimensions of each argument."""
    if not re.fullmatch(r"\s*(\([\w\s,]*\)\s*,?\s*)*->.*", signature):
        raise ArgumentError(f"vectorize(signature={signature!r})", where=capture_location(), fix='write "(n),(n)->()"')
    groups = re.findall(r"\(([^)]*)\)", signature.split("->", maxsplit=1)[0])
    return [len([name for name in group.split(",") if name.strip()]) for group in groups]


def _spread(call: Callable[..., Any], arrays: Sequence[Any], cores: Sequence[int]) -> Any:
    """Call a function of core arrays for all elements of the broadcast loop axes."""
    if len(arrays) != len(cores):
        raise ShapeError(
            f"vectorize: the signature names {len(cores)} arguments, not {len(arrays)}", where=capture_location()
        )
    loops = [shape_of(x)[: len(shape_of(x)) - core] for x, core in zip(arrays, cores, strict=True)]
    loop = broadcast_shapes(*loops, name="vectorize")
    wide = [broadcast_to_shape(x, loop + shape_of(x)[len(own) :]) for x, own in zip(arrays, loops, strict=True)]
    size = int(np.prod(loop, dtype=np.int64))
    rows = [reshape_to(x, (size, *shape_of(x)[len(loop) :])) for x in wide]
    if not loop:
        return call(*wide)
    results = vmap(call)(*rows)
    restored = [reshape_to(r, loop + shape_of(r)[1:]) for r in (results if isinstance(results, tuple) else (results,))]
    return tuple(restored) if isinstance(results, tuple) else restored[0]
