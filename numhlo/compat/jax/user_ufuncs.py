"""`jax.numpy.frompyfunc`: functions of elements with the methods of NumPy's ufuncs, traced like any others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import numhlo.numpy as jnp
from numhlo import lax
from numhlo.compat.jax.along_axes import vectorize
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.refusals import InPlaceError
from numhlo.compat.jax.transformations import eval_shape
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.tracer.core.arguments import ShapeDtypeStruct


class ufunc:  # noqa: N801 - JAX's name
    """A function of elements that works on arrays; made by `frompyfunc`."""

    def __init__(self, func: Callable[..., Any], nin: int, nout: int, identity: Any) -> None:
        self._on_elements = func
        self._on_arrays = vectorize(func)
        self.nin, self.nout, self.identity = nin, nout, identity
        self.nargs = nin  # as in JAX
        self.__name__ = getattr(func, "__name__", "ufunc")
        self.__doc__ = func.__doc__

    def __repr__(self) -> str:
        return f"<jnp.ufunc '{self.__name__}'>"

    def __call__(self, *args: Any) -> Any:
        """Call the function on the elements of arrays that are broadcast."""
        if len(args) != self.nin:
            raise self._error(f"with {len(args)} arguments", f"give {self.nin}")
        return self._on_arrays(*args)

    @immutably
    def reduce(
        self,
        a: Any,
        axis: int | None = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        """Return elements combined along an axis, from first to last; of all elements where it is None."""
        self._require_pairs("reduce", out)
        array = self._operand(a, dtype)
        if axis is None:
            places, kept = jnp.ravel(array), (1,) * array.ndim
            mask = None if where is None else jnp.ravel(jnp.broadcast_to(where, array.shape))
        else:
            places = jnp.moveaxis(array, axis, 0)
            kept = tuple(1 if k == axis % array.ndim else n for k, n in enumerate(array.shape))
            mask = None if where is None else jnp.moveaxis(jnp.broadcast_to(where, array.shape), axis, 0)
        start = self.identity if initial is None else initial
        if start is None and (mask is not None or not places.shape[0]):
            raise self._error("of no elements" if mask is None else "where=", "give initial=")
        first = places[0] if start is None else jnp.full(places.shape[1:], start, array.dtype)
        rest = places[1:] if start is None else places

        def step(total: Any, row: tuple[Any, Any]) -> tuple[Any, None]:
            value, chosen = row
            found = self._on_arrays(total, value).astype(array.dtype)
            return (found if chosen is None else jnp.where(chosen, found, total)), None

        result = lax.scan(step, first, (rest, mask))[0]
        return result.reshape(kept) if keepdims else result

    @immutably
    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        """Return the results along an axis after each element."""
        self._require_pairs("accumulate", out)
        array = self._operand(a, dtype)
        places = jnp.moveaxis(array, axis, 0)

        def step(total: Any, value: Any) -> tuple[Any, Any]:
            found = self._on_arrays(total, value).astype(array.dtype)
            return found, found

        if not places.shape[0]:
            return array
        rows = lax.scan(step, places[0], places[1:])[1]
        return jnp.moveaxis(jnp.concatenate([places[:1], rows]), 0, axis)

    @immutably
    def outer(self, A: Any, B: Any, /) -> Any:
        """Return the function of every element of one array with every one of another."""
        self._require_pairs("outer")
        rows, columns = jnp.asarray(A), jnp.asarray(B)
        return self._on_arrays(rows.reshape(*rows.shape, *(1,) * columns.ndim), columns)

    @immutably
    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = True) -> Any:
        """Return the array with the function applied at places, one after the other."""
        if inplace:
            raise InPlaceError(f"{self.__name__}.at", "x, indices, b")
        array = jnp.asarray(a)
        given = indices if isinstance(indices, tuple) else (indices,)
        if any(isinstance(k, slice) or k is None or k is Ellipsis for k in given):
            raise self._error("at slices", "give arrays of integers, such as jnp.arange(n)[1:3]")
        places = jnp.broadcast_arrays(*map(jnp.asarray, given))
        count = places[0].size
        values = (
            [] if b is None else [jnp.broadcast_to(b, array[places].shape).reshape(count, *array.shape[len(places) :])]
        )

        def step(current: Any, row: tuple[Any, Any]) -> tuple[Any, None]:
            place, operands = row
            found = self._on_arrays(current[tuple(place)], *operands)
            return current.at[tuple(place)].set(found), None

        return lax.scan(step, array, ([k.reshape(count) for k in places], values))[0]

    @immutably
    def reduceat(self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Any:
        """Return elements combined from each known index to the next one."""
        self._require_pairs("reduceat", out)
        places = jnp.moveaxis(self._operand(a, dtype), axis, 0)
        starts = np.asarray(indices).tolist()
        ends = [*starts[1:], places.shape[0]]
        rows = [self.reduce(places[i:j]) if i < j else places[i] for i, j in zip(starts, ends, strict=True)]
        return jnp.moveaxis(jnp.stack(rows), 0, axis)

    def _operand(self, a: Any, dtype: Any) -> Any:
        array = jnp.asarray(a)
        element = ShapeDtypeStruct((), array.dtype)
        return array.astype(eval_shape(self._on_elements, element, element).dtype if dtype is None else dtype)

    def _require_pairs(self, method: str, out: None = None) -> None:
        if self.nin != 2 or self.nout != 1:
            raise self._error(f".{method} of {self.nin} arguments and {self.nout} results", "it needs two and one")
        if out is not None:
            raise self._error(f".{method}(out=...)", "use the result: arrays never change")

    def _error(self, what: str, fix: str) -> ArgumentError:
        return ArgumentError(f"{self.__name__} {what}".replace(" .", "."), where=capture_location(), fix=fix)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """Return a function of elements as one of arrays, with the methods of NumPy's ufuncs.

    Parameters
    ----------
    func : callable
        Takes ``nin`` elements and returns ``nout``; it is traced.
    nin, nout : int
    identity : scalar, optional
        What changes nothing: where reductions start.

    Returns
    -------
    ufunc

    Examples
    --------
    >>> import numhlo.compat.jax.numpy as jnp
    >>> mean = jnp.frompyfunc(lambda x, y: (x + y) / 2, 2, 1)
    >>> mean(jnp.arange(3.0), 4.0), mean.reduce(jnp.arange(3.0)), mean.outer(jnp.arange(2.0), jnp.arange(2.0)).shape
    (Array([2. , 2.5, 3. ], dtype=float...), Array(1.25, dtype=float...), (2, 2))
    """
    return ufunc(func, nin, nout, identity)
