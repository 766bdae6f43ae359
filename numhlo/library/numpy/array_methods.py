"""What a traced array can do like an ndarray: methods, attributes and NumPy's protocols, in one table.

Every entry is a function of the namespace with the array as its first argument, attached to `Tracer` when this module
is imported. Operators are in `operators`, what needs the array's value is in `python_values`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numhlo.library.numpy import (
    axis_order,
    cumulative,
    elementwise,
    in_place,
    insertion,
    moments,
    rearranging,
    reductions,
    reshaping,
    rounding,
    searching,
    selection,
    sorting,
    ufunc_methods,
    unsupported_attributes,
)
from numhlo.library.numpy.array_operators import attach_operators
from numhlo.library.numpy.indexing import brackets
from numhlo.library.numpy.indexing.at import At
from numhlo.library.numpy.indexing.special_views import Part, view_bits
from numhlo.library.numpy.linalg import products as linear_algebra
from numhlo.library.numpy.memory_flags import MemoryFlags
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, DTypeError, UnsupportedError
from numhlo.tracer.building import (
    FUNCTIONS,
    PACKAGES,
    STATIC,
    Flat,
    Trace,
    Tracer,
    are_arrays_immutable,
    as_dtype,
    concretization,
    convert,
    current_trace,
    lay_out,
    lies_in,
    loses_slope,
    naming,
    needs,
    operands,
    refuse_write,
    require_array,
    strides_of,
    trace_for,
    tree_leaves,
    tree_map,
    type_rules,
    view_transpose,
    with_memory_order,
)

METHODS: dict[str, Callable[..., Any]] = {
    "all": reductions.all,
    "any": reductions.any,
    "argmax": searching.argmax,
    "argmin": searching.argmin,
    "argpartition": selection.argpartition,
    "argsort": sorting.argsort,
    "choose": selection.choose,
    "clip": rounding.clip_method,
    "compress": lambda self, condition, *a, **k: selection.compress(condition, self, *a, **k),
    "cumprod": cumulative.cumprod,
    "cumsum": cumulative.cumsum,
    "diagonal": reshaping.diagonal,
    "dot": linear_algebra.dot,
    "max": reductions.max,
    "mean": moments.mean,
    "min": reductions.min,
    "nonzero": searching.nonzero,
    "prod": reductions.prod,
    "put": in_place.put,
    "ravel": reshaping.ravel,
    "repeat": rearranging.repeat,
    "round": rounding.round,
    "searchsorted": searching.searchsorted,
    "squeeze": reshaping.squeeze,
    "std": moments.std,
    "sum": reductions.sum,
    "swapaxes": axis_order.swapaxes,
    "take": brackets.take,
    "trace": linear_algebra.trace,
    "var": moments.var,
}


def _conjugate(self: Tracer, *args: Any, **options: Any) -> Any:
    """Return the conjugate; of real numbers the array itself, as NumPy's method does."""
    plain = self.dtype.kind != "c" and not args and not options
    return self if plain else elementwise.conjugate(self, *args, **options)


def _iterate(self: Tracer) -> Iterator[Any]:
    if self.ndim == 0:
        error = ConcretizationError("iteration over a 0-d array", where=capture_location())
        error.is_numpys, error.needs = True, needs(self)
        raise error
    return (self[k] for k in range(self.shape[0]))  # type: ignore[index]


def _length(self: Tracer) -> int:
    if self.ndim == 0:
        raise TypeError("len() of unsized object")
    return self.shape[0]


def _contains(self: Tracer, element: Any) -> bool:
    return bool(reductions.any(elementwise.equal(self, element)))


def _set_item(self: Tracer, index: Any, value: Any) -> None:
    if are_arrays_immutable():
        refuse_write("x[index] = value")
    require_array(self, "assignment to elements")
    if isinstance(value, complex) and self.dtype.kind != "c":  # as NumPy: complex arrays lose their imaginary part
        raise DTypeError(
            f"a complex number is written into {self.aval.short()}",
            where=capture_location(),
            fix="write its real part, or make the array complex",
        )
    brackets.set_item(self, index, value)


def _transpose(self: Tracer, *axes: Any) -> Any:
    if len(axes) == 1 and not isinstance(axes[0], int | np.integer):
        return axis_order.transpose(self, axes[0])
    return axis_order.transpose(self, axes or None)


