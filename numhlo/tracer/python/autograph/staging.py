"""What rewritten code calls where Python would branch or loop.

As long as a condition is known, Python's own rules hold. Where it is a traced value, the branches or the body become
functions of the variables that they change, and of nothing else that changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, UnsupportedError
from numhlo.tracer.control_flow.branches import require_scalar
from numhlo.tracer.control_flow.loops import fori_loop, while_loop
from numhlo.tracer.core.cell import cells_so_far
from numhlo.tracer.core.numpy_functions import FUNCTIONS
from numhlo.tracer.core.operands import convert
from numhlo.tracer.python.autograph import iterables
from numhlo.tracer.python.autograph.branching import filler, probe
from numhlo.tracer.python.autograph.branching import if_expression as if_expression
from numhlo.tracer.python.autograph.branching import if_statement as if_statement
from numhlo.tracer.python.autograph.lent_storage import LentStorage
from numhlo.tracer.python.autograph.logic import both as both
from numhlo.tracer.python.autograph.logic import chained as chained
from numhlo.tracer.python.autograph.logic import either as either
from numhlo.tracer.python.autograph.logic import negation as negation
from numhlo.tracer.python.autograph.long_loops import LongLoop, must_be_counted
from numhlo.tracer.python.autograph.long_whiles import LongWhile
from numhlo.tracer.python.autograph.loop_state import LoopState
from numhlo.tracer.python.autograph.raising import raised as raised
from numhlo.tracer.python.autograph.undefined import InLoops, Later, Undefined
from numhlo.tracer.python.autograph.variables import Variables as Variables
from numhlo.tracer.python.autograph.variables import is_traceable, is_unknown
from numhlo.tracer.python.autograph.variables import put as put
from numhlo.tracer.python.source.exits import stop_flag

MOST_ITERATIONS = 1000
"""Of a loop over an iterator of which nothing says where it ends."""


def value(read: Callable[[], Any], name: str) -> Any:
    """Return a variable's value, or `Undefined`."""
    try:
        return read()
    except (NameError, AttributeError):
        return Undefined(name)


def later(read: Callable[[], Any], name: str) -> Any:
    """Return a variable's value, or `Later`."""
    found = value(read, name)
    return Later(name) if isinstance(found, Undefined) else found


def in_loops(read: Callable[[], Any], name: str) -> Any:
    """Return a variable's value, or `InLoops`."""
    found = value(read, name)
    return InLoops(name) if isinstance(found, Undefined) else found


def deleted(name: str) -> Any:
    """Return the value of a variable that a branch deleted."""
    return Undefined(name)


def _with_results(variables: Variables, body: Callable[..., Any]) -> Variables:
    """Return variables of which those that a loop returns have some value of the type that they get in it."""
    missing = variables.missing()
    if not missing:
        return variables
    carried, mark = variables.split(), cells_so_far()
    after = probe(body, variables, carried, False, LentStorage(carried)).values
    filled = {n: filler(after[n], mark) for n in missing if is_traceable(after[n])}
    return variables.having(variables.filled(filled))


def while_statement(test: Callable[..., Any], body: Callable[..., Any], variables: Variables) -> tuple[Any, ...]:
    """Run ``body`` while ``test`` holds, both functions of the variables' values; return these.

    It starts as Python does; from the first test that is not known, the loop goes on in the graph, and so it does where
    it is seen to count.
    """
    values, has_run = variables.values, False
    long = LongWhile(test, body)
    while True:
        holds = test(*values)
        if is_unknown(holds):
            break
        if not holds:
            return values if has_run else variables.unrun()
        values, has_run = body(*values), True
        found = long.goes_on(variables.having(values))
        if found is not None:
            return found
    now = _with_results(variables.having(values), body)
    now.check("a while")
    state = LoopState(now, "a while", test, body, kept=variables.missing())
    return state.after(lambda: while_loop(state.test(test), state.step(body), state.first()), [test, body])


def for_range(
    maker: Any, bounds: tuple[Any, ...], body: Callable[..., Any], target: str, variables: Variables
) -> tuple[Any, ...]:
    """Run ``body(i, *values)`` for i of ``range(*bounds)``; return the values after, the target's among them.

    Parameters
    ----------
    maker : callable
        What the name ``range`` stands for.
    bounds : tuple
    body : callable
    target : str
        The loop's variable, one of ``variables``.
    variables : Variables
    """
    if not iterables.is_range(maker) or not any(map(is_unknown, bounds)):
        iterations = maker(*bounds)
        long = LongLoop(iterations, body) if isinstance(iterations, range) else None
        return _unrolled(iterations, body, stop_flag(target), variables, long)
    if must_be_counted():
        raise UnsupportedError("a loop inside one to be differentiated whose length depends on the iteration")
    start, stop, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: bounds}[len(bounds)]
    if is_unknown(step):
        raise UnsupportedError("range with a traced step", where=capture_location(), fix="use a while loop")
    variables.check("a for")
    counted = _Counted(_index(start), _index(stop), int(step))
    given = dict(zip(variables.names, variables.values, strict=True))
    if isinstance(given[target], Undefined):
        given[target] = counted.start
    index = _index(next(filter(is_unknown, bounds)).copy())  # as the index of the loop, and no more known
    now = _with_results(variables.having(list(given.values())), lambda *values: body(index, *values))
    state = LoopState(now, "a for", body, kept=variables.missing())

    def turn(k: Any, given: dict[str, Any]) -> dict[str, Any]:
        after: dict[str, Any] = state.step(lambda *values: body(counted.index(k), *values))(given)
        return after

    return state.after(lambda: fori_loop(*counted.limits, turn, state.first()), [body])


