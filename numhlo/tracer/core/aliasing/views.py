"""The invertible steps of a view: what is read through them, and what the base becomes when they are written.

Each step has ``result_type``, ``get`` (base to part) and ``put`` (base and new part to new base), all in the current
trace. NumPy's basic indexing, transposes and contiguous reshapes are chains of these; views that look at bytes or can't
be written are in `special_views`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops import comparison, indexing, layout
from numhlo.lowering.ops.strides import Strides, are_contiguous, contiguous_strides, reshaped_strides
from numhlo.tracer.core.bind import bind1
from numhlo.tracer.core.orders import is_undecided, strides_through
from numhlo.tracer.core.ties import BY_LAYOUT, tie
from numhlo.tracer.core.trace import Tracer, current_trace


def _tracer(x: Any) -> Tracer:
    assert isinstance(x, Tracer)
    return x


@record(frozen=True, slots=True)
class Transpose:
    """Axes in another order."""

    permutation: tuple[int, ...]

    def result_type(self, type: TensorType) -> TensorType:
        """Return the permuted type."""
        return type.with_shape(tuple(type.shape[k] for k in self.permutation))

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the permuted strides."""
        return tuple(strides[k] for k in self.permutation)

    def get(self, base: Tracer) -> Tracer:
        """Return the transposed array."""
        return _tracer(bind1(layout.TRANSPOSE, base, attributes={"permutation": self.permutation}))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return ``value`` with the axes back in the base's order."""
        inverse = tuple(int(k) for k in np.argsort(self.permutation))
        return Transpose(inverse).get(value)


@record(frozen=True, slots=True)
class Reshape:
    """The same elements in row-major order under another shape; newaxis and dropped axes are reshapes too."""

    shape: tuple[int, ...]

    @property
    def keeps_order(self) -> bool:
        """Return that the axes stay in their order."""
        return True

    def result_type(self, type: TensorType) -> TensorType:
        """Return the reshaped type."""
        return type.with_shape(self.shape)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides under the new shape; C-contiguous ones where NumPy would copy."""
        found = reshaped_strides(base.shape, strides, self.shape, base.dtype.itemsize)
        return contiguous_strides(self.shape, base.dtype.itemsize) if found is None else found

    def get(self, base: Tracer) -> Tracer:
        """Return the reshaped array."""
        return _tracer(bind1(layout.RESHAPE, base, results=[self.result_type(base.aval)]))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return ``value`` in the base's shape."""
        return Reshape(base.shape).get(value)


@record(frozen=True, slots=True)
class Flat(Reshape):
    """``x.flat``: written to it is ``x``; parts that are read from it are copies."""


@record(frozen=True, slots=True)
class Reverse:
    """Some axes read backwards."""

    axes: tuple[int, ...]

    @property
    def keeps_order(self) -> bool:
        """Return that the axes stay in their order."""
        return True

    def result_type(self, type: TensorType) -> TensorType:
        """Return the type unchanged."""
        return type

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides, negated where read backwards."""
        return tuple(-s if k in self.axes else s for k, s in enumerate(strides))

    def get(self, base: Tracer) -> Tracer:
        """Return the reversed array."""
        return _tracer(bind1(layout.REVERSE, base, attributes={"dimensions": self.axes}))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return ``value`` reversed back."""
        return self.get(value)


