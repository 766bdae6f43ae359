"""How a function is traced: as it is written, with its branches rewritten, or with its loops kept.

Where its source shows that a branch or loop may depend on a traced value (`traced_conditions`), a function is traced
with its `if`, `while` and `for` rewritten into control flow, as under ``autograph=True``. Any other is traced as it is
written. Where Python then asks for the truth or the number of a value that is not known while tracing, it is traced
again from its beginning, rewritten; from then on its other signatures are traced so at once.

Where the trace gets long, because Python unrolls a loop (`unrolled_for_long` tells), it is broken off, and the function
is traced again with its loops watched: after some iterations those that are left become a loop of the graph. Where that
doesn't make it short either, can't be done, or might hide an error of some iteration, it is traced as it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeVar

from numhlo.compilation.abstract_values import Abstract, known, of_argument
from numhlo.compilation.failing_iterations import no_iteration_fails
from numhlo.compilation.signature import Call
from numhlo.compilation.traced_conditions import asks_for_traced_values
from numhlo.compilation.unrolled_for_long import UnrolledForLongError, Watch
from numhlo.lowering.ir import Function
from numhlo.lowering.ir.errors import ArgumentError, ConcretizationError, DrawError, MutationError
from numhlo.lowering.ops import control_flow
from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.core.semantics import windows_are_checked
from numhlo.tracer.python.autograph.long_loops import Unrolling, unrolling
from numhlo.tracer.python.autograph.python_state import PythonState
from numhlo.tracer.python.autograph.rewriting import autographed, rewriting_callees
from numhlo.tracer.python.function_tracing import TracedFunction
from numhlo.tracer.python.plain_numpy import run_traced

R = TypeVar("R")
Arguments = tuple[list[Abstract], dict[str, Abstract]]

BODIES = 150
"""Bodies of loops and branches that a second trace may make; the first makes only those that the user asks for."""

MOST_OBJECTS = 1000
"""How many objects that the function can reach are looked at before its trace, to be put back if it is broken off."""

SHOWN = frozenset({"critical", "debug", "error", "exception", "info", "log", "print", "warn", "warning"})
"""Names of what somebody would see done twice."""

DONE_ONCE = frozenset({"input", "next", "open", "send", "write", "writelines"})
"""Names of what can't be done twice."""


class Rewriting:
    """Whether the branches and loops of a function are rewritten into control flow.

    Parameters
    ----------
    is_allowed : bool

    Attributes
    ----------
    is_needed : bool
        Whether some trace of the function has needed it.
    """

    def __init__(self, *, is_allowed: bool = True) -> None:
        self.is_allowed = is_allowed
        self.is_needed = False

    def may_help(self, error: ConcretizationError, fun: Callable[..., Any]) -> bool:
        """Return whether the function may be traced once more after an error, rewritten."""
        is_of_value = not isinstance(error, DrawError) and not error.is_numpys
        return self.is_allowed and is_of_value and not names_any_of(DONE_ONCE, fun)


def abstract_arguments(call: Call) -> Arguments:
    """Return abstract values of a call's positional and named arguments."""
    args, kwargs = call.merge(map(of_argument, call.args), {k: of_argument(x) for k, x in call.kwargs.items()})
    return [*map(_abstract, args)], {k: _abstract(x) for k, x in kwargs.items()}


def _abstract(x: Any) -> Abstract:
    return x if isinstance(x, Abstract) else known(x)


def trace_in_short(
    fun: Callable[..., Any],
    trace: Callable[[Callable[..., Any], Watch | None], tuple[TracedFunction, R]],
    others: Iterable[Any],
    rewriting: Rewriting,
    arguments: Callable[[], Arguments],
) -> tuple[TracedFunction, R]:
    """Return what ``trace(function, watch)`` returns for a function, with its loops watched if it is long else.

    Parameters
    ----------
    fun : callable
    trace : callable
        Traces a function from the beginning, and lets the watch look after the trace.
    others : iterable
        What else the function may change while it is traced, such as the object whose method it is.
    rewriting : Rewriting
        Whether its branches and loops may be rewritten.
    arguments : callable
        Returns abstract values of the positional and the named arguments.
    """
    if not rewriting.is_allowed:
        return trace(fun, None)
    found, failed = _trace_as_predicted(fun, trace, others, rewriting, arguments)
    if found is not None:
        return found
    if getattr(getattr(fun, "func", fun), "is_autographed", False):
        return _with_known_names(fun, lambda: trace(fun, None), others)
    state = PythonState([fun, *others], most=MOST_OBJECTS)
    if state.draws or not state.whole:
        return trace(fun, None)
    watch = Watch(may_break_off=lambda: not is_seen_outside(fun))
    try:
        found = trace(fun, watch)
        if not watch.is_over:  # else the function caught what broke it off
            return found
    except UnrolledForLongError:
        pass
    except ConcretizationError as error:
        if not rewriting.may_help(error, fun):
            raise
        state.put_back()
        return _trace_rewritten(fun, trace, others, rewriting, error, failed)
    state.put_back()
    return _trace_with_loops_kept(fun, trace, state) or trace(fun, None)


