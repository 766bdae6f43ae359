"""Abstract values: the shapes and dtypes that rules of primitives and jaxprs speak of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.tracer.core.arguments import ShapeDtypeStruct, typeof
from numhlo.tracer.core.promotion import FLOAT0
from numhlo.tracer.core.semantics import immutable_arrays
from numhlo.tracer.core.trace import Tracer

SHORT = {"float": "f", "int": "i", "uint": "u", "complex": "c", "bfloat": "bf"}
"""How dtypes begin in printed jaxprs, by their name without the number of bits."""


class _AbstractValues(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (cls is AbstractValue and type(instance) is ShapeDtypeStruct)


class AbstractValue(metaclass=_AbstractValues):
    """What is known of a value while tracing."""

    __slots__ = ()


class ShapedArray(ShapeDtypeStruct, AbstractValue):
    """An array's shape and dtype, as abstract evaluation rules take and return it.

    Parameters
    ----------
    shape : sequence of int
    dtype : dtype_like
    weak_type : bool, optional
        Whether it stands for a number of Python's.
    sharding, vma, memory_space, manual_axis_type : optional
        Accepted: there is one device, and one memory.

    Examples
    --------
    >>> ShapedArray((2, 3), np.float32)
    ShapedArray(float32[2,3])
    """

    __slots__ = ()

    def __init__(
        self,
        shape: Sequence[int],
        dtype: Any,
        weak_type: bool = False,
        *,
        sharding: Any = None,
        vma: Any = None,
        memory_space: Any = None,
        manual_axis_type: Any = None,
    ) -> None:
        super().__init__(shape, dtype, weak_type=weak_type)

    vma: frozenset[Any] = frozenset()
    sharding = None

    def update(self, **changes: Any) -> ShapedArray:
        """Return the abstract value with other properties."""
        kept = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        return ShapedArray(**{**kept, **changes})

    def strip_weak_type(self) -> ShapedArray:
        """Return the abstract value of an array that is not weak."""
        return self.update(weak_type=False)

    def to_tangent_aval(self) -> ShapedArray:
        """Return the abstract value of tangents: float0 for integers."""
        return self if self.dtype.kind in "fcV" else ShapedArray(self.shape, FLOAT0)

    at_least_vspace = to_tangent_aval
    to_cotangent_aval = to_tangent_aval

    def str_short(self, short_dtypes: bool = False, mesh_axis_types: bool = False) -> str:
        """Return the dtype and the shape as jaxprs show them."""
        name = self.dtype.name
        if short_dtypes:
            word = name.rstrip("0123456789")
            name = SHORT.get(word, word) + name[len(word) :]
        return f"{name}[{','.join(map(str, self.shape))}]"

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapedArray({self.str_short()}{weak})"

    def __str__(self) -> str:
        return f"{'~' if self.weak_type else ''}{self.str_short()}"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]


class _Token(AbstractValue):
    """The abstract value of an order of effects."""

    def __repr__(self) -> str:
        return "Tok"


abstract_token = _Token()


pytype_aval_mappings: dict[type, Callable[[Any], Any]] = {
    np.ndarray: lambda x: ShapedArray(x.shape, x.dtype),
}
"""By class that programs register, what gives the abstract value of its objects."""


def get_aval(x: Any) -> ShapedArray:
    """Return the abstract value of an array or a number.

    Parameters
    ----------
    x : array_like, traced or not

    Returns
    -------
    ShapedArray

    Examples
    --------
    >>> get_aval(np.ones(3))
    ShapedArray(float64[3])
    """
    if type(x) is ShapedArray:
        return x
    if not isinstance(x, Tracer) and getattr(x, "dtype", None) == FLOAT0:
        return ShapedArray(x.shape, FLOAT0)
    own = pytype_aval_mappings.get(type(x))
    if own is not None and type(x) is not np.ndarray:
        return own(x)  # type: ignore[no-any-return]
    with immutable_arrays():
        found = typeof(x)
    return ShapedArray(found.shape, found.dtype, found.weak_type)


def raise_to_shaped(aval: Any, weak_type: bool | None = None) -> ShapedArray:
    """Return an abstract value as it is, or with another weakness."""
    return ShapedArray(aval.shape, aval.dtype, aval.weak_type if weak_type is None else weak_type)


def aval_of_type(type: TensorType) -> ShapedArray:
    """Return the abstract value of a type of the graph."""
    return ShapedArray(type.shape, type.dtype)


def mapped_aval(size: int, axis: int | None, aval: Any) -> ShapedArray:
    """Return the abstract value of one lane.

    Parameters
    ----------
    size : int
        Number of lanes.
    axis : int or None
        Along which they lie; None if there is one for all.
    aval : ShapedArray

    Examples
    --------
    >>> mapped_aval(2, 0, ShapedArray((2, 3), np.float32))
    ShapedArray(float32[3])
    """
    if axis is None:
        return aval  # type: ignore[no-any-return]
    return ShapedArray((*aval.shape[:axis], *aval.shape[axis + 1 :]), aval.dtype, aval.weak_type)


def unmapped_aval(size: int, axis: int | None, aval: Any, *further: Any) -> ShapedArray:
    """Return the abstract value of all lanes.

    Parameters
    ----------
    size : int
        Number of lanes.
    axis : int or None
        Along which they are to lie; None if there is one for all.
    aval : ShapedArray

    Examples
    --------
    >>> unmapped_aval(2, 0, ShapedArray((3,), np.float32))
    ShapedArray(float32[2,3])
    """
    if axis is None:
        return aval  # type: ignore[no-any-return]
    return ShapedArray((*aval.shape[:axis], size, *aval.shape[axis:]), aval.dtype, aval.weak_type)


def valid_jaxtype(x: Any) -> bool:
    """Return whether a value is an array or a number.

    Examples
    --------
    >>> valid_jaxtype(1.0), valid_jaxtype("text")
    (True, False)
    """
    try:
        typeof(x)
    except (TypeError, ValueError):
        return False
    return True
