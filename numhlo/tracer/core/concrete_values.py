"""Values of a graph under construction that are known while tracing.

A concrete trace knows all that follows from its arguments, op by op. Any other knows what follows from constants, a few
numbers at a time, and computes them when Python asks: the product of a shape's extents, an index, a flag.
"""

from __future__ import annotations

import numpy as np

from numhlo.lowering.interpreter import evaluate_op, free_values
from numhlo.lowering.ir import Op, TensorType, Value
from numhlo.lowering.ops import control_flow

SMALL = 4096
"""Bytes; larger values are not computed unless there is no other way."""

LARGEST = 1 << 26
"""Bytes; larger values are not computed at all."""


class KnownValues:
    """What is known about the values of one trace.

    Parameters
    ----------
    eager : bool
        Every op is evaluated as it is appended, so nothing need be computed on request.

    Attributes
    ----------
    arrays : dict
        The known values.
    """

    def __init__(self, *, eager: bool) -> None:
        self.arrays: dict[Value, np.ndarray] = {}
        self._unknown: set[Value] = set()
        self._eager = eager

    def evaluate(self, op: Op) -> None:
        """Note an op's results, if all that it takes is known."""
        if all(v in self.arrays for v in _inputs(op)):
            self._evaluate(op)

    def _evaluate(self, op: Op) -> None:
        self.arrays.update(zip(op.results, evaluate_op(op, self.arrays), strict=True))

    def find(self, value: Value, largest: int = SMALL) -> np.ndarray | None:
        """Return a value's array; None where it depends on arguments, or on values of more than ``largest`` bytes."""
        if value not in self.arrays and not self._eager and value not in self._unknown:
            self._compute(value, largest)
        return self.arrays.get(value)

    def _compute(self, value: Value, largest: int) -> None:
        """Evaluate the ops that lead to a value, in a loop: a chain of them may be long."""
        arrays, unknown, waiting = self.arrays, self._unknown, [value]
        while waiting:
            op = waiting[-1].owner
            if waiting[-1] in arrays:
                waiting.pop()
                continue
            if not isinstance(op, Op) or isinstance(op.definition, control_flow.ControlFlow):
                unknown.update(waiting)  # each is waiting for the one behind it
                return
            for v in op.results:
                if not isinstance(v.type, TensorType) or v.type.nbytes > largest:
                    return
            missing = [v for v in _inputs(op) if v not in arrays]
            if not missing:
                self._evaluate(op)
            elif unknown.isdisjoint(missing):
                waiting.append(missing[0])
            else:
                unknown.update(waiting)
                return


def _inputs(op: Op) -> list[Value]:
    return [*op.operands, *free_values(op)] if op.regions else op.operands
