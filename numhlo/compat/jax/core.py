"""`jax.core`: traced arrays, their types, and programs as jaxprs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numhlo.compat.jax.avals import AbstractValue as AbstractValue
from numhlo.compat.jax.avals import ShapedArray as ShapedArray
from numhlo.compat.jax.avals import get_aval as get_aval
from numhlo.compat.jax.compile_time import ensure_compile_time_eval as ensure_compile_time_eval
from numhlo.compat.jax.late_modules import late as _late
from numhlo.tracer.core.trace import Trace as Trace
from numhlo.tracer.core.trace import Tracer as Tracer
from numhlo.tracer.core.trace import current_trace, outside_traces

__all__ = [
    "AbstractValue", "ParamDict", "ShapedArray", "Trace", "Tracer", "Value", "ensure_compile_time_eval", "eval_context",
    "get_aval", "max_dim", "min_dim", "trace_state_clean",
]  # fmt: skip

Value = Any
ParamDict = dict[str, Any]


@contextmanager
def eval_context() -> Iterator[None]:
    """Run a block as if nothing were being traced."""
    with outside_traces():
        yield


def trace_state_clean() -> bool:
    """Return whether nothing is being traced.

    Examples
    --------
    >>> trace_state_clean()
    True
    """
    return current_trace() is None


def max_dim(x: int, y: int) -> int:
    """Return the greater of two extents.

    Examples
    --------
    >>> max_dim(2, 3)
    3
    """
    return max(x, y)


def min_dim(x: int, y: int) -> int:
    """Return the lesser of two extents.

    Examples
    --------
    >>> min_dim(2, 3)
    2
    """
    return min(x, y)


_JAXPRS = "numhlo.compat.jax.jaxprs"
_HOMES = {
    **dict.fromkeys(
        ["Atom", "ClosedJaxpr", "DropVar", "Jaxpr", "JaxprEqn", "Literal", "Var", "eval_jaxpr", "jaxpr_as_fun",
         "jaxprs_in_params", "new_jaxpr_eqn", "subjaxprs"],
        _JAXPRS,
    ),
    "Primitive": "numhlo.compat.jax.primitives",
    "find_top_trace": "numhlo.compat.jax.trace_states",
    **dict.fromkeys(["mapped_aval", "pytype_aval_mappings",
         "raise_to_shaped", "unmapped_aval", "valid_jaxtype"], "numhlo.compat.jax.avals"),
}  # fmt: skip
"""Names that are loaded when they are first used."""

__getattr__, __dir__ = _late(
    __name__,
    (),
    _HOMES,
    {
        "gensym": "variables of jaxprs are named when they are printed: make a Var",
    },
    __all__,
)
