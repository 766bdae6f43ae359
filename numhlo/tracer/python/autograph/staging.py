"""What rewritten code calls where Python would branch or loop.

As long as a condition is known, Python's own rules hold. Where it is a traced value, the branches or the body become
functions of the variables that they change, and of nothing else that changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, MutationError, UnsupportedError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.control_flow.branches import cond, require_scalar
from numhlo.tracer.control_flow.loops import fori_loop, while_loop
from numhlo.tracer.core.bind import new_trace
from numhlo.tracer.core.cell import cells_so_far
from numhlo.tracer.core.operands import FUNCTIONS, convert, is_weak
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.python.autograph import iterables
from numhlo.tracer.python.autograph.joined import Joined, Side
from numhlo.tracer.python.autograph.lent_storage import LentStorage
from numhlo.tracer.python.autograph.logic import both as both
from numhlo.tracer.python.autograph.logic import chained as chained
from numhlo.tracer.python.autograph.logic import either as either
from numhlo.tracer.python.autograph.logic import negation as negation
from numhlo.tracer.python.autograph.long_loops import LongLoop, must_be_counted
from numhlo.tracer.python.autograph.long_whiles import LongWhile
from numhlo.tracer.python.autograph.loop_state import LoopState
from numhlo.tracer.python.autograph.memory import meaning
from numhlo.tracer.python.autograph.mismatches import refuse_branches
from numhlo.tracer.python.autograph.python_state import leaving_alone
from numhlo.tracer.python.autograph.undefined import MISSING, InLoops, Later, Undefined
from numhlo.tracer.python.autograph.variables import Variables as Variables
from numhlo.tracer.python.autograph.variables import is_traceable, is_unknown
from numhlo.tracer.python.autograph.variables import put as put
from numhlo.tracer.python.source.exits import stop_flag
from numhlo.tracer.trees.pytrees import tree_map

MOST_ROUNDS = 1000
"""Of a loop over an iterator of which nothing says where it ends."""

_in_probe: ScopedValue[bool] = ScopedValue(False)
"""Whether a branch is traced only to see what comes of it."""


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


def _empty_like(x: Any) -> Any:
    """Return zeros of the types of a tree's leaves."""

    def zero(leaf: Any) -> Any:
        if isinstance(leaf, bool | int | float | complex):
            return type(leaf)(0)
        kind = {"b": bool, "i": int, "f": float, "c": complex}.get(leaf.dtype.kind) if is_weak(leaf) else None
        return np.zeros(leaf.shape, leaf.dtype) if kind is None else kind(0)

    return tree_map(zero, x)


def _filler(x: Any, mark: int) -> Any:
    """Return a value of a variable, after the branch that gives it none, beside what the other branch gives it.

    Memory from before the branches stays that memory, whichever of them runs: which is not asked before it is known.
    """

    def same(leaf: Any) -> Any:
        known = meaning(leaf)
        return leaf if known is not None and known.is_outside(mark) else _empty_like(leaf)

    return tree_map(same, x)


