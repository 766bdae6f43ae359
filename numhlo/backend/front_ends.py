"""What makes LLVM's code of kernel text: direct lowering by way of the kernel IR, or Numba's own front end.

``NUMHLO_FRONT_END`` chooses, to compare the two. It is read once: object code is kept under what it was made by. Direct
lowering leaves to Numba's front end what the kernel IR has no form for; `explain` says which kernels, and why.
"""

from __future__ import annotations

import os
from functools import lru_cache

from numhlo.lowering.ir.errors import ArgumentError

VARIABLE = "NUMHLO_FRONT_END"
DIRECT = "direct"
NUMBA = "numba"
FRONT_ENDS = (DIRECT, NUMBA)
"""The default first."""


@lru_cache(maxsize=1)
def front_end() -> str:
    """Return the front end that this process's kernels go through.

    Raises
    ------
    ArgumentError
        If the variable has another value.
    """
    given = os.environ.get(VARIABLE) or FRONT_ENDS[0]
    if given not in FRONT_ENDS:
        raise ArgumentError(
            f"{VARIABLE} is {given!r}",
            why="it names what makes LLVM's code of kernels",
            fix=f"use one of {', '.join(FRONT_ENDS)}",
        )
    return given
