"""What a ``custom_call`` of a user's kernel refers to: a function on arrays that writes its results.

Its ``backend_config`` is a string that also holds the function, so the text of a program is legal, and the function
lives as long as the programs that use it. Here it is run as a Python function; the backend calls its machine code.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import TensorType
from numhlo.lowering.ir.errors import UnsupportedError
from numhlo.lowering.ops.custom_calls import register_custom_call
from numhlo.lowering.ops.primitive import RESULT_TYPES

TARGET = "numhlo.kernel"

_numbers = itertools.count()


class UserKernel(str):
    """The ``backend_config`` of a user's kernel: a unique string that holds its function.

    Attributes
    ----------
    function : callable
        ``function(*inputs, *results)`` fills in the results.
    """

    __slots__ = ("function",)
    function: Callable[..., Any]

    @classmethod
    def of(cls, function: Callable[..., Any]) -> UserKernel:
        """Return a name of a function."""
        made = cls(f"{getattr(function, '__name__', type(function).__name__)}, kernel {next(_numbers)}")
        made.function = function
        return made


def run_user_kernel(
    function: Callable[..., Any], arrays: Sequence[np.ndarray], types: Sequence[TensorType]
) -> list[np.ndarray]:
    """Return the results of a kernel, called as a Python function; zeros where it writes nothing."""
    results = [np.zeros(t.shape, t.dtype) for t in types]
    function(*[np.array(x) for x in arrays], *results)  # copies: it might write into them
    return results


def _run(arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]) -> Sequence[np.ndarray]:
    name = attributes["backend_config"]
    if not isinstance(name, UserKernel):
        raise UnsupportedError(
            f"a call of the kernel {name!r}",
            why="the program was read from text, which does not hold the function",
            fix="run the program from the function that it was traced from",
        )
    return run_user_kernel(name.function, arrays, attributes[RESULT_TYPES])


register_custom_call(TARGET, _run)
