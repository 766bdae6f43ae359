"""Primitives of operations with structure: windows, gathers and scatters, transforms, factors of matrices.

By primitive, what binding it calls; and by operation of StableHLO, or composite, how an equation of it is made. An
operation that does more than JAX's primitive says gives None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.compat.jax import lax
from numhlo.lowering.ir import Op, Value
from numhlo.lowering.ops.region_function import single_op

Parts = tuple[str, Sequence[Value], dict[str, Any]]
"""An equation's primitive, operands and parameters."""

SCATTERS = {"add": "scatter-add", "multiply": "scatter-mul", "minimum": "scatter-min", "maximum": "scatter-max"}
"""By the one operation of a scatter's body, JAX's primitive."""

WINDOWS = {"add": "reduce_window_sum", "maximum": "reduce_window_max", "minimum": "reduce_window_min"}
"""By the one operation of a body over windows, JAX's primitive."""

RESULT_ORDERS: Mapping[str, tuple[int, ...]] = {"eigh": (1, 0), "svd": (1, 0, 2)}
"""By primitive, which of the composite's results is which of the primitive's."""


def _conv(lhs: Any, rhs: Any, **params: Any) -> Any:
    return lax.conv_general_dilated(lhs, rhs, **params)


def _fft(x: Any, *, fft_type: Any, fft_lengths: Any) -> Any:
    return lax.fft(x, fft_type, fft_lengths)


def _gather(operand: Any, indices: Any, *, dimension_numbers: Any, slice_sizes: Any, **options: Any) -> Any:
    return lax.gather(operand, indices, dimension_numbers, slice_sizes, **options)


def _scatter_by(name: str) -> Callable[..., Any]:
    def bind(operand: Any, indices: Any, updates: Any, *, dimension_numbers: Any, **params: Any) -> Any:
        names = ("indices_are_sorted", "unique_indices", "mode")
        options = {key: params[key] for key in names if key in params}
        return getattr(lax, name)(operand, indices, updates, dimension_numbers, **options)

    return bind


def _neutral(name: str, dtype: np.dtype) -> Any:
    """Return what a sum, maximum or minimum begins with."""
    if name == "add":
        return np.zeros((), dtype)
    if dtype.kind == "b":
        return np.asarray(name == "min")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.asarray(limits.min if name == "max" else limits.max, dtype)
    return np.asarray(-np.inf if name == "max" else np.inf, dtype)


def _reduce_window_by(name: str) -> Callable[..., Any]:
    def bind(operand: Any, **params: Any) -> Any:
        return lax.reduce_window(operand, _neutral(name, operand.dtype), getattr(lax, name), **params)

    return bind


def _round(x: Any, *, rounding_method: Any) -> Any:
    return lax.round(x, rounding_method)


def _cholesky(x: Any, **_: Any) -> Any:
    return lax.linalg.cholesky(x, symmetrize_input=False)


def _triangular_solve(a: Any, b: Any, **params: Any) -> Any:
    return lax.linalg.triangular_solve(a, b, **params)


def _top_k(x: Any, *, k: int, axis: int = -1, **_: Any) -> list[Any]:
    return list(lax.top_k(x, k, axis=axis))


def _lu(x: Any, **_: Any) -> list[Any]:
    return list(lax.linalg.lu(x))


def _qr(x: Any, *, full_matrices: bool, **_: Any) -> list[Any]:
    return list(lax.linalg.qr(x, full_matrices=full_matrices))


def _eigh(x: Any, *, lower: bool, **_: Any) -> list[Any]:
    return list(lax.linalg.eigh(x, lower=lower, symmetrize_input=False))


def _svd(x: Any, *, full_matrices: bool, compute_uv: bool = True, **_: Any) -> list[Any]:
    if not compute_uv:
        return [lax.linalg.svd(x, compute_uv=False)]
    u, s, vh = lax.linalg.svd(x, full_matrices=full_matrices)
    return [s, u, vh]


def _split(x: Any, *, sizes: Any, axis: int) -> list[Any]:
    return list(lax.split(x, sizes, axis))


def _optimization_barrier(*operands: Any) -> list[Any]:
    return list(lax.optimization_barrier(operands))


FUNCTIONS: dict[str, tuple[Callable[..., Any], bool]] = {
    "cholesky": (_cholesky, False),
    "conv_general_dilated": (_conv, False),
    "eigh": (_eigh, True),
    "fft": (_fft, False),
    "gather": (_gather, False),
    "lu": (_lu, True),
    "optimization_barrier": (_optimization_barrier, True),
    "qr": (_qr, True),
    "reduce_window_max": (_reduce_window_by("max"), False),
    "reduce_window_min": (_reduce_window_by("min"), False),
    "reduce_window_sum": (_reduce_window_by("add"), False),
    "round": (_round, False),
    "scatter": (_scatter_by("scatter"), False),
    "scatter-add": (_scatter_by("scatter_add"), False),
    "scatter-max": (_scatter_by("scatter_max"), False),
    "scatter-min": (_scatter_by("scatter_min"), False),
    "scatter-mul": (_scatter_by("scatter_mul"), False),
    "split": (_split, True),
    "svd": (_svd, True),
    "top_k": (_top_k, True),
    "triangular_solve": (_triangular_solve, False),
}
"""By primitive, the function that it calls, and whether it gives several results."""


def _listed(x: Any) -> tuple[int, ...]:
    return tuple(map(int, x))


def _pairs(x: Any) -> tuple[tuple[int, ...], ...]:
    return tuple(_listed(pair) for pair in x)


