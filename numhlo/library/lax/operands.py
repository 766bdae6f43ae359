"""Operands of strict operations under JAX's names: of one dtype and shape, and of a kind that the operation takes.

Python numbers adapt to the dtype of the others, 0-d arrays are spread. What takes them is in `elementwise` and its kin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np

from numhlo.library.documentation import named
from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import DTypeError, OperandError
from numhlo.lowering.ir.types import FLOATS, INTEGERS
from numhlo.lowering.ops import type_rules
from numhlo.tracer.building import (
    SCALARS,
    are_arrays_immutable,
    asarray,
    broadcast_shapes,
    broadcast_to_shape,
    convert,
    is_weak,
    operand_of,
    result_dtype,
    shape_of,
    spelling,
)

F = TypeVar("F", bound=Callable[..., Any])


class Domain(NamedTuple):
    """What an operation takes: element types, in words and as a set."""

    words: str
    dtypes: frozenset[np.dtype]

    def require(self, name: str, x: Any) -> None:
        """Refuse an operand of another element type."""
        if x.dtype not in self.dtypes:
            raise DTypeError(
                f"lax.{name} of {spelling(x)}",
                where=capture_location(),
                why=f"it takes {self.words}",
                fix="convert it with lax.convert_element_type",
            )


ANY = Domain("numbers or booleans", type_rules.ANY_DTYPE)
NUMBERS = Domain("numbers", type_rules.NUMERIC)
REAL = Domain("real numbers", FLOATS | INTEGERS)
INEXACT = Domain("floats or complex numbers", type_rules.INEXACT)
FLOAT = Domain("floats", FLOATS)
WIDE = Domain("float32 or float64", frozenset(np.dtype(c) for c in "fd"))
INTEGER = Domain("integers", INTEGERS)
WIDTHS = [{np.dtype(narrow), np.dtype(wide)} for narrow, wide in ("fd", "FD", "iq", "IQ")]
"""Dtypes of 32 and 64 bits of one kind."""
BITS = Domain("integers or booleans", type_rules.BITWISE)


def operands(name: str, *values: Any) -> list[Any]:
    """Return operands of one dtype and shape.

    Raises
    ------
    DTypeError, OperandError
        If dtypes differ, or shapes that are none of scalars differ in more than extents of 1.
    """
    values = tuple(of_one_width(*values))
    strong = [v for v in values if not is_weak(v)]
    arrays = [v if type(v) in SCALARS else asarray(v) for v in values]
    if len({asarray(v).dtype for v in strong}) > 1:
        raise DTypeError(
            f"lax.{name}: operands {', '.join(map(spelling, arrays))} differ in dtype",
            where=capture_location(),
            why="functions of lax promote nothing",
            fix="convert one with lax.convert_element_type, or use numhlo.numpy",
        )
    wanted = result_dtype(*values)
    shapes = {shape_of(v) for v in arrays} - {()}
    of_one_rank = len({len(shape) for shape in shapes}) <= 1
    if not of_one_rank or any(len({*extents} - {1}) > 1 for extents in zip(*shapes, strict=True)):
        raise OperandError(
            f"lax.{name}: operands {', '.join(map(spelling, arrays))} differ in shape",
            where=capture_location(),
            why="functions of lax broadcast scalars and extents of 1 only, and add no dimensions",
            fix="use lax.broadcast_in_dim, or numhlo.numpy",
        )
    shape = broadcast_shapes(*shapes)
    return [operand_of(broadcast_to_shape(convert(v, wanted), shape)) for v in arrays]


def of_one_width(*values: Any) -> list[Any]:
    """Return operands as they are; under JAX's rules those of one kind, of 32 and 64 bits, in the wider dtype.

    Programs are written for JAX as it is unless told otherwise, where numbers of both origins have 32 bits.
    """
    dtypes = {asarray(v).dtype for v in values if not is_weak(v)}
    if not _differ_in_width(dtypes):
        return list(values)
    widest = max(dtypes, key=lambda dtype: dtype.itemsize)
    return [v if is_weak(v) else convert(asarray(v), widest) for v in values]


def in_width_of(array: Any, x: Any) -> Any:
    """Return what is written into an array as it is; where only its width differs, under JAX's rules, in its dtype."""
    return convert(x, array.dtype) if _differ_in_width({array.dtype, x.dtype}) else x


def _differ_in_width(dtypes: set[np.dtype]) -> bool:
    return dtypes in WIDTHS and are_arrays_immutable()


def document(rule: F, name: str, documentation: str, sections: Mapping[str, str], *example: str) -> F:
    """Return a function with a name and a docstring, whose example is arguments as written, and what they give."""
    arguments, result = example
    call = f">>> {name}({arguments})\n{result}"
    family = "\n\n".join(f"{title}\n{'-' * len(title)}\n{body}" for title, body in sections.items())
    return named(rule, name, documentation, f">>> import numpy as np\n{call}" if "np." in call else call, family)
