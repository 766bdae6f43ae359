"""Views beyond slices and permutations: parts of complex numbers, other dtypes, broadcasts and diagonals.

Broadcasts, and the diagonals of `numpy.diagonal`, can be read but not written, as in NumPy. The steps that basic
indexing makes are in `views`.
"""

from __future__ import annotations

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import DTypeError, MutationError, ShapeError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import conversion, elementwise, layout
from numhlo.tracer.building import Reshape, Slice, Strides, Tracer, bind1

BOOL = np.dtype(np.bool_)


@record(frozen=True, slots=True)
class Part:
    """The real (or imaginary) part of a complex array."""

    imaginary: bool

    def result_type(self, type: TensorType) -> TensorType:
        """Return the part's type."""
        return type.with_dtype(np.dtype(f"f{type.dtype.itemsize // 2}"))

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the base's strides: they count bytes."""
        return strides

    def get(self, base: Tracer) -> Tracer:
        """Return the part."""
        return _checked(bind1(elementwise.IMAG if self.imaginary else elementwise.REAL, base))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return the base with that part replaced."""
        other = bind1(elementwise.REAL if self.imaginary else elementwise.IMAG, base)
        parts = (other, value) if self.imaginary else (value, other)
        return _checked(bind1(elementwise.COMPLEX, *parts))


@record(frozen=True, slots=True)
class Bitcast:
    """The same bytes as another dtype; narrower and wider ones make the last axis longer and shorter."""

    dtype: np.dtype

    def result_type(self, type: TensorType) -> TensorType:
        """Return the type with the other dtype."""
        old, new = type.dtype.itemsize, self.dtype.itemsize
        shape = type.shape if old == new else (*type.shape[:-1], type.shape[-1] * old // new)
        return TensorType(shape, self.dtype)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides; the last axis is contiguous where the width changes."""
        same = base.dtype.itemsize == self.dtype.itemsize
        return strides if same else (*strides[:-1], self.dtype.itemsize)

    def get(self, base: Tracer) -> Tracer:
        """Return the reinterpreted array."""
        if BOOL in (base.dtype, self.dtype):
            return _checked(bind1(conversion.CONVERT, base, results=[self.result_type(base.aval)]))
        if base.dtype.kind == "c":
            return Bitcast(self.dtype).get(_as_pairs(base))
        if self.dtype.kind == "c":
            return _from_pairs(Bitcast(np.dtype(f"f{self.dtype.itemsize // 2}")).get(base))
        return self._between_numbers(base)

    def _between_numbers(self, base: Tracer) -> Tracer:
        result = self.result_type(base.aval)
        old, new = base.dtype.itemsize, self.dtype.itemsize
        if old < new:
            base = Reshape((*result.shape, new // old)).get(base)
        shape = (*base.shape, old // new) if old > new else result.shape
        cast = bind1(conversion.BITCAST_CONVERT, base, results=[TensorType(shape, self.dtype)])
        return Reshape(result.shape).get(_checked(cast)) if shape != result.shape else _checked(cast)

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return ``value`` reinterpreted back."""
        return Bitcast(base.dtype).get(value)


def _as_pairs(x: Tracer) -> Tracer:
    """Return complex numbers as twice as many floats along the last axis."""
    parts = [Reshape((*x.shape, 1)).get(Part(imaginary).get(x)) for imaginary in (False, True)]
    pairs = _checked(bind1(layout.CONCATENATE, *parts, attributes={"dimension": x.ndim}))
    return Reshape((*x.shape[:-1], x.shape[-1] * 2)).get(pairs)


def _from_pairs(x: Tracer) -> Tracer:
    """Return twice as many floats along the last axis as complex numbers."""
    lead = (0,) * (x.ndim - 1)
    ones = (1,) * (x.ndim - 1)
    parts = [Slice((*lead, k), x.shape, (*ones, 2)).get(x) for k in (0, 1)]
    return _checked(bind1(elementwise.COMPLEX, *parts))


@record(frozen=True, slots=True)
class Broadcast:
    """Axes repeated: NumPy's `broadcast_to`, which can't be written."""

    shape: tuple[int, ...]

    def result_type(self, type: TensorType) -> TensorType:
        """Return the broadcast type."""
        return type.with_shape(self.shape)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides, 0 along repeated axes."""
        offset = len(self.shape) - base.ndim
        own = [s if n == m else 0 for s, n, m in zip(strides, base.shape, self.shape[offset:], strict=True)]
        return (0,) * offset + tuple(own)

    def get(self, base: Tracer) -> Tracer:
        """Return the broadcast array."""
        offset = len(self.shape) - base.ndim
        kept = [k for k, n in enumerate(base.shape) if n == self.shape[k + offset]]
        squeezed = base if len(kept) == base.ndim else Reshape(tuple(base.shape[k] for k in kept)).get(base)
        attributes = {"broadcast_dimensions": tuple(k + offset for k in kept)}
        results = [base.aval.with_shape(self.shape)]
        return _checked(bind1(layout.BROADCAST_IN_DIM, squeezed, attributes=attributes, results=results))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Raise: several elements of the view are one element of the base."""
        raise _read_only("a broadcast view")


@record(frozen=True, slots=True)
class Diagonal:
    """A diagonal of the last two axes, as the last one: NumPy's `diagonal` can't be written, that of `einsum` can."""

    row: int
    column: int
    count: int
    writable: bool = False

    def result_type(self, type: TensorType) -> TensorType:
        """Return the diagonal's type."""
        return type.with_shape((*type.shape[:-2], self.count))

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides: one step goes a row down and a column right."""
        return (*strides[:-2], strides[-2] + strides[-1])

    def get(self, base: Tracer) -> Tracer:
        """Return the diagonal, as a strided slice of the flattened planes."""
        return self._of_flat(base).get(_flattened(base))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return the base with the diagonal replaced; raise, as NumPy does, if it is read-only."""
        if not self.writable:
            raise _read_only("a diagonal")
        return Reshape(base.shape).get(self._of_flat(base).put(_flattened(base), value))

    def _of_flat(self, base: Tracer) -> Slice:
        columns = base.shape[-1]
        start = self.row * columns + self.column if self.count else 0
        limit = start + (self.count - 1) * (columns + 1) + 1 if self.count else 0
        lead = base.shape[:-2]
        return Slice((*(0 for _ in lead), start), (*lead, limit), (*(1 for _ in lead), columns + 1))


def _flattened(planes: Tracer) -> Tracer:
    *batch, rows, columns = planes.shape
    return Reshape((*batch, rows * columns)).get(planes)


def view_bits(x: Tracer, dtype: np.dtype, last_axis_contiguous: bool) -> Tracer:
    """Return the array's bytes as another dtype, as ``x.view(dtype)``.

    Raises
    ------
    ShapeError
        If the widths differ and the last axis can't be divided so.
    """
    old, new = x.dtype.itemsize, dtype.itemsize
    if old != new and (x.ndim == 0 or not last_axis_contiguous or x.shape[-1] * old % new):
        raise ShapeError(
            f"view of {x.aval.short()} as {dtype}",
            where=capture_location(),
            why="to change the width, the last axis must be contiguous and a multiple of the new one",
            fix="make it contiguous with copy()",
        )
    kinds = {x.dtype.kind, dtype.kind}
    if (BOOL in (x.dtype, dtype) and old != new) or (kinds == {"c"} and old != new) or "V" in kinds - {dtype.kind}:
        error = DTypeError(f"view of {x.aval.short()} as {dtype} can't be traced", where=capture_location())
        error.is_numpys = False
        raise error
    return x.through(Bitcast(dtype))


def _read_only(what: str) -> MutationError:
    return MutationError(
        f"can't write into {what}",
        where=capture_location(),
        why="it is read-only, as in NumPy",
        fix="write into the array itself, or into a copy",
    )


def _checked(x: object) -> Tracer:
    assert isinstance(x, Tracer)
    return x