def if_statement(
    test: Any, then: Callable[..., Any], other: Callable[..., Any], variables: Variables, returns: bool = False
) -> Any:
    """Run one of two branches.

    Parameters
    ----------
    test : scalar
    then, other : callable
        Take the variables' values and return them as a tuple; a pair of what is returned and that, if ``returns``.
    variables : Variables
    returns : bool, optional
        The branches end the function.

    Returns
    -------
    tuple
        The values after; what the function returns, if ``returns``.
    """
    if not is_unknown(test):
        found = (then if test else other)(*variables.values)
        return found[0] if returns else found
    variables.check("an if")
    carried = variables.split()
    storage = LentStorage(carried)
    mark = cells_so_far()
    with leaving_alone("an if", [*variables.values, then, other], variables.attributes()):
        sides = _probed(then, other, variables, carried, returns, storage)
    missing = variables.missing(MISSING)
    values = [side.values for side in sides]
    fillers = {n: _filler(x, mark) for n in missing for x in _one_sided(*[v[n] for v in values])}
    for side in sides:
        side.fill(fillers, Undefined)
    handed_on = [n for n in ("", *variables.names) if all(is_traceable(v[n]) for v in values)]
    rest = {n: _common(n, *[v[n] for v in values]) for n in variables.names if n not in handed_on}
    refuse_branches("an if", [n for n in handed_on if n], *values)
    refuse_branches("a return", handed_on[:1], *values)
    joined = Joined(handed_on, sides, mark)
    changed = sorted(storage.changed)

    def run(branch: Callable[..., Any], side: Side) -> Callable[..., Any]:
        def traced() -> Any:
            with storage.lent():
                if _in_probe.get():  # what comes of it is known, and all that is asked for
                    handed = _told(joined.handed(side.values))
                else:
                    found = branch(*variables.filled(storage.own(carried)))
                    result, after = found if returns else (None, found)
                    named = dict(zip(variables.names, after, strict=True))
                    named = {
                        n: fillers[n] if isinstance(v, Undefined) and n in fillers else v for n, v in named.items()
                    }
                    handed = joined.handed({**named, "": _result(result, "a return")})
                contents = storage.contents()
                return (*storage.settled(handed), [contents[n] for n in changed])

        return traced

    named, shared, contents = cond(test, run(then, sides[0]), run(other, sides[1]))
    storage.write(dict(zip(changed, contents, strict=True)))
    after = joined.values(named, shared)
    trace = current_trace()
    assert trace is not None
    joined.tie(trace, after)
    result = after.pop("", None)
    found = variables.finished({**after, **rest})
    return result if returns else found


def _one_sided(first: Any, second: Any) -> list[Any]:
    """Return the value of a variable that has one after one of two branches only."""
    have = [x for x in (first, second) if not isinstance(x, Undefined)]
    return have if len(have) == 1 and is_traceable(have[0]) else []


def _with_results(variables: Variables, body: Callable[..., Any]) -> Variables:
    """Return variables of which those that a loop returns have some value of the type that they get in it."""
    missing = variables.missing()
    if not missing:
        return variables
    carried, mark = variables.split(), cells_so_far()
    after = _probe(body, variables, carried, False, LentStorage(carried)).values
    filled = {n: _filler(after[n], mark) for n in missing if is_traceable(after[n])}
    return variables.having(variables.filled(filled))


def _probed(
    then: Callable[..., Any],
    other: Callable[..., Any],
    variables: Variables,
    carried: dict[str, Any],
    returns: bool,
    storage: LentStorage,
) -> list[Side]:
    """Trace both branches to see what their variables are afterwards, and which storage they write into."""
    while True:
        try:
            return [_probe(branch, variables, carried, returns, storage) for branch in (then, other)]
        except MutationError as error:
            if not storage.takes(error.storage):
                raise
        except RecursionError:
            raise UnsupportedError(
                "a function that calls itself until a traced condition holds",
                where=capture_location(),
                why="how often it does is not known while tracing",
                fix="write it as a while loop, or make what it depends on a static argument",
            ) from None


def _probe(
    branch: Callable[..., Any], variables: Variables, carried: dict[str, Any], returns: bool, storage: LentStorage
) -> Side:
    """Trace a branch only to see what its variables are afterwards, and what it returns, under the name ``""``.

    What is chosen in it is not traced a second time: each level would double the time.
    """
    mark = cells_so_far()
    with new_trace(closed=False), storage.lent(), _in_probe.bound(True):
        found = branch(*variables.filled(storage.own(carried)))
        result, after = found if returns else (None, found)
        return Side({**dict(zip(variables.names, after, strict=True)), "": _result(result, "a return")}, mark)


def _told(x: Any) -> Any:
    """Return something of the types of a tree's leaves, which another trace made."""

    def zero(leaf: Any) -> Any:
        if not isinstance(leaf, Tracer) or (is_weak(leaf) and not leaf.ndim):
            return _empty_like(leaf)
        return leaf.dtype.type(0) if leaf.is_scalar else np.zeros(leaf.shape, leaf.dtype)

    return tree_map(zero, x)


