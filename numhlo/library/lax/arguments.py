"""Classes whose instances are arguments of `numhlo.lax`: dimension numbers, modes of indexing, precision, rounding."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError

__all__ = ["GatherDimensionNumbers", "GatherScatterMode", "Precision", "RoundingMethod", "ScatterDimensionNumbers"]


class GatherDimensionNumbers(NamedTuple):
    """Which dimension plays which part in `lax.gather`; index vectors lie along the last one of the indices.

    Parameters
    ----------
    offset_dims : sequence of int
        Dimensions of the result that run through a window.
    collapsed_slice_dims : sequence of int
        Dimensions of the operand, 1 wide in a window, that the result drops.
    start_index_map : sequence of int
        The operand's dimension of each component of an index vector.
    operand_batching_dims, start_indices_batching_dims : sequence of int, optional
        Pairs of dimensions that advance together.

    Examples
    --------
    Rows of a matrix:

    >>> GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,))[:3]
    ((1,), (0,), (0,))
    """

    offset_dims: Sequence[int]
    collapsed_slice_dims: Sequence[int]
    start_index_map: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    start_indices_batching_dims: Sequence[int] = ()


class ScatterDimensionNumbers(NamedTuple):
    """Which dimension plays which part in `lax.scatter` and its kin; index vectors lie along the indices' last one.

    Parameters
    ----------
    update_window_dims : sequence of int
        Dimensions of the updates that run through a window.
    inserted_window_dims : sequence of int
        Dimensions of the operand, 1 wide in a window, that the updates lack.
    scatter_dims_to_operand_dims : sequence of int
        The operand's dimension of each component of an index vector.
    operand_batching_dims, scatter_indices_batching_dims : sequence of int, optional
        Pairs of dimensions that advance together.

    Examples
    --------
    Elements of a vector:

    >>> ScatterDimensionNumbers((), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,))[1:3]
    ((0,), (0,))
    """

    update_window_dims: Sequence[int]
    inserted_window_dims: Sequence[int]
    scatter_dims_to_operand_dims: Sequence[int]
    operand_batching_dims: Sequence[int] = ()
    scatter_indices_batching_dims: Sequence[int] = ()


class GatherScatterMode(enum.Enum):
    """What becomes of windows that do not lie wholly inside the operand.

    ``CLIP``, the default of `gather`, moves them inside; ``FILL_OR_DROP``, the default of the scatters, reads a fill
    value and writes nothing; ``PROMISE_IN_BOUNDS`` says that there are none, and otherwise reads as ``CLIP`` and writes
    as ``FILL_OR_DROP`` does.

    Examples
    --------
    >>> GatherScatterMode.of("drop")
    <GatherScatterMode.FILL_OR_DROP: 2>
    """

    CLIP = 1
    FILL_OR_DROP = 2
    PROMISE_IN_BOUNDS = 3

    @classmethod
    def of(cls, mode: Any) -> GatherScatterMode:
        """Return the mode that a mode, its word, or None for that of scatters stands for.

        Raises
        ------
        ArgumentError
            If it stands for none.
        """
        if isinstance(mode, cls):
            return mode
        words = {
            None: cls.FILL_OR_DROP,
            "fill": cls.FILL_OR_DROP,
            "drop": cls.FILL_OR_DROP,
            "clip": cls.CLIP,
            "promise_in_bounds": cls.PROMISE_IN_BOUNDS,
        }
        if mode not in words:
            raise ArgumentError(
                f"mode={mode!r} of a gather or scatter",
                where=capture_location(),
                fix="use 'clip', 'fill', 'drop' or 'promise_in_bounds'",
            )
        return words[mode]


class Precision(enum.Enum):
    """How exact products of float32 are to be: accepted by `lax.dot` and its kin, which always compute in full.

    Examples
    --------
    >>> Precision("highest") is Precision.HIGHEST
    True
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2

    @classmethod
    def _missing_(cls, value: object) -> Precision | None:
        return cls.__members__.get(str(value).upper())


class RoundingMethod(enum.IntEnum):
    """Where `lax.round` takes halves: away from zero, or to the even neighbour.

    Examples
    --------
    >>> [int(method) for method in RoundingMethod]
    [0, 1]
    """

    AWAY_FROM_ZERO = 0
    TO_NEAREST_EVEN = 1
