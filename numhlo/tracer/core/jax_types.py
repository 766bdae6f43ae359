"""JAX's rules for types: promotion by its lattice, weak types, and 32 bits unless 64 are switched on.

Source: JAX's documentation, "Type promotion semantics". An integer with a float has the float's dtype; a Python number
is weak, and adapts to any dtype of its kind or above; floats of 8 bits and integers of less than 8 adapt to nothing.
`numhlo.compat.jax` makes these rules hold.
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.promotion_errors import TypePromotionError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.lowering.ir.types import COMPLEX, FLOATS, INTEGERS
from numhlo.tracer.core.type_rules import NUMPY, TypeRules, binding_rules, type_rules

BOOL = np.dtype(np.bool_)
KINDS: tuple[type, ...] = (int, float, complex)
"""Classes of Python's numbers, which stand for weak types, from the narrowest."""

HALVES: dict[np.dtype, np.dtype] = {np.dtype(wide): np.dtype(narrow) for wide, narrow in ("qi", "QI", "df", "DF")}
"""Dtypes of 64 bits a number, and those of 32 that stand for them."""

WIDE_FLOATS = frozenset(np.dtype(c) for c in "efd") | {d for d in FLOATS if d.name == "bfloat16"}
"""Floats that promote to others; those of 8 bits and less do not."""

TINY_INTEGERS = frozenset(d for d in INTEGERS if d.name in ("int2", "int4", "uint2", "uint4"))
"""Integers that promote to nothing."""


class Settings(NamedTuple):
    """What of JAX's configuration decides types.

    Attributes
    ----------
    x64 : bool
        Whether there are dtypes of 64 bits.
    strict : bool
        Whether only weak types are promoted.
    """

    x64: bool = False
    strict: bool = False


class JaxRules(TypeRules):
    """JAX's rules under given settings.

    Parameters
    ----------
    settings : Settings
    methods : dict
        Methods of traced arrays that JAX has otherwise than NumPy.
    """

    arrays_are_immutable = True

    def __init__(self, settings: Settings, methods: dict[str, Callable[..., Any]]) -> None:
        self.settings = settings
        self.name = f"jax, {64 if settings.x64 else 32} bits{', strict' if settings.strict else ''}"
        self.numbers = {kind: self.canonical(dtype) for kind, dtype in NUMPY.numbers.items()}
        self.methods = methods

    def canonical(self, dtype: np.dtype) -> np.dtype:
        """Return the dtype that arrays of a dtype have: one of 32 bits in the place of one of 64, unless these are on.

        Examples
        --------
        >>> JAX_32.canonical(np.dtype("complex128")), JAX_32.canonical(np.dtype("int8"))
        (dtype('complex64'), dtype('int8'))
        """
        return dtype if self.settings.x64 else HALVES.get(dtype, dtype)

    def requested(self, dtype: Any, name: str) -> Any:
        """Return a dtype that the user asked for; a warning says where there is no such dtype.

        Parameters
        ----------
        dtype : dtype_like
        name : str
            The function that it was given to.
        """
        if dtype is None:
            return None
        if isinstance(dtype, type) and dtype in self.numbers:
            return self.numbers[dtype]
        wanted = np.dtype(dtype)
        found = self.canonical(wanted)
        if found != wanted:
            warnings.warn(
                f"Explicitly requested dtype {wanted} requested in {name} is not available, and will be truncated to "
                f"dtype {found}. To enable more dtypes, set the jax_enable_x64 configuration option or the "
                "JAX_ENABLE_X64 shell environment variable.",
                UserWarning,
                stacklevel=4,
            )
        return found

    def common(self, keys: Sequence[Any]) -> np.dtype:
        """Return the dtype that promotion keys have in common.

        Examples
        --------
        >>> JAX_32.common([np.dtype("int32"), np.dtype("float16")])
        dtype('float16')
        """
        found = least_upper_bound(tuple(keys), self.settings.strict)
        if isinstance(found, type):
            return self.numbers[found]
        own = any(not isinstance(key, type) and key == found for key in keys)  # as wide as a function made it
        return found if own else self.canonical(found)


@functools.lru_cache(maxsize=4096)
def least_upper_bound(keys: tuple[Any, ...], strict: bool = False) -> Any:
    """Return the least type above dtypes and weak types in JAX's lattice: a dtype, or a class of Python's numbers.

    Parameters
    ----------
    keys : tuple of numpy.dtype or type
    strict : bool, optional
        Promote weak types alone.

    Raises
    ------
    TypePromotionError
        If there is none.

    Examples
    --------
    >>> least_upper_bound((np.dtype("int8"), float))
    <class 'float'>
    >>> least_upper_bound((np.dtype("uint64"), np.dtype("int8"), np.dtype("float16")))
    dtype('float16')
    """
    distinct = list(dict.fromkeys(keys))
    if strict:
        _require_strict(distinct)
    try:
        return functools.reduce(_join, distinct)
    except _NoJoinError:
        small = any(k in TINY_INTEGERS for k in distinct)
        shown = ", ".join(repr(_spelling(k)) for k in distinct)
        raise TypePromotionError(
            f"Input dtypes ({shown}) have no available implicit dtype promotion path",
            where=capture_location(),
            why=f"{'2-bit and 4-bit integers' if small else '8-bit floats'} do not support implicit promotion",
            fix="convert one of them, x.astype('float32')",
        ) from None


