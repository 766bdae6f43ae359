"""NumPy's ufuncs as objects: called on concrete arrays they are NumPy's, called while tracing they append ops."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, ConcretizationError, DTypeError, ShapeError, UnsupportedError
from numhlo.tracer.namespace.building import select
from numhlo.tracer.namespace.core import (
    FUNCTIONS,
    SCALARS,
    Unsized,
    as_arrays,
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    full_of,
    loop_dtypes,
    promotion_key,
    shape_of,
    spelling,
)
from numhlo.tracer.namespace.index_items import unshared
from numhlo.tracer.namespace.memory_orders import memory_order
from numhlo.tracer.namespace.rules.elementwise import RULES
from numhlo.tracer.namespace.weak_numbers import with_weak_numbers, with_wrapped_integers
from numhlo.tracer.semantics import strict_integer_powers
from numhlo.tracer.trace import Tracer, current_trace

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "ufunc",
]

METHODS: dict[str, Callable[..., Any]] = {}
"""Traced ``reduce``, ``accumulate``, ``outer``, ..., called with the ufunc first; `ufunc_methods` fills it."""


class Ufunc:
    """An elementwise function with NumPy's promotion, ``out=``, ``where=`` and ``dtype=``.

    Parameters
    ----------
    ufunc : numpy.ufunc
        NumPy's function of the same meaning, which runs on concrete arrays outside tracing.

    Attributes
    ----------
    nin, nout : int
        Number of operands and of results.
    identity : object
        The value that changes nothing, or None.

    Examples
    --------
    >>> add([1, 2], 3), add.reduce([1, 2, 3]), add.nin
    (Array([4, 5]), Array(6), 2)
    """

    def __init__(self, ufunc: np.ufunc) -> None:
        self.ufunc = ufunc
        self.rule = RULES[ufunc]
        self.nin, self.nout, self.nargs, self.identity = ufunc.nin, ufunc.nout, ufunc.nargs, ufunc.identity
        self.__name__ = self.__qualname__ = ufunc.__name__
        self.__doc__ = ufunc.__doc__
        self.__signature__ = _signature(ufunc)
        FUNCTIONS[ufunc] = self

    def __repr__(self) -> str:
        return f"<numhlo ufunc '{self.__name__}'>"

    def __call__(
        self,
        *operands: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
        order: str = "K",
        subok: bool = True,
        signature: Any = None,
    ) -> Any:
        """Apply the function elementwise; see NumPy's function of the same name."""
        dtype = dtype_in_signature(signature) if signature is not None and dtype is None else dtype
        operands = tuple(with_wrapped_integers(self.ufunc, operands)) if int in map(type, operands) else operands
        if current_trace() is None:
            target = {} if out is None else {"out": out}  # NumPy refuses None where there are several results
            seen = operands if self.nin == 1 or self.ufunc is np.ldexp else with_weak_numbers(operands)
            return as_arrays(self.ufunc(*seen, where=where, dtype=dtype, casting=casting, order=order, **target))
        order = order if order == "K" else memory_order(order)
        for unsized in operands:
            if isinstance(unsized, Unsized):
                return unsized.apply(self, operands, {"out": out, "where": where, "dtype": dtype, "casting": casting})
        if len(operands) > self.nin and out is None:
            operands, out = operands[: self.nin], operands[self.nin :]
        if len(operands) != self.nin or (isinstance(out, tuple) and len(out) > self.nout):
            raise TypeError(f"{self.__name__}() takes {self.nin} array arguments but {len(operands)} were given")
        if where is not True and self.ufunc not in LINEAR:
            operands = tuple([_where_chosen(x, where, self.__name__) for x in operands])
        result = self._apply(operands, dtype, casting)
        return result if out is None and where is True else self._store(result, out, where, casting)

    def _apply(self, operands: tuple[Any, ...], dtype: Any, casting: str) -> Any:
        operands = tuple(map(as_operand, operands))
        dtypes = self.loop(operands, dtype, casting)
        if not _are_alike(operands, dtypes):
            shape = broadcast_shapes(*map(shape_of, operands), name=self.__name__, operands=operands)
            operands = tuple([broadcast_to_shape(convert(x, d), shape) for x, d in zip(operands, dtypes, strict=False)])
        result = self.rule(*operands)
        if self.nout > 1:
            return tuple(convert(r, d) for r, d in zip(result, dtypes[self.nin :], strict=True))
        result = convert(result, dtypes[-1])
        return unshared(result) if result is operands[0] else result

    def loop(self, operands: tuple[Any, ...], dtype: Any = None, casting: str = "same_kind") -> tuple[np.dtype, ...]:
        """Return the dtypes that operands are converted to, and those of the results."""
        keys = tuple(map(promotion_key, operands))
        return loop_dtypes(self.ufunc, keys, None if dtype is None else np.dtype(dtype), casting)

    def _store(self, result: Any, out: Any, where: Any, casting: str) -> Any:
        results = result if isinstance(result, tuple) else (result,)
        if isinstance(result, tuple) and not (out is None or isinstance(out, tuple)):
            raise TypeError("'out' must be a tuple of arrays")
        targets = out if isinstance(out, tuple) else (out,)
        targets = (*targets, *[None] * (len(results) - len(targets)))
        stored = tuple(store(self.__name__, r, t, where, casting) for r, t in zip(results, targets, strict=True))
        return stored if isinstance(result, tuple) else stored[0]

    def reduce(self, array: Any, axis: Any = 0, *args: Any, **options: Any) -> Any:
        """Return the operand combined along axes; see NumPy's ``ufunc.reduce``."""
        return self._run("reduce", array, axis, *args, **options)

    def accumulate(self, array: Any, axis: int = 0, *args: Any, **options: Any) -> Any:
        """Return the running combination along an axis; see NumPy's ``ufunc.accumulate``."""
        return self._run("accumulate", array, axis, *args, **options)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, **options: Any) -> Any:
        """Return the operand combined from each index to the next; see NumPy's ``ufunc.reduceat``."""
        return self._run("reduceat", array, indices, axis, **options)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """Return the function of all pairs of elements; see NumPy's ``ufunc.outer``."""
        return self._run("outer", A, B, **options)

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Apply the function in place at indices, once for each repetition; see NumPy's ``ufunc.at``."""
        self._run("at", a, indices, *(() if b is None else (b,)))

    def _run(self, method: str, *args: Any, **options: Any) -> Any:
        if current_trace() is None:
            return as_arrays(getattr(self.ufunc, method)(*args, **options))
        return METHODS[method](self, *args, **options)


