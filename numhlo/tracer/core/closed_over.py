"""Arrays that the rules of a function with custom derivatives find around them, while the trace of these is gone.

Such rules run when the program around the function is differentiated, long after it has been traced. What they close
over is looked for when the function is called, and goes along as operands; while a rule runs, what the operands stand
for then is read in place of the arrays of the ended trace.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.derivative_errors import ClosureDerivativeError
from numhlo.lowering.ir.errors import LeakedTracerError
from numhlo.lowering.ir.scoped_values import ScopedValue

MOST_OBJECTS = 1000
"""Objects that a search takes apart."""


_arrays: ScopedValue[list[tuple[Any, Any]]] = ScopedValue([])


@contextmanager
def standing_in(arrays: Sequence[Any], now: Sequence[Any]) -> Iterator[None]:
    """Read ``now`` in place of ``arrays``, whose trace has ended, and of views; None is what must not be read."""
    with _arrays.bound([*zip(arrays, now, strict=True), *_arrays.get()]):
        yield


def stand_in(array: Any) -> Any:
    """Return what stands in for an array of an ended trace.

    Raises
    ------
    LeakedTracerError
        If nothing does.
    ClosureDerivativeError
        If that has a tangent.
    """
    for known, now in _arrays.get():
        count = len(known.steps)
        shared = known.cell is array.cell and len(array.steps) >= count
        if not shared or not all(map(operator.is_, known.steps, array.steps)):
            continue
        if now is None:
            raise ClosureDerivativeError(
                f"the derivative by {array.aval.short()}, which a rule of a custom derivative reads from around it",
                where=capture_location(),
                why="the rule knows of arguments only",
                fix="pass the array as an argument, or use closure_convert",
            )
        return functools.reduce(lambda view, step: step.get(view), array.steps[count:], now)
    raise LeakedTracerError(
        f"a traced array {array.aval.short()} was used after its trace had ended",
        where=capture_location(),
        why=f"it was made at {array.cell.location.describe()}, and kept in a global, an attribute or a closure",
        fix="return it from the traced function instead of storing it",
    )


def closed_over(functions: Sequence[Any], kind: type) -> list[Any]:
    """Return the objects of a class that functions close over: in cells, defaults, partials and containers.

    Examples
    --------
    >>> make = lambda a, b: lambda x, c=3.5: x * a + b[0] + c
    >>> closed_over([make(1.5, [2.5])], float)
    [3.5, 1.5, 2.5]
    """
    found: list[Any] = []
    seen: set[int] = set()
    todo = list(functions)
    while todo and len(seen) < MOST_OBJECTS:
        value = todo.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, kind):
            found.append(value)
        else:
            todo += _parts(value)
    return found


def _parts(value: Any) -> list[Any]:
    if isinstance(value, FunctionType):
        cells = [c.cell_contents for c in value.__closure__ or () if _is_full(c)]
        return [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *cells]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    return [] if isinstance(value, type) else list(getattr(value, "__dict__", {}).values())


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