def is_weak_bound(keys: Sequence[Any]) -> bool:
    """Return whether what promotion keys have in common is a weak type, as of a Python float and an array of ints.

    Examples
    --------
    >>> is_weak_bound([float, np.dtype("int32")]), is_weak_bound([int, np.dtype("int32")])
    (True, False)
    """
    return isinstance(least_upper_bound(tuple(keys)), type)


class _NoJoinError(Exception):
    """Two types have no type above them both."""


def _join(a: Any, b: Any) -> Any:
    for weak, other in ((a, b), (b, a)):
        if isinstance(weak, type):  # never compared with a dtype: float and float64 are equal to NumPy
            return _join_weak(weak, other)
    for bools, other in ((a, b), (b, a)):
        if bools in (BOOL, other):
            return other
    return _join_dtypes(a, b)


def _join_dtypes(a: np.dtype, b: np.dtype) -> Any:
    if a in TINY_INTEGERS or b in TINY_INTEGERS:
        raise _NoJoinError
    if a in INTEGERS and b in INTEGERS:
        wide = np.promote_types(a, b)
        return wide if wide.kind in "iu" else float
    for integer, other in ((a, b), (b, a)):
        if integer in INTEGERS:
            return other
    if not {a, b} <= WIDE_FLOATS | COMPLEX:
        raise _NoJoinError
    narrow = {d for d in (a, b) if d.itemsize == 2}
    if len(narrow) == 2:
        return np.dtype(np.float32)
    return next(d for d in (a, b) if d not in narrow) if narrow else np.promote_types(a, b)


def _join_weak(weak: type, other: Any) -> Any:
    if isinstance(other, type):
        return KINDS[max(KINDS.index(weak), KINDS.index(other))]
    if other == BOOL:
        return weak
    if weak is int or other in COMPLEX:
        return other
    if other in TINY_INTEGERS:
        raise _NoJoinError
    if other in INTEGERS:
        return weak
    if weak is float:
        return other
    if other not in WIDE_FLOATS:
        raise _NoJoinError
    return np.dtype(np.complex128 if other == np.float64 else np.complex64)


def _require_strict(keys: Sequence[Any]) -> None:
    for a, b in itertools.combinations(keys, 2):
        weak, other = (a, b) if isinstance(a, type) else (b, a)
        rank = 2 if other is complex or other in COMPLEX else 1 if other is float or other in FLOATS else 0
        if not isinstance(weak, type) or other == BOOL or (not isinstance(other, type) and rank < KINDS.index(weak)):
            raise TypePromotionError(
                f"Input dtypes ({_spelling(a)!r}, {_spelling(b)!r}) have no available implicit dtype promotion path "
                "when jax_numpy_dtype_promotion=strict",
                where=capture_location(),
                fix="convert one of them, or set jax_numpy_dtype_promotion=standard",
            )


def _spelling(key: Any) -> str:
    return str(key) if isinstance(key, type) else str(key.name)


METHODS: dict[str, Callable[..., Any]] = {}
"""Methods of traced arrays that JAX has otherwise than NumPy; `numhlo.compat.jax` fills it."""

RULES = {s: JaxRules(s, METHODS) for s in (Settings(x64, strict) for x64 in (False, True) for strict in (False, True))}
"""The rules by settings."""

JAX_32, JAX_64 = RULES[Settings(False)], RULES[Settings(True)]


class Process:
    """What all threads share: the settings where no block binds others."""

    settings = Settings()


_scoped: ScopedValue[dict[str, bool]] = ScopedValue({})


def settings() -> Settings:
    """Return the settings that hold in this thread: those of the process, but for what a block binds."""
    bound = _scoped.get()
    return Process.settings._replace(**bound) if bound else Process.settings


def are_settings_scoped() -> bool:
    """Return whether a block binds a setting in this thread to something else than the process has."""
    return settings() != Process.settings


def jax_rules() -> JaxRules:
    """Return JAX's rules under the settings that hold now."""
    return RULES[settings()]


def set_in_process(**values: bool) -> bool:
    """Change settings of the process, in blocks too; return whether they were others."""
    before = Process.settings
    Process.settings = before._replace(**values)
    return Process.settings != before


@contextmanager
def setting(**values: bool) -> Iterator[None]:
    """Change settings for a block, in this thread.

    Examples
    --------
    >>> with setting(x64=True):
    ...     jax_rules().canonical(np.dtype("float64"))
    dtype('float64')
    """
    bound = {**_scoped.get(), **values}
    marks = Process.settings._replace(**bound) != Process.settings
    with _scoped.bound(bound, marks=marks):
        if type_rules() is NUMPY:
            yield
        else:
            with binding_rules(jax_rules()):
                yield
