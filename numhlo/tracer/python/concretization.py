"""What Python and NumPy ask of a traced array's value: bool, int, index, item, formatting, conversion, pickling.

Each gives the value where the trace carries it, and else an error that says what to write instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.conversion_errors import ArrayConversionError, IntegerConversionError, TruthValueError
from numhlo.lowering.ir.errors import ConcretizationError
from numhlo.tracer.core.except_clauses import note_swallowed
from numhlo.tracer.core.non_differentiable_uses import loses_slope
from numhlo.tracer.core.operands import contains_tracer
from numhlo.tracer.core.static_arguments import STATIC, explain_value
from numhlo.tracer.core.trace import Trace, Tracer
from numhlo.tracer.python.text_values import is_writing, note_unknown

Kind = type[ConcretizationError]
Default = ConcretizationError


def value_of(self: Tracer, what: str, fix: str, *, is_scalar: bool = True, kind: Kind = Default) -> np.ndarray:
    """Return the value; raise where it is not known, and of an array whose trace has ended that it has.

    What has ``is_scalar`` raises of longer arrays in NumPy, too.
    """
    if not self.home.open and self.known() is None:
        Trace(None).read(self)  # raises
    try:
        return self.concretize(what, fix, kind)
    except ConcretizationError as error:
        error.is_numpys = is_scalar and self.size != 1
        explain_value(error, self)
        raise


def _constant(self: Tracer, what: str, fix: str, *, is_scalar: bool = True, kind: Kind = Default) -> np.ndarray:
    """Return the value for arithmetic outside the trace; raise where a derivative would not see that."""
    value = value_of(self, what, fix, is_scalar=is_scalar, kind=kind)
    if loses_slope(self):
        raise kind(
            f"{what} of a traced array {self.aval.short()} under a derivative",
            where=capture_location(),
            why="what is computed from the plain number would count as constant, and the derivative be wrong",
            fix="compute with the array itself, with functions of numpy for those of math; "
            "where a constant is meant, say lax.stop_gradient(x) first",
        )
    return value


def tolist(self: Tracer) -> Any:
    """Return nested lists of Python numbers."""
    return _constant(
        self, "tolist()", "return the array and convert it outside the traced function", is_scalar=False
    ).tolist()


def tobytes(self: Tracer, order: str = "C") -> bytes:
    """Return the elements' bytes."""
    fix = "return the array and convert it outside the traced function"
    value = value_of(self, "tobytes()", fix, is_scalar=False)
    return value.tobytes(order)  # type: ignore[arg-type]


def known_numbers(x: Any) -> Any:
    """Return what decides a shape, a number or nested lists of them, with the values of traced arrays in their places.

    Raises
    ------
    ConcretizationError
        If one is not known while tracing.
    """
    if isinstance(x, Tracer):
        found = value_of(x, "the value", STATIC)
        return found if x.ndim else found[()]
    return type(x)(map(known_numbers, x)) if type(x) in (list, tuple) and contains_tracer(x) else x


def truth(self: Tracer) -> bool:
    """Return the truth value."""
    fix = (
        "use numpy.where or lax.cond instead of if, lax.while_loop instead of while, logical_and instead of and; "
        "numhlo.jit does so by itself where the source can be read"
    )
    try:
        return bool(value_of(self, "the truth value", fix, kind=TruthValueError))
    except ConcretizationError as error:
        if self.size == 1:  # of others NumPy raises, too
            note_swallowed(error)
        raise


def number(kind: type) -> Callable[[Tracer], Any]:
    """Return the conversion to a Python number type."""

    def convert_number(self: Tracer) -> Any:
        fix = f"use astype({kind.__name__}), or {STATIC}; to write it into an array, make that array with numhlo.numpy"
        get = functools.partial(value_of if kind is int else _constant, self)
        return kind(get(f"{kind.__name__}()", fix))

    return convert_number


def index(self: Tracer) -> int:
    """Return the value as a Python index."""
    fix = f"{STATIC}, or use lax.dynamic_slice / lax.fori_loop"
    return value_of(self, "the use as a Python index or length", fix, kind=IntegerConversionError).__index__()


def repetitions(self: Tracer) -> Any:
    """Return what a list is multiplied by: NumPy's and Python's integers repeat it."""
    if self.dtype.kind not in "biu":
        return 0.0  # by which Python refuses to multiply them
    fix = "write numpy.array(items) * n for a product; for n zeros of a known number numpy.zeros, or mark n static"
    return int(value_of(self, "the repetition of a list by the value", fix))


def as_ndarray(self: Tracer, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """Return the value as an ndarray; NumPy asks for it when a function or an assignment is not traced."""
    fix = (
        "call the function of this name in numhlo.numpy or numhlo.scipy; "
        "to index an array by it, or write it into one, make that array with numhlo.numpy"
    )
    value = _constant(self, "conversion to a NumPy array", fix, is_scalar=False, kind=ArrayConversionError)
    return np.array(value, dtype=dtype)


def formatted(self: Tracer, spec: str) -> str:
    """Return the array as text; a format specification needs its value."""
    if not spec:
        value = self.known() if is_writing() else None
        return repr(self) if value is None else format(value[()], "")
    return format(value_of(self, "formatting", "return it and format it outside the traced function").item(), spec)


def represented(self: Tracer) -> str:
    """Return the type, and the value where it is known."""
    if is_writing():
        value = self.known()
        if value is not None:
            return repr(value.item() if self.weak else value[()])
        note_unknown()
    known = self.concrete
    return f"Traced<{self.aval.short()}>" if known is None else f"Traced<{self.aval.short()} = {known!r}>"


def refuse_pickle(self: Tracer) -> NoReturn:
    """Raise: a traced array has no value to save."""
    raise ConcretizationError(
        f"pickling of a traced array {self.aval.short()}",
        where=capture_location(),
        why="its value is not known while tracing",
        fix="return it from the traced function first",
    )


def refuse_dlpack(self: Tracer, **options: Any) -> NoReturn:
    """Raise: a traced array has no memory to share."""
    raise ConcretizationError(
        f"DLPack export of a traced array {self.aval.short()}",
        where=capture_location(),
        why="its value is not known while tracing",
        fix="return it from the traced function first",
    )
