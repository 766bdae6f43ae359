"""`jax.interpreters.mlir`: what `Primitive`s are lowered to.

Rules are given traced arrays where JAX's get MLIR's values. So ``mlir.lower_fun`` makes a rule of any function; a rule
that builds operations of MLIR's has nothing to build them with, and fails where it imports `jaxlib.mlir`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.callbacks import pure_callback
from numhlo.compat.jax.primitive_rules import LOWERINGS, LoweringContext, ModuleContext
from numhlo.compat.jax.primitives import Primitive
from numhlo.library.lax.callbacks import io_callback
from numhlo.tracer.core.arguments import ShapeDtypeStruct

__all__ = ["LoweringRuleContext", "ModuleContext", "emit_python_callback", "lower_fun", "register_lowering"]

LoweringRuleContext = LoweringContext


def register_lowering(
    prim: Primitive, rule: Callable[..., Any], platform: str | None = None, inline: bool = True, cacheable: bool = True
) -> Callable[..., Any]:
    """Set what a primitive is lowered to.

    Parameters
    ----------
    prim : Primitive
    rule : callable
        ``rule(context, *arrays, **params) -> arrays``.
    platform : str, optional
        Rules of other platforms than ``"cpu"`` are not taken.
    inline, cacheable : bool, optional
        Accepted: callees are inlined by their size.

    Returns
    -------
    callable
        The rule.
    """
    if platform in (None, "cpu"):
        LOWERINGS[prim] = rule
    return rule


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> Callable[..., Any]:
    """Return the lowering rule of what a function computes.

    Parameters
    ----------
    fun : callable
        ``fun(*arrays, **params)``.
    multiple_results : bool, optional
        It returns a sequence.

    Returns
    -------
    callable
    """

    def rule(context: LoweringContext, *values: Any, **params: Any) -> list[Any]:
        made = fun(*values, **params)
        return list(made) if multiple_results else [made]

    return rule


def emit_python_callback(  # noqa: PLR0913 - JAX's
    ctx: LoweringContext,
    callback: Callable[..., Any],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[Any],
    result_avals: Sequence[Any],
    *,
    has_side_effect: bool,
    returns_token: bool = False,
    partitioned: bool = False,
    sharding: Any = None,
) -> tuple[list[Any], Any, Any]:
    """Call a Python function when the program runs.

    Parameters
    ----------
    ctx : LoweringContext
    callback : callable
        Takes and returns arrays, the results in a sequence.
    token : None
    operands : sequence of array
    operand_avals, result_avals : sequence of ShapedArray
    has_side_effect : bool
    returns_token, partitioned, sharding : optional
        Accepted: there is one device.

    Returns
    -------
    results, token, keepalive
    """
    types = [ShapeDtypeStruct(a.shape, a.dtype) for a in result_avals]
    if has_side_effect:
        return list(io_callback(lambda *arrays: list(callback(*arrays)), types, *operands)), token, None
    found = pure_callback(lambda *arrays: list(callback(*arrays)), types, *operands, vmap_method="sequential")
    return list(found), token, None


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, {"ir": "programs are built without MLIR; use lower_fun"})