@with_memory_order
def _reshape(self: Tracer, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    given = shape[0] if len(shape) == 1 else shape
    return reshaping.reshape(self, given, order=order, copy=copy)


@with_memory_order
def _astype(
    self: Tracer, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
) -> Tracer:
    wanted = as_dtype(type_rules().requested(dtype, "astype"))
    if not np.can_cast(self.dtype, wanted, casting):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast array data from {self.dtype!r} to {wanted!r} according to the rule {casting!r}")
    converted: Tracer = convert(self, wanted)
    if self.dtype == wanted:
        return _copy(self, order) if copy or not lies_in(self, order) else converted
    return lay_out(converted, order, self)


@with_memory_order
def _copy(self: Tracer, order: str = "C") -> Tracer:
    trace = trace_for(self)
    fresh = trace.wrap(trace.read(self))
    fresh.cell.is_array = not self.is_scalar
    return lay_out(fresh, order, self)


def _item(self: Tracer, *index: Any) -> Any:
    element = self if not index else _reshape(self, -1)[index] if len(index) == 1 else self[index]  # type: ignore[index]
    known = element.known()
    if known is not None and not loses_slope(element):
        return known.item()
    if element.size != 1:
        raise ValueError("can only convert an array of size 1 to a Python scalar")
    if are_arrays_immutable():
        return concretization.tolist(element)  # raises
    kind = {"b": np.bool_, "i": np.int64, "u": np.int64, "f": np.float64, "c": np.complex128}[element.dtype.kind]
    result = convert(_copy(_reshape(element, ())), kind)
    result.cell.is_array, result.weak = False, True
    return result


def _tolist(self: Tracer) -> Any:
    """Return nested lists of Python's numbers, or of what stands for them."""
    known = self.known()
    if (known is not None and not loses_slope(self)) or are_arrays_immutable():
        return concretization.tolist(self)
    return [_tolist(self[k]) for k in range(self.shape[0])] if self.ndim else _item(self)  # type: ignore[index]


def _round(self: Tracer, digits: int | None = None) -> Any:
    if self.ndim:
        raise TypeError("type numpy.ndarray doesn't define __round__ method")
    if digits is not None:
        result = rounding.round(self, digits)
    else:
        result = convert(rounding.round(self), np.int64)  # Python's round, too, rounds halves to even
    result.weak = self.weak or digits is None
    return result


def _fill(self: Tracer, value: Any) -> None:
    if np.ndim(value):
        raise ValueError("setting an array element with a sequence.")
    _set_item(self, ..., value)


def _sort(
    self: Tracer, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None
) -> Tracer | None:
    ordered: Tracer = sorting.sort(self, axis=axis, kind=kind, order=order, stable=stable)
    if are_arrays_immutable():
        return ordered
    self.assign(ordered)
    return None


def _partition(self: Tracer, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None) -> Tracer | None:
    ordered: Tracer = selection.partition(self, kth, axis, kind, order)
    if are_arrays_immutable():
        return ordered
    self.assign(ordered)
    return None


@with_memory_order
def _flatten(self: Tracer, order: str = "C") -> Any:
    return _copy(reshaping.ravel(self, order=order))


def _view(self: Tracer, dtype: Any = None, type: Any = None) -> Any:
    if dtype is None or np.dtype(dtype) == self.dtype:
        return Tracer(self.cell, self.steps, self.aval)
    contiguous = self.ndim > 0 and strides_of(self)[-1] == self.dtype.itemsize
    return view_bits(self, as_dtype(dtype), contiguous)


def _apply_foreign(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return a ufunc that is not NumPy's of operands among which are traced arrays."""
    found = [package.counterpart(ufunc) for package in PACKAGES.values() if method == "__call__"]
    function = next((ours for ours in found if ours is not None), None)
    if function is not None:
        return function(*inputs, **options)
    raise UnsupportedError(
        f"{ufunc.__name__} of a traced array, a ufunc that is not NumPy's",
        where=capture_location(),
        why="its code takes arrays in memory, and is no part of the traced program",
        fix="use functions that numhlo.scipy.special has, functions of arrays instead of frompyfunc, or pure_callback",
    )


def _array_ufunc(self: Tracer, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
    if current_trace() is None:
        if (home := _waiting_trace((inputs, options))) is not None:
            with home.resumed():
                return _array_ufunc(self, ufunc, method, *inputs, **options)
        return getattr(ufunc, method)(*_values_now(inputs), **_values_now(options))
    function = FUNCTIONS.get(ufunc)
    function = function if method == "__call__" else getattr(function, method, None)
    if function is None:
        if getattr(np, ufunc.__name__, None) is not ufunc:
            return _apply_foreign(ufunc, method, inputs, options)
        call = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        raise UnsupportedError(
            f"numpy.{call} of a traced array",
            where=capture_location(),
            why="this NumPy ufunc (or ufunc method) has no traced meaning yet",
            fix="compute it outside the traced function, or from functions of numhlo.numpy",
        )
    out = options.pop("out", None)
    if out is not None:
        options["out"] = out if ufunc.nout > 1 else out[0]
    return function(*inputs, **options)


def _waiting_trace(arguments: Any) -> Trace | None:
    """Return where to trace what a block that computes at once can't compute; None where it has to be known.

    Under JAX's rules such a block computes what depends on no traced array.
    """
    if not are_arrays_immutable():
        return None
    homes = [x.home for x in tree_leaves(arguments) if isinstance(x, Tracer) and x.home.open and x.known() is None]
    return next((t for t in homes if all(t.is_inside(other) for other in homes)), None)


def _values_now(arguments: Any) -> Any:
    """Return arguments with known values in the place of traced arrays, where nothing is being traced."""
    return tree_map(lambda x: x.value_now() if isinstance(x, Tracer) else x, arguments)


def _array_function(self: Tracer, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    if current_trace() is None:
        if (home := _waiting_trace((args, kwargs))) is not None:
            with home.resumed():
                return _array_function(self, func, types, args, kwargs)
        return func(*_values_now(args), **_values_now(kwargs))
    function = FUNCTIONS.get(func)
    if function is None:
        raise UnsupportedError(
            f"{getattr(func, '__module__', 'numpy')}.{func.__name__} of a traced array",
            where=capture_location(),
            why="this NumPy function has no traced meaning yet",
            fix="compute it outside the traced function, or from functions of numhlo.numpy",
        )
    return function(*args, **kwargs)


def _part(imaginary: bool) -> property:
    def read(self: Tracer) -> Any:
        if self.dtype.kind == "c":
            return self.through(Part(imaginary))
        return operands.full_of(0, self.shape, self.dtype) if imaginary else self

    def write(self: Tracer, value: Any) -> None:
        if self.dtype.kind != "c" and imaginary:
            raise DTypeError("array does not have imaginary part to set", where=capture_location())
        _set_item(read(self), ..., value)

    return property(read, write)


def _flat() -> property:
    def read(self: Tracer) -> Tracer:
        return self.through(Flat((self.size,)))

    def write(self: Tracer, value: Any) -> None:
        _set_item(read(self), ..., insertion.resize(value, (self.size,)))

    return property(read, write)


def _swap(self: Tracer) -> Any:
    if self.ndim < 2:
        raise ValueError("matrix transpose with ndim < 2 is undefined")
    return view_transpose(self, (*range(self.ndim - 2), self.ndim - 1, self.ndim - 2))


def _to_device(self: Tracer, device: Any, /, *, stream: Any = None) -> Tracer:
    if device != "cpu":
        raise ValueError(f"Unsupported device: {device!r}; the only one is 'cpu'")
    return self


def _namespace(self: Tracer, *, api_version: Any = None) -> Any:
    np.empty(0).__array_namespace__(api_version=api_version)  # refuses what is no version of the standard
    return sys.modules[__name__.partition(".")[0]].numpy  # the face loads it; this room can't import it


def _hash(self: Tracer) -> int:
    error = ConcretizationError(
        f"hash of a traced array {self.aval.short()}",
        where=capture_location(),
        why="its value is not known while tracing, so it can't be a key of a dict or an element of a set",
        fix=naming(f"index an array by it, or {STATIC}", self),
    )
    error.is_numpys = not self.is_scalar
    raise error


ATTRIBUTES = {
    "T": property(lambda self: view_transpose(self, tuple(reversed(range(self.ndim))))),
    "mT": property(_swap),
    "real": _part(False),
    "imag": _part(True),
    "flags": property(MemoryFlags),
    "weak_type": property(lambda self: self.weak),
    "itemsize": property(lambda self: self.dtype.itemsize),
    "nbytes": property(lambda self: self.aval.nbytes),
    "strides": property(strides_of),
    "flat": _flat(),
    "at": property(At),
    "device": property(lambda self: "cpu"),
    "__pandas_priority__": 10_000,  # before a DataFrame's 4000: its operators leave the result to ours
}
SPECIAL: dict[str, Callable[..., Any]] = {
    "__getitem__": brackets.get_item,
    "__setitem__": _set_item,
    "__iter__": _iterate,
    "__len__": _length,
    "__contains__": _contains,
    "__bool__": concretization.truth,
    "__int__": concretization.number(int),
    "__float__": concretization.number(float),
    "__complex__": concretization.number(complex),
    "__index__": concretization.index,
    "__round__": _round,
    "__array__": concretization.as_ndarray,
    "__array_namespace__": _namespace,
    "__getattr__": unsupported_attributes.absent,
    "__delitem__": unsupported_attributes.delete,
    "__hash__": _hash,
    "__array_ufunc__": _array_ufunc,
    "__array_function__": _array_function,
    "__dlpack__": concretization.refuse_dlpack,
    "__dlpack_device__": lambda self: (1, 0),
    "__reduce__": concretization.refuse_pickle,
    "__repr__": concretization.represented,
    "__format__": concretization.formatted,
    "__copy__": _copy,
    "__deepcopy__": lambda self, memo: _copy(self),
    "astype": _astype,
    "block_until_ready": lambda self: self,
    "conj": _conjugate,
    "conjugate": _conjugate,
    "copy": _copy,
    "fill": _fill,
    "flatten": _flatten,
    "item": _item,
    "partition": _partition,
    "reshape": _reshape,
    "sort": _sort,
    "to_device": _to_device,
    "tobytes": concretization.tobytes,
    "tolist": _tolist,
    "transpose": _transpose,
    "view": _view,
}
REPLACEMENTS = {"dtype": "x = x.view(dtype)"}
"""What to write instead of an assignment to these attributes."""
LOADED = (ufunc_methods,)
"""Modules that are imported for the rules that they register."""


def _refusing_assignment(cls: type[Tracer], name: str, fix: str) -> property:
    def refuse(self: Tracer, value: Any) -> None:
        raise UnsupportedError(
            f"assignment to the {name} of a traced array {self.aval.short()}",
            where=capture_location(),
            why="its type is fixed while tracing",
            fix=f"write {fix}",
        )

    found: property = getattr(cls, name)
    return found.setter(refuse)


def _set_shape(self: Tracer, shape: Any) -> None:
    """Give an array another shape in place, as ``x.shape = shape`` does: whoever has this array sees it.

    Raises
    ------
    AttributeError
        If the elements would have to be copied.
    UnsupportedError
        If the array is an argument, whose shape the caller would have to see, or made outside the branch or loop body.
    """
    is_argument = self.cell.is_observed and not self.steps
    if are_arrays_immutable() or is_argument or self.cell.trace is not current_trace():
        raise UnsupportedError(
            f"assignment to the shape of a traced array {self.aval.short()}",
            where=capture_location(),
            why="it is an argument" if is_argument else "it is immutable, or was made outside the branch or loop body",
            fix="write x = x.reshape(shape)",
        )
    found = reshaping.reshape(self, shape)
    if found.cell is not self.cell:
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
        )
    self.steps, self.aval, self._read = found.steps, found.aval, None


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tracer, *args: Any, **options: Any) -> Any:
        return type_rules().methods.get(name, function)(self, *args, **options)

    return method


def attach(cls: type[Tracer]) -> None:
    """Give the class of traced arrays NumPy's operators, methods and attributes."""
    cls.__name__ = "traced array"  # as Python's own messages call it
    attach_operators(cls)
    for name, function in METHODS.items():
        setattr(cls, name, _method(name, function))
    for name, attribute in {**ATTRIBUTES, **SPECIAL}.items():
        setattr(cls, name, attribute)
    for name, fix in REPLACEMENTS.items():
        setattr(cls, name, _refusing_assignment(cls, name, fix))
    own_shape: Any = cls.shape
    cls.shape = own_shape.setter(_set_shape)  # type: ignore[method-assign]


attach(Tracer)
