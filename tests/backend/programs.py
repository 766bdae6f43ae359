"""Small functions to plan: written with the builder, or traced by JAX and parsed from its StableHLO."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from numhlo.backend.plan_checking import check_plan
from numhlo.backend.planning import plan as plan_unproved
from numhlo.backend.program import Branch, Evaluate, Launch, Loop, Program, Step
from numhlo.lowering.ir import Function, Region, TensorType
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.loops import make_map
from numhlo.lowering.ops.primitive import Primitive, make_op
from numhlo.lowering.passes.pipeline import optimize
from numhlo.lowering.text import parse


def from_jax(function: Callable[..., Any], *arguments: Any) -> Function:
    """Return what JAX traces ``function`` to, optimized."""
    text = jax.jit(function, keep_unused=True).lower(*arguments).as_text()
    return optimize(parse(text).main)


def plan(function: Function, *, donated: frozenset[int] = frozenset(), written: Sequence[int] = ()) -> Program:
    """Return the plan of a function, proved."""
    program = plan_unproved(function, donated=donated, written=written)
    check_plan(program, function, donated)
    return program


def one_op(
    definition: Primitive,
    types: Sequence[TensorType],
    result: TensorType | None = None,
    regions: Sequence[Region] = (),
    **attributes: Any,
) -> Function:
    """Return a function of one op on its arguments."""
    b = FunctionBuilder(definition.name, types)
    results = None if result is None else [result]
    return b.finish(b.ops(definition, *b.arguments, regions=regions, results=results, **attributes))


def body_of(definition: Primitive, dtype: np.dtype) -> Region:
    """Return the body of a reduction or scatter: one op on two scalars."""
    scalar = TensorType((), dtype)
    region = Region([scalar, scalar])
    op = make_op(definition, region.arguments)
    region.ops.append(op)
    region.returns = [op.result]
    return region


def all_steps(program: Program) -> list[Step]:
    """Return all steps of a program, those inside others included."""
    found: list[Step] = []
    stack = list(program.steps)
    while stack:
        step = stack.pop(0)
        found.append(step)
        match step:
            case Loop():
                stack = [*step.condition, *step.body, *stack]
            case Branch():
                stack = [*(inner for branch in step.branches for inner in branch), *stack]
    return found


def launched(program: Program) -> list[str]:
    """Return the names of the kernels in the order of their launches."""
    return [step.kernel.name for step in all_steps(program) if isinstance(step, Launch)]


def evaluated(program: Program) -> list[str]:
    """Return the names of the ops that run on NumPy."""
    return [step.op.definition.name for step in all_steps(program) if isinstance(step, Evaluate)]


def mapped(body: Function, consts: int, lanes: int) -> Function:
    """Return a function that maps ``body`` over the leading axis of its later arguments."""
    taken, given = [v.tensor for v in body.body.arguments], [v.tensor for v in body.body.returns]
    stack = lambda t: t.with_shape((lanes, *t.shape))
    b = FunctionBuilder("mapped", [*taken[:consts], *map(stack, taken[consts:])])
    results = b.ops(
        COMPOSITE,
        *b.arguments,
        results=[stack(t) for t in given],
        name="numhlo.map",
        composite_attributes={"lanes": lanes, "num_consts": consts},
        decomposition=make_map(body, lanes, consts),
    )
    return b.finish(results)
