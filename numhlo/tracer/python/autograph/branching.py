"""Branches that a traced condition chooses: both become functions of the variables that they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from numhlo.lowering.ir import capture_location
from numhlo.lowering.ir.errors import MutationError, UnsupportedError
from numhlo.lowering.ir.scoped_values import ScopedValue
from numhlo.tracer.control_flow.branches import cond
from numhlo.tracer.core.bind import new_trace
from numhlo.tracer.core.cell import cells_so_far
from numhlo.tracer.core.operands import is_weak
from numhlo.tracer.core.trace import Tracer, current_trace
from numhlo.tracer.python.autograph.joined import Joined, Side
from numhlo.tracer.python.autograph.lent_storage import LentStorage
from numhlo.tracer.python.autograph.memory import meaning, meanings
from numhlo.tracer.python.autograph.mismatches import refuse_branches, refuse_selections
from numhlo.tracer.python.autograph.python_state import leaving_alone
from numhlo.tracer.python.autograph.raising import BranchEnd, branch_end, in_branch, leaves_no_raise, refuse_raise
from numhlo.tracer.python.autograph.undefined import MISSING, Undefined
from numhlo.tracer.python.autograph.variables import Variables, is_traceable, is_unknown
from numhlo.tracer.trees.pytrees import tree_map

_in_probe: ScopedValue[bool] = ScopedValue(False)
"""Whether a branch is traced only to see what comes of it."""


def _empty_like(x: Any) -> Any:
    """Return zeros of the types of a tree's leaves."""

    def zero(leaf: Any) -> Any:
        if isinstance(leaf, bool | int | float | complex):
            return type(leaf)(0)
        kind = {"b": bool, "i": int, "f": float, "c": complex}.get(leaf.dtype.kind) if is_weak(leaf) else None
        return np.zeros(leaf.shape, leaf.dtype) if kind is None else kind(0)

    return tree_map(zero, x)


def filler(x: Any, mark: int) -> Any:
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
    if not any(side.values for side in sides):
        _raise_either(test, [then, other], variables, carried, returns, storage)
    _fill_raising(sides, mark)
    missing = variables.missing(MISSING)
    values = [side.values for side in sides]
    fillers = {n: filler(x, mark) for n in missing for x in _one_sided(*[v[n] for v in values])}
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
                    named = _run_branch(branch, variables, storage.own(carried), returns) or side.values
                    filled = {n: fillers[n] for n, v in named.items() if isinstance(v, Undefined) and n in fillers}
                    handed = joined.handed({**named, **filled})
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
            return [probe(branch, variables, carried, returns, storage) for branch in (then, other)]
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


def probe(
    branch: Callable[..., Any], variables: Variables, carried: dict[str, Any], returns: bool, storage: LentStorage
) -> Side:
    """Trace a branch only to see what its variables are afterwards, and what it returns, under the name ``""``.

    What is chosen in it is not traced a second time: each level would double the time.
    """
    mark = cells_so_far()
    with new_trace(closed=False), storage.lent(), _in_probe.bound(True):
        return Side(_run_branch(branch, variables, storage.own(carried), returns), mark)


def _run_branch(
    branch: Callable[..., Any], variables: Variables, carried: dict[str, Any], returns: bool
) -> dict[str, Any]:
    """Return what variables are after a branch, and what it returns, under the name ``""``; nothing where it raises."""
    try:
        with in_branch():
            found = branch(*variables.filled(carried))
    except BranchEnd as end:
        if end.trace is not current_trace():
            refuse_raise(end.what)
        return {}
    result, after = found if returns else (None, found)
    return {**dict(zip(variables.names, after, strict=True)), "": _result(result, "a return")}


def _raise_either(
    test: Any,
    branches: Sequence[Callable[..., Any]],
    variables: Variables,
    carried: dict[str, Any],
    returns: bool,
    storage: LentStorage,
) -> NoReturn:
    """Run one of two branches that both raise."""

    def raising(branch: Callable[..., Any]) -> Callable[[], Any]:
        def traced() -> tuple[()]:
            with storage.lent():
                _run_branch(branch, variables, storage.own(carried), returns)
                return ()

        return traced

    if not _in_probe.get():
        cond(test, *map(raising, branches))
    raise branch_end()


def _fill_raising(sides: list[Side], mark: int) -> None:
    """Give a branch that raises the variables of the other one."""
    for side, other in (sides, reversed(sides)):
        if not side.values:
            side.values = {n: filler(v, mark) if is_traceable(v) else v for n, v in other.values.items()}
            side.meanings = {n: meanings(v) for n, v in side.values.items()}


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
    refuse_selections("an if", name, first, second)
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
            with leaves_no_raise():
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
        refuse_selections(what, "", found)
        raise UnsupportedError(
            f"{what} on a traced condition gives a {type(found).__name__}",
            where=capture_location(),
            why="which branch runs is not known while tracing",
            fix="give arrays, numbers or containers of them, and choose anything else outside the traced function",
        )
    return found
