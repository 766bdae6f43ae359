"""From a function of the graph to a jaxpr: each operation is an equation, of JAX's primitive where there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.compat.jax.avals import ShapedArray, aval_of_type
from numhlo.compat.jax.jaxprs import ClosedJaxpr, DropVar, Jaxpr, JaxprEqn, Literal, Var, used_variables
from numhlo.compat.jax.operation_primitives import PRIMITIVES, held_operation
from numhlo.compat.jax.primitive_rules import PrimitiveRule
from numhlo.compat.jax.structured_primitives import (
    OPERATIONS,
    RESULT_ORDERS,
    WINDOWS,
    composite_parts,
    windows_of,
)
from numhlo.lowering.interpreter import free_values
from numhlo.lowering.ir import Function, Op, Region, Value
from numhlo.lowering.ops import control_flow
from numhlo.lowering.ops.loops import loop_body
from numhlo.lowering.ops.region_function import single_op
from numhlo.tracer.core.custom_rules import custom_rule

RENAMED = {
    "count_leading_zeros": "clz", "cosine": "cos", "divide": "div", "exponential": "exp",
    "exponential_minus_one": "expm1", "log_plus_one": "log1p", "maximum": "max", "minimum": "min", "multiply": "mul",
    "negate": "neg", "popcnt": "population_count", "power": "pow", "remainder": "rem", "sine": "sin",
    "subtract": "sub", "optimization_barrier": "copy",
}  # fmt: skip
"""By operation of StableHLO, JAX's primitive, where the names differ."""

ALIKE = frozenset({
    "abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "complex", "floor", "imag", "is_finite", "log", "logistic",
    "not", "or", "real", "rsqrt", "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sqrt", "tan",
    "tanh", "xor",
})  # fmt: skip
"""Operations whose primitive has their name, and no parameters that count."""

COMPOSITES = frozenset({
    "exp2", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i0e", "bessel_i1e", "conj", "cosh", "digamma",
    "erf", "erf_inv", "erfc", "igamma", "igammac", "lgamma", "nextafter", "polygamma", "sinh", "square", "zeta",
})  # fmt: skip
"""Composites of numhlo's whose primitive has their name."""

REDUCERS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
"""By the one operation of a reduction's body, how JAX's reduction ends."""

Parts = tuple[str, Sequence[Value], dict[str, Any]]
"""An equation's primitive, operands and parameters."""


def _plainly(op: Op) -> Parts | None:
    name = op.definition.name
    name = RENAMED.get(name, name)
    if len(op.results) != 1 or (name == "copy" and len(op.operands) != 1):
        return None
    return name, op.operands, {"accuracy": None} if name in ("exp", "sin", "cos", "tan", "log", "sqrt", "tanh") else {}


def _select(op: Op) -> Parts:
    which, on_true, on_false = op.operands
    return "select_n", (which, on_false, on_true), {}


def _compare(op: Op) -> Parts | None:
    return op.attributes["comparison_direction"].lower(), op.operands, {}


def _convert(op: Op) -> Parts:
    return (
        "convert_element_type",
        op.operands,
        {"new_dtype": op.result.tensor.dtype, "weak_type": False, "sharding": None},
    )


def _broadcast(op: Op) -> Parts:
    dimensions = tuple(op.attributes["broadcast_dimensions"])
    params = {"shape": op.result.tensor.shape, "broadcast_dimensions": dimensions, "sharding": None}
    return "broadcast_in_dim", op.operands, params


def _reshape(op: Op) -> Parts:
    return "reshape", op.operands, {"new_sizes": op.result.tensor.shape, "dimensions": None, "sharding": None}


def _reduce(op: Op) -> Parts | None:
    inner = single_op(op.regions[0])
    if len(op.operands) != 2 or inner is None or inner.definition.name not in REDUCERS:
        return None
    kind, start = REDUCERS[inner.definition.name], _constant(op.operands[1])
    if start is None or not _is_neutral(kind, start):
        return None
    if kind in ("and", "or", "xor") and start.dtype.kind != "b":
        return None
    return f"reduce_{kind}", op.operands[:1], {"axes": tuple(op.attributes["dimensions"]), "out_sharding": None}


def _constant(value: Value) -> np.ndarray | None:
    owner = value.owner
    return owner.attributes["value"] if isinstance(owner, Op) and owner.definition.name == "constant" else None


def _is_neutral(kind: str, start: np.ndarray) -> bool:
    if start.shape or start.dtype.kind not in "biufc":
        return False
    if kind in ("max", "min"):
        if start.dtype.kind == "f":
            return bool(start == (-np.inf if kind == "max" else np.inf))
        if start.dtype.kind == "b":
            return bool(start) == (kind == "min")
        limits = np.iinfo(start.dtype)
        return int(start) == (limits.min if kind == "max" else limits.max)
    return bool(start == (1 if kind in ("prod", "and") else 0))