def _trace_as_predicted(
    fun: Callable[..., Any],
    trace: Callable[[Callable[..., Any], Watch | None], tuple[TracedFunction, R]],
    others: Iterable[Any],
    rewriting: Rewriting,
    arguments: Callable[[], Arguments],
) -> tuple[tuple[TracedFunction, R] | None, Exception | None]:
    """Return what the trace of a function returns that is rewritten from the start; None where it need not be.

    The second is the error by which such a trace failed, where the function may be traced as it is written after it.
    """
    if not rewriting.is_needed:
        if getattr(getattr(fun, "func", fun), "is_autographed", False):
            return None, None
        if not asks_for_traced_values(fun, *arguments()):
            return None, None
    try:
        rewritten = autographed(fun)
    except ArgumentError:
        if not rewriting.is_needed:
            return None, None
        rewritten = with_watched_loops(fun)
    state = PythonState([fun, *others], most=MOST_OBJECTS)
    try:
        found = _with_known_names(fun, lambda: trace(rewritten, None), others)
    except Exception as error:
        if rewriting.is_needed or state.draws or not state.whole or names_any_of(DONE_ONCE, fun):
            raise
        state.put_back()
        return None, error
    rewriting.is_needed = True
    return found, None


def _trace_with_loops_kept(
    fun: Callable[..., Any],
    trace: Callable[[Callable[..., Any], Watch | None], tuple[TracedFunction, R]],
    state: PythonState,
) -> tuple[TracedFunction, R] | None:
    """Return what a trace with watched loops returns; None where that is no shorter, or fails."""
    for are_windows in (True, False):
        watch = Watch(BODIES)
        try:
            with windows_are_checked.bound(are_windows):
                found = trace(with_watched_loops(fun), watch)
            if not watch.is_over and no_iteration_fails(found[0].function):
                found[0].keeps_loops = _has_loops(found[0].function)
                return found
        except (UnrolledForLongError, Exception):  # noqa: BLE001 - traced as it is written, it has its say
            watch.is_over = True
        state.put_back()
        if watch.is_over:
            break
    return None


def trace_rewritten_if_needed(
    fun: Callable[..., Any],
    trace: Callable[[Callable[..., Any], Watch | None], tuple[TracedFunction, R]],
    others: Iterable[Any],
    rewriting: Rewriting,
    arguments: Callable[[], Arguments],
) -> tuple[TracedFunction, R]:
    """Return what the trace of a function returns; where it asks for a traced value, of the function rewritten.

    Parameters are those of `trace_in_short`, whose length nobody looks after here.
    """
    found, failed = _trace_as_predicted(fun, trace, others, rewriting, arguments)
    if found is not None:
        return found
    state = PythonState([fun, *others], most=MOST_OBJECTS)
    try:
        return trace(fun, None)
    except ConcretizationError as error:
        if state.draws or not state.whole or not rewriting.may_help(error, fun):
            raise
        state.put_back()
        return _trace_rewritten(fun, trace, others, rewriting, error, failed)


def _trace_rewritten(
    fun: Callable[..., Any],
    trace: Callable[[Callable[..., Any], Watch | None], tuple[TracedFunction, R]],
    others: Iterable[Any],
    rewriting: Rewriting,
    unknown: ConcretizationError,
    failed: Exception | None = None,
) -> tuple[TracedFunction, R]:
    """Return what the trace of a rewritten function returns; raise the first error where rewriting changes nothing.

    ``failed`` is what such a trace raised before.
    """
    if failed is not None:
        raise unknown if getattr(failed, "what", "") == unknown.what else failed from None
    rewritten = with_watched_loops(fun)
    try:
        found = _with_known_names(fun, lambda: trace(rewritten, None), others)
    except ConcretizationError as error:
        if error.what == unknown.what:
            raise unknown from None
        raise
    rewriting.is_needed = True
    return found


def _with_known_names(
    fun: Callable[..., Any], trace: Callable[[], tuple[TracedFunction, R]], others: Iterable[Any]
) -> tuple[TracedFunction, R]:
    """Return what a trace returns; once more, known loops unrolled, where else it can't be told what a name means."""
    state = PythonState([fun, *others], most=MOST_OBJECTS)
    try:
        return trace()
    except MutationError as error:
        if not error.is_undecided or state.draws or not state.whole or is_seen_outside(fun):
            raise
        undecided = error
    state.put_back()
    try:
        with unrolling.bound(Unrolling()):
            return trace()
    except Exception:  # noqa: BLE001 - what was wrong first is what the user can mend
        raise undecided from None


def with_watched_loops(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with its loops watched, and those of its callees; these only where it has no source."""
    try:
        return autographed(fun)
    except ArgumentError:

        def run(*args: Any, **kwargs: Any) -> Any:
            with rewriting_callees():
                return run_traced(fun, *args, **kwargs)

        return run


def _has_loops(function: Function) -> bool:
    return any(op.definition is control_flow.WHILE for inner in function.reached() for op in inner.body.walk())


def is_seen_outside(fun: Any) -> bool:
    """Return whether a function, or a function of the user's that it names, does what should not be done twice.

    Examples
    --------
    >>> is_seen_outside(abs)
    False
    """
    return names_any_of(SHOWN | DONE_ONCE, fun)


def names_any_of(names: frozenset[str], fun: Any) -> bool:
    """Return whether a function, or a function of the user's that it names, names one of some things."""
    waiting, seen = [fun], set()
    while waiting:
        found: Any = waiting.pop()
        while not isinstance(found, FunctionType) and (inner := _inside(found)) is not None:
            found = inner
        if not isinstance(found, FunctionType) or found in seen or is_library(found.__module__):
            continue
        seen.add(found)
        codes = [found.__code__]
        for code in codes:
            if not names.isdisjoint(code.co_names):
                return True
            codes += [c for c in code.co_consts if isinstance(c, CodeType)]
            waiting += [found.__globals__.get(name) for name in code.co_names]
        waiting += [cell.cell_contents for cell in found.__closure__ or () if _is_filled(cell)]
    return False


def _inside(x: Any) -> Any:
    """Return the function that something callable was made of."""
    if isinstance(x, MethodType):
        return x.__func__
    return getattr(x, "func", None) if hasattr(x, "keywords") else getattr(x, "__wrapped__", None)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
