"""What stands for functions of Python and NumPy that would fail on traced values, or make arrays out of nothing.

``np.zeros(n)`` has no traced argument, and yet a program writes traced values into what it returns; ``float(x)``,
``math.sqrt(x)`` and ``max(x, y)`` need a value, and yet mean something that a graph can say. Here is what they are
called as while a function is traced; `plain_numpy` puts them in place.
"""

from __future__ import annotations

import builtins
import functools
import itertools
from collections.abc import Callable
from types import BuiltinFunctionType
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.ir.errors import DTypeError
from numhlo.tracer.core.arguments import WEAK, asks_scalar
from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operands import Unsized, contains_tracer, convert, unsized_in
from numhlo.tracer.core.promotion import TRACEABLE
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.python.text_values import Text, as_text

MAKERS = frozenset({
    "append", "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "bartlett", "blackman",
    "block", "column_stack", "concatenate", "copy", "diag", "diagflat", "dstack", "empty", "empty_like", "eye",
    "fromfunction", "full", "full_like", "geomspace", "hamming", "hanning", "hstack", "identity", "indices", "kaiser",
    "linspace", "logspace", "ones", "ones_like", "repeat", "stack", "tile", "tri", "vander", "vstack", "zeros",
    "zeros_like",
})  # fmt: skip
"""NumPy's functions that make arrays for programs to write into, though no argument need be traced."""

CONVERTERS = frozenset({"asanyarray", "asarray", "ascontiguousarray", "asfortranarray"})
"""Those that return an array as it is: writing into a captured one is refused where it happens."""

COPYING_METHODS = frozenset({"astype", "copy", "flatten"})
"""Methods by which an array that is no argument gives one to write into."""

READING_METHODS = frozenset({"choose", "clip", "compress", "dot", "searchsorted", "take"})
"""Methods of such an array that traced values are given to."""

STAND_INS: dict[int, tuple[Any, Any]] = {}
"""By the id of what is called: that, and what stands for it."""


def stands_for(*functions: Any) -> Callable[[Any], Any]:
    """Return a decorator that makes a function stand for others while tracing."""

    def register(stand_in: Any) -> Any:
        STAND_INS.update({id(f): (f, stand_in) for f in functions})
        return stand_in

    return register


class ElementIterator:
    """An iterator over arrays' elements that shows how far it has come, as `numpy.nditer` does."""

    iterindex: int


class Package(NamedTuple):
    """What stands for the functions of a package while tracing.

    Attributes
    ----------
    exchange : callable
        Returns, for a function of the package, one that takes traced arrays, too; or that function itself.
    counterpart : callable
        Returns the function of ours that has a function's meaning, or None.
    """

    exchange: Callable[[Any], Any]
    counterpart: Callable[[Any], Callable[..., Any] | None]


PACKAGES: dict[str, Package] = {}
"""By the name of a package."""


def package_of(value: Any) -> str | None:
    """Return which of `PACKAGES` a function or an object's class is of."""
    kind = value if isinstance(value, type) else type(value)
    if kind.__name__ == "fortran" and kind.__module__ == "builtins":
        return "scipy" if "scipy" in PACKAGES else None  # the class of its BLAS and LAPACK routines, which says nothing
    module = getattr(value, "__module__", None)
    package = module.partition(".")[0] if isinstance(module, str) else None
    return package if package in PACKAGES else None


def is_unknown(x: Any) -> bool:
    """Return whether a traced array has no value that Python could use."""
    return isinstance(x, Tracer) and x.known() is None


# -------------------------------------------------------------------------------------------------- arrays from nothing


def _maker(name: str) -> Callable[..., Any]:
    numpy_function = getattr(np, name)

    @functools.wraps(numpy_function)
    def make(*args: Any, **kwargs: Any) -> Any:
        if current_trace() is None or (name in CONVERTERS and args and isinstance(args[0], np.ndarray)):
            return numpy_function(*args, **kwargs)
        try:
            return FUNCTIONS[numpy_function](*args, **kwargs)
        except DTypeError:
            if contains_tracer([*args, *kwargs.values()]):
                raise
            return numpy_function(*args, **kwargs)  # text or objects, which tracing has nothing to do with

    return make


