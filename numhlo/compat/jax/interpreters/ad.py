"""`jax.interpreters.ad`: rules of derivatives of `Primitive`s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numhlo.compat.jax.absent_names import raise_absent as _raise_absent
from numhlo.compat.jax.linear_values import UndefinedPrimal as UndefinedPrimal
from numhlo.compat.jax.linear_values import Zero as Zero
from numhlo.compat.jax.linear_values import add_any
from numhlo.compat.jax.linear_values import instantiate_zeros as instantiate_zeros
from numhlo.compat.jax.linear_values import is_undefined_primal as is_undefined_primal
from numhlo.compat.jax.linear_values import zeros_of_aval as zeros_like_aval
from numhlo.compat.jax.primitive_rules import primitive_jvps as primitive_jvps
from numhlo.compat.jax.primitive_rules import primitive_transposes as primitive_transposes
from numhlo.compat.jax.primitives import Primitive
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Op, TensorType
from numhlo.lowering.ops.annotations import STOP_GRADIENT
from numhlo.tracer.core.trace import Trace, Tracer
from numhlo.tracer.differentiation.table import is_differentiable

__all__ = [
    "JVPTracer", "UndefinedPrimal",
    "Zero",
    "add_tangents",
    "bilinear_transpose",
    "defbilinear",
    "defjvp",
    "defjvp2",
    "deflinear",
    "deflinear2",
    "instantiate_zeros",
    "is_undefined_primal",
    "primitive_jvps",
    "primitive_transposes",
    "zeros_like_aval",
]  # fmt: skip

add_tangents = add_any


def _sum_of(tangents: list[Any], result: Any) -> Any:
    total: Any = Zero.from_primal_value(result)
    for tangent in tangents:
        total = add_any(total, tangent)
    return total


def deflinear(primitive: Primitive, transpose_rule: Callable[..., Any]) -> None:
    """Say that a primitive is linear in its operands together.

    Parameters
    ----------
    primitive : Primitive
    transpose_rule : callable
        ``rule(cotangents, **params) -> cotangents of the operands``.
    """
    deflinear2(primitive, lambda cts, *args, **params: transpose_rule(cts, **params))


def deflinear2(primitive: Primitive, transpose_rule: Callable[..., Any]) -> None:
    """Say that a primitive is linear in its operands together.

    Parameters
    ----------
    primitive : Primitive
    transpose_rule : callable
        ``rule(cotangents, *args, **params) -> cotangents of the operands``.
    """

    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        result = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            zero = Zero.from_primal_value
            return result, [zero(x) for x in result] if primitive.multiple_results else zero(result)
        return result, primitive.bind(*map(instantiate_zeros, tangents), **params)

    def transpose(cts: Any, *args: Any, **params: Any) -> Any:
        given = list(cts) if primitive.multiple_results else [cts]
        if all(type(c) is Zero for c in given):
            return [Zero(x.aval) if is_undefined_primal(x) else None for x in args]
        made = [instantiate_zeros(c) for c in given]
        return transpose_rule(made if primitive.multiple_results else made[0], *args, **params)

    primitive_jvps[primitive] = jvp
    primitive_transposes[primitive] = transpose


def defjvp(primitive: Primitive, *rules: Callable[..., Any] | None) -> None:
    """Set a rule for each operand; the result's tangent is their sum.

    Parameters
    ----------
    primitive : Primitive
    *rules : callable or None
        ``rule(tangent, *primals, **params) -> tangent of the result``.
    """
    defjvp2(primitive, *[None if r is None else _without_answer(r) for r in rules])


def _without_answer(rule: Callable[..., Any]) -> Callable[..., Any]:
    return lambda tangent, answer, *primals, **params: rule(tangent, *primals, **params)


def defjvp2(primitive: Primitive, *rules: Callable[..., Any] | None) -> None:
    """Set a rule for each operand, which also gets the result.

    Parameters
    ----------
    primitive : Primitive
    *rules : callable or None
        ``rule(tangent, answer, *primals, **params) -> tangent of the result``.
    """

    def jvp(primals: Any, tangents: Any, **params: Any) -> Any:
        answer = primitive.bind(*primals, **params)
        pairs = zip(rules, tangents, strict=True)
        moved = [r(t, answer, *primals, **params) for r, t in pairs if r is not None and type(t) is not Zero]
        return answer, _sum_of(moved, answer)

    primitive_jvps[primitive] = jvp


def defbilinear(primitive: Primitive, lhs_rule: Callable[..., Any], rhs_rule: Callable[..., Any]) -> None:
    """Say that a primitive is linear in each of two operands.

    Parameters
    ----------
    primitive : Primitive
    lhs_rule, rhs_rule : callable
        ``lhs_rule(cotangent, x, y, **params) ->`` the cotangent of ``x``, and of ``y``.
    """
    defjvp(
        primitive,
        lambda t, x, y, **params: primitive.bind(t, y, **params),
        lambda t, x, y, **params: primitive.bind(x, t, **params),
    )
    primitive_transposes[primitive] = lambda ct, x, y, **params: bilinear_transpose(
        lhs_rule, rhs_rule, ct, x, y, **params
    )


def bilinear_transpose(
    lhs_rule: Callable[..., Any], rhs_rule: Callable[..., Any], cotangent: Any, x: Any, y: Any, **params: Any
) -> tuple[Any, Any]:
    """Return the cotangents of two operands, of which the function is linear in one."""
    if is_undefined_primal(x) == is_undefined_primal(y):
        raise TypeError("a bilinear function is transposed in one of its operands")
    first = is_undefined_primal(x)
    if type(cotangent) is Zero:
        return (Zero(x.aval), None) if first else (None, Zero(y.aval))
    return (lhs_rule(cotangent, x, y, **params), None) if first else (None, rhs_rule(cotangent, x, y, **params))


class _JvpTracers(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tracer) and depends_on_arguments(instance)


class JVPTracer(metaclass=_JvpTracers):
    """A class whose instances are traced arrays that have a tangent where the function is differentiated."""


def depends_on_arguments(x: Tracer) -> bool:
    """Return whether a traced array has a derivative by the arguments of the function that is being traced."""
    trace, value = x.home, x.value()
    arguments = set(trace.region.arguments[: len(trace.region.arguments) - len(trace.captures)])
    seen, waiting = {value}, [value]
    while waiting:
        value = waiting.pop()
        if not isinstance(value.type, TensorType) or not is_differentiable(value.tensor.dtype):
            continue
        if value in arguments:
            return True
        op = value.owner
        if not isinstance(op, Op) or op.attributes.get("name") == STOP_GRADIENT.name:
            continue
        for operand in (*op.operands, *(free_values(op) if op.regions else ())):
            if operand not in seen:
                seen.add(operand)
                waiting.append(operand)
    return False


# what JAX's traced arrays tell of the trace that they belong to
Tracer._trace = property(lambda x: x.home)  # type: ignore[attr-defined]
Trace.main = property(lambda trace: trace)  # type: ignore[attr-defined]


def __getattr__(name: str) -> object:
    _raise_absent(__name__, name, {"JVPTrace": "derivatives are taken of whole programs, once they are traced"})
