"""`jax.dtypes`: questions about dtypes, and JAX's classes of scalars, under the rules that hold."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

import numhlo.numpy
from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.arrays import as_result
from numhlo.lowering.ir.promotion_errors import TypePromotionError
from numhlo.lowering.ir.types import EXTENSIONS, FLOATS, SIGNED, UNSIGNED
from numhlo.tracer.core.jax_types import KINDS, jax_rules, least_upper_bound
from numhlo.tracer.core.operands import is_weak, promotion_key
from numhlo.tracer.core.promotion import FLOAT0 as float0  # noqa: N811 - it is a dtype, and has JAX's name
from numhlo.tracer.core.trace import Tracer

__all__ = [
    "TypePromotionError",
    "bfloat16",
    "can_cast",
    "canonicalize_dtype",
    "finfo",
    "float0",
    "iinfo",
    "issubdtype",
    "itemsize_bits",
    "promote_types",
    "result_type",
    "scalar_type_of",
]


class _ScalarClass(type):
    """The class of JAX's classes of scalars: they are dtypes, and when called make arrays of their dtype."""

    dtype: np.dtype

    def __hash__(cls) -> int:
        return hash(cls.dtype.type)

    def __eq__(cls, other: object) -> Any:
        return cls is other or cls.dtype.type == other

    def __ne__(cls, other: object) -> Any:
        return not cls == other

    def __call__(cls, x: Any) -> Any:
        made = numhlo.compat.jax.numpy.asarray(x, dtype=cls.dtype)
        return as_result(made, weak=False)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.dtype.type)


def _scalar_class(name: str, dtype: Any) -> Any:
    found: np.dtype = np.dtype(dtype)
    return _ScalarClass(name, (), {"dtype": found, "__module__": "jax.numpy", "__doc__": f"Scalars of {found.name}."})


_ML_DTYPES = {dtype.name: dtype for dtype in EXTENSIONS if not dtype.name.startswith("float6")}

SCALAR_TYPES: dict[str, Any] = {
    name: _scalar_class(name, dtype)
    for name, dtype in {
        "bool_": np.bool_,
        **{name: name for name in (
            "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
            "complex64", "complex128",
        )},
        **_ML_DTYPES,
    }.items()
}  # fmt: skip
"""JAX's classes of scalars by their names in `jax.numpy`."""

for _alias, _name in {
    "bool": "bool_", "single": "float32", "double": "float64", "float_": "float64", "csingle": "complex64",
    "cdouble": "complex128", "complex_": "complex128", "int_": "int64", "uint": "uint64",
}.items():  # fmt: skip
    SCALAR_TYPES[_alias] = SCALAR_TYPES[_name]

bfloat16 = SCALAR_TYPES["bfloat16"]


class extended(np.generic):  # noqa: N801 - JAX's name
    """The kind of dtypes that are no numbers."""


class prng_key(extended):  # noqa: N801 - JAX's name
    """The kind of dtypes of keys."""


_KINDS: dict[Any, frozenset[np.dtype]] = {
    np.floating: FLOATS,
    np.signedinteger: SIGNED,
    np.unsignedinteger: UNSIGNED,
}


def issubdtype(arg1: Any, arg2: Any) -> bool:
    """Return whether a dtype is another one, or of a kind; dtypes of ml_dtypes are numbers, too.

    Parameters
    ----------
    arg1, arg2 : dtype_like or class of NumPy's scalars

    Examples
    --------
    >>> import numhlo.compat.jax.numpy as jnp
    >>> jnp.issubdtype("bfloat16", jnp.floating), jnp.issubdtype("int4", jnp.floating)
    (True, False)
    """
    if isinstance(arg2, type) and issubclass(arg2, extended):
        return isinstance(getattr(arg1, "type", arg1), type) and issubclass(getattr(arg1, "type", arg1), arg2)
    if isinstance(getattr(arg1, "type", None), type) and issubclass(arg1.type, extended):
        return arg2 is np.generic
    arg1, arg2 = (x.dtype if isinstance(x, _ScalarClass) else x for x in (arg1, arg2))
    kind = next((k for k, dtypes in _KINDS.items() if _is_extension(arg1) and np.dtype(arg1) in dtypes), None)
    if kind is None:
        return bool(np.issubdtype(arg1, arg2))
    if isinstance(arg2, type) and issubclass(arg2, np.generic) and not _is_extension(arg2):
        return issubclass(kind, arg2)
    return not (isinstance(arg2, type) and arg2 in KINDS) and np.dtype(arg1) == np.dtype(arg2)


