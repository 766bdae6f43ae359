"""Loops whose reverse mode keeps few of their states, and computes the others again.

`checkpointed_scan` keeps the carry at the start of each segment of steps. `checkpointed_while_loop` keeps a fixed
number of states, spread over however many steps there were, and on request a tape of what the last steps made: memory
does not grow with their number.
`unwinding` goes back through the latter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numhlo.library.transformations.checkpointing import checkpoint
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, TensorType, Value, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ops import control_flow
from numhlo.tracer.building import (
    Carry,
    CustomRule,
    Lanes,
    Walker,
    asarray,
    bind_with_rule,
    concatenate_arrays,
    convert,
    current_trace,
    map_lanes,
    replay_body,
    replay_function,
    scan,
    shape_of,
    slice_count,
    trace_closed,
    trace_function,
    tree_flatten,
    tree_map,
    tree_unflatten,
    while_loop,
)
from numhlo.tracer.building.derivatives import (
    Activity,
    Dual,
    Environment,
    Loop,
    Tape,
    Unwinding,
    instantiate,
)


def checkpointed_scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    *,
    segment: int | None = None,
) -> tuple[Any, Any]:
    """Carry a value over slices as `lax.scan` does; reverse mode keeps one carry for each segment of steps.

    Parameters
    ----------
    f, init, xs, length, reverse
        As of `lax.scan`.
    segment : int, optional
        Steps in a segment; by default the square root of their number, which makes memory grow with that, too.

    Returns
    -------
    carry, ys : pytree

    Raises
    ------
    ArgumentError
        If ``segment`` is not positive; otherwise as `lax.scan`.

    Notes
    -----
    The gradient runs ``f`` forward once more than that of `lax.scan`.

    Examples
    --------
    >>> from numhlo.tracer.transformations.differentiating import grad
    >>> step = lambda c, x: (np.sin(c) * x, None)
    >>> slope = grad(lambda x: checkpointed_scan(step, 1.0, x)[0])(np.ones(9))
    >>> slope.shape
    (9,)
    """
    steps = slice_count("checkpointed_scan", xs, length)
    size = segment or max(1, math.isqrt(steps))
    if size < 1:
        raise ArgumentError(f"checkpointed_scan(segment={segment})", where=capture_location(), fix="use 1 or more")
    if current_trace() is None or steps <= size:
        return scan(f, init, xs, steps, reverse)
    whole, rest = steps // size * size, steps % size
    run = checkpoint(lambda carry, rows: scan(f, carry, rows, None if tree_flatten(rows)[0] else size, reverse))
    last = checkpoint(lambda carry, rows: scan(f, carry, rows, rest, reverse))
    first = rest if reverse else 0  # what is left over comes last in time
    rows = tree_map(lambda x: asarray(x)[first : first + whole].reshape(whole // size, size, *shape_of(x)[1:]), xs)
    carry, ys = scan(run, init, rows, whole // size, reverse)
    ys = tree_map(lambda y: y.reshape(whole, *shape_of(y)[2:]), ys)
    if not rest:
        return carry, ys
    left = tree_map(lambda x: asarray(x)[:rest] if reverse else asarray(x)[whole:], xs)
    carry, more = last(carry, left)
    return carry, tree_map(lambda y, z: concatenate_arrays([z, y] if reverse else [y, z], 0), ys, more)


def checkpointed_while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], Any],
    init_val: Any,
    *,
    states: int = 64,
    tape: int = 0,
) -> Any:
    """Loop as `lax.while_loop` does, with a reverse mode, for any number of steps.

    Parameters
    ----------
    cond_fun, body_fun, init_val
        As of `lax.while_loop`.
    states : int, optional
        Reverse mode keeps twice so many carries.
    tape : int, optional
        Reverse mode also keeps what each of the last so many steps needs to be gone back through.

    Returns
    -------
    pytree
        The last ``val``.

    Raises
    ------
    ArgumentError
        If ``states`` is not positive, or ``tape`` is negative; otherwise as `lax.while_loop`.

    Notes
    -----
    Steps on the tape are not run again; a loop that is longer than it takes more time, and no more memory. Going back
    through the other steps runs the body three times a step, up to ``states ** 2`` steps; beyond, n steps cost about
    ``n / (2 * states ** 2)`` runs a step more. The gradient itself can be differentiated forwards.

    Examples
    --------
    >>> from numhlo.tracer.transformations.differentiating import grad
    >>> float(grad(lambda x: checkpointed_while_loop(lambda s: s < 100, lambda s: s * s, x))(3.0))
    17496.0
    """
    for name, given, least in (("states", states, 1), ("tape", tape, 0)):
        if given < least:
            what, fix = f"checkpointed_while_loop({name}={given})", f"use {least} or more"
            raise ArgumentError(what, where=capture_location(), fix=fix)
    if current_trace() is None:
        return while_loop(cond_fun, body_fun, init_val)
    carry = Carry("checkpointed_while_loop", init_val, body_fun)
    leaves = [convert(asarray(x), t.tensor.dtype) for x, t in zip(carry.leaves, carry.types, strict=True)]

    def run(*arrays: Any) -> list[Any]:
        return tree_flatten(while_loop(cond_fun, body_fun, tree_unflatten(carry.tree, arrays)))[0]

    function, captures = trace_function("checkpointed_while", run, [t.tensor for t in carry.types])
    rule = _WhileRule(states, tape)
    results = bind_with_rule("numhlo.checkpointed_while", function, [*leaves, *captures], rule)
    return tree_unflatten(carry.tree, results)


class _WhileRule(CustomRule[Walker]):
    """Linearizes the loop of a checkpointed while: forward it counts its steps."""

    def __init__(self, states: int, tape: int) -> None:
        self.states, self.tape = states, tape

    def differentiate(
        self, walker: Walker, op: Op, primals: list[Any], tangents: list[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Run the function; its loop by a rule of its own where tangents are collected."""
        body = op.attributes["decomposition"].body
        duals = [Dual(*pair) for pair in zip(primals, tangents, strict=True)]
        environment: Environment = dict(zip(body.arguments, duals, strict=True))
        for inner in body.ops:
            if inner.definition is control_flow.WHILE and walker.linearizes:
                results = self._linearize(walker, inner, environment)
            else:
                results = walker.op(inner, environment)
            environment.update(zip(inner.results, results, strict=True))
        found = [environment[v] for v in body.returns]
        return [d.primal for d in found], [d.tangent for d in found]

    def batch(self, op: Op, operands: Sequence[Lanes], size: int) -> list[Lanes]:
        """Loop lane by lane: each has its own number of steps."""
        return map_lanes(op, operands, size, {})

    def _linearize(self, walker: Walker, op: Op, environment: Environment) -> list[Dual]:
        outer = free_values(op)
        values = [*outer, *op.operands]
        active = [environment[v].tangent is not None for v in outer]
        active += Activity.around(op, environment).of_while(op)
        if not any(active):
            return walker.op(op, environment)
        primals = [environment[v].primal for v in values]
        condition, body = (_closed(region, outer) for region in op.regions)
        consts = primals[: len(outer)]
        tape = Tape(Loop(body, self.tape, len(outer), len(op.operands), False), active) if self.tape else None

        def step(state: Any) -> Any:
            number, carries, rows = state
            if tape is None:
                return [number + 1, replay_function(body, [*consts, *carries]), rows]
            return [number + 1, *tape.record([*consts, *carries], rows, number)]

        with walker.in_primal():
            start = [np.zeros((), np.int64), primals[len(outer) :], [] if tape is None else tape.empty()]
            count, outputs, rows = while_loop(lambda s: replay_function(condition, [*consts, *s[1]])[0], step, start)
            kept = [] if tape is None else [*tape.once(consts), *rows]
        moving = [v for v, a in zip(values, active, strict=True) if a]
        known = [*primals, count, *kept]

        def derivative(*arrays: Any) -> list[Any]:
            slopes = iter(arrays[len(known) :])
            duals = [Dual(x, next(slopes) if a else None) for x, a in zip(arrays, active, strict=False)]
            results = Walker().op(op, dict(zip(values, duals, strict=True)))
            flags = zip(results, op.results, active[len(outer) :], strict=True)
            return [instantiate(d.tangent, v) for d, v, a in flags if a]

        given = [*[TensorType(shape_of(x), x.dtype) for x in known], *[v.type for v in moving]]
        linear, _ = trace_function("derivative_of_while", derivative, given)
        tangents = [instantiate(environment[v].tangent, v) for v in moving]
        rule = Unwinding(body, len(outer), active, self.states, tape)
        slopes = iter(bind_with_rule("numhlo.while_derivative", linear, [*known, *tangents], rule))
        flags = zip(outputs, active[len(outer) :], strict=True)
        return [Dual(x, next(slopes) if a else None) for x, a in flags]


def _closed(region: Region, outer: Sequence[Value]) -> Function:
    """Return a region as a function of what it uses from outside, and of its arguments."""

    def run(*arrays: Any) -> list[Any]:
        return replay_body(region, arrays[len(outer) :], dict(zip(outer, arrays, strict=False)))

    types = [v.type for v in (*outer, *region.arguments)]
    return trace_closed("while_body", run, types)
