"""What rewritten code calls where Python would branch or loop.

As long as a condition is known, Python's own rules hold. Where it is a traced value, the branches or the body become
functions of the variables that they change, and of nothing else that changes.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import ConcretizationError, UnsupportedError
from numhlo.tracer.autograph.exits import stop_flag
from numhlo.tracer.autograph.undefined import Later, Undefined
from numhlo.tracer.bind import new_trace
from numhlo.tracer.bodies import is_known, own_arrays
from numhlo.tracer.control_flow import cond
from numhlo.tracer.loops import fori_loop, while_loop
from numhlo.tracer.namespace import elementwise
from numhlo.tracer.namespace.core import TRACEABLE, convert, is_weak, result_dtype
from numhlo.tracer.namespace.searching import where
from numhlo.tracer.pytrees import tree_leaves, tree_map
from numhlo.tracer.trace import Tracer


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


def put(owner: Any, attribute: str, value: Any) -> None:
    """Give an object an attribute; none where it has no value."""
    if not isinstance(value, Undefined):
        setattr(owner, attribute, value)
    elif attribute in getattr(owner, "__dict__", ()):
        delattr(owner, attribute)


class Variables:
    """The variables that a branch or a loop changes.

    Parameters
    ----------
    names : sequence of str
    values : sequence
        Before.
    in_place : sequence of str
        Those whose arrays are changed in place.
    mixed : sequence of str
        Those that are changed in place and bound to another object, too.
    owners : sequence of (str, callable), optional
        Of names that are attributes, as ``self.total``: what gives the object.
    """

    def __init__(
        self,
        names: Sequence[str],
        values: Sequence[Any],
        in_place: Iterable[str] = (),
        mixed: Iterable[str] = (),
        owners: Iterable[tuple[str, Callable[[], Any]]] = (),
    ) -> None:
        self.names, self.values = tuple(names), tuple(values)
        self.in_place, self.mixed = frozenset(in_place), frozenset(mixed)
        self.owners = dict(owners)

    def having(self, values: Sequence[Any]) -> Variables:
        """Return the same variables with other values."""
        return Variables(self.names, values, self.in_place, self.mixed, self.owners.items())

    def missing(self) -> list[str]:
        """Return the names of those that have no value yet, but surely will where it is asked for."""
        return [n for n, v in zip(self.names, self.values, strict=True) if isinstance(v, Later)]

    def check(self, what: str) -> None:
        """Raise where an array's changes could not be told from those of the object that takes its name."""
        for name, found in zip(self.names, self.values, strict=True):
            if name in self.mixed and _is_array(found):
                raise UnsupportedError(
                    f"{what} on a traced condition writes into the array {name!r} and binds the name again",
                    where=capture_location(),
                    fix="use another name for the new array",
                )
            if name in self.in_place and isinstance(found, list | dict | set) and not is_traceable(found):
                raise UnsupportedError(
                    f"{what} on a traced condition changes the {type(found).__name__} {name!r}",
                    where=capture_location(),
                    why="only lists and dicts of arrays and numbers can be told apart afterwards",
                    fix="change it outside, or keep numbers in it",
                )

    def split(self) -> dict[str, Any]:
        """Return those that traced code can carry, by name."""
        return {n: v for n, v in zip(self.names, self.values, strict=True) if is_traceable(v)}

    def filled(self, carried: dict[str, Any]) -> list[Any]:
        """Return all values, those carried replaced."""
        return [carried.get(n, v) for n, v in zip(self.names, self.values, strict=True)]

    def results(self, after: dict[str, Any]) -> tuple[Any, ...]:
        """Return the values after a branch or loop; arrays that are changed in place are the same objects as before."""
        found = []
        for name, before in zip(self.names, self.values, strict=True):
            new = after.get(name, before)
            if name in self.in_place and name in after and _is_array(before):
                before[...] = new
                new = before
            elif name in self.in_place and type(before) in (list, dict) and type(new) is type(before):
                new = _refilled(before, new)
            if name in self.owners:
                put(self.owners[name](), name.rpartition(".")[2], new)
            found.append(new)
        return tuple(found)


def _refilled(container: Any, new: Any) -> Any:
    """Return a list or dict that holds what another one does."""
    kept = new.copy()
    container.clear()
    container.extend(kept) if isinstance(container, list) else container.update(kept)
    return container


