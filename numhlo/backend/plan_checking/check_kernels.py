"""`check_kernels`: kernels have well formed IR, as they are written and after each of their transformations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial

from numhlo.backend.kernels.result_types import DefinedTypes
from numhlo.backend.kernels.transform.pipeline import transform
from numhlo.backend.kernels.verify import verify
from numhlo.backend.plan_checking.effects import ir_of
from numhlo.backend.program import Kernel


def check_kernels(kernels: Iterable[Kernel]) -> None:
    """Verify the IR of kernels.

    Raises
    ------
    MalformedKernelError
        If a rule is broken; the message names the rule, the function and the line.
    UnreadableError
        If the IR has no form for a kernel.
    """
    try:
        for kernel in kernels:
            _check(kernel)
    finally:
        ir_of.cache_clear()  # transformations changed what it has; proofs are of kernels as written


@lru_cache(maxsize=8192)
def _check(kernel: Kernel) -> None:
    transform(ir_of(kernel), partial(verify, typing=DefinedTypes()))
