"""`raise` where a traced condition decides: the compiled program raises when it comes there.

The error is made then, by the user's own expression, of the values that the traced ones have by then.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import CellType, FunctionType
from typing import Any, NoReturn

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.core.except_clauses import note_swallowed, refuse_waiting
from numhlo.tracer.core.trace import Trace, Tracer, current_trace, outside_traces
from numhlo.tracer.python.callbacks import call_function
from numhlo.tracer.python.code_references import content_of
from numhlo.tracer.trees.pytrees import tree_flatten, tree_unflatten


class BranchEnd(ConcretizationError):  # noqa: N818 - no error but where user code catches it
    """The end of a branch that raises.

    Attributes
    ----------
    trace : Trace
        That of the branch.
    """

    trace: Trace


_ARRAYS = (Tracer, np.ndarray, np.generic, bool, int, float, complex)

_RAISES = "raises where a traced condition decides"

_deciding: ScopedValue[Trace | str | None] = ScopedValue(None)
"""The trace of the branch that runs where a traced condition holds; a text where it is something else than a branch."""


def in_branch() -> AbstractContextManager[Any]:
    """Let what is traced in a block be a branch that a traced condition chooses."""
    return _deciding.bound(current_trace())


def leaves_no_raise(what: str = "a conditional expression") -> AbstractContextManager[Any]:
    """Refuse to raise in a block, which may not run."""
    return _deciding.bound(what)


def raised(make: Callable[[], BaseException]) -> BaseException:
    """Return an error for Python to raise; where a traced condition decides, let the program raise it: end the branch.

    Parameters
    ----------
    make : function
        Returns the error.
    """
    deciding, trace = _deciding.get(), current_trace()
    if deciding is None or trace is None:
        if trace is not None and _RAISES in trace.root.memo:
            refuse_raise("a raise after another one, which depends on a traced condition,")
        return make()
    if deciding is not trace:
        inside = deciding if isinstance(deciding, str) else "a transformation or a jitted function in a branch"
        refuse_raise(f"a raise in {inside} on a traced condition")
    assert isinstance(make, FunctionType)
    cells = [content_of(cell) for cell in make.__closure__ or ()]
    traced, tree = tree_flatten([_with_traced(x) for x in cells])
    is_number = [isinstance(x, Tracer) and x.weak for x in traced]

    def error(*values: np.ndarray) -> BaseException:
        known = [v if v.ndim else v.item() if n else v[()] for v, n in zip(values, is_number, strict=True)]
        given = [x if found is None else found for x, found in zip(cells, tree_unflatten(tree, known), strict=True)]
        closure = tuple([CellType(x) for x in given])
        made: BaseException = FunctionType(make.__code__, make.__globals__, make.__name__, None, closure)()
        return made

    def fail(*values: np.ndarray) -> NoReturn:
        raise error(*values)

    zeros = [np.zeros(x.shape, x.dtype) if isinstance(x, Tracer) else np.asarray(x) for x in traced]
    with outside_traces():
        kind = type(error(*zeros))
    refuse_waiting(kind, "a raise on a traced condition", "return what tells of it, and test that")
    call_function(fail, None, tuple(traced), {}, has_side_effect=True)
    trace.root.memo[_RAISES] = True
    raise branch_end()


def branch_end() -> BranchEnd:
    """Return what ends the branch that raises in all cases; refuse where it is the whole program that does."""
    trace = current_trace()
    if trace is None or _deciding.get() is not trace:
        refuse_raise("an if on a traced condition, both branches of which raise")
    end = BranchEnd("a raise on a traced condition", where=capture_location())
    end.trace = trace
    note_swallowed(end)
    return end


def _with_traced(x: Any) -> Any:
    """Return something with traced arrays in it, of arrays alone; None for anything else."""
    leaves = tree_flatten(x)[0]
    is_of_arrays = all(isinstance(leaf, _ARRAYS) for leaf in leaves)
    return x if is_of_arrays and any(isinstance(leaf, Tracer) for leaf in leaves) else None


def refuse_raise(what: str) -> NoReturn:
    """Raise `ConcretizationError`: no branch is left to go on with, or what raises may not run."""
    error = ConcretizationError(
        what,
        where=capture_location(),
        why="whether it is raised is not known while tracing",
        fix="raise it in one branch of an if statement; or before the call, or after it by what it returns",
    )
    note_swallowed(error)
    raise error
