"""The types of StableHLO values: tensors, tokens, tuples, and their spelling.

Element types are NumPy dtypes (ml_dtypes for the narrow ones), so that the type of an array and the type of a value
are one thing. Source: StableHLO specification, "Types".
"""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from numhlo.lowering.ir.errors import DTypeError
from numhlo.lowering.ir.records import record

DYNAMIC = -1
"""Extent of a dimension whose size is not known before the program runs (``?`` in text)."""

MOST_BYTES = int(np.iinfo(np.intp).max)
"""Of one array: there are no more addresses."""

ELEMENT_TYPES: dict[str, np.dtype] = {
    "i1": np.dtype(np.bool_),
    "i2": np.dtype(ml_dtypes.int2),
    "i4": np.dtype(ml_dtypes.int4),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui2": np.dtype(ml_dtypes.uint2),
    "ui4": np.dtype(ml_dtypes.uint4),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "f6E2M3FN": np.dtype(ml_dtypes.float6_e2m3fn),
    "f6E3M2FN": np.dtype(ml_dtypes.float6_e3m2fn),
    "f8E3M4": np.dtype(ml_dtypes.float8_e3m4),
    "f8E4M3": np.dtype(ml_dtypes.float8_e4m3),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E4M3FNUZ": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "f8E4M3B11FNUZ": np.dtype(ml_dtypes.float8_e4m3b11fnuz),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E5M2FNUZ": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "complex<f32>": np.dtype(np.complex64),
    "complex<f64>": np.dtype(np.complex128),
}
"""StableHLO's spelling of every element type, and the NumPy dtype that holds it."""

_SPELLING = {dtype: name for name, dtype in ELEMENT_TYPES.items()}

BOOL = ELEMENT_TYPES["i1"]
SIGNED = frozenset(ELEMENT_TYPES[f"i{n}"] for n in (2, 4, 8, 16, 32, 64))
UNSIGNED = frozenset(ELEMENT_TYPES[f"ui{n}"] for n in (2, 4, 8, 16, 32, 64))
INTEGERS = SIGNED | UNSIGNED
COMPLEX = frozenset({ELEMENT_TYPES["complex<f32>"], ELEMENT_TYPES["complex<f64>"]})
FLOATS = frozenset(ELEMENT_TYPES.values()) - INTEGERS - COMPLEX - {BOOL}
NARROW_FLOATS = FLOATS - {ELEMENT_TYPES["f32"], ELEMENT_TYPES["f64"]}
"""Floats that are computed in float32 and rounded once after every op."""
EXTENSIONS = frozenset(dtype for dtype in ELEMENT_TYPES.values() if dtype.isbuiltin != 1)
"""Those of ml_dtypes. To ask an array's dtype itself would be wrong: after ``newbyteorder`` none is built in."""


def element_spelling(dtype: np.dtype) -> str:
    """Return StableHLO's name of a dtype, such as ``f32`` for float32.

    Raises
    ------
    DTypeError
        If StableHLO has no such element type.

    Examples
    --------
    >>> element_spelling(np.dtype("uint8"))
    'ui8'
    """
    try:
        return _SPELLING[dtype]
    except KeyError:
        raise DTypeError(
            f"dtype {dtype} has no StableHLO element type",
            fix="use a bool, integer, float or complex dtype",
        ) from None


@record(frozen=True, slots=True)
class TensorType:
    """Shape and element type of a tensor; extents may be `DYNAMIC`.

    Examples
    --------
    >>> str(TensorType((2, 3), np.dtype("float32")))
    'tensor<2x3xf32>'
    """

    shape: tuple[int, ...]
    dtype: np.dtype

    sharding = None
    """How such a tensor is spread over devices: not at all. Programs ask traced arrays' types for it."""

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorType) or other.__class__ is not self.__class__:
            return NotImplemented
        return self.shape == other.shape and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype.num))  # a third of what hashing the dtype takes

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return the number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Return the number of bytes in NumPy's storage."""
        return self.size * self.dtype.itemsize

    @property
    def is_static(self) -> bool:
        """Return whether all extents are known."""
        return DYNAMIC not in self.shape

    def with_shape(self, shape: tuple[int, ...]) -> TensorType:
        """Return the same element type with another shape."""
        return TensorType(shape, self.dtype)

    def with_dtype(self, dtype: np.dtype) -> TensorType:
        """Return the same shape with another element type."""
        return TensorType(self.shape, dtype)

    def __str__(self) -> str:
        extents = "".join(f"{'?' if n == DYNAMIC else n}x" for n in self.shape)
        return f"tensor<{extents}{element_spelling(self.dtype)}>"

    def short(self) -> str:
        """Return NumPy's spelling for error messages, such as ``float32[2,3]``."""
        extents = ",".join("?" if n == DYNAMIC else str(n) for n in self.shape)
        return f"{self.dtype.name}[{extents}]"


@record(frozen=True, slots=True)
class IndexTensorType(TensorType):
    """A tensor of ``index``, held as int64: a shape in old exports. Only ops that take shapes as operands have it.

    Examples
    --------
    >>> print(IndexTensorType((2,), np.dtype("int64")))
    tensor<2xindex>
    """

    def __str__(self) -> str:
        plain = TensorType.__str__(self)
        return f"{plain[: -len(element_spelling(self.dtype)) - 1]}index>"

    def short(self) -> str:
        """Return NumPy's spelling for error messages, with ``index`` in place of the dtype."""
        return f"index{TensorType.short(self).removeprefix(self.dtype.name)}"


@record(frozen=True, slots=True)
class TokenType:
    """The type of a token, which orders effects."""

    def __str__(self) -> str:
        return "!stablehlo.token"


@record(frozen=True, slots=True)
class TupleType:
    """The type of a tuple of values."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"tuple<{', '.join(map(str, self.elements))}>"


Type = TensorType | TokenType | TupleType


def tensor_type_of(array: np.ndarray | np.generic) -> TensorType:
    """Return the type of a NumPy array or scalar."""
    return TensorType(array.shape, array.dtype)