def _common(name: str, first: Any, second: Any) -> Any:
    """Return what a variable that is no array is after either branch."""
    if isinstance(first, MISSING) and type(first) is type(second):
        return first
    if isinstance(first, Undefined) or isinstance(second, Undefined):
        return Undefined(name)
    if first is second or (type(first) is type(second) and not isinstance(first, Tracer) and first == second):
        return first
    shown = ["an array" if is_traceable(x) else f"a {type(x).__name__}" for x in (first, second)]
    raise UnsupportedError(
        f"an if on a traced condition leaves {name!r} as {shown[0]} in one branch, and as {shown[1]} in the other",
        where=capture_location(),
        why="which branch runs is not known while tracing",
        fix="make it an array or a number in both, or choose before",
    )


def if_expression(test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """Return ``then() if test else other()``."""
    if not is_unknown(test):
        return then() if test else other()

    mark, sides = cells_so_far(), list[Side]()

    def checked(branch: Callable[[], Any]) -> Callable[[], Any]:
        def traced() -> Any:
            sides.append(Side({"": _result(branch(), "a conditional expression")}, mark))
            refuse_branches("a conditional expression", [""], sides[0].values, sides[-1].values)
            return sides[-1].values[""]

        return traced

    with leaving_alone("a conditional expression", [then, other]):
        found = cond(test, checked(then), checked(other))
    joined, trace = Joined([""], sides, mark), current_trace()
    assert trace is not None
    joined.tie(trace, {"": found})
    return joined.kept_of("", found)


def _result(found: Any, what: str) -> Any:
    """Return what a branch gives; raise if it is nothing that a graph can choose."""
    if isinstance(found, Undefined):
        found.refuse()
    if not is_traceable(found):
        raise UnsupportedError(
            f"{what} on a traced condition gives a {type(found).__name__}",
            where=capture_location(),
            why="which branch runs is not known while tracing",
            fix="give arrays, numbers or containers of them, and choose anything else outside the traced function",
        )
    return found


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
        rounds = maker(*bounds)
        long = LongLoop(rounds, body) if isinstance(rounds, range) else None
        return _unrolled(rounds, body, stop_flag(target), variables, long)
    if must_be_counted():
        raise UnsupportedError("a loop inside one to be differentiated whose length depends on the round")
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
        """Return the index of a round."""
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
        most = 0 if isinstance(items, iterables.ENDLESS) else MOST_ROUNDS
        body = _counted(body, variables.names.index(flag), most)
    count = iterables.length(items)
    long = None if count is None else LongLoop(range(count), body, lambda k: iterables.item(items, k))
    return _unrolled(iterables.rounds(items), body, flag, variables, long)


def items(maker: Any, arguments: Sequence[Any], options: Mapping[str, Any]) -> Any:
    """Return what a `for` goes through that calls ``maker``, such as `enumerate`."""
    return iterables.Items(maker, arguments, options)


def _unrolled(
    rounds: Any, body: Callable[..., Any], flag: str, variables: Variables, long: LongLoop | None
) -> tuple[Any, ...]:
    """Run the rounds of a `for` as Python does, until it is seen that they would be many."""
    values = variables.values
    for done, item in enumerate(rounds, 1):
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
    rounds = 0

    def counted(item: Any, *values: Any) -> Any:
        nonlocal rounds
        after = body(item, *values)
        rounds += is_unknown(after[flag])
        if rounds > most:
            raise UnsupportedError(
                "a loop over an iterator that has no end, or a late one, left on a traced condition",
                where=capture_location(),
                why="in which round it is left is not known while tracing, so all are traced until the iterator ends",
                fix="write it as a while loop, or loop over a range or a list",
            )
        return after

    return counted


def is_over(stop: Any) -> bool:
    """Return whether a `for` over anything but a range is known to be left; if not, its other rounds do nothing."""
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
            fix="write it without, or choose by numpy.where or lax.cond; what raises belongs before the call",
        )
    return test
