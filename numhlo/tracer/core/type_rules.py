"""Whose rules hold for types: which dtype a Python number has, and which one operands have in common.

`TypeRules` are NumPy 2's (NEP 50), and hold unless somebody asks for others. `jax_types` has JAX's, which
`numhlo.compat.jax` asks for. Everything that decides a dtype asks `type_rules()`; what holds for writing is in
`semantics`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir.scoped_values import ScopedValue


class TypeRules:
    """NumPy's rules.

    Attributes
    ----------
    name : str or None
        Tells calls apart that have the same arguments and other rules; None for NumPy's.
    arrays_are_immutable : bool
        Whether writing into an array is refused, as JAX does.
    numbers : mapping
        The dtype that a Python number of a class is traced with.
    methods : mapping
        Methods of traced arrays that are other functions than NumPy's.
    weak_class : type or None
        The class of concrete arrays that are weak; None where there are no such arrays.
    """

    name: str | None = None
    arrays_are_immutable = False
    numbers: Mapping[type, np.dtype] = {
        bool: np.dtype(np.bool_),
        int: np.dtype(np.int64),
        float: np.dtype(np.float64),
        complex: np.dtype(np.complex128),
    }
    methods: Mapping[str, Callable[..., Any]] = {}
    weak_class: type | None = None

    def canonical(self, dtype: np.dtype) -> np.dtype:
        """Return the dtype that arrays of a dtype have under these rules: itself.

        Parameters
        ----------
        dtype : numpy.dtype

        Examples
        --------
        >>> NUMPY.canonical(np.dtype("float64"))
        dtype('float64')
        """
        return dtype

    def requested(self, dtype: Any, name: str) -> Any:
        """Return a dtype that the user asked for: itself.

        Parameters
        ----------
        dtype : dtype_like
        name : str
            The function that it was given to.
        """
        del name
        return dtype

    def common(self, keys: Sequence[Any]) -> np.dtype | None:
        """Return the dtype that promotion keys have in common; None where NumPy's promotion decides.

        Parameters
        ----------
        keys : sequence of numpy.dtype or type
            Dtypes, and classes of Python's numbers for what is weak.
        """
        del keys
        return None


NUMPY = TypeRules()
"""The rules that hold by default."""

_rules: ScopedValue[TypeRules] = ScopedValue(NUMPY)

type_rules: Callable[[], TypeRules] = _rules.get
"""Returns the rules that hold now in this thread."""

binding_rules = _rules.bound
"""Lets rules hold for a block."""


def as_typed(array: np.ndarray, source: Any, rules: TypeRules) -> np.ndarray:
    """Return a concrete array in the dtype that it has under given rules.

    Parameters
    ----------
    array : numpy.ndarray
        Where ``source`` has no dtype, numbers in it must fit.
    source : array_like
        What the array was made of.
    rules : TypeRules

    Raises
    ------
    OverflowError
        If a Python integer does not fit.
    """
    dtype = rules.canonical(array.dtype)
    if dtype == array.dtype:
        return array
    if dtype.kind in "iu" and isinstance(source, int | list | tuple):
        return np.asarray(source, dtype)
    with np.errstate(all="ignore"):
        return array.astype(dtype)