def _empty_like(x: Any) -> Any:
    """Return zeros of the types of a tree's leaves."""

    def zero(leaf: Any) -> Any:
        if isinstance(leaf, bool | int | float | complex):
            return type(leaf)(0)
        kind = {"b": bool, "i": int, "f": float, "c": complex}.get(leaf.dtype.kind) if is_weak(leaf) else None
        return np.zeros(leaf.shape, leaf.dtype) if kind is None else kind(0)

    return tree_map(zero, x)


def is_traceable(x: Any) -> bool:
    """Return whether a value can be an operand of control flow: arrays, numbers, and containers of them."""
    if isinstance(x, Undefined) or callable(x):
        return False
    return all(
        isinstance(leaf, Tracer | bool | int | float | complex)
        or (isinstance(leaf, np.ndarray | np.generic) and leaf.dtype in TRACEABLE)
        for leaf in tree_leaves(x)
    )


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) or (isinstance(x, Tracer) and not x.is_scalar)


def is_unknown(x: Any) -> bool:
    """Return whether Python can't branch on a value."""
    return isinstance(x, Tracer) and not is_known(x)


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
    try:
        sides = [_probe(branch, variables, carried, returns) for branch in (then, other)]
    except RecursionError:
        raise UnsupportedError(
            "a function that calls itself until a traced condition holds",
            where=capture_location(),
            why="how often it does is not known while tracing",
            fix="write it as a while loop, or make what it depends on a static argument",
        ) from None
    missing = variables.missing()
    fillers = {n: _empty_like(x) for n in missing for x in _one_sided(*[side[n] for side in sides])}
    for side in sides:
        side.update({n: filler for n, filler in fillers.items() if isinstance(side[n], Undefined)})
    handed_on = {n for n in variables.names if all(is_traceable(side[n]) for side in sides)}
    rest = {n: _common(n, *[side[n] for side in sides]) for n in variables.names if n not in handed_on}

    def run(branch: Callable[..., Any]) -> Callable[..., Any]:
        def traced(given: dict[str, Any]) -> Any:
            found = branch(*variables.filled(given))
            result, after = found if returns else (None, found)
            named = zip(variables.names, after, strict=True)
            result = _result(result, "a return")
            return result, {n: fillers[n] if isinstance(v, Undefined) else v for n, v in named if n in handed_on}

        return traced

    result, after = cond(test, run(then), run(other), carried)
    found = variables.results({**after, **rest})
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
    after = _probe(body, variables, variables.split(), False)
    filled = {n: _empty_like(after[n]) for n in missing if is_traceable(after[n])}
    return variables.having(variables.filled(filled))


def _probe(branch: Callable[..., Any], variables: Variables, carried: dict[str, Any], returns: bool) -> dict[str, Any]:
    """Trace a branch only to see what its variables are afterwards."""
    with new_trace(closed=False) as trace:
        found = branch(*variables.filled(own_arrays(trace, carried)))
    return dict(zip(variables.names, found[1] if returns else found, strict=True))


