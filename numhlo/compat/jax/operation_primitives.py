"""Primitives of JAX's own operations, such as `lax.sin_p`: what equations of jaxprs name, and what they do when bound.

Each is bound by calling the function of `lax` that does the same. An operation of StableHLO that no primitive of JAX's
stands for is an equation of its own, ``stablehlo.`` and its name, which holds it as a parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from numhlo.compat.jax import lax
from numhlo.compat.jax.arrays import immutably
from numhlo.compat.jax.jaxprs import ClosedJaxpr, eval_jaxpr
from numhlo.compat.jax.primitives import Primitive
from numhlo.compat.jax.structured_primitives import FUNCTIONS
from numhlo.compat.jax.transformations import jit
from numhlo.lowering.interpreter import free_values
from numhlo.tracer.core.jax_types import HALVES, setting, settings
from numhlo.tracer.core.operands import asarray, convert
from numhlo.tracer.core.replay import replay_op

ELEMENTWISE = {
    "abs": "abs", "acos": "acos", "acosh": "acosh", "add": "add", "and": "bitwise_and", "asin": "asin",
    "asinh": "asinh", "atan": "atan", "atan2": "atan2", "atanh": "atanh", "bessel_i0e": "bessel_i0e",
    "bessel_i1e": "bessel_i1e", "cbrt": "cbrt", "ceil": "ceil", "clamp": "clamp", "clz": "clz", "complex": "complex",
    "conj": "conj", "cos": "cos", "cosh": "cosh", "digamma": "digamma", "div": "div", "eq": "eq", "erf": "erf",
    "erf_inv": "erf_inv", "erfc": "erfc", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "floor": "floor", "ge": "ge",
    "gt": "gt", "igamma": "igamma", "igammac": "igammac", "imag": "imag", "is_finite": "is_finite", "le": "le",
    "lgamma": "lgamma", "log": "log", "log1p": "log1p", "logistic": "logistic", "lt": "lt", "max": "max", "min": "min",
    "mul": "mul", "ne": "ne", "neg": "neg", "nextafter": "nextafter", "not": "bitwise_not", "or": "bitwise_or",
    "polygamma": "polygamma", "population_count": "population_count", "pow": "pow", "real": "real",
    "regularized_incomplete_beta": "betainc", "rem": "rem", "rsqrt": "rsqrt", "select_n": "select_n",
    "shift_left": "shift_left", "shift_right_arithmetic": "shift_right_arithmetic",
    "shift_right_logical": "shift_right_logical", "sign": "sign", "sin": "sin", "sinh": "sinh", "sqrt": "sqrt",
    "square": "square", "stop_gradient": "stop_gradient", "sub": "sub", "tan": "tan", "tanh": "tanh",
    "xor": "bitwise_xor", "zeta": "zeta",
}  # fmt: skip
"""By primitive, the function of `lax` that takes its operands; what the parameters say is in the operands' types."""

PARAMETERS = {
    "argmax": ("argmax", "axis:axes.0 index_dtype"),
    "argmin": ("argmin", "axis:axes.0 index_dtype"),
    "bitcast_convert_type": ("bitcast_convert_type", "new_dtype"),
    "broadcast_in_dim": ("broadcast_in_dim", "shape broadcast_dimensions"),
    "convert_element_type": ("convert_element_type", "new_dtype"),
    "cumlogsumexp": ("cumlogsumexp", "axis reverse"),
    "cummax": ("cummax", "axis reverse"),
    "cummin": ("cummin", "axis reverse"),
    "cumprod": ("cumprod", "axis reverse"),
    "cumsum": ("cumsum", "axis reverse"),
    "dot_general": ("dot_general", "dimension_numbers precision preferred_element_type"),
    "expand_dims": ("expand_dims", "dimensions"),
    "integer_pow": ("integer_pow", "y"),
    "pad": ("pad", "padding_config"),
    "reduce_and": ("reduce_and", "axes"),
    "reduce_max": ("reduce_max", "axes"),
    "reduce_min": ("reduce_min", "axes"),
    "reduce_or": ("reduce_or", "axes"),
    "reduce_precision": ("reduce_precision", "exponent_bits mantissa_bits"),
    "reduce_prod": ("reduce_prod", "axes"),
    "reduce_sum": ("reduce_sum", "axes"),
    "reduce_xor": ("reduce_xor", "axes"),
    "reshape": ("reshape", "new_sizes"),
    "rev": ("rev", "dimensions"),
    "slice": ("slice", "start_indices limit_indices strides"),
    "squeeze": ("squeeze", "dimensions"),
    "transpose": ("transpose", "permutation"),
}
"""By primitive, the function of `lax`, and which parameters it takes behind the operands, in its order."""


