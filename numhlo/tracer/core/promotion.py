"""What NumPy 2's promotion (NEP 50) says of dtypes, those of ml_dtypes among them: scalars of Python's adapt to others.

What it sees of an array is `core.promotion_key`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ir.types import COMPLEX, ELEMENT_TYPES, FLOATS
from numhlo.tracer.core.jax_loops import NATIVE_DTYPES, jax_loop
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.core.type_rules import NUMPY, TypeRules, type_rules

TRACEABLE = frozenset(ELEMENT_TYPES.values())
"""Every dtype that a traced array can have."""

NARROW = {int: 0, float: 1, complex: 2}

FLOAT0 = np.dtype([("float0", "V")])
"""JAX's dtype of tangents and cotangents of integers, which have none: its arrays hold nothing. Traced, bools."""


def dtype_of_number(x: Any) -> np.dtype | None:
    """Return the dtype of a number whose class derives from Python's, as an `IntEnum` does; None for all else.

    Promotion adapts Python's own numbers alone: members of an `IntEnum` are int64 to NumPy.

    Examples
    --------
    >>> dtype_of_number(type("Meters", (float,), {})(2.5))
    dtype('float64')
    >>> dtype_of_number(2.5), dtype_of_number(np.float64(2.5))
    (None, None)
    """
    kind: Any = type(x)
    return None if kind in NARROW else _dtype_of_class(kind)


@functools.lru_cache(maxsize=1024)
def _dtype_of_class(kind: Any) -> np.dtype | None:
    if issubclass(kind, bool | np.generic):  # NumPy's float64 derives from float
        return None
    return next((np.dtype(base) for base in NARROW if issubclass(kind, base)), None)


def common_dtype(keys: Sequence[Any]) -> np.dtype:
    """Return the common dtype of promotion keys, under the rules that hold."""
    found = type_rules().common(keys)
    return _common_dtype(keys) if found is None else found


def _common_dtype(keys: Sequence[Any]) -> np.dtype:
    dtypes = [k for k in keys if isinstance(k, np.dtype)]
    weak = [k for k in keys if not isinstance(k, np.dtype)]
    if not dtypes:
        return np.result_type(*[np.dtype(k) for k in weak])
    strong = functools.reduce(_promote_pair, dtypes)
    for kind in weak:
        strong = _adapt(strong, kind)
    return strong


def _promote_pair(a: np.dtype, b: np.dtype) -> np.dtype:
    if a == b:
        return a
    for x, y in ((a, b), (b, a)):
        if x not in NATIVE_DTYPES and (y.kind in "bui" or y == np.float16):
            return x if y.kind in "bui" else np.dtype(np.float32)
    return np.promote_types(a, b)


def _adapt(strong: np.dtype, kind: Any) -> np.dtype:
    rank = 2 if strong in COMPLEX else 1 if strong in FLOATS else 0 if strong.kind != "b" else -1
    if NARROW[kind] <= rank:
        return strong
    if strong not in NATIVE_DTYPES:
        return np.dtype(np.complex64)
    return np.result_type(strong, kind(0))


def loop_dtypes(
    ufunc: np.ufunc, keys: tuple[Any, ...], dtype: np.dtype | None = None, casting: str = "same_kind"
) -> tuple[np.dtype, ...]:
    """Return the dtypes of the loop that NumPy would run: inputs, then outputs.

    Parameters
    ----------
    ufunc : numpy.ufunc
    keys : tuple
        Promotion keys of the operands.
    dtype : numpy.dtype, optional
        The result's dtype, where the caller chose it.
    casting : str, optional
        NumPy's rule for the conversion of operands.

    Raises
    ------
    DTypeError
        If NumPy's ufunc has no loop for them.
    """
    return _loop_dtypes(type_rules(), ufunc, keys, dtype, casting)


@functools.lru_cache(maxsize=8192)
def _loop_dtypes(
    rules: TypeRules, ufunc: np.ufunc, keys: tuple[Any, ...], dtype: np.dtype | None, casting: str
) -> tuple[np.dtype, ...]:
    if rules is not NUMPY:
        common = common_dtype(keys) if dtype is None else dtype
        found = jax_loop(ufunc, [common_dtype([k]) for k in keys], common)
        if any(not isinstance(k, type) and rules.canonical(k) != k for k in keys):
            return found  # as wide as a function of this library made an operand
        return tuple(map(rules.canonical, found))
    if not any(isinstance(k, np.dtype) for k in keys):
        keys = tuple(np.dtype(k) for k in keys)  # NumPy compares Python ints as objects
    common = _common_dtype(keys)
    narrow = common if common not in NATIVE_DTYPES else None
    if narrow is not None or (dtype is not None and dtype not in NATIVE_DTYPES):
        keys = (np.dtype(np.float32),) * len(keys)
    if dtype is not None:
        narrow, dtype = (None, dtype) if dtype in NATIVE_DTYPES else (dtype, np.dtype(np.float32))
    chosen: Any = {} if dtype is None else {"signature": (None,) * ufunc.nin + (dtype,) * ufunc.nout}
    try:
        found = ufunc.resolve_dtypes(keys + (None,) * ufunc.nout, casting=casting, **chosen)  # type: ignore[arg-type]
    except TypeError as error:
        raise DTypeError(
            f"{ufunc.__name__} has no loop for {', '.join(_key_name(k) for k in keys)}",
            where=capture_location(),
            why=str(error).splitlines()[0],
        ) from None
    return found if narrow is None else tuple(narrow if d == np.float32 else d for d in found)


def _key_name(key: Any) -> str:
    return key.name if isinstance(key, np.dtype) else f"a Python {key.__name__}"


def usual_dtype(dtype: Any) -> np.dtype:
    """Return what a default of 64 bits is under the rules that hold: of 32, where JAX's have no 64.

    Examples
    --------
    >>> usual_dtype(np.int64)
    dtype('int64')
    """
    return type_rules().canonical(np.dtype(dtype))


def as_dtype(dtype: Any, default: Any = np.float64) -> np.dtype:
    """Return a dtype that can be traced, ``default`` for None.

    Raises
    ------
    DTypeError
        If StableHLO has no such element type.
    TypeError
        If it is no dtype at all.
    """
    if isinstance(dtype, Tracer):
        raise TypeError("Cannot construct a dtype from an array")
    wanted: np.dtype = usual_dtype(default) if dtype is None else np.dtype(dtype)
    if not wanted.isnative:
        wanted = wanted.newbyteorder("=")
    if wanted not in TRACEABLE:
        error = DTypeError(
            f"dtype {wanted} can't be traced",
            where=capture_location(),
            why="traced arrays hold bools, integers, floats and complex numbers of up to 64 bits a part",
            fix="use such a dtype, or a pytree of arrays in place of a structured one",
        )
        error.is_numpys = False
        raise error
    return wanted
