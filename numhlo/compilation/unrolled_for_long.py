"""Loops that Python unrolls for long while a function is traced: it is noticed early, and the trace is broken off.

A loop that writes an array element by element makes some ten operations of every element; one that multiplies a vector
by a matrix in every iteration makes a few, and kernels that no iteration shares with the next. A trace is long where it
has come to a hundred of such writes, to a hundred of such barriers that one place in the code made, or to a thousand
operations of which one place made a hundred: kept as loops, even chains on whole arrays ran as fast or faster.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable

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
from numhlo.tracer.core.trace import LOOK, Trace

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
"""Ops that need their operands whole, or write parts of memory: no kernel goes through them to the next iteration."""

REPEATED, REPEATED_OPERATIONS = 100, 512
"""So many barriers from one place in the code, in so long a trace, are too many."""

LONG = 1000
"""So long a trace is too long where one place in the code made `REPEATED` of its operations."""


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
        self._iterations = times * REPEATED
        self._bodies = bodies
        self._writes = self._opened = 0
        self._barriers: Counter[tuple[int, int]] = Counter()
        self._places: Counter[tuple[int, int]] = Counter()
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
        if len(ops) >= REPEATED_OPERATIONS and max(self._barriers.values(), default=0) >= self._iterations:
            self._break_off()
        if self._bodies is None:
            self._places.update((id(op.location.code), op.location.offset) for op in ops[-LOOK:])
            if len(ops) >= LONG and max(self._places.values()) >= REPEATED:
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