def _index(bound: Any) -> Any:
    """Return a bound of a range as an index, which acts as a Python int whatever the bound's dtype."""
    if not is_unknown(bound):
        return bound
    require_scalar(bound, "range: a bound", "biu")
    index = convert(bound, np.dtype(np.int64))
    index.weak = True
    return index


class _Counted:
    """How a loop of the graph, which counts up by one, goes through a range whose bounds are traced.

    By ones, up or down, the counter is the index itself or its opposite: what it can be says what the index can be.
    """

    def __init__(self, start: Any, stop: Any, step: int) -> None:
        self.start, self.step = start, step
        self.is_index = abs(step) == 1
        if self.is_index:
            self.limits = (start, stop) if step == 1 else (-start, -stop)
        else:
            count = (stop - start + step - (1 if step > 0 else -1)) // step
            self.limits = 0, FUNCTIONS[np.maximum](count, 0)

    def index(self, counter: Any) -> Any:
        """Return the index of an iteration."""
        if not self.is_index:
            return self.start + counter * self.step
        return counter if self.step == 1 else -counter


def for_each(items: Any, body: Callable[..., Any], flag: str, is_held: bool, variables: Variables) -> tuple[Any, ...]:
    """Run ``body(item, *values)`` for the items of something; return the values after.

    Parameters
    ----------
    items : iterable or Items
    body : callable
    flag : str
        The variable that says that the loop is left, if it may be.
    is_held : bool
        Whether the items come from a variable that is read elsewhere, too.
    variables : Variables
    """
    if is_held and iterables.is_drawn(items):
        body = _not_left(body, variables.names.index(flag))
    elif flag and iterables.may_be_endless(items):
        most = 0 if isinstance(items, iterables.ENDLESS) else MOST_ITERATIONS
        body = _counted(body, variables.names.index(flag), most)
    count = iterables.length(items)
    long = None if count is None else LongLoop(range(count), body, lambda k: iterables.item(items, k))
    return _unrolled(iterables.iterations(items), body, flag, variables, long)


def items(maker: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return what a `for` goes through that calls ``maker``, such as `enumerate`."""
    return iterables.Items(maker, arguments, options)


def _unrolled(
    iterations: Any, body: Callable[..., Any], flag: str, variables: Variables, long: LongLoop | None
) -> tuple[Any, ...]:
    """Run the iterations of a `for` as Python does, until it is seen that they would be many."""
    values = variables.values
    for done, item in enumerate(iterations, 1):
        values = body(item, *values)
        if flag in variables.names:
            stop = values[variables.names.index(flag)]
            if not is_unknown(stop) and stop:
                break
        found = None if long is None else long.goes_on(done, variables.having(values))
        if found is not None:
            return found
    return variables.unrun() if values is variables.values else values


def _not_left(body: Callable[..., Any], flag: int) -> Callable[..., Any]:
    """Return the body of a loop that draws from an iterator, which must not be left on a traced condition."""

    def checked(item: Any, *values: Any) -> Any:
        after = body(item, *values)
        if is_unknown(after[flag]):
            raise UnsupportedError(
                "a break on a traced condition out of a loop that draws from an iterator which is used elsewhere",
                where=capture_location(),
                why="how many items are left in it would depend on values that are not known while tracing",
                fix="make a list of the items before, and loop over that",
            )
        return after

    return checked


def _counted(body: Callable[..., Any], flag: int, most: int) -> Callable[..., Any]:
    """Return the body of a loop that may have no end but the traced condition that leaves it."""
    iterations = 0

    def counted(item: Any, *values: Any) -> Any:
        nonlocal iterations
        after = body(item, *values)
        iterations += is_unknown(after[flag])
        if iterations > most:
            raise UnsupportedError(
                "a loop over an iterator that has no end, or a late one, left on a traced condition",
                where=capture_location(),
                why="when it is left is not known while tracing, so all iterations are traced until the iterator ends",
                fix="write it as a while loop, or loop over a range or a list",
            )
        return after

    return counted


def is_over(stop: Any) -> bool:
    """Return whether a `for` over anything but a range is known to be left; if not, its other iterations do nothing."""
    return not is_unknown(stop) and bool(stop)


def known(test: Any, statement: str, obstacle: str) -> Any:
    """Return the test of a statement that was not rewritten, because of what is in it, or the length of its range.

    Raises
    ------
    ConcretizationError
        If it is not known.
    """
    if is_unknown(test):
        raise ConcretizationError(
            f"{statement}, with {obstacle}",
            where=capture_location(),
            why="autograph makes functions of branches and bodies, which can't have that",
            fix="write it without, or choose by numpy.where or lax.cond",
        )
    return test
