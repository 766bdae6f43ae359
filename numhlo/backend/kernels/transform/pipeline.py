"""Which transformations a kernel goes through between its text and machine code, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.buffers import buffers_of, callees_of
from numhlo.backend.kernels.transform.dead_code import eliminate_dead_code
from numhlo.backend.kernels.transform.rolling import roll_stores
from numhlo.backend.kernels.transform.unrolling import unroll_checked_loops

Transformation = Callable[[ir.Module], bool]
"""Changes a module, and returns whether it did."""

TRANSFORMATIONS: Sequence[Transformation] = (roll_stores, eliminate_dead_code, unroll_checked_loops)


def transform(module: ir.Module, check: Callable[[ir.Module], None] | None = None) -> ir.Module:
    """Run all transformations on a module, and return it.

    Parameters
    ----------
    module : Module
        Changed in place.
    check : callable, optional
        Called with the module before the first transformation, and after each that changed it.
    """
    if check is not None:
        check(module)
    changed = False
    for transformation in TRANSFORMATIONS:
        if transformation(module):
            changed = True
            if check is not None:
                check(module)
    if changed:
        module.buffers, module.callees = buffers_of(module.functions), callees_of(module.functions)
    return module
