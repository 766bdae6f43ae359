"""What operators between traced arrays mean: NumPy's functions, with Python's numbers and foreign operands seen to.

Operators in place write into the array's storage, as NumPy does; on a scalar they bind the name again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.library.numpy import elementwise
from numhlo.library.numpy.linalg import matrix_products
from numhlo.library.numpy.out_arrays import store
from numhlo.tracer.building import (
    Tracer,
    are_arrays_immutable,
    as_traced,
    asks_scalar,
    concretization,
    foreign_values,
    operands,
    refuse_waiting,
)

BINARY: dict[str, Callable[..., Any]] = {
    "add": elementwise.add,
    "sub": elementwise.subtract,
    "mul": elementwise.multiply,
    "truediv": elementwise.divide,
    "floordiv": elementwise.floor_divide,
    "mod": elementwise.remainder,
    "divmod": elementwise.divmod,
    "pow": elementwise.operator_power,
    "and": elementwise.bitwise_and,
    "or": elementwise.bitwise_or,
    "xor": elementwise.bitwise_xor,
    "lshift": elementwise.left_shift,
    "rshift": elementwise.right_shift,
    "matmul": matrix_products.matmul,
}
COMPARISONS = {
    "eq": elementwise.equal,
    "ne": elementwise.not_equal,
    "lt": elementwise.less,
    "le": elementwise.less_equal,
    "gt": elementwise.greater,
    "ge": elementwise.greater_equal,
}
UNARY = {
    "neg": elementwise.negative,
    "pos": elementwise.positive,
    "abs": elementwise.absolute,
    "invert": elementwise.invert,
}
DIVISIONS = (elementwise.divide, elementwise.floor_divide, elementwise.remainder, elementwise.divmod)
"""What raises in Python where numbers are divided by zero."""
CONTAINERS = (*operands.SEQUENCES, set, dict)
"""What NumPy makes arrays of, and JAX refuses."""
USUAL = frozenset({Tracer, float, int})
"""Classes of most operands."""
NEVER_EQUAL = (type(None), str, bytes)
"""What no element is equal to."""


def _binary(function: Callable[..., Any], reflected: bool) -> Callable[..., Any]:
    def operator(self: Tracer, other: Any) -> Any:
        if other.__class__ not in USUAL and isinstance(other, CONTAINERS) and are_arrays_immutable():
            raise TypeError(f"unsupported operand types: a traced array and a {type(other).__name__}")  # as in JAX
        if other.__class__ not in USUAL and not isinstance(other, foreign_values.KNOWN):
            if hasattr(type(other), "__jax_array__"):
                return operator(self, other.__jax_array__())
            other = foreign_values.as_operand(other)
            if other is NotImplemented:
                return NotImplemented
        if function is elementwise.multiply and isinstance(other, (list, tuple)) and _repeats(self):
            return other * concretization.repetitions(self)
        result = function(other, self) if reflected else function(self, other)
        if self.weak and operands.is_weak(other) and not are_arrays_immutable():  # again a Python number
            if function in DIVISIONS:
                _refuse_waiting(self if reflected else other)
            _weaken(result)
        return result

    return operator


def _repeats(x: Tracer) -> bool:
    return (x.weak or x.dtype.kind in "iu") and asks_scalar(x)


def _comparison(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    operator = _binary(function, reflected=False)

    def compare(self: Tracer, other: Any) -> Any:
        if isinstance(other, NEVER_EQUAL) and name in ("eq", "ne"):
            if are_arrays_immutable():
                return NotImplemented
            differ = operands.full_of(name == "ne", self.shape, np.bool_)
            return as_traced(differ) if self.ndim else NotImplemented
        return NotImplemented if name in ("eq", "ne") and foreign_values.is_no_number(other) else operator(self, other)

    return compare


def _refuse_waiting(divisor: Any) -> None:
    if isinstance(divisor, Tracer) and divisor.concrete is None:
        what = f"a division by a traced number {divisor.aval.short()}"
        refuse_waiting(ZeroDivisionError, what, "compare the divisor with 0 in numpy.where or lax.cond")


def _weaken(result: Any) -> None:
    for part in result if isinstance(result, tuple) else (result,):
        part.weak = True


def _in_place(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    out_of_place = _binary(function, reflected=False)

    def operator(self: Tracer, other: Any) -> Any:
        result = out_of_place(self, other)
        if result is NotImplemented or are_arrays_immutable() or asks_scalar(self):
            return result  # the name is bound again
        return store(name, result, self)

    return operator


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    def operator(self: Tracer) -> Any:
        result = function(self)
        if self.weak and not are_arrays_immutable():
            _weaken(result)
        return result

    return operator


def attach_operators(cls: type[Tracer]) -> None:
    """Give the class of traced arrays its operators."""
    for name, function in BINARY.items():
        setattr(cls, f"__{name}__", _binary(function, reflected=False))
        setattr(cls, f"__r{name}__", _binary(function, reflected=True))
        if name != "divmod":
            setattr(cls, f"__i{name}__", _in_place(name, function))
    for name, function in COMPARISONS.items():
        setattr(cls, f"__{name}__", _comparison(name, function))
    for name, function in UNARY.items():
        setattr(cls, f"__{name}__", _unary(function))