def _reduce_window(op: Op) -> Parts | None:
    inner = single_op(op.regions[0])
    if len(op.operands) != 2 or inner is None or inner.definition.name not in WINDOWS:
        return None
    start = _constant(op.operands[1])
    if start is None or not _is_neutral(REDUCERS[inner.definition.name], start):
        return None
    return WINDOWS[inner.definition.name], op.operands[:1], windows_of(op)


def _dot(op: Op) -> Parts | None:
    numbers = op.attributes["dot_dimension_numbers"]
    if op.attributes.get("algorithm") is not None:
        return None
    contracting = tuple(numbers.lhs_contracting_dimensions), tuple(numbers.rhs_contracting_dimensions)
    batching = tuple(numbers.lhs_batching_dimensions), tuple(numbers.rhs_batching_dimensions)
    params = {
        "dimension_numbers": (contracting, batching),
        "precision": None,
        "preferred_element_type": op.result.tensor.dtype,
        "out_sharding": None,
    }
    return "dot_general", op.operands, params


def _iota(op: Op) -> Parts:
    type = op.result.tensor
    dimension = op.attributes["iota_dimension"]
    return "iota", (), {"dtype": type.dtype, "shape": type.shape, "dimension": dimension, "sharding": None}


def _with(name: str, *renamed: tuple[str, str]) -> Callable[[Op], Parts]:
    """Return what makes an equation of an operation whose attributes are parameters."""

    def make(op: Op) -> Parts:
        return name, op.operands, {new: _listed(op.attributes[old]) for old, new in renamed}

    return make


def _listed(attribute: Any) -> Any:
    return tuple(map(int, attribute)) if isinstance(attribute, tuple | list | np.ndarray) else attribute


def _pad(op: Op) -> Parts:
    parts = [
        op.attributes[f"{name}_padding{end}"] for name, end in (("edge", "_low"), ("edge", "_high"), ("interior", ""))
    ]
    return "pad", op.operands, {"padding_config": tuple(zip(*map(_listed, parts), strict=True))}


SPECIAL: Mapping[str, Callable[[Op], Parts | None]] = {
    "bitcast_convert": lambda op: ("bitcast_convert_type", op.operands, {"new_dtype": op.result.tensor.dtype}),
    "broadcast_in_dim": _broadcast,
    "compare": _compare,
    "concatenate": _with("concatenate", ("dimension", "dimension")),
    "convert": _convert,
    "dot_general": _dot,
    "dynamic_slice": _with("dynamic_slice", ("slice_sizes", "slice_sizes")),
    "dynamic_update_slice": _with("dynamic_update_slice"),
    "iota": _iota,
    "pad": _pad,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "reduce_precision": _with(
        "reduce_precision", ("exponent_bits", "exponent_bits"), ("mantissa_bits", "mantissa_bits")
    ),
    "reshape": _reshape,
    "reverse": _with("rev", ("dimensions", "dimensions")),
    "select": _select,
    "slice": _with(
        "slice", ("start_indices", "start_indices"), ("limit_indices", "limit_indices"), ("strides", "strides")
    ),
    "transpose": _with("transpose", ("permutation", "permutation")),
}
"""By operation, what makes its equation; None where the operation does more than the primitive says."""


class _Translation:
    """Translates one function, or a region that uses values around it."""

    def __init__(self) -> None:
        self.atoms: dict[Value, Any] = {}
        self.constants: list[tuple[Var, Any]] = []
        self.equations: list[JaxprEqn] = []

    def variable(self, value: Value) -> Var:
        found = self.atoms[value] = Var(aval_of_type(value.tensor))
        return found

    def body(self, region: Region) -> list[Any]:
        for op in region.ops:
            self.operation(op)
        results = [self.atoms[v] for v in region.returns]
        self._drop_unused(results)
        return results

    def operation(self, op: Op) -> None:
        if op.definition.name == "constant":
            self._constant(op)
            return
        primitive, operands, params = equation_of(op)
        atoms = [self.atoms[v] for v in operands]
        results = [self.variable(v) for v in op.results]
        order = RESULT_ORDERS.get(primitive.name, range(len(results)))
        outvars: list[Any] = [results[k] for k in order]
        self.equations.append(JaxprEqn(atoms, outvars, primitive, params, source_info=op.location))

    def _constant(self, op: Op) -> None:
        array, aval = op.attributes["value"], aval_of_type(op.result.tensor)
        if not array.shape:
            self.atoms[op.result] = Literal(array.astype(array.dtype)[()], aval)
            return
        self.constants.append((self.variable(op.result), array))

    def _drop_unused(self, results: Sequence[Any]) -> None:
        used = used_variables(self.equations, results)
        for equation in self.equations:
            equation.outvars = [v if v in used else DropVar(v.aval) for v in equation.outvars]
        self.constants = [pair for pair in self.constants if pair[0] in used]


