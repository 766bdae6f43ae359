"""Machine code of functions that users wrote for Numba, made in this process, where their modules and globals are.

Never freed, as Numba never does; so one function and the types of its arrays are compiled once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.errors import NumbaError
from numba.np import numpy_support

from numhlo.backend.compiler.kernel_compiler import function_of_source

_kept: list[Any] = []


def compile_user_function(
    function: Callable[..., Any], arrays: Sequence[tuple[np.dtype, int]], results: int
) -> tuple[int, str]:
    """Return the address of ``void(int64 *numbers, *arrays)``, or 0 and the reason why there is none.

    Parameters
    ----------
    function : callable
        The user's, of arrays; made by `numba.njit`, or plain Python.
    arrays : sequence of (dtype, int)
        Element types and ranks. Their extents follow ``numbers[0]`` in order, at run time.
    results : int
        How many of the arrays, the last ones, are results, which begin as zeros.
    """
    try:
        pointers = [types.CPointer(numpy_support.from_dtype(dtype)) for dtype, _ in arrays]
        dispatcher = function if hasattr(function, "py_func") else numba.njit(function)
        wrapper = function_of_source("user_call", _source([ndim for _, ndim in arrays], results))
        wrapper.__globals__["function"] = dispatcher
        made = numba.cfunc(types.void(types.CPointer(types.int64), *pointers))(wrapper)
    except (NumbaError, NotImplementedError, TypeError) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return 0, f"Numba can't compile {getattr(function, '__name__', 'it')}: {lines[-1].strip()}"
    _kept.append(made)
    return int(made.address), ""


def _source(ranks: Sequence[int], results: int) -> str:
    """Return a function that makes arrays of pointers and calls the user's function.

    Examples
    --------
    >>> print(_source([1, 0], 1))
    from numba import carray
    <BLANKLINE>
    <BLANKLINE>
    def user_call(numbers, p0, p1):
        a0 = carray(p0, (numbers[1],))
        a1 = carray(p1, ())
        a1[...] = 0
        function(a0, a1)
    <BLANKLINE>
    """
    lines, place = [], 1
    for number, rank in enumerate(ranks):
        extents = "".join(f"numbers[{place + k}], " for k in range(rank))
        lines.append(f"a{number} = carray(p{number}, ({extents.rstrip() if rank == 1 else extents.rstrip(', ')}))")
        if number >= len(ranks) - results:
            lines.append(f"a{number}[...] = 0")
        place += rank
    pointers = ", ".join(["numbers", *[f"p{k}" for k in range(len(ranks))]])
    lines.append(f"function({', '.join(f'a{k}' for k in range(len(ranks)))})")
    body = "".join(f"    {line}\n" for line in lines)
    return f"from numba import carray\n\n\ndef user_call({pointers}):\n{body}"