@record(frozen=True, slots=True)
class Slice:
    """A rectangle with positive strides, known while tracing."""

    starts: tuple[int, ...]
    limits: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the rectangle's extents."""
        triples = zip(self.starts, self.limits, self.strides, strict=True)
        return tuple([-((a - b) // s) if b > a else 0 for a, b, s in triples])

    @property
    def keeps_order(self) -> bool:
        """Return that the axes stay in their order."""
        return True

    def result_type(self, type: TensorType) -> TensorType:
        """Return the rectangle's type."""
        return type.with_shape(self.shape)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the strides, multiplied."""
        return tuple(s * n for s, n in zip(strides, self.strides, strict=True))

    def get(self, base: Tracer) -> Tracer:
        """Return the rectangle."""
        attributes = {"start_indices": self.starts, "limit_indices": self.limits, "strides": self.strides}
        return _tracer(bind1(layout.SLICE, base, attributes=attributes))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return the base with the rectangle replaced."""
        if value.shape == base.shape:
            return value
        if 0 in value.shape:
            return base
        if all(s == 1 for s, n in zip(self.strides, value.shape, strict=True) if n > 1):
            starts = [np.asarray(a, np.int64) for a in self.starts]
            return _tracer(bind1(indexing.DYNAMIC_UPDATE_SLICE, base, value, *starts))
        everywhere = TensorType(value.shape, np.dtype(np.bool_))
        ones = bind1(layout.BROADCAST_IN_DIM, np.True_, attributes={"broadcast_dimensions": ()}, results=[everywhere])
        mask = self._spread(ones, base, np.zeros((), np.bool_))
        spread = self._spread(value, base, np.zeros((), base.dtype))
        return _tracer(bind1(comparison.SELECT, mask, spread, base))

    def _spread(self, value: Any, base: Tracer, filler: np.ndarray) -> Any:
        interior = tuple(s - 1 for s in self.strides)
        spans = [(n - 1) * s + 1 for n, s in zip(value.shape, self.strides, strict=True)]
        high = tuple(n - a - span for n, a, span in zip(base.shape, self.starts, spans, strict=True))
        attributes = {"edge_padding_low": self.starts, "edge_padding_high": high, "interior_padding": interior}
        return bind1(layout.PAD, value, filler, attributes=attributes)


@record(frozen=True, slots=True, eq=False)
class DynamicSlice:
    """A rectangle of known extents whose start is traced; starts are clamped so that it fits."""

    starts: tuple[Any, ...]
    sizes: tuple[int, ...]

    @property
    def keeps_order(self) -> bool:
        """Return that the axes stay in their order."""
        return True

    def result_type(self, type: TensorType) -> TensorType:
        """Return the rectangle's type."""
        return type.with_shape(self.sizes)

    def result_strides(self, base: TensorType, strides: Strides) -> Strides:
        """Return the base's strides."""
        return strides

    def get(self, base: Tracer) -> Tracer:
        """Return the rectangle."""
        return _tracer(bind1(indexing.DYNAMIC_SLICE, base, *self.starts, attributes={"slice_sizes": self.sizes}))

    def put(self, base: Tracer, value: Tracer) -> Tracer:
        """Return the base with the rectangle replaced."""
        return _tracer(bind1(indexing.DYNAMIC_UPDATE_SLICE, base, value, *self.starts))


def view_transpose(x: Tracer, permutation: tuple[int, ...]) -> Tracer:
    """Return a view with permuted axes."""
    if permutation == tuple(range(x.ndim)):
        return Tracer(x.cell, x.steps, x.aval)
    return x.through(Transpose(permutation))


def view_reshape(x: Tracer, shape: tuple[int, ...]) -> Tracer:
    """Return a view of another shape where NumPy would give one, else a fresh array."""
    if shape == x.shape:
        return Tracer(x.cell, x.steps, x.aval)
    if only_unit_axes_differ(x.shape, shape):
        return x.through(Reshape(shape))
    if is_undecided(x):
        return copy_or_view(x, shape)
    if reshaped_strides(x.shape, strides_of(x), shape, x.dtype.itemsize) is None:
        return Reshape(shape).get(x)
    return x.through(Reshape(shape))


def copy_or_view(x: Tracer, shape: tuple[int, ...]) -> Tracer:
    """Return an array reshaped of which it is not known whether NumPy has a copy there or a view."""
    new = Reshape(shape).get(x)
    trace = current_trace()
    assert trace is not None
    tie(trace, new.cell, [x.cell], BY_LAYOUT)
    return new


def strides_of(x: Tracer) -> Strides:
    """Return the strides, in bytes, that NumPy's array in this place would have."""
    return strides_through(x)


def is_contiguous(x: Tracer) -> bool:
    """Return whether NumPy's array in this place would be C-contiguous."""
    return are_contiguous(x.shape, strides_of(x), x.dtype.itemsize)


def lies_in(x: Tracer, order: str | None) -> bool:
    """Return whether NumPy's array in this place would have a memory order, ``"C"`` or ``"F"``, without a copy."""
    if order not in ("C", "F"):
        return True
    return is_contiguous(x if order == "C" else view_transpose(x, tuple(reversed(range(x.ndim)))))


def only_unit_axes_differ(old: tuple[int, ...], new: tuple[int, ...]) -> bool:
    """Return whether two shapes are the same but for extents of 1."""
    return [n for n in old if n != 1] == [n for n in new if n != 1]
