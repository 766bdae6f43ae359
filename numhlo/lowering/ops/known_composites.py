"""Checks of composites that numhlo knows by name, in programs that came from outside.

What numhlo makes of a known name is not its decomposition but code of its own, which takes the attributes' word for
sizes. So a program from a text must say what fits: this file knows which types and attributes belong to which name. It
refuses to know what they compute; a decomposition that computes something else is its author's matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import Op, TensorType, Type
from numhlo.lowering.ir.errors import UnsupportedError, VerificationError
from numhlo.lowering.ir.types import COMPLEX, FLOATS
from numhlo.lowering.ops.composites import COMPOSITES
from numhlo.lowering.ops.control_flow import CALL, WHILE
from numhlo.lowering.ops.cumulative import COMBINERS
from numhlo.lowering.ops.extents import same_types
from numhlo.lowering.ops.special import FUNCTIONS

OF_PLANS = frozenset({"numhlo.parts", "numhlo.unwritten", "numhlo.strided_update"})
"""Names that plans give to ops of their own: no program has them."""

Check = Callable[[Op, Mapping[str, Any]], None]


def check_composite(op: Op) -> None:
    """Raise unless a composite of a known name has the operands, results and attributes of that name.

    Parameters
    ----------
    op : Op
        A composite whose types are static.

    Raises
    ------
    VerificationError
        If they are not those.
    UnsupportedError
        If no program may use the name.
    """
    name: str = op.attributes["name"]
    if name in OF_PLANS:
        raise UnsupportedError(
            f"composite {name!r} can't be run",
            where=op.location,
            why="numhlo gives this name to ops of its own plans",
            fix="give it another name, or write its decomposition in its place",
        )
    known = COMPOSITES.get(name)
    if known is None:
        return
    for count, values, kind in ((known.operands, op.operands, "operands"), (known.results, op.results, "results")):
        _require(op, count in {-1, len(values)}, f"there must be {count} {kind}, not {len(values)}")
    _require(op, all(isinstance(v.type, TensorType) for v in (*op.operands, *op.results)), "all must be tensors")
    check = CHECKS.get(name)
    if check is not None:
        parameters = op.attributes.get("composite_attributes", {})
        _require(op, isinstance(parameters, Mapping), "composite_attributes must be a dictionary")
        check(op, parameters)


def _require(op: Op, condition: bool, rule: str) -> None:
    if not condition:
        raise VerificationError(
            f"composite {op.attributes['name']!r}: {rule}",
            where=op.location,
            why="numhlo computes composites of its own names by code of its own",
            fix="give it another name: it is then computed by its decomposition",
        )


def _types(values: Sequence[Any]) -> list[Type]:
    return [value.type for value in values]


def _integer(op: Op, parameters: Mapping[str, Any], name: str, least: int = 0) -> int:
    value = parameters.get(name)
    _require(op, type(value) is int and value >= least, f"{name} must be an integer of at least {least}, not {value!r}")
    return int(value or 0)


def _flag(op: Op, parameters: Mapping[str, Any], name: str) -> None:
    _require(op, isinstance(parameters.get(name), bool), f"{name} must be true or false, not {parameters.get(name)!r}")


def check_elementwise(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require one type of floats, or of complex numbers."""
    kinds = set(_types([*op.operands, *op.results]))
    _require(op, len(kinds) == 1, "operands and result must have one type")
    _require(op, op.result.tensor.dtype in FLOATS | COMPLEX, "they must be floats or complex numbers")


def check_same(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require the operand's type."""
    _require(op, _types(op.operands) == _types(op.results), "the result must have the operand's type")


def check_cumulative(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require the operand's type, and an axis of it."""
    check_same(op, parameters)
    ndim = op.result.tensor.ndim
    _require(op, _integer(op, parameters, "axis") < ndim, f"axis must be one of {ndim}, not {parameters['axis']}")
    _flag(op, parameters, "reverse")


def check_scan(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require the numbers of constants and carries, and slices of as many steps as there are."""
    _flag(op, parameters, "reverse")
    _check_loop(op, _integer(op, parameters, "length"), parameters, _integer(op, parameters, "num_carries"))


def check_map(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require the number of constants, and slices of as many lanes as there are."""
    _check_loop(op, _integer(op, parameters, "lanes"), parameters, 0)


def _check_loop(op: Op, length: int, parameters: Mapping[str, Any], carries: int) -> None:
    consts = _integer(op, parameters, "num_consts")
    calls = [
        inner
        for loop in op.attributes["decomposition"].body.ops
        if loop.definition is WHILE
        for inner in loop.regions[1].ops
        if inner.definition is CALL
    ]
    _require(op, bool(calls), "its decomposition must be a loop that calls a body")
    body = calls[0].attributes["callee"]
    taken, given, first_x = list(body.argument_types), list(body.result_types), consts + carries
    _require(op, len(taken) == len(op.operands) >= first_x, f"the body must take {len(op.operands)} values")
    _require(op, len(given) >= carries, f"the body must return {carries} carries")
    _require(op, all(isinstance(t, TensorType) for t in [*taken, *given]), "the body's values must be tensors")
    wanted = [*taken[:first_x], *_stacked(taken[first_x:], length)]
    _require(op, same_types(_types(op.operands), wanted), f"operands must be those of the body, for {length} steps")
    _require(op, same_types(given[:carries], taken[consts:first_x]), "carries must keep their types")
    results = [*given[:carries], *_stacked(given[carries:], length)]
    _require(op, same_types(_types(op.results), results), f"results must be those of the body, for {length} steps")


def _stacked(types: Sequence[TensorType], length: int) -> list[TensorType]:
    return [type.with_shape((length, *type.shape)) for type in types]


CHECKS: Mapping[str, Check] = {
    "numhlo.scan": check_scan,
    "numhlo.map": check_map,
    "numhlo.stop_gradient": check_same,
    "numhlo.checkpoint_name": check_same,
    **{f"numhlo.{name}": check_cumulative for name in COMBINERS},
    **{f"numhlo.{name}": check_elementwise for name in FUNCTIONS},
}
"""What a known name asks for, beside the numbers of its operands and results."""