def _common(name: str, first: Any, second: Any) -> Any:
    """Return what a variable that is no array is after either branch."""
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

    def checked(branch: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: _result(branch(), "a conditional expression")

    return cond(test, checked(then), checked(other))


def _result(found: Any, what: str) -> Any:
    """Return what a branch gives; raise if it is nothing that a graph can choose."""
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

    It starts as Python does; from the first test that is not known, the loop goes on in the graph.
    """
    values = variables.values
    while True:
        holds = test(*values)
        if is_unknown(holds):
            break
        if not holds:
            return values
        values = body(*values)
    now = _with_results(variables.having(values), body)
    now.check("a while")
    state = now.split()

    def step(given: dict[str, Any]) -> dict[str, Any]:
        after = dict(zip(now.names, body(*now.filled(given)), strict=True))
        _refuse_change(now, after, state, "a while")
        return {n: after[n] for n in state}

    return now.results(while_loop(lambda given: test(*now.filled(given)), step, state))


def _refuse_change(variables: Variables, after: dict[str, Any], state: dict[str, Any], what: str) -> None:
    """Raise where an iteration changes a variable that can't be carried; what is new in it stays in it."""
    for name, before in zip(variables.names, variables.values, strict=True):
        changed = after[name] is not before and not isinstance(before, Undefined)
        if (name in state and not is_traceable(after[name])) or (name not in state and changed):
            raise UnsupportedError(
                f"{what} on a traced condition changes {name!r}, a {type(before).__name__}",
                where=capture_location(),
                why="only arrays, numbers and containers of them can be carried from one iteration to the next",
                fix="make it an array, or leave it as it is in the loop",
            )


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
    if maker is not builtins.range or not any(map(is_unknown, bounds)):
        values, flag = variables.values, stop_flag(target)
        for index in maker(*bounds):
            values = body(index, *values)
            if flag in variables.names:
                stop = values[variables.names.index(flag)]
                if not is_unknown(stop) and stop:
                    break
        return values
    start, stop, step = {1: (0, *bounds, 1), 2: (*bounds, 1), 3: bounds}[len(bounds)]
    if is_unknown(step):
        raise UnsupportedError("range with a traced step", where=capture_location(), fix="use a while loop")
    variables.check("a for")
    stride = int(step)
    count = (stop - start + stride - (1 if stride > 0 else -1)) // stride
    given = dict(zip(variables.names, variables.values, strict=True))
    if isinstance(given[target], Undefined):
        given[target] = start
    unknown = next(filter(is_unknown, bounds))
    index = convert(unknown.copy(), np.dtype(np.int64))
    index.weak = True  # as the index of the loop, and no more known
    now = _with_results(variables.having(list(given.values())), lambda *values: body(index, *values))
    state = now.split()

    def turn(k: Any, given: dict[str, Any]) -> dict[str, Any]:
        after = dict(zip(now.names, body(start + k * stride, *now.filled(given)), strict=True))
        _refuse_change(now, after, state, "a for")
        return {n: after[n] for n in state}

    return now.results(fori_loop(0, elementwise.maximum(count, 0), turn, state))


def is_over(stop: Any) -> bool:
    """Return whether a `for` over anything but a range is known to be left; if not, its other rounds do nothing."""
    return not is_unknown(stop) and bool(stop)


def asserted(test: Any) -> Any:
    """Return the test of an `assert`.

    Raises
    ------
    ConcretizationError
        If it is not known.
    """
    return _known(
        test,
        "an assert",
        why="whether it holds is known only when the compiled program runs",
        fix="assert it before the call, or return the condition and assert it afterwards",
    )


def filtering(test: Any) -> Any:
    """Return the test of a comprehension.

    Raises
    ------
    ConcretizationError
        If it is not known.
    """
    return _known(
        test,
        "an if in a comprehension",
        why="the number of items would depend on values that are not known while tracing",
        fix="write np.where(condition, x, 0) for what is added up, or use a mask: x[x > 0].sum()",
    )


def _known(test: Any, what: str, *, why: str, fix: str) -> Any:
    if is_unknown(test):
        raise ConcretizationError(f"{what} on a traced condition", where=capture_location(), why=why, fix=fix)
    return test


def both(first: Any, second: Callable[[], Any]) -> Any:
    """Return ``first and second()``."""
    if not is_unknown(first):
        return first and second()
    other = second()
    return elementwise.logical_and(first, other) if _are_bools(first, other) else where(first, other, first)


def either(first: Any, second: Callable[[], Any]) -> Any:
    """Return ``first or second()``."""
    if not is_unknown(first):
        return first or second()
    other = second()
    return elementwise.logical_or(first, other) if _are_bools(first, other) else where(first, first, other)


def _are_bools(*operands: Any) -> bool:
    return all(result_dtype(x).kind == "b" for x in operands)


def chained(left: Any, *links: tuple[Callable[[Any, Any], Any], Callable[[], Any]]) -> Any:
    """Return ``left < right < ...``, from pairs of a comparison and what gives its right side."""
    (compare, read), *rest = links
    right = read()
    holds = compare(left, right)
    return both(holds, lambda: chained(right, *rest)) if rest else holds


def known(test: Any, statement: str, obstacle: str) -> Any:
    """Return the test of a statement that was not rewritten, because of what is in it.

    Raises
    ------
    ConcretizationError
        If it is not known.
    """
    if is_unknown(test):
        raise ConcretizationError(
            f"{statement} on a traced condition, with {obstacle}",
            where=capture_location(),
            why="autograph makes functions of branches and bodies, which can't have that",
            fix="write it without, or choose by numpy.where or lax.cond; what raises belongs before the call",
        )
    return test


def negation(x: Any) -> Any:
    """Return ``not x``."""
    return elementwise.logical_not(x) if is_unknown(x) else not x
