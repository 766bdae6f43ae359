"""`jax.ref`: references to arrays, whose contents can be replaced.

A reference belongs to where it is made: to the program outside of traced functions, or to the function that is traced.
What is written there is seen by later reads. A traced function doesn't take references as arguments, and doesn't write
into those from outside: there numhlo has arrays that are assigned into, which `numhlo.jit` updates for the caller.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

import numhlo.compat.jax.numpy as jnp
from numhlo.compat.jax.avals import ShapedArray, get_aval, pytype_aval_mappings
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.tracer.core.trace import current_trace

__all__ = ["AbstractRef", "Ref", "addupdate", "empty_ref", "free_ref", "freeze", "get", "new_ref", "set", "swap"]


class AbstractRef(ShapedArray):
    """The abstract value of a reference: the shape and dtype of what it refers to.

    Parameters
    ----------
    inner_aval : ShapedArray
    """

    __slots__ = ()

    def __init__(self, inner_aval: ShapedArray) -> None:
        super().__init__(inner_aval.shape, inner_aval.dtype)

    @property
    def inner_aval(self) -> ShapedArray:
        """Return the abstract value of the array."""
        return ShapedArray(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"Ref{{{self.str_short()}}}"


class Ref:
    """A reference to an array, made by `new_ref`: ``ref[index]`` reads it, ``ref[index] = x`` replaces elements."""

    __slots__ = ("_home", "_value")

    def __init__(self, value: Any) -> None:
        self._value: Any = jnp.asarray(value)
        self._home = current_trace()

    @property
    def aval(self) -> AbstractRef:
        """Return the abstract value."""
        return AbstractRef(get_aval(self._value))

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of the array."""
        found: tuple[int, ...] = self._value.shape
        return found

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype of the array."""
        found: np.dtype = self._value.dtype
        return found

    @property
    def ndim(self) -> int:
        """Return the number of the array's dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of the array's elements."""
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return len(self._value)

    def __getitem__(self, index: Any) -> Any:
        return _read(self, "read")[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        _write(self, index, value, "set")

    def addupdate(self, x: Any, idx: Any = ...) -> None:
        """Add to elements."""
        _write(self, idx, x, "add")

    def __repr__(self) -> str:
        return "Ref(<freed>)" if self._value is None else f"Ref{repr(self._value).removeprefix('Array')}"


pytype_aval_mappings[Ref] = lambda ref: ref.aval


def _read(ref: Ref, verb: str) -> Any:
    if ref._value is None:
        raise ArgumentError(f"a freed reference is {verb}", where=capture_location(), fix="make a new one")
    trace = current_trace()
    if trace is not None and (ref._home is None or not trace.is_inside(ref._home)):
        _refuse(verb)
    return ref._value


def _write(ref: Ref, index: Any, value: Any, how: str) -> None:
    old = _read(ref, "written")
    if current_trace() is not ref._home:
        _refuse("written")
    dtype = getattr(value, "dtype", None)
    if dtype is not None and dtype != old.dtype and not getattr(value, "weak_type", False):
        raise ArgumentError(
            f"Invalid dtype for `swap`. Ref dtype: {old.dtype}. Value dtype: {dtype}.",
            where=capture_location(),
            fix="convert the value",
        )
    ref._value = getattr(old.at[index], how)(value)


def _refuse(verb: str) -> NoReturn:
    raise UnsupportedError(
        f"a reference is {verb} in a traced function that it was not made in",
        where=capture_location(),
        fix="make it there with new_ref, pass its contents ref[...] in, and return what becomes of them",
    )


def new_ref(init_val: Any, *, memory_space: Any = None, kind: Any = None) -> Ref:
    """Return a reference to an array.

    Parameters
    ----------
    init_val : array_like
    memory_space, kind : optional
        Accepted: there is one memory.

    Returns
    -------
    Ref

    Examples
    --------
    >>> ref = new_ref(np.zeros(3, np.float32))
    >>> ref[1] = 5.0
    >>> print(ref[...])
    [0. 5. 0.]
    """
    return Ref(init_val)


def empty_ref(ty: Any, memory_space: Any = None) -> Ref:
    """Return a reference to an array of a shape and dtype, whose contents mean nothing.

    Parameters
    ----------
    ty : ShapeDtypeStruct
    memory_space : optional
        Accepted: there is one memory.

    Examples
    --------
    >>> import numhlo
    >>> empty_ref(numhlo.ShapeDtypeStruct((2,), "float32")).shape
    (2,)
    """
    return Ref(jnp.zeros(ty.shape, ty.dtype))


def get(ref: Ref, idx: Any = None) -> Any:
    """Return elements of what a reference refers to.

    Examples
    --------
    >>> print(get(new_ref(np.arange(3, dtype=np.int32)), 1))
    1
    """
    return ref[... if idx is None else idx]


def set(ref: Ref, idx: Any, value: Any) -> None:
    """Replace elements of what a reference refers to.

    Examples
    --------
    >>> ref = new_ref(np.arange(3, dtype=np.int32))
    >>> set(ref, slice(0, 2), 7)
    >>> print(ref[...])
    [7 7 2]
    """
    ref[... if idx is None else idx] = value


def swap(ref: Ref, idx: Any, value: Any) -> Any:
    """Replace elements of what a reference refers to, and return the old ones.

    Examples
    --------
    >>> ref = new_ref(np.arange(3, dtype=np.int32))
    >>> print(swap(ref, 2, 9), ref[2])
    2 9
    """
    old = get(ref, idx)
    set(ref, idx, value)
    return old


def addupdate(ref: Ref, idx: Any, x: Any) -> None:
    """Add to elements of what a reference refers to.

    Examples
    --------
    >>> ref = new_ref(np.zeros(2, np.float32))
    >>> addupdate(ref, 0, 3.0)
    >>> print(ref[...])
    [3. 0.]
    """
    ref.addupdate(x, ... if idx is None else idx)


def freeze(ref: Ref) -> Any:
    """Return what a reference refers to; the reference must not be used any more.

    Examples
    --------
    >>> print(freeze(new_ref(np.zeros(2, np.float32))))
    [0. 0.]
    """
    value = ref[...]
    ref._value = None
    return value


def free_ref(ref: Ref) -> None:
    """Forget what a reference refers to.

    Examples
    --------
    >>> free_ref(new_ref(np.zeros(2, np.float32)))
    """
    freeze(ref)
