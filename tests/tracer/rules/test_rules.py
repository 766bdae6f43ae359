"""Every batching and derivative rule, on random shapes, axes and attributes.

`vmap` is compared with a loop over examples, forward mode with central differences in float64 and with JAX, reverse
mode with forward mode, and `vmap` of reverse mode with a loop again. ``--hypothesis-profile=many`` runs many examples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis
import jax
import numpy as np
import pytest
from hypothesis import strategies as st

import numhlo
from numhlo import lax
from numhlo.lowering.ir import Region
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.annotations import ANNOTATIONS
from numhlo.lowering.ops.cumulative import COMBINERS
from numhlo.lowering.ops.loops import inner_bodies
from numhlo.lowering.ops.special import FUNCTIONS
from numhlo.tracer.differentiation.elementwise import SPECIAL_DERIVATIVES
from numhlo.tracer.differentiation.factorizations import FACTOR_DERIVATIVES
from numhlo.tracer.differentiation.special_functions import PARTIALS
from tests.architecture import op_table
from tests.tracer.rules import rule_cases, rule_cases_composites, rule_cases_structured
from tests.tracer.rules.rule_cases import Program

pytestmark = pytest.mark.slow

CASES = {**rule_cases.CASES, **rule_cases_structured.CASES, **rule_cases_composites.CASES}
RULED = (SPECIAL_DERIVATIVES, FACTOR_DERIVATIVES, PARTIALS, COMBINERS, FUNCTIONS, ("scan", "map"))
"""Tables whose keys are composites with rules, without their namespace."""
LANES = 2


def outputs(result: Any) -> list[np.ndarray]:
    return [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]


def is_float(x: Any) -> bool:
    return np.asarray(x).dtype.kind in "fc"


def inner(xs: Any, ys: Any) -> Any:
    """Return the sum of products, without conjugation, as transposes have it."""
    return sum(np.sum(np.asarray(x) * np.asarray(y)) for x, y in zip(xs, ys, strict=True))


def close(ours: Any, expected: Any, tolerance: float, what: str) -> None:
    for a, b in zip(ours, expected, strict=True):
        scale = max(1.0, np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * scale, err_msg=what)


def of_moving(program: Program, namespace: Any, arrays: list[Any]) -> Callable[..., tuple[Any, ...]]:
    """Return the program as a function of its moving arguments, that returns its floats."""
    fun = program.fun(namespace)

    def moved(*given: Any) -> tuple[Any, ...]:
        filled = list(arrays)
        for k, x in zip(program.moving, given, strict=True):
            filled[k] = x
        result = fun(*filled)
        return tuple(x for x in (result if isinstance(result, tuple) else (result,)) if x.dtype.kind in "fc")

    return moved


def check_lanes(program: Program, rng: np.random.Generator, mapped: list[bool]) -> None:
    rows = [[s(rng) for s in program.samplers] for _ in range(LANES)]
    chosen = [[row[j] if m else rows[0][j] for j, m in enumerate(mapped)] for row in rows]
    given = [np.stack([row[j] for row in rows]) if m else rows[0][j] for j, m in enumerate(mapped)]
    axes = tuple(0 if m else None for m in mapped)

    def pulled(*arrays: Any) -> tuple[Any, ...]:
        moved = of_moving(program, lax, list(arrays))
        results, pull = numhlo.vjp(moved, *[arrays[k] for k in program.moving])
        return pull(tuple(2 * y for y in results))

    for fun in (program.fun(lax), *([pulled] if program.moving else [])):
        loop = [outputs(fun(*row)) for row in chosen]
        expected = [np.stack(column) for column in zip(*loop, strict=True)]
        found = outputs(numhlo.vmap(fun, axes)(*given))
        assert [x.dtype for x in found] == [x.dtype for x in expected]
        close(found, expected, 1e-12, f"vmap of {fun.__name__}")


def check_derivatives(program: Program, rng: np.random.Generator, against_jax: bool) -> None:
    arrays = [s(rng) for s in program.samplers]
    points = [arrays[k] for k in program.moving]
    directions = [rule_cases.normal(x.shape, x.dtype)(rng) for x in points]
    fun = of_moving(program, lax, arrays)
    results, tangents = numhlo.jvp(fun, points, directions)
    _, pull = numhlo.vjp(fun, *points)
    cotangents = [rule_cases.normal(y.shape, y.dtype)(rng) for y in results]
    gradients = pull(tuple(cotangents))
    assert all(g.shape == x.shape and g.dtype == x.dtype for g, x in zip(gradients, points, strict=True))
    forward, backward = np.real(inner(cotangents, tangents)), np.real(inner(gradients, directions))
    close([backward], [forward], 1e-9, "reverse mode against forward mode")
    if program.smooth:
        check_differences(fun, points, directions, tangents, "forward mode")
    if program.smooth and program.second:
        gradient = lambda *x: numhlo.vjp(fun, *x)[1](tuple(cotangents))
        second = numhlo.jvp(gradient, points, directions)[1]
        check_differences(gradient, points, directions, second, "second derivatives")
    if program.jax and (against_jax or not program.smooth):
        theirs = of_moving(program, jax.lax, arrays)
        expected, slopes = jax.jvp(theirs, tuple(points), tuple(directions))
        close(results, expected, 1e-10, "values against JAX")
        close(tangents, slopes, 1e-8, "forward mode against JAX")
        close(gradients, jax.vjp(theirs, *points)[1](tuple(cotangents)), 1e-8, "reverse mode against JAX")


def check_differences(fun: Any, points: Any, directions: Any, slopes: Any, what: str) -> None:
    step = 1e-5
    near = [outputs(fun(*[x + s * step * d for x, d in zip(points, directions, strict=True)])) for s in (1, -1)]
    differences = [(a - b) / (2 * step) for a, b in zip(*near, strict=True)]
    close(slopes, differences, 1e-5, f"{what} against differences")


def check(name: str, data: Any, against_jax: bool) -> None:
    program = CASES[name](data.draw)
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 20), label="seed"))
    mapped = [data.draw(st.booleans()) for _ in program.samplers]
    if not any(mapped):
        mapped[data.draw(st.integers(0, len(mapped) - 1))] = True
    check_lanes(program, rng, mapped)
    if program.moving:
        check_derivatives(program, rng, against_jax)


@pytest.mark.parametrize("name", CASES)
def test_rules(name: str) -> None:
    many = hypothesis.settings.get_current_profile_name() == "many"

    @hypothesis.given(st.data())
    @hypothesis.settings(max_examples=150 if many else 2)
    def run(data: Any) -> None:
        check(name, data, many)

    run()


ELSEWHERE = {
    "numhlo.checkpoint_name": "tests/tracer/transformations/test_checkpoints.py",
    "numhlo.schur": "tests/tracer/differentiation/test_matrix_derivatives.py",
    "custom_call": "tests/library/lax/test_callbacks.py, test_collectives.py, test_matrix_derivatives.py",
    "rng": "tests/library/lax/test_builder_operations.py",
    "select_and_scatter": "tests/library/lax/test_builder_operations.py, tests/test_stablehlo_networks.py",
}
"""Ops and composites that no case has, and where their rules are tested."""


def ops_in(body: Region) -> set[str]:
    """Return the names of the ops and composites in a body, in the bodies in it, and in those of loops."""
    found = {op.definition.name for op in body.ops}
    found.update(op.attributes["name"] for op in body.ops if op.definition is control_flow.COMPOSITE)
    bodies = [inner for op in body.ops for inner in (*op.regions, *inner_bodies(op))]
    return found.union(*map(ops_in, bodies))


def test_every_op_with_a_rule_has_a_case() -> None:
    found: set[str] = set()

    def trace(name: str) -> None:
        @hypothesis.given(st.data())
        @hypothesis.settings(max_examples=1, deadline=None, database=None, derandomize=True)
        def run(data: Any) -> None:
            program = CASES[name](data.draw)
            arrays = [s(np.random.default_rng(0)) for s in program.samplers]
            found.update(ops_in(numhlo.jit(program.fun(lax)).trace(*arrays).module.main.body))

        run()

    for name in CASES:
        trace(name)
    tables = op_table.aspects()
    ops = {p.name for p in op_table.primitives()}
    ruled = set().union(*(ops - op_table.missing(tables[a]) for a in ("batch", "differentiate", "transpose")))
    ruled |= {f"numhlo.{name}" for table in RULED for name in table} | set(ANNOTATIONS)
    missing = " ".join(sorted(ruled - found))
    assert missing == " ".join(sorted(ELSEWHERE))