def _is_extension(x: Any) -> bool:
    if isinstance(x, type) and issubclass(x, np.generic) and x.__module__ == "numpy":
        return False
    try:
        return np.dtype(x) in EXTENSIONS
    except TypeError:
        return False


def _dtype_of(x: Any) -> np.dtype:
    """Return the dtype that an argument is, or has."""
    return x.dtype if isinstance(x, np.ndarray | np.generic | Tracer) else np.dtype(x)


def finfo(dtype: Any) -> Any:
    """Return the limits of a dtype of floats, those of ml_dtypes among them."""
    return ml_dtypes.finfo(_dtype_of(dtype))  # type: ignore[no-untyped-call]


def iinfo(int_type: Any) -> Any:
    """Return the limits of a dtype of integers, those of ml_dtypes among them."""
    return ml_dtypes.iinfo(_dtype_of(int_type))  # type: ignore[no-untyped-call]


def promote_types(a: Any, b: Any) -> np.dtype:
    """Return the least dtype above two in JAX's lattice, of 32 bits where there are no 64.

    Parameters
    ----------
    a, b : dtype_like
        Python's `int`, `float` and `complex` are weak types.

    Examples
    --------
    >>> promote_types("int32", "float16")
    dtype('float16')
    """
    keys = tuple([x if isinstance(x, type) and x in KINDS else np.dtype(x) for x in (a, b)])
    return jax_rules().canonical(np.dtype(least_upper_bound(keys)))


def _key(x: Any) -> Any:
    if isinstance(x, type) and x in KINDS and not isinstance(x, _ScalarClass):
        return x
    if isinstance(x, Tracer | np.ndarray | np.generic) or type(x) in (bool, *KINDS):
        return promotion_key(x)
    if isinstance(x, str | type | np.dtype):
        return jax_rules().requested(np.dtype(x), "dtype")
    dtype = getattr(x, "dtype", None)
    return np.dtype(x if dtype is None else dtype)


def result_type(*args: Any, return_weak_type_flag: bool = False) -> Any:
    """Return the dtype that arrays, numbers and dtypes are promoted to.

    Parameters
    ----------
    *args : array_like or dtype_like
    return_weak_type_flag : bool, optional
        Also return whether the result is weak.

    Examples
    --------
    >>> result_type(np.ones(2, "float32"), 1.0, np.int8(1))
    dtype('float32')
    """
    keys = [np.dtype(float) if x is None else _key(x) for x in args]
    found = jax_rules().common(keys)
    if not return_weak_type_flag:
        return found
    weak = all(isinstance(k, type) or is_weak(x) for k, x in zip(keys, args, strict=True))
    return found, weak or isinstance(least_upper_bound(tuple(keys)), type)


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Return whether a dtype can be converted under one of NumPy's rules."""
    return bool(np.can_cast(_dtype_of(from_), np.dtype(to), casting))  # type: ignore[arg-type]


def canonicalize_dtype(dtype: Any, allow_extended_dtype: bool = False) -> np.dtype:
    """Return the dtype that arrays asked for with ``dtype`` have: one of 32 bits where there are none of 64.

    Parameters
    ----------
    dtype : dtype_like
    allow_extended_dtype : bool, optional
        JAX's.

    Returns
    -------
    dtype

    Examples
    --------
    >>> import numhlo.compat.jax as jax
    >>> with jax.enable_x64(False):
    ...     canonicalize_dtype("float64")
    dtype('float32')
    """
    return jax_rules().canonical(np.dtype(dtype))


def itemsize_bits(dtype: Any) -> int:
    """Return the number of bits of an element.

    Parameters
    ----------
    dtype : dtype_like

    Returns
    -------
    int

    Examples
    --------
    >>> itemsize_bits(np.float32), itemsize_bits("int4")
    (32, 4)
    """
    wanted = np.dtype(dtype)
    return int(iinfo(wanted).bits) if wanted in SIGNED | UNSIGNED else int(8 * wanted.itemsize)


def scalar_type_of(x: Any) -> type:
    """Return the type of Python's that the elements of a value are like.

    Examples
    --------
    >>> scalar_type_of(np.int8(1)), scalar_type_of("bfloat16")
    (<class 'int'>, <class 'float'>)
    """
    dtype = np.dtype(x) if isinstance(x, str | type | np.dtype) else result_type(x)
    kinds = {np.bool_: bool, np.integer: int, np.floating: float, np.complexfloating: complex}
    found = next((own for kind, own in kinds.items() if issubdtype(dtype, kind)), None)
    if found is None:
        raise TypeError(f"Invalid scalar value {x}")
    return found


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, {})