def _are_alike(operands: tuple[Any, ...], dtypes: tuple[np.dtype, ...]) -> bool:
    """Return whether operands are traced arrays of one shape, and of the dtypes that they are wanted in."""
    shape = None
    for x, dtype in zip(operands, dtypes, strict=False):
        if type(x) is not Tracer or x.weak or (x.aval.dtype is not dtype and x.aval.dtype != dtype):
            return False
        if shape is not None and x.aval.shape != shape:
            return False
        shape = x.aval.shape
    return True


def dtype_in_signature(signature: Any) -> Any:
    """Return the dtype that a ufunc's ``signature=`` asks the result to have: the last one it names."""
    return (signature.rpartition("->")[2] if isinstance(signature, str) else signature)[-1]


def _signature(ufunc: np.ufunc) -> inspect.Signature:
    kind = inspect.Parameter
    names = ["x"] if ufunc.nin == 1 else [f"x{k + 1}" for k in range(ufunc.nin)]
    operands = [kind(name, kind.POSITIONAL_ONLY) for name in names]
    options = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True, "signature": None}
    return inspect.Signature(
        [
            *operands,
            kind("out", kind.POSITIONAL_OR_KEYWORD, default=None if ufunc.nout == 1 else (None,) * ufunc.nout),
            *[kind(name, kind.KEYWORD_ONLY, default=default) for name, default in options.items()],
        ]
    )


class Comparison(Ufunc):
    """A comparison: exact between any two integers, Python's included, whatever their dtypes can hold."""

    def _apply(self, operands: tuple[Any, ...], dtype: Any, casting: str) -> Any:
        first, second = operands
        first, second = _comparable(first, second)
        second, first = _comparable(second, first)
        return super()._apply((first, second), dtype, casting)


def _comparable(number: Any, other: Any) -> tuple[Any, Any]:
    """Return operands as they can be compared: a Python int that ``other`` can't hold is beyond all its values."""
    if getattr(other, "dtype", np.dtype(bool)).kind not in "iu" or promotion_key(number) is not int:
        return number, other
    if isinstance(number, Tracer):
        return convert(number, np.int64), other
    info = np.iinfo(other.dtype)
    if info.min <= number <= info.max:
        return number, other
    return np.int64(1 if number > 0 else -1), full_of(0, shape_of(other), np.int64)


