"""`Array`: NumPy's ndarray with `.at[]`, the Array API namespace and display.

Two things differ else: a result of a method without dimensions is an array, as a function's is, which stands for
NumPy's scalar (in-place operators bind the name again), and Python's floats are weak beside floats of ml_dtypes, too,
of which NumPy knows no order: bfloat16 times 0.5 would be float32.
"""

from __future__ import annotations

import functools
import operator as operators
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

from numhlo.lowering.ir.types import NARROW_FLOATS

if TYPE_CHECKING:
    from numhlo.tracer.core.array_operations import ArrayOperations
else:
    ArrayOperations = np.ndarray


UNORDERED = NARROW_FLOATS - {np.dtype(np.float16)}
"""Floats of ml_dtypes, beside which NumPy takes Python's for its own."""


IN_PLACE = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift", "matmul")
"""Operators that have a form which writes into their first operand."""


A_co = TypeVar("A_co", covariant=True)


class Updates(Protocol[A_co]):
    """What ``x.at`` is: brackets after it say which elements are meant."""

    def __getitem__(self, index: Any) -> UpdatesOf[A_co]: ...


class UpdatesOf(Protocol[A_co]):
    """What ``x.at[index]`` can do: each gives a new array, but `get`, which gives the elements."""

    def get(self, *, mode: Any = None, fill_value: Any = None, **hints: Any) -> A_co:
        """Return the elements."""
        ...

    def set(self, value: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with the elements replaced."""
        ...

    def add(self, value: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with a value added."""
        ...

    def subtract(self, value: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with a value subtracted."""
        ...

    def multiply(self, value: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with the elements multiplied."""
        ...

    def divide(self, value: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with the elements divided."""
        ...

    def power(self, value: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with the elements raised to a power."""
        ...

    def min(self, value: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with the lesser of element and value."""
        ...

    def max(self, value: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with the greater of element and value."""
        ...

    def apply(self, function: Any, *, mode: Any = None, **hints: Any) -> A_co:
        """Return the array with a function of the elements."""
        ...


class Array(ArrayOperations):
    """A concrete array: mutable, slices are views, every library that takes ndarrays takes it.

    Notes
    -----
    Source: `numpy.ndarray`, of which it is a subclass; `at` is `jax.Array.at`.

    Examples
    --------
    >>> import numhlo.numpy as n
    >>> x = n.arange(3)
    >>> type(x).__name__, x.at[0].set(7), x
    ('Array', Array([7, 1, 2]), Array([0, 1, 2]))
    """

    __slots__ = ()
    is_read_only = False
    """Whether arrays of the class that programs make can't be written."""
    weak_class: type[Array] | None = None
    """The class of results that are weak; None where rules have no such arrays."""
    is_weak = False
    """Whether arrays of the class are weak under JAX's rules: in promotion they give way as Python's numbers do."""

    @property
    def at(self) -> Updates[Self]:
        """Return the array's functional updates: ``x.at[index].set(value)`` and its kin give a new array."""
        self.__array_namespace__()  # loading it puts the property that does it in this one's place
        return self.at

    def __array_namespace__(self, *, api_version: Any = None) -> Any:
        """Return `numhlo.numpy`, the namespace of functions for this array."""
        super().__array_namespace__(api_version=api_version)  # refuses what is no version of the standard
        return sys.modules[__name__.partition(".")[0]].numpy  # the face loads it; this room can't import it

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        """Return the elements rounded; NumPy's method forgets the subclass."""
        result = super().round(decimals, out)
        return result.view(type(self)) if out is None and isinstance(result, np.ndarray) else result

    def __round__(self, ndigits: Any = None) -> Any:
        """Return a number rounded, as NumPy's scalars are: an integer of Python's where no digits are asked for."""
        if self.ndim:
            raise TypeError("type numpy.ndarray doesn't define __round__ method")
        return round(self.item()) if ndigits is None else self.round(ndigits)

    def nonzero(self) -> tuple[Self, ...]:
        """Return the indices of the elements that are not zero; NumPy's method forgets the subclass."""
        return tuple(x.view(type(self)) for x in super().nonzero())

    def block_until_ready(self) -> Self:
        """Return the array: its value is there as soon as it is."""
        return self


_known_arithmetic: dict[type, bool] = {}


def has_own_arithmetic(kind: type) -> bool:
    """Return whether a class of arrays redefines what operators mean: matrices, masked arrays, quantities."""
    found = _known_arithmetic.get(kind)
    if found is None:
        names = ("__mul__", "__array_ufunc__", "__array_function__")
        foreign = issubclass(kind, np.ndarray) and not issubclass(kind, Array)
        found = foreign and any(getattr(kind, n) is not getattr(np.ndarray, n) for n in names)
        _known_arithmetic[kind] = found
    return found


def is_gone(x: Any) -> bool:
    """Return whether a value is an array of a class whose elements nobody may read any more."""
    return getattr(type(x), "is_gone", False)


def is_weak_array(x: Any) -> bool:
    """Return whether a concrete value is an array of a class that is weak under JAX's rules."""
    return getattr(type(x), "is_weak", False)


def stands_for_scalar(x: Any) -> bool:
    """Return whether an `Array` is the result of a computation that has no dimensions: NumPy gives a scalar there.

    One that was made as an array lies in memory of one dimension (see `as_written`), or is a view of a longer array.

    Examples
    --------
    >>> import numhlo.numpy as n
    >>> [stands_for_scalar(x) for x in (n.sum([1, 2]), n.array(3), n.ones(2)[..., 0])]
    [True, False, False]
    """
    if not isinstance(x, Array) or x.ndim:
        return False
    memory = x.base
    if type(memory) is np.ndarray and memory.ndim == 1 and memory.dtype == np.uint8 and memory.base is None:
        return True  # a block of results that compiled functions give
    while isinstance(memory, np.ndarray) and not memory.ndim:
        memory = memory.base
    return memory is None


def as_written(x: np.ndarray) -> Array:
    """Return an array without dimensions, which NumPy made as one, as an `Array` that in-place operators write into."""
    return np.lib.stride_tricks.as_strided(x, (1,)).reshape(()).view(Array)


def _as_arrays_do(name: str) -> Callable[..., Any]:
    own = getattr(np.ndarray, name)

    @functools.wraps(own)
    def method(self: Array, *args: Any, **kwargs: Any) -> Any:
        """Return an array where NumPy's method gives a scalar."""
        result = own(self, *args, **kwargs)
        return np.asarray(result).view(type(self)) if isinstance(result, np.generic) else result

    return method


def _weakly(name: str) -> Callable[[Any, Any], Any]:
    own = getattr(np.ndarray, name)

    @functools.wraps(own)
    def operator(self: Any, other: Any) -> Any:
        if type(other) is float and self.dtype in UNORDERED:
            other = self.dtype.type(other)
        return own(self, other)

    return operator


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    write = getattr(np.ndarray, f"__i{name}__")
    compute = getattr(operators, f"__{name}__")

    @functools.wraps(write)
    def operator(self: Any, other: Any) -> Any:
        if self.shape or not stands_for_scalar(self):
            return write(self, other)
        return compute(self, other)  # the name is bound again

    return operator


for _name in ("argmax", "argmin", "dot", "searchsorted", "take", "trace"):
    setattr(Array, _name, _as_arrays_do(_name))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow"):
    setattr(Array, f"__{_name}__", _weakly(f"__{_name}__"))
    setattr(Array, f"__r{_name}__", _weakly(f"__r{_name}__"))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(Array, f"__{_name}__", _weakly(f"__{_name}__"))
for _name in IN_PLACE:
    setattr(Array, f"__i{_name}__", _in_place(_name))
