"""Small pieces on stacks of matrices: transposes, triangles, products, substitutions, factorizations, each fresh.

Like `operations`, but for the last two axes. Operands have one dtype and the same leading axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType, capture_location
from numhlo.lowering.ir.errors import DTypeError, ShapeError
from numhlo.lowering.ops import control_flow, factorizations, fourier, layout, linear_algebra
from numhlo.lowering.ops.factorization_decompositions import lapack_attributes
from numhlo.tracer.core import operations as b
from numhlo.tracer.core.arrangement import contract, gather_along_axis, sum_over
from numhlo.tracer.core.bind import bind, bind1
from numhlo.tracer.core.except_clauses import refuse_waiting
from numhlo.tracer.core.operands import broadcast_to_shape, convert, expand, shape_of


def type_of(x: Any) -> TensorType:
    """Return an array's type."""
    return TensorType(shape_of(x), x.dtype)


def factor(name: str, *arrays: Any, **parameters: Any) -> list[Any]:
    """Return the results of a factorization: ``factor("qr", a, full=False)``."""
    if name == "solve":
        _refuse_waiting(arrays[0], "the solution of equations with")
    try:
        attributes = factorizations.make(name, [type_of(x) for x in arrays], **parameters)
    except (DTypeError, ShapeError) as error:
        raise type(error)(error.what, where=capture_location(), why=error.why, fix=error.fix) from None
    results = attributes["decomposition"].result_types
    return bind(control_flow.COMPOSITE, *arrays, attributes=attributes, results=results)


def _refuse_waiting(a: Any, what: str) -> None:
    fix = "test the result, which is NaN where NumPy raises, with numpy.where or lax.cond"
    refuse_waiting(np.linalg.LinAlgError, f"{what} a traced array {type_of(a).short()}", fix)


def reflectors(a: Any) -> list[Any]:
    """Return a QR factorization as LAPACK's geqrf packs it: R over the reflectors' vectors, and their factors."""
    type = type_of(a)
    results = [type, TensorType((*type.shape[:-2], min(type.shape[-2:])), type.dtype)]
    attributes = lapack_attributes("geqrf", [type], results, type.ndim - 2)
    return bind(control_flow.CUSTOM_CALL, a, attributes=attributes, results=results)


def cholesky(a: Any, lower: bool = True) -> Any:
    """Return the Cholesky factor: its triangle, and zeros."""
    _refuse_waiting(a, "the Cholesky factor of")
    return triangle(bind1(linear_algebra.CHOLESKY, a, attributes={"lower": lower}), "GE" if lower else "LE")


def substitute(
    a: Any,
    right: Any,
    *,
    left_side: bool = True,
    lower: bool = True,
    unit_diagonal: bool = False,
    transpose_a: str = "NO_TRANSPOSE",
) -> Any:
    """Return x with ``op(a) x = right``, or with ``x op(a) = right``, for a triangular a."""
    attributes = {
        "left_side": left_side,
        "lower": lower,
        "unit_diagonal": unit_diagonal,
        "transpose_a": transpose_a,
    }
    return bind1(linear_algebra.TRIANGULAR_SOLVE, a, right, attributes=attributes)


def fourier_transform(x: Any, kind: str, lengths: tuple[int, ...]) -> Any:
    """Return the discrete Fourier transform of the last axes."""
    return bind1(fourier.FFT, x, attributes={"fft_type": kind, "fft_length": tuple(lengths)})


def transpose(x: Any) -> Any:
    """Return the last two axes exchanged."""
    ndim = len(shape_of(x))
    return bind1(layout.TRANSPOSE, x, attributes={"permutation": (*range(ndim - 2), ndim - 1, ndim - 2)})


def conjugate(x: Any) -> Any:
    """Return the complex conjugate; real arrays as they are."""
    return b.conjugate(x) if x.dtype.kind == "c" else x


def adjoint(x: Any) -> Any:
    """Return the conjugate transpose."""
    return transpose(conjugate(x))


def hermitian_part(x: Any) -> Any:
    """Return ``(x + x^H) / 2``."""
    return b.multiply(b.add(x, adjoint(x)), 0.5)


def real(x: Any) -> Any:
    """Return the real part."""
    return b.real(x) if x.dtype.kind == "c" else x


