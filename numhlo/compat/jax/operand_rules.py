"""What stands on the other side of an array's operators: arrays and numbers; what is neither is refused, as in JAX.

Lists and their like are refused even where Python's own operators would take the array for a number, an object with
``__jax_array__`` stands for its array, and anything else is asked for its own operator, as Python does it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from numhlo.compat.jax.refusals import raise_as_jax
from numhlo.tracer.core.operands import SEQUENCES
from numhlo.tracer.core.trace import Tracer

SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "divmod": "divmod()", "pow": "**",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "matmul": "@",
}  # fmt: skip
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}

TAKEN = frozenset({bool, int, float, complex, np.ndarray, Tracer})
"""Classes of what nearly all operands are, beside arrays under JAX's names."""

REFUSED = (*SEQUENCES, set, dict)


def among_arrays(sign: str, operator: Callable[[Any, Any], Any], reflected: bool = False) -> Callable[[Any, Any], Any]:
    """Return an operator of arrays that takes arrays and numbers alone.

    Parameters
    ----------
    sign : str
        How it is written, for errors.
    operator : callable
    reflected : bool, optional
        Whether the array stands on its right.

    Returns
    -------
    callable
        Gives NotImplemented for what may have an operator of its own.
    """

    @functools.wraps(operator)
    def public(self: Any, other: Any) -> Any:
        kind = type(other)
        if kind in TAKEN or kind is type(self):
            try:
                return operator(self, other)
            except ValueError as error:  # shapes that do not fit: a TypeError in JAX
                raise_as_jax(error)
        if hasattr(kind, "__jax_array__"):
            return operator(self, other.__jax_array__())
        if isinstance(other, REFUSED):
            names = [type(self).__name__, kind.__name__][:: -1 if reflected else 1]
            raise TypeError(f"unsupported operand type(s) for {sign}: {names[0]!r} and {names[1]!r}")
        is_number = isinstance(other, np.ndarray | np.generic | bool | int | float | complex)
        return operator(self, other) if is_number and not isinstance(other, str | bytes) else NotImplemented

    return public


def refuse_others(cls: type) -> None:
    """Let a class's operators take arrays and numbers alone."""
    for name, sign in SIGNS.items():
        setattr(cls, f"__{name}__", among_arrays(sign, getattr(cls, f"__{name}__")))
        setattr(cls, f"__r{name}__", among_arrays(sign, getattr(cls, f"__r{name}__"), reflected=True))
    for name, sign in COMPARISONS.items():
        setattr(cls, f"__{name}__", among_arrays(sign, getattr(cls, f"__{name}__")))
