"""Strict verification: what the specification refuses and MLIR's verifier lets pass.

Programs that tools exchange are verified as MLIR does it (`verifier`), with types and ops of other dialects kept as
text. Here a program is StableHLO and nothing else: values have types of StableHLO, ops of the dialects that are closed
are known, and each op obeys the constraints in `numhlo.lowering.ops.strict_rules`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from numhlo.lowering.ir import (
    DYNAMIC,
    UNKNOWN,
    IndexTensorType,
    Location,
    Module,
    Op,
    TensorType,
    TokenType,
    TupleType,
    Type,
)
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ops.chlo_types import BROADCASTING, ELEMENTWISE, TESTS
from numhlo.lowering.ops.process_groups import DEVICES, GridShape
from numhlo.lowering.ops.strict_rules import broken_rules
from numhlo.lowering.text.foreign import EncodedTensorType
from numhlo.lowering.text.unregistered import Unregistered, is_declaration

CLOSED: dict[str, frozenset[str]] = {
    "stablehlo": frozenset({"async_start", "async_done", "uniform_quantize", "uniform_dequantize"}),
    "chlo": frozenset({*ELEMENTWISE, *TESTS, *BROADCASTING, "constant", "constant_like", "ragged_dot", "scan", "top_k"})
    | {"_asin_acos_kernel", "dynamic_reshape", "minimum_broadcast_shapes"},
    "vhlo": frozenset(),
    "func": frozenset({"call_indirect", "constant"}),
    "builtin": frozenset({"unrealized_conversion_cast"}),
}
"""Dialects whose ops are all known, and those ops that have no definition here: no other op is of them."""

SPECIFICATION = "StableHLO specification"


def verify_strictly(module: Module) -> None:
    """Check what `verify` leaves to the specification, of all functions that a module reaches.

    Parameters
    ----------
    module : Module
        One that `verify` accepts.

    Raises
    ------
    VerificationError
        If a constraint is broken: which op, which constraint, where.

    Examples
    --------
    >>> verify_strictly(Module([]))
    """
    grid = GridShape(*(_extent(module, name) for name in DEVICES))
    for function in module.reachable():
        _check_types(function.argument_types, f"@{function.name}: argument", function.location)
        if is_declaration(function):
            continue
        for op in function.body.walk():
            _check_op(op, grid)


def _extent(module: Module, name: str) -> int:
    count = module.attributes.get(name)
    return int(count) if isinstance(count, int | np.integer) else DYNAMIC


def _check_op(op: Op, grid: GridShape) -> None:
    definition = op.definition
    known = CLOSED.get(definition.dialect)
    if known is not None and isinstance(definition, Unregistered) and definition.name not in known:
        _fail(op, f"{definition.dialect} has no op of this name")
    if known is None:
        return  # an op of another dialect, whose types are its own
    name = definition.name
    _check_types([v.type for v in op.results], f"{name}: result", op.location)
    for region in op.regions:
        _check_types([v.type for v in region.arguments], f"{name}: argument of a region", op.location)
    if definition.dialect == "stablehlo":
        for rule in broken_rules(op, grid):
            _fail(op, rule)


def _fail(op: Op, rule: str) -> None:
    name = op.definition.name
    shown = ", ".join(t.short() if type(t) is TensorType else str(t) for t in (v.type for v in op.operands))
    raise VerificationError(f"{name}({shown}): {rule}", where=_known(op.location), why=f"{SPECIFICATION}, {name}")


def _known(location: Location) -> Location | None:
    return None if location is UNKNOWN else location


def _check_types(types: Iterable[Type], what: str, where: Location) -> None:
    for number, type in enumerate(types):
        part = _foreign_part(type)
        if part:
            raise VerificationError(
                f"{what} {number} is of type {part}, which is no value type of StableHLO",
                where=_known(where),
                why=f"{SPECIFICATION}, Types: values are tensors of its element types, tokens, and tuples of them",
            )


def _foreign_part(type: Type) -> str:
    """Return the part of a type that the specification's grammar does not have, or nothing.

    Bounds of extents are StableHLO's; futures are what asynchronous ops return.
    """
    if isinstance(type, TupleType):
        return next(filter(None, map(_foreign_part, type.elements)), "")
    if isinstance(type, IndexTensorType):
        return str(type)
    if isinstance(type, EncodedTensorType):
        return "" if type.encoding.startswith("#stablehlo.") else str(type)
    is_known = str(type).startswith("!stablehlo.future<") or isinstance(type, TensorType | TokenType)
    return "" if is_known else str(type)