def equation_of(op: Op) -> tuple[Any, Sequence[Value], dict[str, Any]]:
    """Return an operation's primitive, operands and parameters.

    Parameters
    ----------
    op : Op
    """
    name = op.definition.name
    rule = custom_rule(op) if op.definition is control_flow.COMPOSITE else None
    if isinstance(rule, PrimitiveRule):
        return rule.binding.primitive, op.operands, dict(rule.binding.params)
    structured = STRUCTURED.get(name)
    if structured is not None:
        parts = structured(op)
    elif name in OPERATIONS:
        parts = OPERATIONS[name](op)
    else:
        parts = SPECIAL.get(name, _plainly if RENAMED.get(name, name) in PLAIN else _nothing)(op)
    if parts is not None:
        return PRIMITIVES[parts[0]], parts[1], parts[2]
    around = free_values(op) if op.regions else []
    return held_operation(name, len(op.results) != 1), [*op.operands, *around], {"operation": op}


PLAIN = ALIKE | frozenset(RENAMED.values())


def _nothing(op: Op) -> None:
    return None


def _call(op: Op) -> Parts:
    callee = op.attributes["callee"]
    return "jit", op.operands, {"jaxpr": closed_jaxpr(callee), "name": callee.name, "inline": False}


def _composite(op: Op) -> Parts | None:
    name, short = op.attributes["name"], op.attributes["name"].removeprefix("numhlo.")
    decomposition = op.attributes["decomposition"]
    if short in COMPOSITES:
        return short, op.operands, {}
    if short == "stop_gradient":
        return "stop_gradient", op.operands, {}
    if short == "cumsum":
        p = op.attributes["composite_attributes"]
        return "cumsum", op.operands, {"axis": p["axis"], "reverse": p["reverse"]}
    if short == "scan":
        p = op.attributes["composite_attributes"]
        params = {
            "jaxpr": closed_jaxpr(loop_body(op)), "length": p["length"], "reverse": p["reverse"],
            "num_consts": p["num_consts"], "num_carry": p["num_carries"], "unroll": 1, "_split_transpose": False,
            "linear": (False,) * len(op.operands),
        }  # fmt: skip
        return "scan", op.operands, params
    if name in ("numhlo.custom_jvp", "numhlo.custom_vjp"):
        return f"{short}_call", op.operands, {"call_jaxpr": closed_jaxpr(decomposition), "name": decomposition.name,
                                              "operation": op}  # fmt: skip
    return composite_parts(op)


def _region(region: Region, around: Sequence[Value]) -> ClosedJaxpr:
    made = _Translation()
    consts = [made.variable(v) for v in around]
    arguments = [made.variable(v) for v in region.arguments]
    results = made.body(region)
    constvars = [v for v, _ in made.constants]
    return ClosedJaxpr(Jaxpr(constvars, [*consts, *arguments], results, made.equations), [x for _, x in made.constants])


def _while(op: Op) -> Parts:
    around = [free_values(r) for r in op.regions]
    params = {
        "cond_nconsts": len(around[0]),
        "cond_jaxpr": _region(op.regions[0], around[0]),
        "body_nconsts": len(around[1]),
        "body_jaxpr": _region(op.regions[1], around[1]),
    }
    return "while", [*around[0], *around[1], *op.operands], params


def _branches(op: Op) -> Parts:
    """Return a choice: the branches of an ``if`` come in the order of their index, false first."""
    regions = list(op.regions)[::-1] if op.definition.name == "if" else list(op.regions)
    around = free_values(op)
    return "cond", [*op.operands, *around], {"branches": tuple(_region(r, around) for r in regions)}


STRUCTURED: Mapping[str, Callable[[Op], Parts | None]] = {
    "call": _call,
    "case": _branches,
    "composite": _composite,
    "if": _branches,
    "while": _while,
}


def closed_jaxpr(
    function: Function, captures: Sequence[Any] = (), weak: Sequence[bool] = (), out_weak: Sequence[bool] = ()
) -> ClosedJaxpr:
    """Return the jaxpr of a function of the graph.

    Parameters
    ----------
    function : Function
        Takes its arguments, then what it captured.
    captures : sequence of array, optional
    weak, out_weak : sequence of bool, optional
        Which arguments and results stand for numbers of Python's; those that are told of are all results.
    """
    made = _Translation()
    arguments = [made.variable(v) for v in function.body.arguments]
    count = len(arguments) - len(captures)
    for variable, flag in zip(arguments, weak, strict=False):
        variable.aval = ShapedArray(variable.aval.shape, variable.aval.dtype, flag)
    results = made.body(function.body)
    results = results[: len(out_weak)] if out_weak else results
    for variable, flag in zip(results, out_weak, strict=False):
        if isinstance(variable, Var):
            variable.aval = ShapedArray(variable.aval.shape, variable.aval.dtype, flag)
    constvars = [*arguments[count:], *[v for v, _ in made.constants]]
    jaxpr = Jaxpr(constvars, arguments[:count], results, made.equations)
    return ClosedJaxpr(jaxpr, [*captures, *[x for _, x in made.constants]])
