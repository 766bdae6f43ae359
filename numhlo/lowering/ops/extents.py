"""Comparing extents and shapes where some extents may not be known before the program runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from numhlo.lowering.ir import DYNAMIC, IndexTensorType, TensorType, Type
from numhlo.lowering.ops.primitive import Signature


def same_extent(first: int, second: int) -> bool:
    """Return whether two extents can be equal."""
    return first == second or DYNAMIC in {first, second}


def same_shape(first: Sequence[int], second: Sequence[int]) -> bool:
    """Return whether two shapes can be equal.

    Examples
    --------
    >>> same_shape((2, DYNAMIC), (2, 3)), same_shape((2,), (2, 1))
    (True, False)
    """
    return first == second or (len(first) == len(second) and all(map(same_extent, first, second)))


def same_type(first: Type, second: Type) -> bool:
    """Return whether two types can be equal: the same but for extents that are not known."""
    if isinstance(first, TensorType) and isinstance(second, TensorType):
        is_one_kind = isinstance(first, IndexTensorType) == isinstance(second, IndexTensorType)
        return is_one_kind and first.dtype == second.dtype and same_shape(first.shape, second.shape)
    return first == second


def same_types(first: Sequence[Type], second: Sequence[Type]) -> bool:
    """Return whether two lists of types can be equal, one by one."""
    return len(first) == len(second) and all(map(same_type, first, second))


def extents(shape: Sequence[int]) -> str:
    """Return a shape as messages have it, such as ``[2, ?]``."""
    return f"[{', '.join(['?' if n == DYNAMIC else str(n) for n in shape])}]"


def at_most(first: int, second: int) -> bool:
    """Return whether the first extent can be at most the second."""
    return DYNAMIC in {first, second} or first <= second


def is_unique(axes: Iterable[int]) -> bool:
    """Return whether no axis occurs twice."""
    axes = list(axes)
    return len(set(axes)) == len(axes)


def in_range(axes: Iterable[int], rank: int) -> bool:
    """Return whether every axis lies in ``[0, rank)``."""
    return all(0 <= axis < rank for axis in axes)


def is_sorted(axes: Sequence[int]) -> bool:
    """Return whether axes ascend."""
    return list(axes) == sorted(axes)


def declared_or(signature: Signature, inferred: Sequence[Type]) -> list[Type]:
    """Return the declared result types where they agree with the inferred ones: they may know more extents.

    What does not agree is left to the caller of the type rule, who compares the two.
    """
    declared = signature.results
    return list(inferred) if declared is None or not same_types(declared, inferred) else list(declared)
