"""What rules of derivatives are given for values that are not there: zeros, and operands of linear functions."""

from __future__ import annotations

from typing import Any

from numhlo.compat.jax.arrays import frozen
from numhlo.compat.jax.avals import ShapedArray, get_aval
from numhlo.library.transformations.symbolic_zeros import SymbolicZero
from numhlo.tracer.core.operands import full_of
from numhlo.tracer.core.promotion import FLOAT0
from numhlo.tracer.core.trace import Tracer
from numhlo.tracer.trees.pytree_registration import register_pytree_node
from numhlo.tracer.trees.pytrees import tree_map


class Zero:
    """A tangent or cotangent that is zero whatever the values are.

    Parameters
    ----------
    aval : ShapedArray
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"Zero({self.aval})"

    @staticmethod
    def from_primal_value(value: Any) -> Zero:
        """Return the zero tangent of a value."""
        return Zero(get_aval(value).to_tangent_aval())

    def instantiate(self) -> Any:
        """Return the zeros as an array."""
        return zeros_of_aval(self.aval)


class UndefinedPrimal:
    """An operand that a transposition rule has no value of: the function is linear in it.

    Parameters
    ----------
    aval : ShapedArray
    """

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"UndefinedPrimal({self.aval})"


register_pytree_node(Zero, lambda x: ((), x.aval), lambda aval, _: Zero(aval))
register_pytree_node(UndefinedPrimal, lambda x: ((), x.aval), lambda aval, _: UndefinedPrimal(aval))


def is_undefined_primal(x: Any) -> bool:
    """Return whether an operand of a transposition rule is one that the function is linear in.

    Examples
    --------
    >>> is_undefined_primal(1.0)
    False
    """
    return type(x) is UndefinedPrimal


def zeros_of_aval(aval: ShapedArray) -> Any:
    """Return zeros of a shape and dtype, as an array.

    Examples
    --------
    >>> zeros_of_aval(ShapedArray((2,), "float32"))
    Array([0., 0.], dtype=float32)
    """
    made = full_of(0, aval.shape, aval.dtype)
    return made if isinstance(made, Tracer) else frozen(made)


def instantiate_zeros(x: Any) -> Any:
    """Return a tangent or cotangent as an array.

    Examples
    --------
    >>> instantiate_zeros(Zero(ShapedArray((2,), "float32")))
    Array([0., 0.], dtype=float32)
    """
    return zeros_of_aval(x.aval) if type(x) is Zero else x


def add_any(x: Any, y: Any) -> Any:
    """Return the sum of two tangents, either of which may be a `Zero`."""
    if type(x) is Zero:
        return y
    return x if type(y) is Zero else x + y


def none_for_zero(x: Any) -> Any:
    """Return None for a tangent or cotangent that is zero by itself, anything else as it is."""
    is_zero = x is None or x is Zero or type(x) is Zero or getattr(x, "dtype", None) == FLOAT0
    return None if is_zero else x


def zero_from_primal(value: Any, symbolic_zeros: bool = False) -> Any:
    """Return the zero tangents of a tree of values: arrays, or each a `SymbolicZero`.

    Examples
    --------
    >>> float(zero_from_primal(1.0))
    0.0
    """

    def zero(leaf: Any) -> Any:
        aval = get_aval(leaf).to_tangent_aval()
        return SymbolicZero(aval.shape, aval.dtype) if symbolic_zeros else zeros_of_aval(aval)

    return tree_map(zero, value)