class Power(Ufunc):
    """``power``: integers to negative powers are refused where the exponent is known, as NumPy refuses them."""

    def _apply(self, operands: tuple[Any, ...], dtype: Any, casting: str) -> Any:
        exponent = operands[1].concrete if isinstance(operands[1], Tracer) else operands[1]
        wanted = self.loop(operands, dtype, casting)
        if wanted[-1].kind == "i" and exponent is not None and np.any(np.less(exponent, 0)):
            raise ValueError("Integers to negative integer powers are not allowed.")
        if exponent is None and strict_integer_powers.get() and {promotion_key(x) for x in operands} == {int}:
            raise ConcretizationError("a Python int to the power of one that is not known", where=capture_location())
        return super()._apply(operands, dtype, casting)


SIMPLE_POWERS: dict[Any, np.ufunc] = {-1: np.reciprocal, 0.5: np.sqrt, 1: np.positive, 2: np.square}


def operator_power(x: Any, exponent: Any) -> Any:
    """Return ``x ** exponent``; simple exponents are computed more simply, and to the same bits, as NumPy does."""
    if type(exponent) is int and exponent < 0 and isinstance(x, Tracer) and x.weak and x.dtype.kind in "bi":
        return power(convert(x, np.float64), exponent)  # as Python has it for its own integers
    simple = SIMPLE_POWERS.get(exponent) if type(exponent) in (int, float) else None
    if simple is None or not isinstance(x, Tracer) or x.weak:
        return power(x, exponent)
    if x.dtype.kind not in "biu" or (exponent == 2 and type(exponent) is int):
        return FUNCTIONS[simple](x)
    return power(x, exponent)


def as_operand(x: Any) -> Any:
    """Return a number unchanged (it must be checked against the loop's dtype), anything else as an array."""
    return x if type(x) is Tracer or type(x) in SCALARS else asarray(x)


LINEAR = frozenset({np.add, np.subtract, np.negative, np.positive, np.conjugate})
"""Functions whose derivative is finite everywhere."""


def _where_chosen(x: Any, where: Any, name: str) -> Any:
    """Return an operand with ones where a mask leaves it out: nothing is computed there, so derivatives see nothing."""
    if not isinstance(x, Tracer) or x.dtype.kind not in "fcV":
        return x
    mask = asarray(where, np.dtype(bool))
    shape = broadcast_shapes(shape_of(x), shape_of(mask), name=name)
    chosen = select(broadcast_to_shape(mask, shape), broadcast_to_shape(x, shape), 1)
    return as_operand(chosen)


def store(
    name: str, result: Any, target: Any, where: Any = True, casting: str = "same_kind", *, exact: bool = False
) -> Any:
    """Write ``result`` into ``target`` where ``out=`` and ``where=`` ask; ufuncs alone fill a target that is larger."""
    if target is None and where is True:
        return result
    if isinstance(target, tuple) and len(target) == 1:
        target = target[0]
    _check_target(name, result, target, casting)
    own = shape_of(result)
    aligned = target.shape[max(target.ndim - len(own), 0) :]
    if own != target.shape and (exact or [n for n, t in zip(own, aligned, strict=False) if n in (1, t)] != [*own]):
        raise ShapeError(
            f"{name}: cannot write {spelling(result)} into out of {spelling(target)}",
            where=capture_location(),
            why="an out array is never broadcast",
            fix=f"pass out of shape {list(shape_of(result))}",
        )
    value = broadcast_to_shape(convert(result, target.dtype), target.shape)
    if where is not True:
        mask = broadcast_to_shape(asarray(where, np.dtype(bool)), target.shape)
        value = select(mask, value, target)
    trace = current_trace()
    assert trace is not None
    target.assign(value if isinstance(value, Tracer) else trace.wrap(trace.read(value)))
    return target


def _check_target(name: str, result: Any, target: Any, casting: str) -> None:
    if target is None:
        raise ArgumentError(
            f"{name}(where=mask) without out=",
            where=capture_location(),
            why="elements outside the mask would be uninitialized memory",
            fix=f"pass out=, or write where(mask, {name}(...), other)",
        )
    if isinstance(target, np.ndarray):
        raise UnsupportedError(
            f"{name}: writing a traced array into a concrete one",
            where=capture_location(),
            why="an array that plain NumPy made is not part of the traced program, so it can't take a traced value",
            fix="make it with numhlo.numpy (zeros, empty, ...), or pass it to the traced function as an argument",
        )
    if not isinstance(target, Tracer):
        raise TypeError(f"{name}(): return arrays must be of ArrayType, got {type(target).__name__}")
    if not np.can_cast(result.dtype, target.dtype, casting):  # type: ignore[arg-type]
        raise DTypeError(
            f"{name}: cannot cast output from {result.dtype} to {target.dtype} with casting rule {casting!r}",
            where=capture_location(),
            fix=f"use an out array of dtype {result.dtype}, or casting='unsafe'",
        )


