"""The types of calls, by what primitives are in plain Python: `Typing` without Numba.

A primitive's definition is run once for the types of its operands, and the type of what it gives is taken. What looks
at memory, or calls native code, is not run: its annotation says what it gives, or the storage whose elements it loads.
Python's operators compute with integers of 64 bits, as compiled kernels do.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.callees import BY_CLASS
from numhlo.backend.kernels.reading import UnreadableError
from numhlo.backend.kernels.verify import KINDS, register_type
from numhlo.backend.primitives.memory import Load, address, advance, stack_array
from numhlo.backend.primitives.running import Running
from numhlo.backend.primitives.storage import STORAGES

ANNOTATED: Mapping[Any, ir.Type] = {"int": ir.INT64, "bool": ir.BOOL, "None": ir.NOTHING}
"""What annotations mean; primitives that give anything else are asked."""

COMPARISONS = frozenset({operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge})
OF_BOOLEANS = frozenset({operator.and_, operator.or_, operator.xor})
SMALLEST_OR_LARGEST = frozenset({min, max})
OF_ONE_TYPE = frozenset({*SMALLEST_OR_LARGEST, operator.pow})
SHIFTS = frozenset({operator.lshift, operator.rshift})
OPERATORS = frozenset(
    {
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
        *(operator.neg, operator.pos, operator.invert, *SHIFTS, *OF_BOOLEANS, *COMPARISONS),
        *(abs, min, max),
    }
)
CONSTRUCTORS: Mapping[Any, ir.Type] = {bool: ir.BOOL, int: ir.INT64, float: ir.FLOAT64}
COUNTERS = frozenset({ir.Number("int", 32), ir.INT64, ir.Number("uint", 64)})


class DefinedTypes:
    """Types of calls, found once a process for each callee and operand types."""

    def result(self, callee: Any, operands: Sequence[ir.Expression]) -> ir.Type:
        """Return the type of a call: `numhlo.backend.kernels.reading.Typing`."""
        if callee is address:
            number = operands[1]
            return ir.Pointer(int(number.value.real)) if isinstance(number, ir.Constant) else ir.ANYWHERE
        if isinstance(callee, Load):  # most calls are loads, whose storages take long to hash
            return _loaded(callee.storage.name)
        return _result(callee, tuple([operand.type for operand in operands]))

    def counter(self, bounds: Sequence[ir.Expression]) -> ir.Number:
        """Return the type of the counter of a range: `numhlo.backend.kernels.reading.Typing`."""
        found = bounds[0].type
        if not isinstance(found, ir.Number) or found not in COUNTERS or any(bound.type != found for bound in bounds):
            raise UnreadableError(f"no counter is known for bounds of types {', '.join(str(b.type) for b in bounds)}")
        return found


@cache
def _loaded(name: str) -> ir.Type:
    return register_type(STORAGES[name])


@cache
def _result(callee: Any, types: tuple[ir.Type, ...]) -> ir.Type:
    if callee in CONSTRUCTORS:
        return CONSTRUCTORS[callee]
    if callee in OPERATORS:
        return _of_operator(callee, types)
    if callee is advance:
        return types[0]
    if callee is stack_array:
        return ir.ANYWHERE
    given = inspect.signature(callee).return_annotation
    annotated = ANNOTATED.get(given if isinstance(given, str) else getattr(given, "__name__", str(given)))
    if annotated is not None:
        return annotated
    if isinstance(callee, Running):
        return types[-1]
    if type(callee) in BY_CLASS:
        return register_type(callee.storage)
    if any(isinstance(given, ir.Pointer) for given in types):
        raise UnreadableError(f"nobody knows what {callee} of a pointer is")
    return _of_definition(callee, types)


def _of_definition(callee: Callable[..., Any], types: Sequence[ir.Type]) -> ir.Type:
    """Return the type of what a function gives for numbers of some types."""
    with np.errstate(all="ignore"):
        found = callee(*[_one(type) for type in types])
    return type_of(found)


def _one(type: ir.Type) -> Any:
    """Return the number one of a type: no primitive divides by zero, or shifts too far, for it."""
    assert isinstance(type, ir.Number)
    return np.dtype("bool" if type.kind == "bool" else f"{type.kind}{type.bits}").type(1)


def type_of(value: Any) -> ir.Type:
    """Return the type that a register has for a value.

    Examples
    --------
    >>> [str(type_of(value)) for value in (np.float32(2), np.True_, 3)]
    ['f32', 'bool', 'i64']
    """
    dtype = np.asarray(value).dtype
    kind = KINDS.get(dtype.kind)
    if kind is None:
        raise UnreadableError(f"the kernel IR has no type for {value!r}")
    return ir.BOOL if kind == "bool" else ir.Number(kind, 8 * dtype.itemsize)


def _of_operator(callee: Callable[..., Any], types: Sequence[ir.Type]) -> ir.Type:
    if not all(isinstance(type, ir.Number) for type in types):
        raise _unknown(callee, types)
    if callee in COMPARISONS:
        return ir.BOOL
    if callee in OF_BOOLEANS and all(type == ir.BOOL for type in types):
        return ir.BOOL
    kinds = {type.kind for type in types if isinstance(type, ir.Number)}
    if callee in SMALLEST_OR_LARGEST and kinds in ({"int"}, {"uint"}):
        return max(types, key=lambda type: type.bits if isinstance(type, ir.Number) else 0)
    if callee in OF_ONE_TYPE and (len(set(types)) > 1 or ir.BOOL in types):
        raise _unknown(callee, types)
    if kinds <= {"bool", "int", "uint"} and callee is not operator.truediv:
        signed = types[:1] if callee in SHIFTS else types
        return ir.INT64 if any(_is_signed(type) for type in signed) else ir.Number("uint", 64)
    if len(set(types)) > 1 and not all(_is_wide(type) for type in types):
        raise _unknown(callee, types)
    return _of_definition(callee, types)


def _unknown(callee: Callable[..., Any], types: Sequence[ir.Type]) -> UnreadableError:
    return UnreadableError(f"nobody knows what {callee.__name__} of {', '.join(map(str, types))} is")


def _is_signed(type: ir.Type) -> bool:
    return isinstance(type, ir.Number) and type.kind != "uint"


def _is_wide(type: ir.Type) -> bool:
    """Return whether a type is one that Python's own numbers have: others in an operation become as wide."""
    return type in (ir.INT64, ir.FLOAT64, ir.COMPLEX128)
