"""Which arguments of the user's a value follows from: what to mark static where the value must be known while tracing.

`naming` puts their names into the advice of an error; `explain_parameter` says which parameter of a function of NumPy's
needed the value. Nothing of this runs unless an error is raised.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, Region, TensorType, Value, capture_location
from numhlo.lowering.ir.errors import ConcretizationError, DataDependentShapeError
from numhlo.lowering.ir.location import is_library
from numhlo.tracer.core.trace import Trace, Tracer

MOST_VALUES = 1000
"""Of how many values of a graph it is asked what they follow from."""

STATIC = "mark the argument static (static_argnums, static_argnames)"
"""The advice, as it is where no argument's name is known."""

KNOWN = "give a number that is known while tracing, such as an argument that is marked static"


class NamedArgument(NamedTuple):
    """An argument of a traced function, as messages call it."""

    name: str
    function: str


def sources_of(array: Tracer) -> list[NamedArgument]:
    """Return the numbers among the arguments that a value follows from; none where it follows from anything else."""
    found: dict[NamedArgument, None] = {}
    for trace, value in values_behind(array):
        if not isinstance(value.owner, Region):
            continue
        name = None if trace is None else trace.names.get(value)
        if name is None or not isinstance(value.type, TensorType) or value.type.shape:
            return []
        found[NamedArgument(*name)] = None
    return list(found)


def values_behind(array: Tracer) -> Iterator[tuple[Trace | None, Value]]:
    """Yield the values that an array follows from, itself first, each with the trace that it is of where known."""
    home: Trace = array.home
    waiting: list[tuple[Trace | None, Value]] = [(home, array.value())]
    seen: set[Value] = set()
    while waiting and len(seen) < MOST_VALUES:
        trace, value = waiting.pop(0)
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if isinstance(owner, Op):
            waiting += [(trace, v) for v in (*owner.operands, *(free_values(owner) if owner.regions else ()))]
            yield trace, value
            continue
        while trace is not None and trace.region is not owner:
            trace = trace.parent
        captured = None if trace is None else _captured(trace, value)
        if captured is None:
            yield trace, value
        elif isinstance(captured, Tracer):
            waiting.append((captured.home, captured.value()))


def _captured(trace: Trace, value: Value) -> Any:
    """Return what a hidden argument of a trace stands for; None for other arguments."""
    arguments = trace.region.arguments
    hidden = arguments[len(arguments) - len(trace.captures) :]
    return next((x for v, x in zip(hidden, trace.captures, strict=True) if v is value), None)


def naming(fix: str, array: Tracer) -> str:
    """Return an advice to mark an argument static with the names of those that an array follows from."""
    return fix if STATIC not in fix else _naming(fix, sources_of(array))


def _naming(fix: str, sources: list[NamedArgument]) -> str:
    whole = [source.name for source in sources if source.name.isidentifier()]
    if not sources:
        return fix
    if len(whole) < len(sources):
        parts = ", ".join(source.name for source in sources if source.name not in whole)
        return fix.replace(STATIC, f"pass {parts} as an argument of its own, static (static_argnums, static_argnames)")
    return fix.replace(STATIC, f"mark {_called(whole)} static (static_argnums, static_argnames)")


def _called(names: list[str]) -> str:
    return f"the argument {names[0]}" if len(names) == 1 else f"the arguments {' and '.join(names)}"


def _belonging(sources: list[NamedArgument]) -> str:
    return " and ".join(f"argument {source.name} of {source.function}" for source in sources)


def needs(array: Tracer) -> Callable[[Tracer], bool]:
    """Return what tells whether the value of an array, which is needed, follows from that of another."""

    def follows_from(other: Tracer) -> bool:
        wanted = other.value()
        return any(value is wanted for _, value in values_behind(array))

    return follows_from


def explain_value(error: ConcretizationError, array: Tracer) -> None:
    """Let an error for an array whose value is not known say which arguments that follows from."""
    error.needs = needs(array)
    sources = sources_of(array)
    if not sources:
        return
    if not array.cell.name:
        error.why = f"its value is not known while tracing (it follows from {_belonging(sources)})"
    error.fix = _naming(error.fix, sources)
    error.args = (error.what, error.where, error.why, error.fix)


def unknown_extent_of(array: Tracer, what: str, why: str, fix: str) -> DataDependentShapeError:
    """Return the error for a shape that would depend on an array's value: it says which arguments that follows from."""
    error = DataDependentShapeError(what, where=capture_location(), why=why, fix=fix)
    sources = sources_of(array)
    if sources:
        error.why = f"{why} (it {'belongs to' if array.cell.name else 'follows from'} {_belonging(sources)})"
        error.fix = _naming(fix, sources)
        error.args = (error.what, error.where, error.why, error.fix)
    return error


def explain_parameter(error: ConcretizationError, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Let an error for a value that is not known say which parameter of a function of NumPy's needed it."""
    if error.needs is None or _is_raised_by_user(error):
        return
    found = _parameter(error.needs, function, args, kwargs)
    if found is None:
        return
    name, array, is_inside = found
    held = "holds" if is_inside else "is"
    error.what = f"{function.__name__}: {name} {held} a traced array {array.aval.short()}"
    sources = sources_of(array)
    error.why, error.fix = "it must be known while tracing", KNOWN
    if sources:
        follows = "belongs to" if array.cell.name else "follows from"
        error.why = f"it must be known while tracing, and {follows} {_belonging(sources)}"
        error.fix = _naming(STATIC, sources)
    error.args = (error.what, error.where, error.why, error.fix)


def _is_raised_by_user(error: BaseException) -> bool:
    """Return whether a function of the user's, which NumPy's has called, needed the value."""
    traceback = error.__traceback__
    while traceback is not None:
        if not is_library(traceback.tb_frame.f_code.co_filename):
            return True
        traceback = traceback.tb_next
    return False


def _parameter(
    needs: Callable[[Tracer], bool], function: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[str, Tracer, bool] | None:
    """Return the parameter whose value is needed, its traced array, and whether that is in a list."""
    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return None
    found: list[tuple[bool, bool, int, str, Tracer, bool]] = []
    for name, value in given.items():
        array = next((x for x in _arrays_in(value) if needs(x)), None)
        if array is not None:
            is_whole_number = "int" in str(signature.parameters[name].annotation)
            found.append((not is_whole_number, array.ndim > 0, len(found), name, array, array is not value))
    return min(found, key=lambda entry: entry[:3])[3:] if found else None


def _arrays_in(value: Any) -> Iterator[Tracer]:
    if isinstance(value, Tracer):
        yield value
    elif isinstance(value, slice):
        yield from _arrays_in((value.start, value.stop, value.step))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _arrays_in(item)
