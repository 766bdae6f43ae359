"""What a builder's ops take and return: handles on values, with Python's operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from numhlo.lowering.ir import TensorType, Value, capture_location
from numhlo.lowering.ir.errors import ArgumentError

if TYPE_CHECKING:
    from numhlo.compilation.graph_builder import GraphBuilder


class Handle:
    """A value of a graph that is being built.

    Attributes
    ----------
    builder : GraphBuilder
    value : Value or None
        None where an error was noted: then every use of the handle is one, too.

    Examples
    --------
    >>> from numhlo.stablehlo import Builder
    >>> x = Builder().parameter(0, (2, 3), np.float32)
    >>> x * 2 + 1, x < 0
    (<value of main: tensor<2x3xf32>>, <value of main: tensor<2x3xi1>>)
    """

    __slots__ = ("builder", "value")
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # so that array + handle asks the handle

    def __init__(self, builder: GraphBuilder, value: Value | None) -> None:
        self.builder = builder
        self.value = value

    def __repr__(self) -> str:
        return f"<value of {self.builder.name}: {'none' if self.value is None else self.value.type}>"

    @property
    def type(self) -> TensorType:
        """Return shape and dtype, inferred."""
        return self.builder.get_shape(self)

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape."""
        return self.type.shape

    @property
    def dtype(self) -> np.dtype:
        """Return the dtype."""
        return self.type.dtype

    def _with(self, name: str, other: Any) -> Any:
        return self.builder.op(name, self, self._lifted(other))

    def _from(self, name: str, other: Any) -> Any:
        return self.builder.op(name, self._lifted(other), self)

    def _lifted(self, other: Any) -> Any:
        """Return a plain number as a constant of this value's dtype."""
        is_number = isinstance(other, bool | int | float | complex) and self.value is not None
        return self.builder.constant(other, self.dtype) if is_number else other

    def __add__(self, other: Any) -> Any:
        return self._with("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._from("add", other)

    def __sub__(self, other: Any) -> Any:
        return self._with("subtract", other)

    def __rsub__(self, other: Any) -> Any:
        return self._from("subtract", other)

    def __mul__(self, other: Any) -> Any:
        return self._with("multiply", other)

    def __rmul__(self, other: Any) -> Any:
        return self._from("multiply", other)

    def __truediv__(self, other: Any) -> Any:
        return self._with("divide", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._from("divide", other)

    def __mod__(self, other: Any) -> Any:
        return self._with("remainder", other)

    def __rmod__(self, other: Any) -> Any:
        return self._from("remainder", other)

    def __pow__(self, other: Any) -> Any:
        return self._with("power", other)

    def __rpow__(self, other: Any) -> Any:
        return self._from("power", other)

    def __and__(self, other: Any) -> Any:
        return self._with("and", other)

    def __rand__(self, other: Any) -> Any:
        return self._from("and", other)

    def __or__(self, other: Any) -> Any:
        return self._with("or", other)

    def __ror__(self, other: Any) -> Any:
        return self._from("or", other)

    def __xor__(self, other: Any) -> Any:
        return self._with("xor", other)

    def __rxor__(self, other: Any) -> Any:
        return self._from("xor", other)

    def __neg__(self) -> Any:
        return self.builder.op("negate", self)

    def __abs__(self) -> Any:
        return self.builder.op("abs", self)

    def __invert__(self) -> Any:
        return self.builder.op("not", self)

    def __bool__(self) -> bool:
        raise ArgumentError(
            f"the truth value of {self!r}",
            where=capture_location(),
            why="it is known when the program runs",
            fix="give both ways as regions to if_, or to while_",
        )

    def _compared(self, direction: str, other: Any) -> Any:
        return self.builder.op("compare", self, self._lifted(other), comparison_direction=direction)

    def __eq__(self, other: object) -> Any:
        return self._compared("EQ", other)

    def __ne__(self, other: object) -> Any:
        return self._compared("NE", other)

    def __lt__(self, other: Any) -> Any:
        return self._compared("LT", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("LE", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared("GT", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared("GE", other)