class OperationPrimitive(Primitive):
    """A primitive that is bound by calling a function.

    Parameters
    ----------
    name : str
    function : callable
        ``function(*operands, **params)``.
    multiple_results : bool, optional
    """

    def __init__(self, name: str, function: Callable[..., Any], multiple_results: bool = False) -> None:
        super().__init__(name)
        self.function, self.multiple_results = function, multiple_results

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the operation; what has 64 bits keeps them, since a program's types are settled."""
        if settings().x64 or HALVES.keys().isdisjoint(_dtypes(args, params)):
            return self.function(*args, **params)
        with setting(x64=True):
            return self.function(*args, **params)

    def impl(self, *args: Any, **params: Any) -> Any:
        """Apply the operation."""
        return self.function(*args, **params)


def _dtypes(args: Sequence[Any], params: dict[str, Any]) -> Iterator[np.dtype]:
    """Yield the dtypes that an equation names: of operands, of parameters, and of the operation that it holds."""
    yield from (x.dtype for x in args if isinstance(getattr(x, "dtype", None), np.dtype))
    yield from (params[name] for name in ("dtype", "new_dtype") if isinstance(params.get(name), np.dtype))
    if "operation" in params:
        yield from (v.tensor.dtype for v in params["operation"].results)


def _elementwise(function: str) -> Callable[..., Any]:
    return lambda *operands, **params: getattr(lax, function)(*operands)


def _with_parameters(function: str, chosen: str) -> Callable[..., Any]:
    pairs = [text.partition(":")[::2] for text in chosen.split()]

    def call(*operands: Any, **params: Any) -> Any:
        values = [_found(params, own or name) for name, own in pairs]
        return getattr(lax, function)(*operands, *values)

    return call


def _found(params: dict[str, Any], text: str) -> Any:
    name, _, place = text.partition(".")
    return params[name][int(place)] if place else params.get(name)


def _dynamic_slice(operand: Any, *starts: Any, slice_sizes: Sequence[int], **_: Any) -> Any:
    return lax.dynamic_slice(operand, starts, slice_sizes)


def _dynamic_update_slice(operand: Any, update: Any, *starts: Any, **_: Any) -> Any:
    return lax.dynamic_update_slice(operand, update, starts)


def _concatenate(*operands: Any, dimension: int, **_: Any) -> Any:
    return lax.concatenate(operands, dimension)


def _iota(*, dtype: Any, shape: Sequence[int], dimension: int, **_: Any) -> Any:
    return lax.broadcasted_iota(dtype, shape, dimension)


def _copy(x: Any, **_: Any) -> Any:
    return lax.optimization_barrier(x)


def _sort(*operands: Any, dimension: int, is_stable: bool, num_keys: int, **_: Any) -> list[Any]:
    return list(lax.sort(operands, dimension, is_stable, num_keys))


def _call(*operands: Any, jaxpr: Any = None, call_jaxpr: Any = None, name: str = "f", **_: Any) -> list[Any]:
    program = call_jaxpr if jaxpr is None else jaxpr

    def function(*arrays: Any) -> list[Any]:
        return _run(program, arrays)

    function.__name__ = name
    return jit(function)(*operands)


def _run(program: Any, operands: Sequence[Any]) -> list[Any]:
    if isinstance(program, ClosedJaxpr):
        return eval_jaxpr(program.jaxpr, program.consts, *operands)
    return eval_jaxpr(program, (), *operands)