def _convolution(op: Op) -> Parts | None:
    a = op.attributes
    if any(a["window_reversal"]) or set(a["precision_config"]) != {"DEFAULT"}:
        return None
    d = a["dimension_numbers"]
    numbers = lax.ConvDimensionNumbers(
        (d.input_batch_dimension, d.input_feature_dimension, *d.input_spatial_dimensions),
        (d.kernel_output_feature_dimension, d.kernel_input_feature_dimension, *d.kernel_spatial_dimensions),
        (d.output_batch_dimension, d.output_feature_dimension, *d.output_spatial_dimensions),
    )
    params = {
        "window_strides": _listed(a["window_strides"]), "padding": _pairs(a["padding"]),
        "lhs_dilation": _listed(a["lhs_dilation"]), "rhs_dilation": _listed(a["rhs_dilation"]),
        "dimension_numbers": numbers, "feature_group_count": int(a["feature_group_count"]),
        "batch_group_count": int(a["batch_group_count"]), "precision": None,
        "preferred_element_type": op.result.tensor.dtype,
    }  # fmt: skip
    return "conv_general_dilated", op.operands, params


def _fourier(op: Op) -> Parts:
    kind, lengths = op.attributes["fft_type"], _listed(op.attributes["fft_length"])
    return "fft", op.operands, {"fft_type": lax.FftType[kind], "fft_lengths": lengths}


def _gathering(op: Op) -> Parts | None:
    d = op.attributes["dimension_numbers"]
    if d.index_vector_dim != len(op.operands[1].tensor.shape) - 1:
        return None
    numbers = lax.GatherDimensionNumbers(
        tuple(d.offset_dims), tuple(d.collapsed_slice_dims), tuple(d.start_index_map),
        tuple(d.operand_batching_dims), tuple(d.start_indices_batching_dims),
    )  # fmt: skip
    params = {
        "dimension_numbers": numbers, "slice_sizes": _listed(op.attributes["slice_sizes"]),
        "indices_are_sorted": bool(op.attributes["indices_are_sorted"]), "unique_indices": False,
        "mode": lax.GatherScatterMode.CLIP, "fill_value": None,
    }  # fmt: skip
    return "gather", op.operands, params


def _scattering(op: Op) -> Parts | None:
    d = op.attributes["scatter_dimension_numbers"]
    if len(op.operands) != 3 or d.index_vector_dim != len(op.operands[1].tensor.shape) - 1:
        return None
    body, inner = op.regions[0], single_op(op.regions[0])
    if inner is not None:
        name = SCATTERS.get(inner.definition.name)
    else:
        name = "scatter" if not body.ops and list(body.returns) == [body.arguments[1]] else None
    if name is None:
        return None
    numbers = lax.ScatterDimensionNumbers(
        tuple(d.update_window_dims), tuple(d.inserted_window_dims), tuple(d.scatter_dims_to_operand_dims),
        tuple(d.input_batching_dims), tuple(d.scatter_indices_batching_dims),
    )  # fmt: skip
    params = {
        "dimension_numbers": numbers, "indices_are_sorted": bool(op.attributes["indices_are_sorted"]),
        "unique_indices": bool(op.attributes["unique_indices"]), "mode": lax.GatherScatterMode.FILL_OR_DROP,
    }  # fmt: skip
    return name, op.operands, params


def windows_of(op: Op) -> dict[str, Any]:
    """Return the parameters of a reduction over windows."""
    a = op.attributes
    return {
        "window_dimensions": _listed(a["window_dimensions"]), "window_strides": _listed(a["window_strides"]),
        "padding": _pairs(a["padding"]), "base_dilation": _listed(a["base_dilations"]),
        "window_dilation": _listed(a["window_dilations"]),
    }  # fmt: skip


def _rounding(method: Any) -> Callable[[Op], Parts]:
    return lambda op: ("round", op.operands, {"rounding_method": method})


def _cholesky_of(op: Op) -> Parts | None:
    return ("cholesky", op.operands, {}) if op.attributes["lower"] else None


def _solving(op: Op) -> Parts | None:
    a, kind = op.attributes, op.attributes["transpose_a"]
    if kind not in ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"):
        return None
    params = {
        "left_side": bool(a["left_side"]), "lower": bool(a["lower"]), "transpose_a": kind != "NO_TRANSPOSE",
        "conjugate_a": kind == "ADJOINT", "unit_diagonal": bool(a["unit_diagonal"]),
    }  # fmt: skip
    return "triangular_solve", op.operands, params


OPERATIONS: Mapping[str, Callable[[Op], Parts | None]] = {
    "cholesky": _cholesky_of,
    "convolution": _convolution,
    "fft": _fourier,
    "gather": _gathering,
    "round_nearest_afz": _rounding(lax.RoundingMethod.AWAY_FROM_ZERO),
    "round_nearest_even": _rounding(lax.RoundingMethod.TO_NEAREST_EVEN),
    "scatter": _scattering,
    "triangular_solve": _solving,
}
"""By operation, what makes its equation."""

COMPOSITES: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "eigh": lambda a: {"lower": a["lower"], "sort_eigenvalues": True, "subset_by_index": None},
    "lu": lambda a: {},
    "qr": lambda a: {"full_matrices": a["full"], "pivoting": False},
    "svd": lambda a: {"full_matrices": a["full"], "compute_uv": True, "subset_by_index": None},
    "top_k": lambda a: {"k": a["k"], "axis": -1},
}
"""By composite of numhlo's, its equation's parameters."""


def composite_parts(op: Op) -> Parts | None:
    """Return the equation of a composite that is a primitive of its own."""
    name = op.attributes["name"].removeprefix("numhlo.")
    made = COMPOSITES.get(name)
    if made is None or (name == "svd" and len(op.results) != 3):
        return None
    return name, op.operands, made(op.attributes["composite_attributes"])
