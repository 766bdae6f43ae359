"""`jax.interpreters.partial_eval`: programs as jaxprs, and what of them is known or needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.avals import ShapedArray, get_aval
from numhlo.compat.jax.extend.linear_util import WrappedFun
from numhlo.compat.jax.jaxprs import Jaxpr, Literal, Var, eval_jaxpr
from numhlo.compat.jax.looking import trace_to_jaxpr

__all__ = ["PartialVal", "dce_jaxpr", "trace_to_jaxpr_dynamic", "trace_to_jaxpr_nounits"]


class PartialVal(NamedTuple):
    """A value that is known, or of which only the shape and dtype are.

    Attributes
    ----------
    aval : ShapedArray or None
        None where the value is known.
    const : array or None
    """

    aval: ShapedArray | None
    const: Any

    @classmethod
    def known(cls, const: Any) -> PartialVal:
        """Return a value that is known."""
        return cls(None, const)

    @classmethod
    def unknown(cls, aval: Any) -> PartialVal:
        """Return a value of which only the shape and dtype are known."""
        return cls(ShapedArray(aval.shape, aval.dtype, getattr(aval, "weak_type", False)), None)

    def is_known(self) -> bool:
        """Return whether the value is known."""
        return self.aval is None

    def get_known(self) -> Any:
        """Return the value, or None."""
        return self.const if self.is_known() else None

    def get_aval(self) -> ShapedArray:
        """Return the shape and dtype."""
        return get_aval(self.const) if self.aval is None else self.aval


def trace_to_jaxpr_dynamic(
    fun: WrappedFun, in_avals: Sequence[Any], **options: Any
) -> tuple[Jaxpr, list[ShapedArray], list[Any]]:
    """Return a flat function's program, its results' shapes and dtypes, and the program's constants.

    Parameters
    ----------
    fun : WrappedFun
        Takes arrays; returns a sequence of arrays.
    in_avals : sequence of ShapedArray
    **options
        JAX's, without meaning here.
    """
    closed, _, avals = trace_to_jaxpr(lambda arrays: list(fun.call_wrapped(*arrays)), in_avals)
    return closed.jaxpr, avals, closed.consts


def trace_to_jaxpr_nounits(
    fun: WrappedFun, pvals: Sequence[PartialVal], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[PartialVal], list[Any]]:
    """Return the program of the results that depend on what is not known, and the others' values.

    Parameters
    ----------
    fun : WrappedFun
        Takes arrays; returns a sequence of arrays.
    pvals : sequence of PartialVal
    instantiate : bool or sequence of bool, optional
        Which results are the program's in any case.

    Returns
    -------
    jaxpr, results, constants
        The program takes constants, then arguments that are not known; it gives the results that are not known.
    """
    unknown = [p.aval for p in pvals if not p.is_known()]

    def run(arrays: Sequence[Any]) -> list[Any]:
        rest = iter(arrays)
        return list(fun.call_wrapped(*[p.const if p.is_known() else next(rest) for p in pvals]))

    closed, _, avals = trace_to_jaxpr(run, unknown)
    jaxpr = closed.jaxpr
    depends = _dependent(jaxpr)
    flags = [instantiate] * len(avals) if isinstance(instantiate, bool) else list(instantiate)
    staged = [flag or (isinstance(v, Var) and v in depends) for v, flag in zip(jaxpr.outvars, flags, strict=True)]
    known = _values_of(jaxpr, closed.consts, [v for v, s in zip(jaxpr.outvars, staged, strict=True) if not s])
    rest = iter(known)
    results = [
        PartialVal.unknown(aval) if s else PartialVal.known(next(rest)) for aval, s in zip(avals, staged, strict=True)
    ]
    kept, _ = dce_jaxpr(jaxpr, staged, instantiate=True)
    flat = kept.replace(invars=[*kept.constvars, *kept.invars], constvars=[])
    return flat, results, [c for c, v in zip(closed.consts, jaxpr.constvars, strict=True) if v in set(kept.constvars)]


def _dependent(jaxpr: Jaxpr) -> set[Var]:
    """Return the variables that depend on arguments."""
    found = set(jaxpr.invars)
    for equation in jaxpr.eqns:
        if any(isinstance(v, Var) and v in found for v in equation.invars):
            found.update(equation.outvars)
    return found


def _values_of(jaxpr: Jaxpr, consts: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
    """Return the values of variables that depend on no argument."""
    part, _ = dce_jaxpr(jaxpr.replace(outvars=list(wanted)), [True] * len(wanted))
    kept = set(part.constvars)
    given = [c for c, v in zip(consts, jaxpr.constvars, strict=True) if v in kept]
    return eval_jaxpr(part, given)


def dce_jaxpr(
    jaxpr: Jaxpr, used_outputs: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[Jaxpr, list[bool]]:
    """Return a program without what some of its results don't need, and which arguments are left.

    Parameters
    ----------
    jaxpr : Jaxpr
    used_outputs : sequence of bool
        Which results are needed.
    instantiate : bool or sequence of bool, optional
        Which arguments stay in any case.
    """
    results = [v for v, flag in zip(jaxpr.outvars, used_outputs, strict=True) if flag]
    needed = {v for v in results if not isinstance(v, Literal)}
    equations = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(v in needed for v in equation.outvars):
            equations.append(equation)
            needed.update(v for v in equation.invars if not isinstance(v, Literal))
    flags = [instantiate] * len(jaxpr.invars) if isinstance(instantiate, bool) else list(instantiate)
    used = [flag or v in needed for v, flag in zip(jaxpr.invars, flags, strict=True)]
    kept = jaxpr.replace(
        constvars=[v for v in jaxpr.constvars if v in needed],
        invars=[v for v, flag in zip(jaxpr.invars, used, strict=True) if flag],
        outvars=results,
        eqns=equations[::-1],
    )
    return kept, used


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, {})
