"""Writing functions by hand: a small builder for decompositions, expansions and tests.

It knows how ops are appended to a body; it refuses to know any op but ``constant``. The tracer has its own way
(`bind`), which captures locations and evaluates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import UNKNOWN, Function, Location, Op, Region, Type, Value
from numhlo.lowering.ops import creation
from numhlo.lowering.ops.primitive import Primitive, make_op


class OpWriter:
    """Appends ops one after the other.

    Parameters
    ----------
    append : callable
        Takes each op.
    location : Location
        Of all of them.
    """

    def __init__(self, append: Callable[[Op], object], location: Location = UNKNOWN) -> None:
        self._append, self.location = append, location

    def append(self, op: Op) -> list[Value]:
        """Append an op made elsewhere and return its results."""
        self._append(op)
        return op.results

    def ops(
        self,
        definition: Primitive,
        *operands: Value,
        regions: Sequence[Region] = (),
        results: Sequence[Type] | None = None,
        **attributes: Any,
    ) -> list[Value]:
        """Append an op and return its results."""
        op = make_op(definition, operands, attributes, regions, results, self.location)
        return self.append(op)

    def op(self, definition: Primitive, *operands: Value, result: Type | None = None, **attributes: Any) -> Value:
        """Append an op of one result and return that."""
        (value,) = self.ops(definition, *operands, results=None if result is None else [result], **attributes)
        return value

    def constant(self, array: np.ndarray | np.generic) -> Value:
        """Append a constant; the array's dtype and shape are the value's type."""
        return self.op(creation.CONSTANT, value=np.asarray(array))


class FunctionBuilder(OpWriter):
    """A function under construction.

    Parameters
    ----------
    name : str
    types : sequence of Type
        Of the arguments.

    Examples
    --------
    >>> from numhlo.lowering.ir import TensorType
    >>> b = FunctionBuilder("answer", [TensorType((), np.dtype("int32"))])
    >>> b.finish([b.arguments[0], b.constant(np.int32(42))])
    <function @answer(tensor<i32>) -> (tensor<i32>, tensor<i32>)>
    """

    def __init__(self, name: str, types: Sequence[Type]) -> None:
        super().__init__(self._add)
        self.name = name
        self._bodies = [Region(types)]

    def _add(self, op: Op) -> None:
        self._bodies[-1].ops.append(op)

    @property
    def arguments(self) -> list[Value]:
        """Return the function's arguments."""
        return self._bodies[0].arguments

    def region(self, types: Sequence[Type], write: Callable[..., Sequence[Value]]) -> Region:
        """Return a region whose ops ``write`` appends through this builder.

        Parameters
        ----------
        types : sequence of Type
            Of the region's arguments.
        write : callable
            Takes the arguments and returns the values that the region returns; may use values from outside.
        """
        body = Region(types)
        self._bodies.append(body)
        try:
            body.returns = list(write(*body.arguments))
        finally:
            self._bodies.pop()
        return body

    def finish(self, returns: Sequence[Value], *, visibility: str = "private") -> Function:
        """Return the function."""
        (body,) = self._bodies
        body.returns = list(returns)
        return Function(self.name, body, visibility=visibility)
