"""What convolutions and reductions over windows take, under JAX's names: dimension numbers, padding, strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, OperandError
from numhlo.lowering.ops.window_geometry import Pairs

__all__ = ["ConvDimensionNumbers", "conv_dimension_numbers", "padtype_to_pads"]


class ConvDimensionNumbers(NamedTuple):
    """Which dimension of each array is what.

    Parameters
    ----------
    lhs_spec, out_spec : tuple of int
        Batch dimension, feature dimension, spatial dimensions.
    rhs_spec : tuple of int
        Output feature dimension, input feature dimension, spatial dimensions.

    Attributes
    ----------
    lhs_spec, out_spec : tuple of int
        Batch dimension, feature dimension, spatial dimensions.
    rhs_spec : tuple of int
        Output feature dimension, input feature dimension, spatial dimensions.

    Examples
    --------
    >>> ConvDimensionNumbers((0, 1, 2), (0, 1, 2), (0, 1, 2)).out_spec
    (0, 1, 2)
    """

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


def conv_dimension_numbers(lhs_shape: Sequence[int], rhs_shape: Sequence[int], dimension_numbers: Any) -> Any:
    """Return dimension numbers given as None, as three strings, or as a `ConvDimensionNumbers`.

    Parameters
    ----------
    lhs_shape, rhs_shape : sequence of int
        Of which the lengths count.
    dimension_numbers : None, three str, or ConvDimensionNumbers
        Letters are N, C, I, O, and any for spatial dimensions, whose order in the second string is that of strides,
        padding and dilation; None is ``("NCHW", "OIHW", "NCHW")`` and its like.

    Returns
    -------
    ConvDimensionNumbers

    Raises
    ------
    OperandError
        If the lengths differ.
    ArgumentError
        If letters are missing or double.

    Examples
    --------
    >>> conv_dimension_numbers((1, 8, 8, 3), (3, 3, 3, 4), ("NHWC", "HWIO", "NHWC"))
    ConvDimensionNumbers(lhs_spec=(0, 3, 1, 2), rhs_spec=(3, 2, 0, 1), out_spec=(0, 3, 1, 2))
    """
    if isinstance(dimension_numbers, ConvDimensionNumbers):
        return dimension_numbers
    ndim = len(lhs_shape)
    if len(rhs_shape) != ndim:
        raise OperandError(
            f"convolution: operands of {ndim} and {len(rhs_shape)} dimensions",
            where=capture_location(),
            why="lhs and rhs have a dimension each for every spatial one, and two more",
        )
    if dimension_numbers is None:
        axes = tuple(range(ndim))
        return ConvDimensionNumbers(axes, axes, axes)
    specs = tuple(dimension_numbers)
    if len(specs) != 3 or not all(isinstance(spec, str) and len(spec) == ndim for spec in specs):
        raise ArgumentError(
            f"convolution: dimension_numbers={dimension_numbers!r}",
            where=capture_location(),
            fix=f"give three strings of {ndim} letters, such as ('NHWC', 'HWIO', 'NHWC')",
        )
    lhs, rhs, out = specs
    spatial = [letter for letter in rhs if letter not in "OI"]
    for spec, first in ((rhs, "OI"), (lhs, "NC"), (out, "NC")):
        order = "".join([*first, *spatial])
        if sorted(spec) != sorted(order):
            raise ArgumentError(
                f"convolution: dimension_numbers={dimension_numbers!r}: {spec} must have each of {order} once",
                where=capture_location(),
            )
    image, kernel = ["N", "C", *spatial], ["O", "I", *spatial]
    places = [[spec.index(letter) for letter in order] for spec, order in ((lhs, image), (rhs, kernel), (out, image))]
    return ConvDimensionNumbers(*map(tuple, places))


def padtype_to_pads(
    in_shape: Sequence[int], window_shape: Sequence[int], window_strides: Sequence[int], padding: str
) -> list[tuple[int, int]]:
    """Return the widths that "SAME", "SAME_LOWER" or "VALID" stands for.

    Parameters
    ----------
    in_shape, window_shape, window_strides : sequence of int
        One for each dimension; a dilated window counts with its reach.
    padding : str

    Returns
    -------
    list of (int, int)
        Before and after each dimension. "SAME" gives ``ceil(extent / stride)`` windows, the odd element behind;
        "SAME_LOWER" has it before.

    Raises
    ------
    ArgumentError
        If ``padding`` is another.

    Examples
    --------
    >>> padtype_to_pads((5,), (3,), (2,), "SAME")
    [(1, 1)]
    """
    kind = padding.upper()
    if kind == "VALID":
        return [(0, 0)] * len(in_shape)
    if kind not in ("SAME", "SAME_LOWER"):
        raise ArgumentError(
            f"padding={padding!r}", where=capture_location(), fix="use SAME, SAME_LOWER, VALID or pairs of widths"
        )
    pads = []
    for n, size, stride in zip(in_shape, window_shape, window_strides, strict=True):
        total = max((-(-n // stride) - 1) * stride + size - n, 0)
        small, large = total // 2, total - total // 2
        pads.append((small, large) if kind == "SAME" else (large, small))
    return pads


def padding_pairs(padding: Any, shape: Sequence[int], sizes: Sequence[int], strides: Sequence[int]) -> Pairs:
    """Return widths before and after each dimension, given as such or as a word."""
    if isinstance(padding, str):
        return tuple(padtype_to_pads(shape, sizes, strides, padding))
    return tuple([(int(low), int(high)) for low, high in padding])


def numbers(given: Any, count: int, name: str) -> tuple[int, ...]:
    """Return strides or dilations, ones where they are left out."""
    numbers = (1,) * count if given is None else tuple(map(int, given))
    if len(numbers) != count:
        raise ArgumentError(f"{name}={given!r}", where=capture_location(), why=f"there are {count} dimensions")
    return numbers
