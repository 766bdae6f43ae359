"""`check_kernels`: kernels have well formed IR, as they are written and after each of their transformations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache, partial

from numhlo.backend.kernels.read import read_kernel
from numhlo.backend.kernels.reading import UnreadableError
from numhlo.backend.kernels.result_types import DefinedTypes
from numhlo.backend.kernels.transform.pipeline import transform
from numhlo.backend.kernels.verify import verify
from numhlo.backend.program import Kernel


def check_kernels(kernels: Iterable[Kernel]) -> None:
    """Verify the IR of kernels, but of those that it has no form for.

    Raises
    ------
    MalformedKernelError
        If a rule is broken; the message names the rule, the function and the line.
    """
    for kernel in kernels:
        _check(kernel.name, kernel.source)


@lru_cache(maxsize=8192)
def _check(name: str, source: str) -> None:
    types = DefinedTypes()
    try:
        module = read_kernel(name, source, types)
    except UnreadableError:
        return
    transform(module, partial(verify, typing=types))
