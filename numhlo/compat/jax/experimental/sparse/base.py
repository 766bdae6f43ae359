"""What all sparse arrays are: shapes, names of what they are not good for, and errors about them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import OperandError, UnsupportedError
from numhlo.tracer.core.trace import Tracer


class SparseEfficiencyError(ValueError):
    """A layout would store far more elements than there are."""


class SparseEfficiencyWarning(UserWarning):
    """A layout stores far more elements than there are."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A warning about NVIDIA's library, which nothing here uses."""


class SparseInfo(NamedTuple):
    """What is known of a sparse array beside its parts.

    Attributes
    ----------
    shape : tuple of int
    indices_sorted, unique_indices : bool
    """

    shape: tuple[int, ...]
    indices_sorted: bool = False
    unique_indices: bool = False


def refuse(what: str, fix: str, why: str = "") -> NoReturn:
    """Raise the error for what sparse arrays are not able to do."""
    raise UnsupportedError(what, where=capture_location(), why=why, fix=fix)


def misfit(what: str, why: str = "", fix: str = "") -> OperandError:
    """Return the error for shapes that do not fit."""
    return OperandError(what, where=capture_location(), why=why, fix=fix)


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Return the shape that arrays have together.

    Raises
    ------
    OperandError
        If they have none.
    """
    try:
        return tuple(np.broadcast_shapes(*map(tuple, shapes)))
    except ValueError:
        raise misfit(f"Incompatible shapes for broadcasting: {[*map(tuple, shapes)]}") from None


class JAXSparse:
    """The base of all sparse arrays.

    Attributes
    ----------
    data : Array
        The stored elements.
    shape : tuple of int
    """

    __array_priority__ = 1000
    __array_ufunc__ = None  # arrays leave operators to this class
    __hash__ = None  # type: ignore[assignment]

    data: Any
    shape: tuple[int, ...]

    @property
    def dtype(self) -> Any:
        """Return the elements' dtype."""
        return self.data.dtype

    @property
    def nse(self) -> int:
        """Return how many elements are stored."""
        return int(self.data.size)

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Return how many elements there are, stored or not."""
        return math.prod(self.shape)

    @property
    def T(self) -> Any:  # noqa: N802 - NumPy's name
        """Return the array with its axes reversed."""
        return self.transpose()

    def transpose(self, axes: Sequence[int] | None = None) -> Any:
        """Return the array with its axes in another order; which classes are able to is their own matter."""
        refuse(f"transpose of {type(self).__name__}", "use m.to_bcoo().transpose(axes)")

    def tree_flatten(self) -> tuple[tuple[Any, ...], Any]:
        """Return the parts, and the rest."""
        raise NotImplementedError

    def todense(self) -> Any:
        """Return all elements as an array."""
        raise NotImplementedError

    def block_until_ready(self) -> Any:
        """Return the array: results are there when a call returns."""
        return self

    def __len__(self) -> int:
        return self.shape[0]

    def _layout(self) -> str:
        return ""

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            text = f"{name}({self.dtype}{[*self.shape]}, nse={self.nse}{self._layout()})"
        except AttributeError:  # parts may be anything while a tree is taken apart
            return f"{name}(<invalid>)"
        return f"{type(self.data).__name__}[{text}]" if isinstance(self.data, Tracer) else text

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        refuse("a sparse array in the place of a dense one", "use m.todense()")


def _absent(method: str) -> Any:
    def refused(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        refuse(f"{type(self).__name__}.{method}", "use BCOO, or m.todense()")

    refused.__name__ = method
    return refused


for _method in (
    "sum", "__neg__", "__pos__", "__matmul__", "__rmatmul__", "__mul__", "__rmul__", "__add__", "__radd__", "__sub__",
    "__rsub__", "__getitem__", "__iter__",
):  # fmt: skip
    setattr(JAXSparse, _method, _absent(_method))
