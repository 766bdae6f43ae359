"""What a ufunc does when it is called: promotion, broadcasting, `dtype=`; `elementwise` has one for each name.

Its methods (`reduce`, `outer`, ...) are in `ufunc_methods`, `out=` and `where=` in `out_arrays`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.numpy.out_arrays import store
from numhlo.library.numpy.ufunc_rules.elementwise import RULES
from numhlo.library.numpy.weak_numbers import with_known_exponent, with_weak_numbers
from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ConcretizationError
from numhlo.tracer.building import (
    FUNCTIONS,
    NATIVE_DTYPES,
    NUMPY,
    SCALARS,
    Tracer,
    TypeRules,
    Unsized,
    as_arrays,
    as_traced,
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    current_trace,
    full_of,
    is_weak_bound,
    loop_dtypes,
    memory_order,
    promotion_key,
    select,
    shape_of,
    stand_in_dtype,
    strict_integer_powers,
    type_rules,
    unshared,
)

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
    >>> from numhlo.library.numpy.elementwise import add
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
        self._uniform_loops: dict[tuple[TypeRules, np.dtype], tuple[np.dtype, ...] | None] = {}
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
        if self.ufunc is np.power and type(operands[-1]) is int:
            operands = tuple(with_known_exponent(operands))
        if current_trace() is None:
            rules = type_rules()
            is_plain = out is None and where is True and len(operands) == self.nin
            if rules is not NUMPY and is_plain and not any(isinstance(x, Tracer) for x in operands):
                return as_arrays(self._run_converted(operands, dtype, casting))
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

    def _run_converted(self, operands: tuple[Any, ...], dtype: Any, casting: str) -> Any:
        """Return NumPy's result of operands that are converted to what JAX's rules say; in float32 if NumPy must."""
        dtypes = self.loop(operands, dtype, casting)
        arrays = [np.asarray(as_number_of(x, d)) for x, d in zip(operands, dtypes, strict=False)]
        if self.ufunc in UNCHANGING and dtypes[0] == np.bool_:
            return arrays[0].copy()  # NumPy has no loop
        if not NATIVE_DTYPES.issuperset(dtypes):
            arrays = [x if x.dtype in NATIVE_DTYPES else x.astype(stand_in_dtype(x.dtype)) for x in arrays]
        with np.errstate(all="ignore"):
            found = self.ufunc(*arrays)
        if self.nout > 1:
            return tuple([r.astype(d, copy=False) for r, d in zip(found, dtypes[self.nin :], strict=True)])
        return found.astype(dtypes[-1], copy=False)

    def _apply(self, operands: tuple[Any, ...], dtype: Any, casting: str) -> Any:
        aval = _aval_of_all(operands) if dtype is None else None
        dtypes = None if aval is None else self._uniform_loop(aval.dtype)
        if dtypes is None:
            operands = tuple(map(as_operand, operands))
            dtypes = self.loop(operands, dtype, casting)
            shape = broadcast_shapes(*map(shape_of, operands), name=self.__name__, operands=operands)
            rules = type_rules()
            weak = rules is not NUMPY and gives_weak(self.ufunc, operands)
            converted = convert if rules is NUMPY else as_number_of
            operands = tuple(
                [broadcast_to_shape(converted(x, d), shape) for x, d in zip(operands, dtypes, strict=False)]
            )
        else:
            weak = False
        result = self.rule(*operands)
        if self.nout > 1:
            return tuple([_weak_if(weak, convert(r, d)) for r, d in zip(result, dtypes[self.nin :], strict=True)])
        result = convert(result, dtypes[-1])
        return _weak_if(weak, unshared(result) if result is operands[0] else result)

    def _uniform_loop(self, dtype: np.dtype) -> tuple[np.dtype, ...] | None:
        """Return the dtypes of the loop that takes operands of one dtype as they are; None where they are converted."""
        key = type_rules(), dtype
        if key not in self._uniform_loops:
            found = loop_dtypes(self.ufunc, (dtype,) * self.nin)
            self._uniform_loops[key] = found if found[: self.nin] == (dtype,) * self.nin else None
        return self._uniform_loops[key]

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


STRONG = frozenset({
    np.bitwise_count, np.frexp, np.isinf, np.ldexp, np.log10, np.log2, np.signbit, np.spacing,
})  # fmt: skip
"""Functions whose results are not weak under JAX's rules though all operands are."""

STRONG_OF_INTEGERS = frozenset({np.isfinite, np.power, np.rint})
"""Functions of which that holds for integers."""

STRONG_OF_ARRAYS = frozenset({
    np.deg2rad, np.rad2deg, np.degrees, np.radians, np.gcd, np.heaviside, np.hypot, np.lcm, np.logaddexp2,
    np.logical_and, np.logical_not, np.logical_or, np.logical_xor,
})  # fmt: skip
"""Functions of which that holds where an operand has dimensions."""

UNCHANGING = frozenset({np.conjugate, np.positive})
"""Functions that leave real numbers, and bools, as they are."""


def gives_weak(ufunc: np.ufunc, operands: Sequence[Any]) -> bool:
    """Return whether a function's results are weak under JAX's rules."""
    keys = tuple(map(promotion_key, operands))
    if ufunc in STRONG or (ufunc in STRONG_OF_INTEGERS and set(keys) == {int}):
        return False
    if ufunc is np.power and not isinstance(keys[1], type):
        return False
    return is_weak_bound(keys) and not (ufunc in STRONG_OF_ARRAYS and any(map(np.ndim, operands)))


def as_number_of(x: Any, dtype: np.dtype) -> Any:
    """Return an operand in a dtype under JAX's rules: Python's integers that it does not hold wrap.

    Raises
    ------
    OverflowError
        If a Python integer is beyond what the rules have for integers.
    """
    if type(x) not in SCALARS:
        return convert(x, dtype)
    with np.errstate(all="ignore"):
        return np.asarray(x, type_rules().numbers[type(x)]).astype(dtype, copy=False)


def _weak_if(weak: bool, result: Any) -> Any:
    if weak:
        result = as_traced(result)
        result.weak = True
    return result


def _aval_of_all(operands: tuple[Any, ...]) -> TensorType | None:
    """Return the one type of operands that are traced arrays and stand for no Python number; None for others."""
    aval = None
    for x in operands:
        if type(x) is not Tracer or x.weak or not (aval is None or x.aval is aval or x.aval == aval):
            return None
        aval = x.aval
    return aval


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
        if type_rules() is not NUMPY:
            return super()._apply(operands, dtype, casting)
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
