"""Which transformations a kernel goes through between its text and machine code, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.buffers import callees_of
from numhlo.backend.kernels.read import read_kernel
from numhlo.backend.kernels.reading import UnreadableError
from numhlo.backend.kernels.result_types import DefinedTypes
from numhlo.backend.kernels.text import text_of
from numhlo.backend.kernels.transform.dead_code import eliminate_dead_code
from numhlo.backend.kernels.transform.unrolling import unroll_checked_loops

Transformation = Callable[[ir.Module], bool]
"""Changes a module, and returns whether it did."""

TRANSFORMATIONS: Sequence[Transformation] = (eliminate_dead_code, unroll_checked_loops)


def transform(module: ir.Module, check: Callable[[ir.Module], None] | None = None) -> list[str]:
    """Run all transformations on a module, and return the names of those that changed it.

    Parameters
    ----------
    module : Module
        Changed in place.
    check : callable, optional
        Called with the module before the first transformation, and after each that changed it.
    """
    if check is not None:
        check(module)
    names = []
    for transformation in TRANSFORMATIONS:
        if transformation(module):
            names.append(transformation.__name__)
            if check is not None:
                check(module)
    if names:
        module.callees = callees_of(module.functions)
    return names


def transformed_text(name: str, source: str) -> tuple[str, list[str]]:
    """Return the text of what a kernel is lowered from, and the names of the transformations that changed it.

    A kernel for which the IR has no form is lowered as it is.
    """
    try:
        module = read_kernel(name, source, DefinedTypes())
    except UnreadableError:
        return source, []
    names = transform(module)
    return text_of(module), names