def as_dtype_of(x: Any, like: Any) -> Any:
    """Return ``x`` converted to the dtype of ``like``."""
    return convert(x, like.dtype)


def product(*factors: Any) -> Any:
    """Return the product of matrices, from the left."""
    result = factors[0]
    for other in factors[1:]:
        rank = len(shape_of(result))
        batch = range(rank - 2)
        result = contract(result, other, ((rank - 1,), (rank - 2,)), (batch, batch))
    return result


def mask(shape: tuple[int, ...], direction: str, offset: int = 0) -> Any:
    """Return where ``row + offset direction column`` in the last two axes."""
    row, column = (b.iota_along(shape, len(shape) - k, np.int32) for k in (2, 1))
    return b.compare(direction, b.add(row, offset) if offset else row, column)


def triangle(x: Any, direction: str, offset: int = 0) -> Any:
    """Return elements where ``row + offset direction column``, and zeros: GE is the lower triangle, LE the upper."""
    return b.select(mask(shape_of(x), direction, offset), x, b.constant(0, x))


def lower_half(x: Any) -> Any:
    """Return the lower triangle, the diagonal halved."""
    halves = b.select(mask(shape_of(x), "EQ"), b.constant(0.5, x), b.constant(1, x))
    return triangle(b.multiply(x, halves), "GE")


def identity_like(x: Any, extent: int | None = None) -> Any:
    """Return identity matrices of a dtype and leading axes; of ``extent``, where it is given."""
    shape = shape_of(x)
    n = shape[-1] if extent is None else extent
    return broadcast_to_shape(np.eye(n, dtype=x.dtype), (*shape[:-2], n, n))


def diagonal(x: Any) -> Any:
    """Return the diagonals of square matrices."""
    return sum_over(triangle(x, "EQ"), (len(shape_of(x)) - 1,))


def row_of(x: Any) -> Any:
    """Return vectors as matrices of one row."""
    return expand(x, len(shape_of(x)) - 1)


def column_of(x: Any) -> Any:
    """Return vectors as matrices of one column."""
    return expand(x, len(shape_of(x)))


def widened(x: Any, like: Any) -> Any:
    """Return rows or columns repeated to the shape of ``like``."""
    return broadcast_to_shape(x, shape_of(like))


def part(x: Any, rows: slice, columns: slice) -> Any:
    """Return some rows and columns."""
    shape = shape_of(x)
    spans = [s.indices(n) for s, n in zip((rows, columns), shape[-2:], strict=True)]
    attributes = {
        "start_indices": (*[0] * (len(shape) - 2), *[span[0] for span in spans]),
        "limit_indices": (*shape[:-2], *[span[1] for span in spans]),
        "strides": (1,) * len(shape),
    }
    return bind1(layout.SLICE, x, attributes=attributes)


def padded(x: Any, rows: int, columns: int) -> Any:
    """Return matrices extended to some number of rows and columns with ones on the diagonal."""
    shape = shape_of(x)
    rank = len(shape)
    if (rows, columns) == shape[-2:]:
        return x
    attributes = {
        "edge_padding_low": (0,) * rank,
        "edge_padding_high": (*[0] * (rank - 2), rows - shape[-2], columns - shape[-1]),
        "interior_padding": (0,) * rank,
    }
    wide = bind1(layout.PAD, x, np.zeros((), x.dtype), attributes=attributes)
    edge = min(shape[-2:])
    beyond = b.both(mask(shape_of(wide), "EQ"), b.at_least(b.iota_along(shape_of(wide), rank - 2, np.int32), edge))
    return b.select(beyond, b.constant(1, wide), wide)


def permuted_rows(x: Any, permutation: Any) -> Any:
    """Return rows taken in the order of a permutation."""
    return gather_along_axis(x, broadcast_to_shape(column_of(permutation), shape_of(x)), -2)


def inverse_permutation(permutation: Any) -> Any:
    """Return the permutation that undoes one: where each number stands."""
    shape = shape_of(permutation)
    wide = (*shape, shape[-1])
    numbers = b.iota_along(wide, len(shape) - 1, np.int32)
    found = b.equal(broadcast_to_shape(row_of(permutation), wide), numbers)
    return sum_over(b.select(found, b.iota_along(wide, len(shape), np.int32), 0), (len(shape),))
