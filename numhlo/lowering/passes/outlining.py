"""Which functions stay functions: those of a program that would be too large if a callee took every call's place.

A graph in which each function calls the next one twice doubles at every level. Ordinary programs are far below the
bound, and all their calls are inlined; beyond it the program's size stays in proportion to its text.
"""

from __future__ import annotations

from collections import Counter

from numhlo.lowering.ir import Function, Op
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.annotations import ANNOTATIONS
from numhlo.lowering.ops.composites import COMPOSITES

MOST_OPS = 20_000
"""Ops that a program may have with all calls inlined; planning them takes ten seconds or so."""

SMALL = 100
"""Ops of a function that always takes the place of its calls."""

OUTLINED = "numhlo.outlined"
"""Attribute of functions that stay."""


def inlined_callee(op: Op) -> Function | None:
    """Return the function whose ops can take the place of an op: of a call, of a composite that nothing knows."""
    callee: Function | None = None
    if op.definition is control_flow.CALL:
        callee = op.attributes["callee"]
    elif op.definition is control_flow.COMPOSITE and not _is_kept(op.attributes["name"]):
        callee = op.attributes["decomposition"]
    return callee


def _is_kept(composite: str) -> bool:
    """Return whether a composite stays an op, because later passes and the backend know its name."""
    return composite in COMPOSITES and composite not in ANNOTATIONS


def is_outlined(function: Function) -> bool:
    """Return whether a function of an optimized program is called, and not inlined."""
    return OUTLINED in function.attributes


def find_outlined(function: Function, most: int | None = None) -> list[Function]:
    """Return the functions whose calls stay calls, callees before callers; none of a program of ordinary size.

    They are called from several places, and larger than `SMALL` with the calls in them that do not stay. A program is
    of ordinary size up to ``most`` ops with all calls inlined, `MOST_OPS` if not given.

    Examples
    --------
    >>> find_outlined(Function("nothing"))
    []
    """
    functions = function.reached()
    if len(functions) == 1 or inlined_size(functions) <= (MOST_OPS if most is None else most):
        return []
    several = _called_several_times(functions)
    outlined: list[Function] = []
    sizes: dict[Function, int] = {}
    for one in functions:
        sizes[one] = _size(one, sizes)
        if one in several and sizes[one] > SMALL:
            outlined.append(one)
            sizes[one] = 1
    return outlined


def _called_several_times(functions: list[Function]) -> set[Function]:
    """Return what is called from several places; callees come before callers.

    The body of a loop is called once by the loop, which may stand in several places.
    """
    calls: Counter[Function] = Counter()
    uses: Counter[Function] = Counter()  # of loops and others whose ops stay inside an op of their own
    for one in reversed(functions):
        times = max(uses[one], 1)
        for op in one.body.walk():
            callee = inlined_callee(op)
            if callee is None:
                uses.update({inner: times for inner in op.attributes.values() if isinstance(inner, Function)})
            else:
                calls[callee] += times
    return {callee for callee, count in calls.items() if count > 1}


def inlined_size(functions: list[Function]) -> int:
    """Return how many ops the last of some functions has with all calls inlined; callees come before callers."""
    sizes: dict[Function, int] = {}
    for one in functions:
        sizes[one] = _size(one, sizes)
    return sizes[functions[-1]]


def _size(function: Function, sizes: dict[Function, int]) -> int:
    total = 0
    for op in function.body.walk():
        called = [a for a in op.attributes.values() if isinstance(a, Function)]
        total += 1 + sum(sizes.get(callee, 0) for callee in called)
    return total
