"""What a traced function may be called with: the leaves of its arguments, and the type that each has in the graph.

Arrays and NumPy scalars have a dtype of their own. Python's bool, int, float and complex are 0-d arrays that are
*weak*: in promotion they give way to the other operand's dtype (NEP 50). Everything else is refused, by the path to the
leaf.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError, DTypeError, ImmutableArrayError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ir.types import ELEMENT_TYPES
from numhlo.tracer.core.array import has_own_arithmetic, is_weak_array
from numhlo.tracer.core.promotion import dtype_of_number
from numhlo.tracer.core.trace import Trace, Tracer
from numhlo.tracer.core.type_rules import NUMPY, type_rules

NATIVE: dict[np.dtype, np.dtype] = {dtype: dtype for dtype in ELEMENT_TYPES.values()}
"""Every dtype that a traced array can have, in this machine's byte order, by itself."""

WEAK = NUMPY.numbers
"""The dtype that a Python scalar is traced with under NumPy's rules; its keys are the classes of such scalars."""


@record(frozen=True, slots=True)
class LeafType:
    """Type of an argument's leaf: the tensor, and whether it is a Python scalar's."""

    tensor: TensorType
    weak: bool = False

    def __str__(self) -> str:
        return f"Python {self.tensor.dtype.name.rstrip('0123456789')}" if self.weak else self.tensor.short()


class ShapeDtypeStruct:
    """The shape and dtype of an array that isn't there: an argument for `trace`, `lower` and `eval_shape`.

    Parameters
    ----------
    shape : sequence of int
    dtype : dtype_like
    weak_type : bool, optional
        Whether it stands for a number of Python's, which takes the dtype of the arrays that it meets.
    sharding : object, optional
        Accepted: there is one device.

    Examples
    --------
    >>> ShapeDtypeStruct((2, 3), "float32")
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    """

    __slots__ = ("dtype", "shape", "weak_type")

    sharding = None
    """How the array is spread over devices: not at all."""

    def __init__(self, shape: Sequence[int], dtype: Any, *, weak_type: bool = False, sharding: object = None) -> None:
        if dtype is None:
            raise ArgumentError(
                "ShapeDtypeStruct: dtype must be specified.", where=capture_location(), fix="give one, such as float"
            )
        self.shape = tuple(operator.index(n) for n in shape)
        self.dtype = np.dtype(dtype)
        self.weak_type = weak_type

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return TensorType(self.shape, self.dtype).size

    def __bool__(self) -> bool:
        return True

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def update(self, **changes: Any) -> ShapeDtypeStruct:
        """Return another one that differs in what is given."""
        return ShapeDtypeStruct(**{**{name: getattr(self, name) for name in self.__slots__}, **changes})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ShapeDtypeStruct):
            return NotImplemented
        return (self.shape, self.dtype, self.weak_type) == (other.shape, other.dtype, other.weak_type)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.weak_type))

    def __repr__(self) -> str:
        weak = ", weak_type=True" if self.weak_type else ""
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name}{weak})"


def native_dtype(dtype: np.dtype, path: str) -> np.dtype:
    """Return a dtype in this machine's byte order.

    Raises
    ------
    DTypeError
        If arrays of it can't be traced.
    """
    found = NATIVE.get(dtype) or (None if dtype.kind == "T" else NATIVE.get(dtype.newbyteorder("=")))
    if found is None:
        raise DTypeError(
            f"argument {path} has dtype {dtype}, which can't be traced",
            where=capture_location(),
            why="traced arrays hold bools, integers, floats and complex numbers of up to 64 bits a part",
            fix="convert it with .astype, or make it a static argument",
        )
    return found