def _while(
    *operands: Any, cond_nconsts: int, cond_jaxpr: ClosedJaxpr, body_nconsts: int, body_jaxpr: ClosedJaxpr, **_: Any
) -> list[Any]:
    first = cond_nconsts + body_nconsts
    of_condition, of_body = operands[:cond_nconsts], operands[cond_nconsts:first]

    def condition(carries: Any) -> Any:
        return _run(cond_jaxpr, [*of_condition, *carries])[0]

    def body(carries: Any) -> Any:
        return tuple(_run(body_jaxpr, [*of_body, *carries]))

    return list(lax.while_loop(condition, body, tuple(operands[first:])))


def _cond(index: Any, *operands: Any, branches: Sequence[ClosedJaxpr], **_: Any) -> list[Any]:
    functions = [lambda *arrays, b=b: tuple(_run(b, arrays)) for b in branches]
    return list(lax.switch(lax.convert_element_type(index, "int32"), functions, *operands))


def _scan(
    *operands: Any, jaxpr: ClosedJaxpr, length: int, reverse: bool, num_consts: int, num_carry: int, **_: Any
) -> list[Any]:
    first = num_consts + num_carry

    def body(carries: Any, slices: Any) -> Any:
        found = _run(jaxpr, [*operands[:num_consts], *carries, *slices])
        return tuple(found[:num_carry]), tuple(found[num_carry:])

    carries, stacked = lax.scan(body, tuple(operands[num_consts:first]), tuple(operands[first:]), length, reverse)
    return [*carries, *stacked]


@immutably
def _held_results(*operands: Any, operation: Any, **_: Any) -> list[Any]:
    """Apply an operation again, with the rules that it brings along."""
    count = len(operation.operands)
    around = dict(zip(free_values(operation), operands[count:], strict=True)) if operation.regions else {}
    given = [convert(asarray(x), v.tensor.dtype) for x, v in zip(operands, operation.operands, strict=False)]
    return replay_op(operation, given, around)


def _held(*operands: Any, operation: Any, **_: Any) -> Any:
    results = _held_results(*operands, operation=operation)
    return results if len(operation.results) != 1 else results[0]


OTHERS: dict[str, tuple[Callable[..., Any], bool]] = {
    "call": (_call, True),
    "closed_call": (_call, True),
    "concatenate": (_concatenate, False),
    "cond": (_cond, True),
    "copy": (_copy, False),
    "custom_jvp_call": (_held_results, True),
    "custom_vjp_call": (_held_results, True),
    "dynamic_slice": (_dynamic_slice, False),
    "dynamic_update_slice": (_dynamic_update_slice, False),
    "iota": (_iota, False),
    "jit": (_call, True),
    "remat": (_call, True),
    "scan": (_scan, True),
    "sort": (_sort, True),
    "while": (_while, True),
}
"""By primitive, the function that it calls, and whether it gives several results."""

PRIMITIVES: dict[str, OperationPrimitive] = {
    **{name: OperationPrimitive(name, _elementwise(function)) for name, function in ELEMENTWISE.items()},
    **{name: OperationPrimitive(name, _with_parameters(*found)) for name, found in PARAMETERS.items()},
    **{name: OperationPrimitive(name, *found) for name, found in (OTHERS | FUNCTIONS).items()},
}
"""By name, without the ``_p`` behind it that variables have."""

BY_VARIABLE = {
    **{f"{name.replace('-', '_')}_p": made for name, made in PRIMITIVES.items()},
    "pjit_p": PRIMITIVES["jit"],
}
"""By the names of variables that hold primitives."""


def primitive_named(variable: str) -> OperationPrimitive:
    """Return the primitive that a variable of JAX's holds.

    Examples
    --------
    >>> primitive_named("sin_p")
    sin
    """
    return BY_VARIABLE[variable]


_HELD: dict[tuple[str, bool], OperationPrimitive] = {}


def held_operation(name: str, several: bool) -> OperationPrimitive:
    """Return the primitive of equations that hold an operation of StableHLO.

    Parameters
    ----------
    name : str
    several : bool
        It has not just one result.
    """
    return _HELD.setdefault((name, several), OperationPrimitive(f"stablehlo.{name}", _held, several))
