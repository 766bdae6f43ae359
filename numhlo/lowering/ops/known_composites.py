"""Checks of composites that numhlo knows by name, in programs that came from outside.

What numhlo makes of a known name is not its decomposition but code of its own, which takes the attributes' word for
sizes. So a program from a text must say what fits: this file knows which types and attributes belong to which name. It
refuses to know what they compute; a decomposition that computes something else is its author's matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import Op, TensorType, Type
from numhlo.lowering.ir.errors import UnsupportedError, VerificationError
from numhlo.lowering.ir.types import BOOL, COMPLEX, FLOATS, INTEGERS
from numhlo.lowering.ops import factorizations
from numhlo.lowering.ops.composites import COMPOSITES
from numhlo.lowering.ops.control_flow import CALL, WHILE
from numhlo.lowering.ops.cumulative import COMBINERS
from numhlo.lowering.ops.extents import same_types
from numhlo.lowering.ops.special import FUNCTIONS

OF_PLANS = frozenset({"numhlo.parts", "numhlo.unwritten", "numhlo.strided_update"})
"""Names that plans give to ops of their own: no program has them."""

INT32, INT64, UINT32 = (np.dtype(name) for name in ("int32", "int64", "uint32"))

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
    verify_composite(op)


def verify_composite(op: Op) -> None:
    """Raise if a composite of a known name has other operands, results or attributes than that name's.

    Parameters
    ----------
    op : Op
        A composite; where its types leave extents open, or no program may have its name, nothing is said.

    Raises
    ------
    VerificationError
        If they are others.
    """
    name: str = op.attributes["name"]
    known = COMPOSITES.get(name)
    types = _types([*op.operands, *op.results])
    if known is None or name in OF_PLANS or any(isinstance(type, TensorType) and not type.is_static for type in types):
        return
    for count, values, kind in ((known.operands, op.operands, "operands"), (known.results, op.results, "results")):
        _require(op, count in {-1, len(values)}, f"there must be {count} {kind}, not {len(values)}")
    _require(op, all(isinstance(type, TensorType) for type in types), "all must be tensors")
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


FLAGS = {"qr": {"full"}, "svd": {"full"}, "eigh": {"lower"}, "eigvalsh": {"lower"}}
"""What factorizations have for attributes, by their names; the others have none."""


def check_factorization(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require matrices of LAPACK's types, and the results of the decomposition that numhlo itself would write."""
    name, types = op.attributes["name"].removeprefix("numhlo."), [v.tensor for v in op.operands]
    _require(op, len(types) == (2 if name == "solve" else 1), "there must be a stack of matrices, or two for solve")
    flags = {key for key, value in parameters.items() if isinstance(value, bool)}
    _require(op, flags == set(parameters) == FLAGS.get(name, set()), f"attributes {sorted(parameters)} are not its own")
    if name == "solve":
        fits = types[0].shape[:-1] == types[1].shape[:-1] and types[0].dtype == types[1].dtype
        _require(op, fits, "right-hand sides must have the matrices' rows and dtype")
    wanted = factorizations.make(name, types, **parameters)["decomposition"].result_types
    _require(op, _types(op.results) == list(wanted), f"results must be {', '.join(map(str, wanted))}")


def check_top_k(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require so many elements and their indices."""
    type, k = op.operands[0].tensor, _integer(op, parameters, "k")
    _require(op, type.ndim > 0 and k <= type.shape[-1], f"k must be at most the last extent of {type}, not {k}")
    found = type.with_shape((*type.shape[:-1], k))
    _require(op, _types(op.results) == [found, found.with_dtype(INT32)], f"results must be {found} and indices")


def check_order_statistics(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require an element for each of a line of places."""
    type, places = (v.tensor for v in op.operands)
    _require(op, type.ndim > 0 and type.shape[-1] > 0, "there must be elements along the last axis")
    _require(op, places.ndim == 1 and places.dtype in INTEGERS, "places must be a line of integers")
    wanted = type.with_shape((*type.shape[:-1], *places.shape))
    _require(op, op.result.type == wanted, f"the result must be {wanted}")


def check_true_places(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require so many places in a mask."""
    mask, size = op.operands[0].tensor, _integer(op, parameters, "size")
    _require(op, mask.ndim > 0 and mask.dtype == BOOL, "the operand must be a mask")
    wanted = TensorType((*mask.shape[:-1], size), INT64)
    _require(op, op.result.type == wanted, f"the result must be {wanted}")


def check_isin(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require elements of one dtype, and a truth value for each of the first."""
    type, tested = (v.tensor for v in op.operands)
    _require(
        op, tested.ndim == 1 and tested.dtype == type.dtype, "the second operand must be a line of the first's dtype"
    )
    _require(
        op, op.result.type == type.with_dtype(BOOL), "the result must be truth values in the first operand's shape"
    )


def check_random_bits(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require a key, and bits of the width and the shape that the attributes say."""
    width = _integer(op, parameters, "width")
    _require(op, width in {8, 16, 32, 64}, f"width must be 8, 16, 32 or 64, not {width}")
    _check_draws(op, parameters, (), np.dtype(f"u{width // 8}"))


def check_random_split(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require a key, and keys in the shape that the attributes say."""
    _check_draws(op, parameters, (2,), UINT32)


def _check_draws(op: Op, parameters: Mapping[str, Any], inner: tuple[int, ...], dtype: np.dtype) -> None:
    shape = parameters.get("shape")
    fits = isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)
    _require(op, fits, f"shape must be a list of extents, not {shape!r}")
    _require(op, op.operands[0].type == TensorType((2,), UINT32), "the operand must be a key, of two uint32")
    wanted = TensorType((*(shape or ()), *inner), dtype)
    _require(op, op.result.type == wanted, f"the result must be {wanted}")


def check_threefry(op: Op, parameters: Mapping[str, Any]) -> None:
    """Require words of one shape, and a number of two words for each."""
    kinds = set(_types(op.operands))
    _require(op, len(kinds) == 1 and op.operands[0].tensor.dtype == UINT32, "operands must be uint32 in one shape")
    wanted = op.operands[0].tensor.with_dtype(np.dtype(np.uint64))
    _require(op, op.result.type == wanted, f"the result must be {wanted}")


def _stacked(types: Sequence[TensorType], length: int) -> list[TensorType]:
    return [type.with_shape((length, *type.shape)) for type in types]


CHECKS: Mapping[str, Check] = {
    "numhlo.scan": check_scan,
    "numhlo.map": check_map,
    "numhlo.stop_gradient": check_same,
    "numhlo.checkpoint_name": check_same,
    **{f"numhlo.{name}": check_cumulative for name in COMBINERS},
    **{f"numhlo.{name}": check_elementwise for name in FUNCTIONS},
    **{f"numhlo.{name}": check_factorization for name in factorizations.MEANINGS},
    "numhlo.top_k": check_top_k,
    "numhlo.order_statistics": check_order_statistics,
    "numhlo.true_places": check_true_places,
    "numhlo.isin": check_isin,
    "numhlo.random_bits": check_random_bits,
    "numhlo.random_split": check_random_split,
    "numhlo.threefry2x32": check_threefry,
}
"""What a known name asks for, beside the numbers of its operands and results."""
