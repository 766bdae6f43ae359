"""The ways to check one lax program: on its own, fast to thorough.

``plans``: only planned, and the plan is checked. ``first``: answers of tier 0, without a compiler. ``text``: the
kernels' text as Python, called often in one frame, without a compiler. ``native``: machine code, through the harness.
The reference is the interpreter running the program as it was traced, so what the passes do is checked, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import numpy as np

import numhlo
from numhlo.backend.compiler.service import compiler_service
from numhlo.backend.kernel_cache import kernel_cache
from numhlo.backend.plan_checking import check_plan
from numhlo.backend.planning import plan
from numhlo.lowering.interpreter import Interpreter
from numhlo.lowering.ir import Function
from numhlo.lowering.passes.pipeline import optimize
from tests.every_call.comparison import EXACT, Tolerance
from tests.every_call.harness import check_every_call
from tests.every_call.lax_programs import build, make_inputs
from tests.every_call.lax_syntax import Program, Type
from tests.every_call.text_engine import TextEngine, can_run

NEAR = Tolerance(
    relative={"float64": 1e-9, "float32": 2e-4, "float16": 0.1, "complex128": 1e-9, "complex64": 2e-4}, least=1.0
)
"""For results that are not exact: programs keep all numbers between -1 and 1."""

MOST_ELEMENTS_OF_TEXT = 1500
QUICK = (("plain", 1), ("in read-only memory", 2), ("strided", 0), ("one array twice", 1), ("plain", 0))
TEXT = (("plain", 0), ("plain", 1), ("plain", 2), ("overlapping views", 1), ("plain", 1), ("plain", 0))
NATIVE = (
    *[("plain", 0), ("plain", 0), ("plain", 1), ("in read-only memory", 2), ("strided", 1), ("one array twice", 0)],
    *[("plain", 2), ("overlapping views", 1), ("unaligned", 0), ("plain", 2), ("plain", 1), ("plain", 0)],
)


class LeftOut(Exception):  # noqa: N818 - nothing is wrong
    """A program that this way of checking takes no part in; the text says why."""


def tolerances(program: Program) -> list[Tolerance]:
    """Return how near each result has to be."""
    return [EXACT if _type(x).exact else NEAR for x in program.body.results]


def _type(operand: Any) -> Type:
    found: Type = operand.type
    return found


def traced(function: Callable[..., Any], arguments: Sequence[Any]) -> Function:
    """Return the graph of a program, as it was traced."""
    return numhlo.jit(function, autograph=False).trace(*arguments).module.main


def reference(graph: Function) -> Callable[..., list[np.ndarray]]:
    """Return the graph as a function under the interpreter."""
    run = Interpreter(graph)
    return lambda *arrays: [np.array(x) for x in run([np.asarray(a, order="C") for a in arrays])]


def check_native(program: Program) -> None:
    """Compile a program, and call it in every form."""
    function, inputs = build(program), make_inputs(program)
    donated = program.donated_numbers
    jitted = numhlo.jit(function, autograph=False, donate_argnums=donated)
    options = {"reference": reference(traced(function, inputs[0])), "tolerance": tolerances(program)}
    try:
        check_every_call(jitted, inputs, written=(), donated=donated, schedule=NATIVE, **options)
    finally:
        jitted.clear_cache()


def check_first(program: Program) -> None:
    """Call a program on tier 0 alone; it is traced only once."""
    function, inputs = build(program), make_inputs(program)
    donated = program.donated_numbers
    stage = numhlo.jit(function, autograph=False, donate_argnums=donated).trace(*inputs[0])
    with no_compiler():
        entry = stage._make_entry()
        check_every_call(
            lambda *arguments: entry.run(list(arguments), (arguments, {})),
            inputs,
            reference=reference(stage.module.main),
            written=(),
            donated=donated,
            tolerance=tolerances(program),
            first_answers=False,
            schedule=QUICK,
        )


def check_text(program: Program) -> None:
    """Run the text of a program's kernels as Python, call after call."""
    function, inputs = build(program), make_inputs(program)
    graph, donated = traced(function, inputs[0]), program.donated_numbers
    planned = plan(optimize(graph), donated=frozenset(donated))
    if not can_run(planned, MOST_ELEMENTS_OF_TEXT):
        raise LeftOut("too large to be run as text")
    check_every_call(
        TextEngine(planned, frozenset(donated)),
        inputs,
        reference=reference(graph),
        written=(),
        donated=donated,
        tolerance=tolerances(program),
        first_answers=False,
        schedule=TEXT,
    )


def check_plans(program: Program) -> None:
    """Plan a program, and prove the plan."""
    function, inputs = build(program), make_inputs(program)
    graph, donated = optimize(traced(function, inputs[0])), frozenset(program.donated_numbers)
    check_plan(plan(graph, donated=donated), graph, donated)


@contextmanager
def no_compiler() -> Iterator[None]:
    """Compile nothing in a block."""
    service, given = compiler_service(), compiler_service().submit
    service.submit = lambda kernel, then, *_: Future()  # type: ignore[method-assign]
    try:
        yield
    finally:
        service.submit = given  # type: ignore[method-assign]
        kernel_cache().orphan_unfinished()


TIERS: dict[str, Callable[[Program], None]] = {
    "plans": check_plans,
    "first": check_first,
    "text": check_text,
    "native": check_native,
}
