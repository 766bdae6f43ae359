"""What every NumPy name needs: dispatch between NumPy and tracing, conversion, broadcasting; dtypes are in `promotion`.

`implements` turns a traced implementation into the public function: outside tracing the NumPy function itself runs, so
values, dtypes and errors are NumPy's; while tracing the implementation appends ops. The same registration serves
``np.name(traced)`` through the protocols. Promotion is NumPy 2's (NEP 50): Python scalars and traced ones adapt.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeVar

import numpy as np

from numhlo.lowering.ir import Location, TensorType, capture_location
from numhlo.lowering.ir.errors import ConcretizationError, DTypeError, ShapeError
from numhlo.lowering.ops import comparison, conversion, layout
from numhlo.tracer.core.array import Array, as_written, has_own_arithmetic, is_weak_array
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.jax_loops import NATIVE_DTYPES
from numhlo.tracer.core.memory_orders import BY_FIELDS, OF_NEW_ARRAYS, with_memory_order
from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operand_names import operand_names
from numhlo.tracer.core.orders import lay_out
from numhlo.tracer.core.promotion import (
    FLOAT0,
    NARROW,
    TRACEABLE,
    as_dtype,
    common_dtype,
    dtype_of_number,
)
from numhlo.tracer.core.static_arguments import explain_parameter
from numhlo.tracer.core.trace import Trace, Tracer, current_trace
from numhlo.tracer.core.type_rules import NUMPY, as_typed, type_rules

ARRAYS = (Tracer, np.ndarray)
SEQUENCES = (list, tuple, deque)
SCALARS = (bool, int, float, complex)
F = TypeVar("F", bound=Callable[..., Any])


class CutResult(NamedTuple):
    """Elements whose number is known when a function has run, as what it computes.

    Attributes
    ----------
    buffer : Tracer
        As many elements as there are at most, of which the first ones count.
    count : Tracer
        Their number.
    axis : int
        Along which they lie.
    rebuild : callable
        Returns, of a buffer and a count in another trace, what this is there.
    """

    buffer: Any
    count: Any
    axis: int
    rebuild: Callable[[Any, Any], Any]


class Unsized:
    """Elements whose number is not known while tracing; functions of them are theirs to define (see `selected`)."""

    location: Location

    def refuse(self, where: Location | None = None) -> NoReturn:
        """Raise the error for what needs their number."""
        raise NotImplementedError

    def call(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a function of NumPy's, by name, of arguments the first of which is this."""
        raise NotImplementedError

    def call_at_any_place(self, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return a function of NumPy's, by name, of arguments among which this is."""
        return self.refuse()

    def apply(self, ufunc: Any, operands: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Return an elementwise function of operands among which this is."""
        raise NotImplementedError

    def as_result(self) -> CutResult:
        """Return what a traced function gives back for this, which is cut to its length when that is known."""
        return self.refuse(self.location)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        self.refuse()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.refuse()


def unsized_in(args: Sequence[Any]) -> Unsized | None:
    """Return the first of arguments, or of what lists among them hold, whose number of elements is not known."""
    for x in args:
        if isinstance(x, Unsized):
            return x
        if type(x) in (list, tuple):
            found = next((item for item in x if isinstance(item, Unsized)), None)
            if found is not None:
                return found
    return None


def as_arrays(result: Any) -> Any:
    """Return NumPy's result with every ndarray (and NumPy scalar) viewed as `Array`."""
    if isinstance(result, np.ndarray):
        kind = type(result)  # what a mask or a unit means is the class's own business
        if kind is np.ndarray and not result.ndim:
            return as_written(result)
        return result if kind is not np.ndarray and has_own_arithmetic(kind) else result.view(Array)
    if isinstance(result, np.generic):
        return np.asarray(result).view(Array)
    if isinstance(result, tuple | list):
        items = [as_arrays(x) for x in result]
        if isinstance(result, list):
            return items
        return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
    return result


def implements(*functions: Any, eager: Callable[..., Any] | None = None) -> Callable[[F], F]:
    """Return a decorator that makes a traced implementation the public function of NumPy's ``functions``.

    Parameters
    ----------
    *functions : callable
        NumPy's functions or ufuncs; the first runs outside tracing. None where NumPy is older than the function.
    eager : callable, optional
        What runs outside tracing instead, where NumPy's function lacks something.
    """

    def decorate(written: F) -> F:
        first = functions[0] if functions else None
        traced = written if first in BY_FIELDS else with_memory_order(written, first in OF_NEW_ARRAYS)
        numpy_function: Any = first if eager is None else eager

        @functools.wraps(traced)
        def public(*args: Any, **kwargs: Any) -> Any:
            if current_trace() is None:
                return as_arrays(numpy_function(*args, **kwargs))
            if args and isinstance(args[0], Unsized):
                return args[0].call(traced.__name__, args, kwargs)
            if (unsized := unsized_in(args)) is not None:
                return unsized.call_at_any_place(traced.__name__, args, kwargs)
            try:
                return traced(*args, **kwargs)
            except ConcretizationError as error:
                explain_parameter(error, written, args, kwargs)
                raise

        for function in functions:
            FUNCTIONS[function] = public
        return public  # type: ignore[return-value]

    return decorate


def is_weak(x: Any) -> bool:
    """Return whether ``x`` is a Python scalar, or a traced array that stands for one."""
    return type(x) in SCALARS or (x.weak if isinstance(x, Tracer) else is_weak_array(x))


WEAK_KEYS: dict[str, Any] = {"b": np.dtype(bool), "i": int, "f": float, "c": complex}
"""What promotion sees of weak arrays, by the kind of their dtype."""


def promotion_key(x: Any) -> Any:
    """Return what promotion sees of ``x``: a dtype, or a Python scalar type for weak ones."""
    if isinstance(x, Tracer):
        dtype = x.aval.dtype
        return WEAK_KEYS[dtype.kind] if x.weak else dtype
    kind = type(x)
    if kind in NARROW:
        return kind
    if kind is bool:
        return np.dtype(bool)
    if isinstance(x, np.ndarray | np.generic):
        if is_weak_array(x) and x.dtype.kind in WEAK_KEYS:
            return WEAK_KEYS[x.dtype.kind]
        return type_rules().canonical(x.dtype if x.dtype.isnative else x.dtype.newbyteorder("="))
    if isinstance(x, list | tuple):
        return asarray(x).dtype
    number = dtype_of_number(x)
    if number is not None:
        return number
    raise DTypeError(
        f"expected an array or a number, got {kind.__name__}",
        where=capture_location(),
        fix="None is what a function without return gives" if x is None else "convert it with numpy.asarray first",
    )


def result_dtype(*arrays: Any) -> np.dtype:
    """Return NumPy 2's common dtype of arrays and (weak) scalars.

    Examples
    --------
    >>> result_dtype(np.float32(1), 2.0)
    dtype('float32')
    """
    return common_dtype([promotion_key(x) for x in arrays])


def asarray(x: Any, dtype: np.dtype | None = None) -> Any:
    """Return ``x`` as a traced or concrete array of ``dtype`` (its own where None); lists may hold traced arrays."""
    if isinstance(x, Tracer):
        return x if dtype is None else convert(x, dtype)
    if isinstance(x, np.ndarray) and type(x) is not np.ndarray and has_own_arithmetic(type(x)):
        raise DTypeError(
            f"a {type(x).__qualname__} in a traced function, whose arithmetic is not that of arrays",
            where=capture_location(),
            why="it would be traced as an array of its elements, which means something else",
            fix="use its data, numpy.asarray(x) or x.data, and a mask as another array",
        )
    if isinstance(x, SEQUENCES) and contains_tracer(x):
        parts = [asarray(item) for item in x]
        shapes = {shape_of(p) for p in parts}
        if len(shapes) > 1:
            raise ShapeError(
                f"an array of {' and '.join(sorted(map(spelling, parts)))}",
                where=capture_location(),
                why="the items of a list have one shape",
                fix="use concatenate, or broadcast_to first",
            )
        common = common_dtype([p.dtype for p in parts]) if dtype is None else dtype  # in lists, no number is weak
        rows = [expand(convert(p, common), 0) for p in parts]
        return bind1(layout.CONCATENATE, *rows, attributes={"dimension": 0})
    array = np.asarray(x, dtype)
    if dtype is None and (rules := type_rules()) is not NUMPY:
        array = as_typed(array, x, rules)
    if array.dtype in TRACEABLE:
        return array
    return np.zeros(array.shape, bool) if array.dtype == FLOAT0 else array.astype(as_dtype(array.dtype))


def known_value(x: Any) -> np.ndarray | None:
    """Return an array's value where it is concrete or its trace carries it."""
    return x.concrete if isinstance(x, Tracer) else np.asarray(x)


def stored(value: Any, dtype: Any) -> Any:
    """Return what an assignment puts into an array of ``dtype``.

    Numbers of Python's and lists of them that it can't hold, such as 300 or NaN for uint8, raise what NumPy raises.

    Examples
    --------
    >>> stored(np.int64(300), np.uint8)
    array(44, dtype=uint8)
    """
    if type(value) not in SCALARS and not isinstance(value, SEQUENCES):
        return convert(asarray(value), dtype)
    with np.errstate(all="ignore"):
        return asarray(value, np.dtype(dtype))


def trace_for(x: Any) -> Trace:
    """Return the current trace; where there is none, ``x`` has leaked from one that has ended."""
    trace = current_trace()
    if trace is None:
        Trace(None).read(x)  # raises
    assert trace is not None
    return trace


def as_traced(x: Any) -> Tracer:
    """Return ``x`` as a traced array of the current trace."""
    trace = trace_for(x)
    return x if isinstance(x, Tracer) else trace.wrap(trace.read(x))


def new_array(x: Any) -> Tracer:
    """Return ``x`` in storage of its own: an array, also where it has no dimensions."""
    trace = trace_for(x)
    array = trace.wrap(trace.read(x))
    array.cell.is_array = True
    return array


def unshared(x: Any) -> Tracer:
    """Return ``x`` in storage of its own, a scalar where it has no dimensions: what NumPy computes shares no memory."""
    trace = trace_for(x)
    return lay_out(trace.wrap(trace.read(x)), "K", x)


def contains_tracer(x: Any) -> bool:
    """Return whether a nested list, tuple or deque holds a traced array."""
    if isinstance(x, SEQUENCES):
        return any(contains_tracer(item) for item in x)
    return isinstance(x, Tracer)


def convert(x: Any, dtype: Any) -> Any:
    """Return ``x`` converted as NumPy's ``astype`` does; the array itself where it has that dtype already."""
    if type(x) is Tracer and x.aval.dtype is dtype and not x.weak:
        return x  # nearly always
    dtype = np.dtype(dtype)
    if not isinstance(x, Tracer):
        if type(x) in SCALARS:
            return np.asarray(x, dtype) if dtype in NATIVE_DTYPES else np.asarray(x).astype(dtype)
        with np.errstate(all="ignore"):
            return np.asarray(x).astype(dtype, copy=False)
    if x.aval.dtype == dtype:
        return Tracer(x.cell, x.steps, x.aval) if x.weak else x
    dtype = as_dtype(dtype)
    if dtype.kind == "b" and x.dtype.kind == "c":  # the op drops the imaginary part
        zero = full_of(0, x.shape, x.dtype)
        return bind1(comparison.COMPARE, x, zero, attributes={"comparison_direction": "NE", "compare_type": "FLOAT"})
    return bind1(conversion.CONVERT, x, results=[TensorType(x.shape, dtype)])


def shape_of(x: Any) -> tuple[int, ...]:
    """Return the shape of a traced or concrete array or a scalar."""
    if isinstance(x, ARRAYS):
        return x.shape
    return () if type(x) in SCALARS else np.shape(x)


def spelling(x: Any) -> str:
    """Return an operand's dtype and shape as messages show them, such as ``float32[3,4]``."""
    if type(x) in SCALARS:
        return f"Python {type(x).__name__}"
    array = x if isinstance(x, Tracer | np.ndarray | np.generic) else asarray(x)
    return f"{array.dtype.name}[{','.join(map(str, shape_of(array)))}]"


def broadcast_shapes(
    *shapes: tuple[int, ...], name: str = "broadcast_shapes", operands: Sequence[Any] = ()
) -> tuple[int, ...]:
    """Return NumPy's broadcast shape.

    Parameters
    ----------
    *shapes : tuple of int
    name : str, optional
        Of the operation, for messages.
    operands : sequence, optional
        What has these shapes, for messages.

    Raises
    ------
    ShapeError
        If two extents differ and neither is 1; the message says which, and how to line axes up.

    Examples
    --------
    >>> broadcast_shapes((3, 1), (4,))
    (3, 4)
    """
    arrays = [shape for shape in shapes if shape]  # beside these, scalars ask for nothing
    if not arrays or arrays.count(arrays[0]) == len(arrays):
        return arrays[0] if arrays else ()
    ndim = max(map(len, shapes))
    result = []
    for axis in range(-ndim, 0):
        distinct = {s[axis] for s in shapes if -axis <= len(s) and s[axis] != 1}
        if len(distinct) > 1:
            raise _broadcast_error(name, shapes, axis, operands)
        result.append(distinct.pop() if distinct else 1)
    return tuple(result)


def _broadcast_error(name: str, shapes: Sequence[tuple[int, ...]], axis: int, operands: Sequence[Any]) -> ShapeError:
    shown = [spelling(x) for x in operands] or ["[" + ",".join(map(str, s)) + "]" for s in shapes]
    where = capture_location()
    names = operand_names(where, len(shapes))
    sizes = [
        f"{s[axis]} ({names[k]})" if names else str(s[axis])
        for k, s in enumerate(shapes)
        if -axis <= len(s) and s[axis] != 1
    ]
    place = "trailing sizes" if axis == -1 else f"sizes of axis {axis}"
    return ShapeError(
        f"{name}: cannot broadcast {' with '.join(shown)}",
        where=where,
        why=f"{place} differ: {' against '.join(sizes)}",
        fix=_alignment(shapes, names),
    )


def _alignment(shapes: Sequence[tuple[int, ...]], names: Sequence[str]) -> str:
    """Return how to line up the axes of the shorter shape, where that is what is missing."""
    shorter, longest = min(shapes, key=len), max(shapes, key=len)
    for start in range(len(longest) - len(shorter)):
        if shorter and longest[start : start + len(shorter)] == shorter:
            added = len(longest) - start - len(shorter)
            index = ", ".join([":"] * len(shorter) + ["None"] * added)
            if names:
                return f"try {names[shapes.index(shorter)]}[{index}] to line it up with axis {start}"
            return f"try y[{index}] to line it up with axis {start}, where y is the one of shape {list(shorter)}"
    return "make the sizes equal or 1"


def broadcast_to_shape(x: Any, shape: tuple[int, ...]) -> Any:
    """Return ``x`` broadcast to ``shape``, aligned at the trailing axes (a fresh array, or ``x`` itself)."""
    own = shape_of(x)
    if own == shape:
        return x
    if own == ():
        scalar = {"broadcast_dimensions": ()}
        return bind1(layout.BROADCAST_IN_DIM, x, attributes=scalar, results=[TensorType(shape, x.dtype)])
    offset = len(shape) - len(own)
    if offset < 0 or any(n not in (1, m) for n, m in zip(own, shape[offset:], strict=True)):
        raise ShapeError(
            f"could not broadcast input array from shape {own} into shape {shape}", where=capture_location()
        )
    kept = [k for k, n in enumerate(own) if n == shape[k + offset]]
    if len(kept) < len(own):
        x = bind1(layout.RESHAPE, x, results=[TensorType(tuple(own[k] for k in kept), x.dtype)])
    dims = tuple(k + offset for k in kept)
    return bind1(
        layout.BROADCAST_IN_DIM,
        x,
        attributes={"broadcast_dimensions": dims},
        results=[TensorType(shape, x.dtype)],
    )


def broadcast_all(*arrays: Any, name: str = "broadcast") -> list[Any]:
    """Return arrays broadcast against each other."""
    shape = broadcast_shapes(*[shape_of(x) for x in arrays], name=name, operands=arrays)
    return [broadcast_to_shape(asarray(x), shape) for x in arrays]


def reshape_to(x: Any, shape: tuple[int, ...]) -> Any:
    """Return ``x`` reshaped as a fresh array (not a view)."""
    if shape_of(x) == shape:
        return x
    return bind1(layout.RESHAPE, x, results=[TensorType(shape, x.dtype)])


def expand(x: Any, *axes: int) -> Any:
    """Return ``x`` with axes of extent 1 inserted at the given places of the result (fresh, not a view)."""
    own = iter(shape_of(x))
    ndim = len(shape_of(x)) + len(axes)
    places = {a % ndim for a in axes}
    return reshape_to(x, tuple(1 if k in places else next(own) for k in range(ndim)))


def full_of(value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Return an array filled with a scalar, as a broadcast constant."""
    scalar = np.asarray(value).astype(dtype)
    if not shape and type_rules() is not NUMPY and current_trace() is not None:
        return as_traced(scalar)  # it keeps its dtype: concrete arrays have 32 bits where the rules say so
    return broadcast_to_shape(scalar, shape)


def require_casting(name: str, arrays: Sequence[Any], wanted: np.dtype, casting: str) -> None:
    """Refuse to convert arrays to a dtype where NumPy's casting rule forbids it."""
    for array in arrays:
        if not np.can_cast(array.dtype, wanted, casting):  # type: ignore[arg-type]
            raise DTypeError(
                f"{name}: cannot cast {spelling(array)} to {wanted.name}",
                where=capture_location(),
                why=f"the casting rule is {casting!r}",
                fix="convert it with astype before, or give casting=",
            )


def normalize_axis(axis: int, ndim: int, name: str | None = None) -> int:
    """Return a non-negative axis; NumPy's `AxisError` where it lies outside."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim, name)
    return axis % ndim


def normalize_axes(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Return the axes as a tuple of non-negative ints; all of them for None."""
    if axis is None:
        return tuple(range(ndim))
    given = axis if isinstance(axis, Sequence | np.ndarray) else (axis,)
    axes = tuple(normalize_axis(a, ndim) for a in given)
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes


def extent_product(shape: Sequence[int]) -> int:
    """Return the number of elements of a shape."""
    return math.prod(shape)