ufunc = Ufunc
abs = absolute = Ufunc(np.absolute)
add = Ufunc(np.add)
acos = arccos = Ufunc(np.arccos)
acosh = arccosh = Ufunc(np.arccosh)
asin = arcsin = Ufunc(np.arcsin)
asinh = arcsinh = Ufunc(np.arcsinh)
atan = arctan = Ufunc(np.arctan)
atan2 = arctan2 = Ufunc(np.arctan2)
atanh = arctanh = Ufunc(np.arctanh)
bitwise_and = Ufunc(np.bitwise_and)
bitwise_count = Ufunc(np.bitwise_count)
bitwise_or = Ufunc(np.bitwise_or)
bitwise_xor = Ufunc(np.bitwise_xor)
cbrt = Ufunc(np.cbrt)
ceil = Ufunc(np.ceil)
conj = conjugate = Ufunc(np.conjugate)
copysign = Ufunc(np.copysign)
cos = Ufunc(np.cos)
cosh = Ufunc(np.cosh)
deg2rad = radians = Ufunc(np.deg2rad)
divide = true_divide = Ufunc(np.divide)
divmod = Ufunc(np.divmod)
equal = Comparison(np.equal)
exp = Ufunc(np.exp)
exp2 = Ufunc(np.exp2)
expm1 = Ufunc(np.expm1)
fabs = Ufunc(np.fabs)
float_power = Ufunc(np.float_power)
floor = Ufunc(np.floor)
floor_divide = Ufunc(np.floor_divide)
fmax = Ufunc(np.fmax)
fmin = Ufunc(np.fmin)
fmod = Ufunc(np.fmod)
frexp = Ufunc(np.frexp)
gcd = Ufunc(np.gcd)
greater = Comparison(np.greater)
greater_equal = Comparison(np.greater_equal)
heaviside = Ufunc(np.heaviside)
hypot = Ufunc(np.hypot)
invert = bitwise_invert = bitwise_not = Ufunc(np.invert)
isfinite = Ufunc(np.isfinite)
isinf = Ufunc(np.isinf)
isnan = Ufunc(np.isnan)
lcm = Ufunc(np.lcm)
ldexp = Ufunc(np.ldexp)
left_shift = bitwise_left_shift = Ufunc(np.left_shift)
less = Comparison(np.less)
less_equal = Comparison(np.less_equal)
log = Ufunc(np.log)
log10 = Ufunc(np.log10)
log1p = Ufunc(np.log1p)
log2 = Ufunc(np.log2)
logaddexp = Ufunc(np.logaddexp)
logaddexp2 = Ufunc(np.logaddexp2)
logical_and = Ufunc(np.logical_and)
logical_not = Ufunc(np.logical_not)
logical_or = Ufunc(np.logical_or)
logical_xor = Ufunc(np.logical_xor)
maximum = Ufunc(np.maximum)
minimum = Ufunc(np.minimum)
modf = Ufunc(np.modf)
multiply = Ufunc(np.multiply)
negative = Ufunc(np.negative)
nextafter = Ufunc(np.nextafter)
not_equal = Comparison(np.not_equal)
positive = Ufunc(np.positive)
power = pow = Power(np.power)
rad2deg = degrees = Ufunc(np.rad2deg)
reciprocal = Ufunc(np.reciprocal)
remainder = mod = Ufunc(np.remainder)
right_shift = bitwise_right_shift = Ufunc(np.right_shift)
rint = Ufunc(np.rint)
sign = Ufunc(np.sign)
signbit = Ufunc(np.signbit)
sin = Ufunc(np.sin)
sinh = Ufunc(np.sinh)
spacing = Ufunc(np.spacing)
sqrt = Ufunc(np.sqrt)
square = Ufunc(np.square)
subtract = Ufunc(np.subtract)
tan = Ufunc(np.tan)
tanh = Ufunc(np.tanh)
trunc = Ufunc(np.trunc)

FUNCTIONS[np.degrees], FUNCTIONS[np.radians] = rad2deg, deg2rad  # NumPy has two objects for each
