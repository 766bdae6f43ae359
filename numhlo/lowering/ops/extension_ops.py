"""Ops of users' dialects: records like any other op's, which bring their rules along instead of being in the tables.

They are kept by their full names, apart from the closed dialects, whose names they can't take. In text they have the
generic form alone. Rules for families of ops, one in every room, apply what a record holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import Function, Location, Op, TensorType, capture_location
from numhlo.lowering.ir.errors import ArgumentError
from numhlo.lowering.ir.records import record
from numhlo.lowering.ops.custom_calls import NO_RULES, UserRules, target_of
from numhlo.lowering.ops.extension_loading import load_extensions
from numhlo.lowering.ops.implementations import options_of
from numhlo.lowering.ops.native_functions import NativeFunction
from numhlo.lowering.ops.primitive import Primitive

CLOSED = frozenset(
    [
        "arith",
        "builtin",
        "chlo",
        "func",
        "mhlo",
        "ml_program",
        "numhlo",
        "quant",
        "sdy",
        "shape",
        "stablehlo",
        "tensor",
        "tf",
        "vhlo",
    ]
)
"""Dialects that nobody adds ops to: they are specified elsewhere, or numhlo's own."""

_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\Z", re.ASCII)

Decompose = Callable[[Sequence[TensorType], Mapping[str, Any]], Function]
"""``decompose(operand types, attributes)`` returns the function that an op means."""


@record(frozen=True, slots=True, eq=False, repr=False)
class ExtensionOp(Primitive):
    """The definition of an op of a user's dialect.

    Attributes
    ----------
    rules : UserRules
        How it is batched and differentiated.
    native : NativeFunction or None
        The machine code that compiled programs call.
    decompose : callable or None
        What it means in other ops.
    where : Location or None
        The user's line that registered it.
    """

    rules: UserRules = NO_RULES
    native: NativeFunction | None = None
    decompose: Decompose | None = None
    where: Location | None = None

    def __post_init__(self) -> None:
        """Set the defaults of attributes; the record is not among numhlo's own."""
        defaults = {a.name: a.default for a in self.attributes if not a.is_required}
        object.__setattr__(self, "defaults", defaults)

    @property
    def full_name(self) -> str:
        """Return the name with its dialect."""
        return f"{self.dialect}.{self.name}"


_OPS: dict[str, ExtensionOp] = {}


def require_free_name(name: Any) -> None:
    """Raise unless a user's op may have a name.

    Raises
    ------
    ArgumentError
        If it has no dialect, a closed one, or is taken.
    """
    if not isinstance(name, str) or not _NAME.match(name) or name.partition(".")[0] in CLOSED:
        raise ArgumentError(
            f"define_op: the name {name!r}",
            where=capture_location(),
            why=f"ops are not added to the dialects {', '.join(sorted(CLOSED))}",
            fix='give a dialect of your own and a name: "my_dialect.rotate"',
        )
    known = _OPS.get(name)
    if known is not None:
        raise ArgumentError(
            f"define_op: {name} is defined already",
            where=capture_location(),
            why="" if known.where is None else f"at {known.where.point()}",
            fix="give another name; programs that name this one mean the first",
        )


def add_extension_op(op: ExtensionOp) -> None:
    """Make a record what its name means, in programs and in texts."""
    require_free_name(op.full_name)
    _OPS[op.full_name] = op


def find_extension_op(name: str) -> ExtensionOp | None:
    """Return the record of a full name, None where no installed package defines it."""
    if name not in _OPS and name.partition(".")[0] not in CLOSED:
        load_extensions()
    return _OPS.get(name)


def native_of(op: Op) -> NativeFunction | None:
    """Return the native function that a custom call or a user's op reaches, None where there is none."""
    if isinstance(op.definition, ExtensionOp):
        return op.definition.native
    target = target_of(op)
    return None if target is None else target.native


def options_of_op(op: Op) -> dict[str, Any]:
    """Return what an implementation of a custom call or of a user's op gets by keyword."""
    return dict(op.attributes) if isinstance(op.definition, ExtensionOp) else options_of(op.attributes)
