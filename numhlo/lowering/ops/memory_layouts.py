"""`Layout`: the order in which an array's dimensions lie in memory, as XLA's ``minor_to_major`` says it.

An array is dense here: it has neither padding nor tiles, and what asks for them is refused by name. So a layout is a
permutation, and NumPy's strides of a contiguous array in some order of its axes say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ArgumentError, UnsupportedError
from numhlo.lowering.ir.records import record

_TEXT = re.compile(r"\{([\d, ]*)(:[^}]*)?\}\Z", re.ASCII)
_ATTRIBUTE = re.compile(r"dense<(?:\[([\d, ]*)\]|(\d*))>\s*:\s*tensor<(\d+)xindex>\Z")


@record(frozen=True, init=False)
class Layout:
    """How an array lies in memory: its dimensions from the one that changes fastest to the slowest.

    Parameters
    ----------
    minor_to_major : sequence of int
        A permutation of the array's dimensions. ``(1, 0)`` is C's order of a matrix, ``(0, 1)`` Fortran's.
    padded_dimensions, tiles : sequence, optional
        XLA's fields of these names; arrays are dense here, so they must be empty.

    Raises
    ------
    ArgumentError
        If ``minor_to_major`` is no permutation.
    UnsupportedError
        If there are padded dimensions or tiles.

    Notes
    -----
    Source: XLA, "Shapes and Layout".

    Examples
    --------
    >>> import numpy as np
    >>> columns = Layout((0, 1))
    >>> columns.strides((2, 3), 8)
    (8, 16)
    >>> columns == Layout.of(np.zeros((2, 3), order="F")), str(columns)
    (True, '{0,1}')
    """

    minor_to_major: tuple[int, ...]

    def __init__(
        self, minor_to_major: Iterable[int], *, padded_dimensions: Sequence[int] = (), tiles: Sequence[Any] = ()
    ) -> None:
        for name, value in (("padded_dimensions", padded_dimensions), ("tiles", tiles)):
            if len(value):
                raise UnsupportedError(
                    f"Layout: {name}={tuple(value)!r}",
                    where=capture_location(),
                    why="arrays are dense here: there is nothing between their elements",
                    fix="leave it empty; pad the array itself, by np.pad or lax.pad",
                )
        order = tuple(minor_to_major)
        if not all(isinstance(k, Integral) for k in order) or sorted(order) != list(range(len(order))):
            raise ArgumentError(
                f"Layout({order!r})",
                where=capture_location(),
                fix="give each dimension once, from the fastest to the slowest: (1, 0) for a matrix in C's order",
            )
        object.__setattr__(self, "minor_to_major", tuple(map(int, order)))

    def __str__(self) -> str:
        return f"{{{','.join(map(str, self.minor_to_major))}}}"

    @classmethod
    def row_major(cls, ndim: int) -> Layout:
        """Return C's order of so many dimensions.

        Examples
        --------
        >>> Layout.row_major(3)
        Layout(minor_to_major=(2, 1, 0))
        """
        return cls(range(ndim)[::-1])

    @classmethod
    def column_major(cls, ndim: int) -> Layout:
        """Return Fortran's order of so many dimensions.

        Examples
        --------
        >>> Layout.column_major(3)
        Layout(minor_to_major=(0, 1, 2))
        """
        return cls(range(ndim))

    @classmethod
    def of(cls, array: Any) -> Layout:
        """Return the layout of an array.

        Raises
        ------
        UnsupportedError
            If it has gaps, overlaps or runs backwards: then no layout says how it lies.

        Examples
        --------
        >>> import numpy as np
        >>> Layout.of(np.zeros((2, 3, 4)).transpose(1, 2, 0))
        Layout(minor_to_major=(1, 0, 2))
        """
        found = np.asarray(array)
        order = sorted(range(found.ndim), key=lambda k: (found.strides[k], found.shape[k] == 1, -k))
        candidates = cls.row_major(found.ndim), cls.column_major(found.ndim), cls(order)
        layout = next((one for one in candidates if one.matches(found)), None)
        if layout is None:
            raise UnsupportedError(
                f"the layout of an array of shape {list(found.shape)} with strides {list(found.strides)}",
                where=capture_location(),
                why="it is not dense: elements have gaps between them, share memory, or run backwards",
                fix="copy it",
            )
        return layout

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read a layout as HLO spells it.

        Examples
        --------
        >>> Layout.parse("{0,1}")
        Layout(minor_to_major=(0, 1))
        """
        match = _TEXT.match("".join(text.split()))
        if match is None:
            raise ArgumentError(f"Layout.parse({text!r})", where=capture_location(), fix='write it as "{1,0}"')
        if match[2]:
            raise UnsupportedError(
                f"the layout {text}",
                where=capture_location(),
                why="tiles, memory spaces and element sizes have no meaning for dense arrays",
                fix="leave out what follows the colon",
            )
        return cls(map(int, filter(None, match[1].split(","))))

    @property
    def ndim(self) -> int:
        """Return the number of dimensions."""
        return len(self.minor_to_major)

    @property
    def major_to_minor(self) -> tuple[int, ...]:
        """Return the dimensions from the slowest to the fastest: what a transposition to C's order takes.

        Examples
        --------
        >>> Layout((0, 2, 1)).major_to_minor
        (1, 2, 0)
        """
        return self.minor_to_major[::-1]

    @property
    def is_row_major(self) -> bool:
        """Return whether it is C's order."""
        return self.minor_to_major == tuple(range(self.ndim))[::-1]

    def strides(self, shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
        """Return the distances in bytes between neighbours along each dimension.

        Parameters
        ----------
        shape : sequence of int
        itemsize : int
            Bytes of an element.
        """
        found, step = [0] * len(shape), itemsize
        for axis in self.minor_to_major:
            found[axis] = step
            step *= max(shape[axis], 1)
        return tuple(found)

    def matches(self, array: Any) -> bool:
        """Return whether an array lies so; distances along dimensions of one element don't count.

        Examples
        --------
        >>> import numpy as np
        >>> Layout((0, 1)).matches(np.zeros((2, 3))), Layout((0, 1)).matches(np.zeros((1, 3)))
        (False, True)
        """
        found = np.asarray(array)
        if found.ndim != self.ndim:
            return False
        wanted = self.strides(found.shape, found.itemsize)
        pairs = zip(found.shape, found.strides, wanted, strict=True)
        return found.size == 0 or all(n == 1 or own == other for n, own, other in pairs)

    def lay_out(self, array: Any) -> np.ndarray:
        """Return an array with this layout: itself if it lies so, else a copy.

        Examples
        --------
        >>> import numpy as np
        >>> Layout((0, 1)).lay_out(np.arange(6.0).reshape(2, 3)).strides
        (8, 16)
        """
        found = np.asarray(array)
        if found.ndim != self.ndim:
            raise ArgumentError(
                f"layout {self} of an array of shape {list(found.shape)}",
                where=capture_location(),
                why=f"the layout is of {self.ndim} dimensions",
            )
        if self.matches(found):
            return found
        made = np.array(found.transpose(self.major_to_minor), order="C")
        return made.transpose(np.argsort(self.major_to_minor))

    def empty(self, shape: Sequence[int], dtype: Any) -> np.ndarray:
        """Return a new array with this layout, whose elements are not set.

        Examples
        --------
        >>> Layout((0, 1)).empty((2, 3), "float32").strides
        (4, 8)
        """
        memory = np.empty([shape[axis] for axis in self.major_to_minor], dtype)
        return memory.transpose(np.argsort(self.major_to_minor))

    @property
    def attribute(self) -> str:
        """Return the text of an element of ``operand_layouts`` and ``result_layouts``.

        Examples
        --------
        >>> Layout((0, 1)).attribute
        'dense<[0, 1]> : tensor<2xindex>'
        """
        if self.ndim == 1:
            return "dense<0> : tensor<1xindex>"
        shown = ", ".join(map(str, self.minor_to_major))
        return f"dense<{f'[{shown}]' if shown else ''}> : tensor<{self.ndim}xindex>"

    @classmethod
    def of_attribute(cls, text: str) -> Layout:
        """Read an element of ``operand_layouts`` and ``result_layouts``, which has been checked.

        Examples
        --------
        >>> Layout.of_attribute("dense<[0, 1]> : tensor<2xindex>")
        Layout(minor_to_major=(0, 1))
        """
        match = _ATTRIBUTE.match(text)
        if match is None:
            raise ArgumentError(f"the layout {text}", where=capture_location())
        return cls(map(int, filter(None, (match[1] or match[2] or "").replace(" ", "").split(","))))
