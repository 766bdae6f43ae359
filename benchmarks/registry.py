"""All programs. A new file in `benchmarks.programs` is added here."""

from __future__ import annotations

from benchmarks.program import Program
from benchmarks.programs import (
    black_scholes,
    dispatch,
    dynamic_programming,
    element_loops,
    elementwise_chain,
    gauss_seidel,
    indexed_loops,
    k_means,
    lanes,
    layer_norm,
    mandelbrot,
    mlp_forward,
    n_body,
    polynomial,
    recurrences,
    reductions,
    softmax,
    stacks_and_queues,
    stencil,
)

MODULES = (
    black_scholes,
    dispatch,
    dynamic_programming,
    element_loops,
    elementwise_chain,
    gauss_seidel,
    indexed_loops,
    k_means,
    lanes,
    layer_norm,
    mandelbrot,
    mlp_forward,
    n_body,
    polynomial,
    recurrences,
    reductions,
    softmax,
    stacks_and_queues,
    stencil,
)


def all_programs() -> list[Program]:
    """Return every program, in the order of the modules' names."""
    return [p for module in MODULES for p in module.PROGRAMS]


def program(name: str) -> Program:
    """Return one program.

    Raises
    ------
    KeyError
        If there is none of that name.
    """
    return {p.name: p for p in all_programs()}[name]