def leaf_type(leaf: Any, path: str = "") -> LeafType:
    """Return the type that a leaf is traced with.

    Parameters
    ----------
    leaf : Tracer, array_like or ShapeDtypeStruct
    path : str
        Where the leaf is, for messages.

    Raises
    ------
    DTypeError
        If the leaf is no array of numbers.
    """
    rules = type_rules()
    weak = rules.numbers.get(type(leaf))
    if weak is not None:
        return LeafType(TensorType((), weak), weak=type(leaf) is not bool or rules.weak_class is None)
    if isinstance(leaf, Tracer):
        return LeafType(leaf.aval, leaf.weak)
    if isinstance(leaf, ShapeDtypeStruct):
        dtype = rules.canonical(native_dtype(leaf.dtype, path))
        return LeafType(TensorType(leaf.shape, dtype), leaf.weak_type)
    if not isinstance(leaf, np.ndarray | np.generic):
        leaf = as_ndarray(leaf, path)
    kind: type = type(leaf)
    if has_own_arithmetic(kind):
        raise DTypeError(
            f"argument {path} is of class {kind.__qualname__}, whose arithmetic is not that of arrays",
            where=capture_location(),
            why="it would be traced as an array of its elements, which means something else",
            fix="pass its data, numpy.asarray(x) or x.data, and a mask as another argument",
        )
    dtype = rules.canonical(native_dtype(leaf.dtype, path))
    return LeafType(TensorType(leaf.shape, dtype), is_weak_array(leaf))


def is_number(leaf: Any) -> bool:
    """Return whether a leaf is a number of Python's or a scalar of NumPy's, to which nothing is written in place."""
    if isinstance(leaf, Tracer):
        return leaf.is_scalar
    return type(leaf) in WEAK or isinstance(leaf, np.generic) or dtype_of_number(leaf) is not None


def asks_scalar(x: Tracer) -> bool:
    """Return whether a traced array is a scalar; what is traced depends on that: of an argument, a call tells it."""
    if not (x.steps or x.weak or x.aval.shape):
        x.cell.layout_read = True
    return x.is_scalar


def require_array(x: Any, what: str) -> None:
    """Raise if what is to be written into is a scalar.

    Parameters
    ----------
    x : Tracer or object
    what : str
        The statement or function, for the message.

    Raises
    ------
    ImmutableArrayError
        If it is.
    """
    if isinstance(x, Tracer) and not x.aval.shape and asks_scalar(x):
        raise ImmutableArrayError(
            f"{what} of a scalar {x.aval.short()}",
            where=capture_location(),
            why="scalars are immutable, as in NumPy",
            fix="bind the name to the new value, or make it an array first, numpy.array(x)",
        )


def typeof(x: Any) -> ShapeDtypeStruct:
    """Return the shape and dtype of a value, and whether it is *weak*, as a Python number is.

    Parameters
    ----------
    x : array_like, traced or not

    Returns
    -------
    ShapeDtypeStruct

    Raises
    ------
    DTypeError
        If it is no array of numbers.

    Notes
    -----
    Source: `jax.typeof`.

    Examples
    --------
    >>> typeof(np.ones((2, 3), "float32"))
    ShapeDtypeStruct(shape=(2, 3), dtype=float32)
    >>> typeof(1.0)
    ShapeDtypeStruct(shape=(), dtype=float64, weak_type=True)
    """
    found = leaf_type(x, "of typeof")
    return ShapeDtypeStruct(found.tensor.shape, found.tensor.dtype, weak_type=found.weak)


def as_ndarray(leaf: Any, path: str) -> np.ndarray:
    """Return a concrete leaf as an ndarray (not copied where it is one).

    Raises
    ------
    DTypeError
        If it is no array, no number, and can't give an array.
    ArgumentError
        If it is an integer of more than 64 bits.
    LeakedTracerError
        If it is a traced array.
    """
    if isinstance(leaf, np.ndarray):
        return leaf
    if isinstance(leaf, int) and not isinstance(leaf, bool):
        return _integer(leaf, path)
    if isinstance(leaf, Tracer):
        Trace(None).read(leaf)  # raises: nothing is being traced, so it was leaked
    if isinstance(leaf, bool | float | complex | np.generic) or hasattr(type(leaf), "__array__"):
        return np.asarray(leaf)
    raise DTypeError(
        f"argument {path} is of class {type(leaf).__qualname__}, which can't be traced",
        where=capture_location(),
        why="arguments are arrays, numbers, and containers of them",
        fix="make it a static argument (static_argnums, static_argnames), or register its class as a pytree",
    )


def _integer(leaf: int, path: str) -> np.ndarray:
    try:
        return np.array(leaf, np.int64)
    except OverflowError:
        raise ArgumentError(
            f"argument {path} is {leaf}, which int64 can't hold",
            where=capture_location(),
            fix="pass an array of dtype uint64 or float64",
        ) from None
