"""`jax.experimental.hijax`: types and operations of a program's own above arrays.

Libraries declare such classes and use them on request alone. They can be declared here; what would put a value of such
a type, or such an operation, into a program raises.
"""

from __future__ import annotations

from typing import Any, NoReturn

from numhlo.compat.jax.absent_names import refusing as _refusing
from numhlo.compat.jax.avals import AbstractValue as AbstractValue
from numhlo.compat.jax.avals import ShapedArray as ShapedArray
from numhlo.compat.jax.linear_values import UndefinedPrimal
from numhlo.compat.jax.linear_values import Zero as Zero
from numhlo.compat.jax.primitives import Primitive
from numhlo.compat.jax.ref import AbstractRef as AbstractRef
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import UnsupportedError

__all__ = [
    "AbstractRef", "AbstractValue", "AvalMutableQDD", "AvalQDD", "HiPrimitive", "HiType", "MutableHiType",
    "ShapedArray", "VJPHiPrimitive", "Zero", "aval_method", "aval_property", "control_flow_allowed_effects",
    "instantiate_zeros", "is_undefined_primal", "register_hitype",
]  # fmt: skip


def _refuse(what: str) -> NoReturn:
    raise UnsupportedError(
        f"{what} of jax.experimental.hijax",
        where=capture_location(),
        why="programs consist of arrays and operations on them",
        fix="register the class as a pytree; give the operation rules with custom_vjp, or as a Primitive",
    )


class HiType(AbstractValue):
    """The type of values that are lowered to arrays."""

    __slots__ = ()


class MutableHiType(HiType):
    """The type of values that change, and are lowered to arrays."""

    __slots__ = ()


class HiPrimitive(Primitive):
    """An operation on values of such types."""

    is_high_primitive = True

    def bind(self, *args: Any, **params: Any) -> NoReturn:
        """Refuse."""
        _refuse(f"the operation {self.name}")


class VJPHiPrimitive:
    """An operation on values of such types, with rules of derivatives, made for each use of it."""

    def __init__(self, *args: Any, **params: Any) -> None:
        _refuse(f"the operation {type(self).__name__}")


class AvalQDD:
    """A type with what is known of a value at one point of the program."""

    def __init__(self, aval: Any, qdd: Any) -> None:
        self.aval, self.qdd = aval, qdd


class AvalMutableQDD:
    """A type with what is known of a value, which changes."""

    def __init__(self, aval: Any, mutable_qdd: Any) -> None:
        self.aval, self.mutable_qdd = aval, mutable_qdd


class aval_property:  # noqa: N801 - JAX's name
    """A property that traced values of a type have.

    Parameters
    ----------
    fget : callable
    """

    def __init__(self, fget: Any) -> None:
        self.fget = fget


class aval_method:  # noqa: N801 - JAX's name
    """A method that traced values of a type have.

    Parameters
    ----------
    fun : callable
    """

    def __init__(self, fun: Any) -> None:
        self.fun = fun


class _Effects:
    """Classes of effects that bodies of loops and branches may have."""

    def __init__(self) -> None:
        self._types: list[type] = []

    def add_type(self, effect: type) -> None:
        """Add a class."""
        self._types.append(effect)


control_flow_allowed_effects = _Effects()


def register_hitype(val_cls: type, typeof_fn: Any) -> None:
    """Accept how types of a class's objects are found: none of these gets into a program."""


def instantiate_zeros(tangent: Any) -> Any:
    """Return a tangent as an array, where it is a `Zero`.

    Examples
    --------
    >>> instantiate_zeros(1.5)
    1.5
    """
    return tangent.instantiate() if isinstance(tangent, Zero) else tangent


def is_undefined_primal(x: Any) -> bool:
    """Return whether a transposition rule has no value of an operand.

    Examples
    --------
    >>> is_undefined_primal(1.0)
    False
    """
    return isinstance(x, UndefinedPrimal)


__getattr__ = _refusing(__name__)