def _routed(numpy_function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what stands for a function whose protocol looks at its first argument only."""

    @functools.wraps(numpy_function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        traced = contains_tracer(given) or unsized_in(given) is not None
        return (FUNCTIONS[numpy_function] if traced else numpy_function)(*args, **kwargs)

    return call


for _name in sorted(MAKERS):
    stands_for(getattr(np, _name))(_maker(_name))


@stands_for(np.meshgrid)
def meshgrid(*xi: Any, **options: Any) -> tuple[Any, ...]:
    """Return coordinate arrays in a tuple, as NumPy does; the Array API standard, and so `numhlo.numpy`, has a list."""
    return tuple(_maker("meshgrid")(*xi, **options))


@stands_for(np.fromiter)
@functools.wraps(np.fromiter)
def from_iterator(iter: Any, dtype: Any, count: int = -1, *, like: Any = None) -> Any:
    """Return an array of what an iterator gives."""
    items = list(iter if count < 0 else itertools.islice(iter, count))
    return _maker("array")(items, dtype)


ROUTED = (
    np.choose, np.compress, np.diag_indices, np.fft.fftfreq, np.fft.rfftfreq, np.lib.stride_tricks.as_strided,
    np.mask_indices, np.roll, np.take, np.tril_indices, np.triu_indices,
)  # fmt: skip

for _routed_function in ROUTED:
    stands_for(_routed_function)(_routed(_routed_function))


def array_method(method: BuiltinFunctionType) -> Any:
    """Return what stands for a captured array's method: its result may be written into, or an argument be traced."""
    array: Any = method.__self__
    if array.dtype not in TRACEABLE:
        return method
    if method.__name__ in COPYING_METHODS:
        return getattr(FUNCTIONS[np.array](array), method.__name__)
    return functools.partial(_call_method, method) if method.__name__ in READING_METHODS else method


def _call_method(method: BuiltinFunctionType, *args: Any, **kwargs: Any) -> Any:
    if not contains_tracer([*args, *kwargs.values()]):
        return method(*args, **kwargs)
    return getattr(FUNCTIONS[np.array](method.__self__), method.__name__)(*args, **kwargs)


class Holder:
    """A captured array, or a list of numbers or of equal arrays, that may be indexed by a traced value."""

    __slots__ = ("_held",)

    def __init__(self, held: Any) -> None:
        self._held = held

    def __getitem__(self, index: Any) -> Any:
        if type(index) is int or not any(map(_needs_trace, index if isinstance(index, tuple) else (index,))):
            return self._held[index]
        if isinstance(self._held, np.ndarray):
            return FUNCTIONS[np.array](self._held)[index]
        if not is_unknown(index):
            return self._held[index]  # raises: a list has no part of unknown length
        kinds = {type(x) if type(x) in WEAK else (np.shape(x), getattr(x, "dtype", None)) for x in self._held}
        if len(kinds) != 1 or index.ndim or (None in kinds) or (kinds <= {((), None)}):
            return self._held[index]  # raises: Python can't index by it
        found = FUNCTIONS[np.array](self._held)[index]
        return as_number(found) if kinds <= set(WEAK) else found


def _needs_trace(entry: Any) -> bool:
    if isinstance(entry, Unsized):
        return True
    bounds = (entry.start, entry.stop) if isinstance(entry, slice) else (entry,)
    return any(map(is_unknown, bounds))


def holder(held: Any) -> Any:
    """Return what stands for something that is indexed."""
    if isinstance(held, np.ndarray):
        return Holder(held) if held.dtype in TRACEABLE else held
    return Holder(held) if type(held) in (list, tuple) else held


# ---------------------------------------------------------------------------------------------------- Python's builtins


def as_number(x: Any) -> Any:
    """Return a traced scalar as one that stands for a number of Python's."""
    x.weak = True
    return x


def _number(kind: type) -> Callable[..., Any]:
    @functools.wraps(kind, updated=())
    def make(*args: Any, **kwargs: Any) -> Any:
        x: Any = args[0] if len(args) == 1 and not kwargs else None
        if isinstance(x, Text):
            x.refuse()
        if not is_unknown(x) or x.ndim or (x.dtype.kind == "c" and kind is not complex):
            return kind(*args, **kwargs)
        return as_number(convert(x.copy(), WEAK[kind]))

    return make


for _kind in (bool, int, float):
    stands_for(_kind)(_number(_kind))


def _complex(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 2 and any(map(is_unknown, args)) and not any(np.ndim(x) for x in args):
        return as_number(convert(args[0] + 1j * args[1], WEAK[complex]))
    return _number(complex)(*args, **kwargs)


stands_for(complex)(functools.wraps(complex, updated=())(_complex))


def written(x: Any) -> Any:
    """Return what is written as text of a value: the number, or NumPy's array, where it is known."""
    known = x.known() if isinstance(x, Tracer) else None
    return x if known is None else known[()]


def _writing(function: Any) -> Callable[..., Any]:
    @functools.wraps(function, updated=())
    def write(*args: Any, **kwargs: Any) -> Any:
        return as_text(lambda: function(*map(written, args), **kwargs))

    return write


for _function in (str, repr, ascii, format):
    stands_for(_function)(_writing(_function))


def _quantifier(
    function: Callable[..., Any], decides: bool, combine: np.ufunc, reduce: Callable[..., Any]
) -> Callable[..., Any]:
    @functools.wraps(function)
    def ask(items: Any) -> Any:
        if isinstance(items, Tracer) and items.ndim == 1:
            return as_number(FUNCTIONS[reduce](items))
        found = None
        for x in items:
            if not is_unknown(x) or x.ndim:
                if bool(x) is decides:
                    return decides
                continue
            found = x != 0 if found is None else combine(found, x != 0)
        return (not decides) if found is None else as_number(found)

    return ask


stands_for(builtins.any)(_quantifier(builtins.any, True, np.logical_or, np.any))
stands_for(builtins.all)(_quantifier(builtins.all, False, np.logical_and, np.all))


MOST_ITEMS = 16
"""Arrays of more elements are added and compared as a whole: an operation for each takes long to trace."""


def is_long(items: Any) -> bool:
    """Return whether a traced array has more elements than are worked on one by one."""
    return isinstance(items, Tracer) and items.ndim > 0 and items.shape[0] > MOST_ITEMS and items.known() is None


@stands_for(builtins.sum)
@functools.wraps(builtins.sum)
def add_items(items: Any, /, start: Any = 0) -> Any:
    """Return the elements of a traced array added from first to last."""
    if isinstance(items, Unsized):
        return items.call("sum", (items,), {"axis": 0}) + start
    if not is_long(items):
        return builtins.sum(items, start)
    first = start + items[0]
    dtype = np.result_type(first.dtype, items.dtype)
    if np.shape(first) != items.shape[1:] or dtype != first.dtype:
        return builtins.sum(items, start)
    if dtype.kind in "iub":
        return first + FUNCTIONS[np.sum](items[1:], axis=0, dtype=dtype)
    return FUNCTIONS[np.cumsum](FUNCTIONS[np.concatenate]([first[None], items[1:]], dtype=dtype), axis=0)[-1]


@stands_for(builtins.len)
def length(x: Any, /) -> Any:
    """Return the number of items; of elements that a traced mask selects, a traced integer."""
    return as_number(x.shape[0]) if isinstance(x, Unsized) else builtins.len(x)


# ------------------------------------------------------------------------------------------- NumPy's scalars, iterators


def _scalar(kind: type) -> Callable[..., Any]:
    @functools.wraps(kind, updated=())
    def make(*args: Any, **kwargs: Any) -> Any:
        x: Any = args[0] if len(args) == 1 and not kwargs else None
        if isinstance(x, Tracer):
            return x.astype(kind)  # type: ignore[attr-defined]
        return kind(*args, **kwargs)

    return make


for _dtype in TRACEABLE:
    if _dtype.type.__module__ == "numpy":
        stands_for(_dtype.type)(_scalar(_dtype.type))


@stands_for(np.isscalar)
def is_scalar(element: Any) -> bool:
    """Return whether NumPy would have a scalar there."""
    return asks_scalar(element) if isinstance(element, Tracer) else np.isscalar(element)


@stands_for(np.require)
@functools.wraps(np.require)
def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """Return the array: a traced one has the memory that is asked for."""
    if not contains_tracer(a):
        return np.require(a, dtype, requirements)
    return FUNCTIONS[np.array](a, dtype, copy="O" in "".join(requirements or ()).upper() or None)


# ----------------------------------------------------------------------------------------------- functions of functions

HIGHER_ORDER = (
    map, filter, max, min, sorted, functools.reduce, functools.partial, itertools.accumulate, itertools.starmap,
    np.fromfunction, np.apply_along_axis, np.apply_over_axes, np.piecewise,
)  # fmt: skip
"""What calls the functions that it is given."""
