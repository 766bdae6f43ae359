"""Machine code of functions that users wrote for Numba, made in this process, where their modules and globals are.

Never freed, as Numba never does; so one function and the types of its arrays are compiled once. What a function raises
ends the call: it is called again from Python, where what it raises can be kept.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.np import numpy_support

from numhlo.backend.call_errors import keep_error
from numhlo.backend.compiler.kernel_compiler import function_of_source
from numhlo.lowering.ir.errors import InternalError

_kept: list[Any] = []


def compile_user_function(
    function: Callable[..., Any], arrays: Sequence[tuple[np.dtype, int]], results: int
) -> tuple[int, str]:
    """Return the address of ``int64(ctx, int64 *numbers, *arrays)``, or 0 and the reason why there is none.

    What is there returns whether the function raised; the exception is in the context then, whose status says so.

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
        wrapper.__globals__["raised"] = raised = _reporter(dispatcher, arrays, results)
        signature = types.int64(types.int64, types.CPointer(types.int64), *pointers)
        made = numba.cfunc(signature)(wrapper)
    except Exception as error:  # noqa: BLE001 - whatever Numba can't do: the function runs as Python
        lines = str(error).strip().splitlines() or [type(error).__name__]
        return 0, f"Numba can't compile {getattr(function, '__name__', 'it')}: {lines[-1].strip()}"
    _kept.extend([made, raised])
    return int(made.address), ""


def _source(ranks: Sequence[int], results: int) -> str:
    """Return a function that makes arrays of pointers and calls the user's function.

    Examples
    --------
    >>> print(_source([1, 0], 1))
    from numba import carray
    <BLANKLINE>
    <BLANKLINE>
    def user_call(ctx, numbers, p0, p1):
        a0 = carray(p0, (numbers[1],))
        a1 = carray(p1, ())
        a1[...] = 0
        try:
            function(a0, a1)
        except Exception:
            raised(ctx, a0.ctypes.data, numbers[1], a1.ctypes.data)
            return 1
        return 0
    <BLANKLINE>
    """
    lines, words, place = [], ["ctx"], 1
    for number, rank in enumerate(ranks):
        extents = [f"numbers[{place + k}]" for k in range(rank)]
        lines.append(f"a{number} = carray(p{number}, ({', '.join(extents)}{',' if rank == 1 else ''}))")
        if number >= len(ranks) - results:
            lines.append(f"a{number}[...] = 0")
        words += [f"a{number}.ctypes.data", *extents]
        place += rank
    pointers = ", ".join(["ctx", "numbers", *[f"p{k}" for k in range(len(ranks))]])
    lines += ["try:", f"    function({', '.join(f'a{k}' for k in range(len(ranks)))})", "except Exception:"]
    lines += [f"    raised({', '.join(words)})", "    return 1", "return 0"]
    body = "".join(f"    {line}\n" for line in lines)
    return f"from numba import carray\n\n\ndef user_call({pointers}):\n{body}"


def _reporter(function: Callable[..., Any], arrays: Sequence[tuple[np.dtype, int]], results: int) -> Any:
    """Return a C function that calls the user's once more, from Python, and keeps what it raises in the context."""

    def report(ctx: int, *words: int) -> None:
        try:
            values, rest = [], list(words)
            for number, (dtype, rank) in enumerate(arrays):
                address, shape = rest[0], rest[1 : 1 + rank]
                rest = rest[1 + rank :]
                if number < len(arrays) - results:
                    count = int(np.prod(shape)) * dtype.itemsize
                    values.append(np.frombuffer(ctypes.string_at(address, count), dtype).reshape(shape).copy())
                else:
                    values.append(np.zeros(shape, dtype))
            function(*values)
            name = getattr(function, "__name__", "a user's kernel")
            raise InternalError(f"{name} raised, and did not when it was called again", fix="let it have no state")
        except BaseException as error:  # noqa: BLE001 - whatever it is, the caller of the program gets it
            keep_error(ctx, error)

    count = 1 + sum(1 + rank for _, rank in arrays)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * count)(report)
