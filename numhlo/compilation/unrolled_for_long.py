"""Loops that Python unrolls for long while a function is traced: it is noticed early, and traced once more in short.

A loop that writes an array element by element makes some ten operations of every element; one that multiplies a vector
by a matrix in every round makes a few, and kernels that no round shares with the next. Where a trace has come to a
hundred of such writes, or of barriers that one place in the code made, it is broken off, and the function is traced
again from its beginning with its loops watched, as under ``autograph=True``: after some rounds those that are left
become a loop of the graph. Where that doesn't make it short either, can't be done, or might hide an error of some
round, the function is traced as it is written.

What does neither is unrolled, however many operations it has: a chain on whole arrays is one kernel so.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeVar

from numhlo.lowering.ir import Function
from numhlo.lowering.ir.errors import ArgumentError, MutationError
from numhlo.lowering.ops import (
    contraction,
    control_flow,
    convolution,
    fourier,
    indexing,
    layout,
    linear_algebra,
    reduction,
    sorting,
    windows,
)
from numhlo.tracer.core.installed_code import is_library
from numhlo.tracer.core.semantics import windows_are_checked
from numhlo.tracer.core.trace import LOOK, Trace
from numhlo.tracer.python.autograph.known_rounds import no_round_fails
from numhlo.tracer.python.autograph.long_loops import Unrolling, unrolling
from numhlo.tracer.python.autograph.python_state import PythonState
from numhlo.tracer.python.autograph.rewriting import autographed, rewriting_callees
from numhlo.tracer.python.function_tracing import TracedFunction
from numhlo.tracer.python.plain_numpy import run_traced

R = TypeVar("R")

WRITES = 100
"""Elements that a trace may write one by one before it is long."""

FEW_WRITES, OPERATIONS = 50, 10_000
"""So few are too many in so long a trace."""

BARRIERS = frozenset(
    {contraction.DOT_GENERAL, convolution.CONVOLUTION, fourier.FFT, sorting.SORT, windows.REDUCE_WINDOW}
    | {reduction.REDUCE, linear_algebra.CHOLESKY, linear_algebra.TRIANGULAR_SOLVE, control_flow.CUSTOM_CALL}
    | {layout.CONCATENATE, indexing.DYNAMIC_UPDATE_SLICE, indexing.GATHER, indexing.SCATTER}
    | {control_flow.IF, control_flow.CASE, control_flow.WHILE}
)
"""Ops that need their operands whole, or write parts of memory: no kernel goes through them from round to round."""

ROUNDS, ROUNDS_OPERATIONS = 100, 512
"""So many barriers from one place in the code, in so long a trace, are too many."""

BODIES = 150
"""Bodies of loops and branches that a second trace may make; the first makes only those that the user asks for."""

MOST_OBJECTS = 1000
"""How many objects that the function can reach are looked at before its trace, to be put back if it is broken off."""

SEEN_OUTSIDE = frozenset(
    {"critical", "debug", "error", "exception", "info", "input", "log", "next", "open", "print", "send", "warn"}
    | {"warning", "write", "writelines"}
)
"""Names of what somebody would see done twice, or what can't be done twice."""


class UnrolledForLongError(BaseException):
    """A trace is broken off; no error for programs to catch."""


class Watch:
    """Looks after the length of a trace, and breaks it off.

    Parameters
    ----------
    bodies : int or None
        How many traces inside are too many; where None, these don't count, nor what is done in them.
    may_break_off : callable, optional
        Asked once, when the trace is long, whether all that was done so far may be done again.
    """

    def __init__(self, bodies: int | None = None, may_break_off: Callable[[], bool] = lambda: True) -> None:
        times = 1 if bodies is None else 2
        self._most = times * WRITES
        self._operations = times * OPERATIONS
        self._rounds = times * ROUNDS
        self._bodies = bodies
        self._writes = self._opened = 0
        self._barriers: Counter[tuple[int, int]] = Counter()
        self._may_break_off = functools.cache(may_break_off)
        self.is_over = False

    def wrote_element(self, trace: Trace) -> None:
        """Count one element written."""
        if self._bodies is not None or trace.parent is None:
            self._writes += 1
            many = self._writes >= FEW_WRITES and len(trace.region.ops) >= self._operations
            if many or self._writes >= self._most:
                self._break_off()

    def grew(self, trace: Trace) -> None:
        """Look at the operations that were appended last."""
        if trace.parent is not None:
            return
        ops = trace.region.ops
        places = [op.location for op in ops[-LOOK:] if op.definition in BARRIERS]
        self._barriers.update((id(place.code), place.offset) for place in places)
        if len(ops) >= ROUNDS_OPERATIONS and max(self._barriers.values(), default=0) >= self._rounds:
            self._break_off()

    def opened(self) -> None:
        """Count a trace inside."""
        self._opened += 1
        if self._bodies is not None and self._opened > self._bodies:
            self._break_off()

    def _break_off(self) -> None:
        if self._may_break_off():
            self.is_over = True
            raise UnrolledForLongError


def trace_in_short(
    fun: Callable[..., Any],
    trace: Callable[[Callable[..., Any], Watch | None], tuple[TracedFunction, R]],
    others: Iterable[Any] = (),
) -> tuple[TracedFunction, R]:
    """Return what ``trace(function, watch)`` returns for a function, with its loops watched if it is long else.

    Parameters
    ----------
    fun : callable
    trace : callable
        Traces a function from the beginning, and lets the watch look after the trace.
    others : iterable
        What else the function may change while it is traced, such as the object whose method it is.
    """
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
    state.put_back()
    for are_windows in (True, False):
        watch = Watch(BODIES)
        try:
            with windows_are_checked.bound(are_windows):
                found = trace(with_watched_loops(fun), watch)
            if not watch.is_over and no_round_fails(found[0].function):
                found[0].keeps_loops = _has_loops(found[0].function)
                return found
        except (UnrolledForLongError, Exception):  # noqa: BLE001 - traced as it is written, it has its say
            watch.is_over = True
        state.put_back()
        if watch.is_over:
            break
    return trace(fun, None)


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
            if not SEEN_OUTSIDE.isdisjoint(code.co_names):
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
