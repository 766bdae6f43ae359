"""What an op is: one frozen record per StableHLO op, and the signature that its rules read.

Would the StableHLO specification say it? Then it belongs on the record: name, operands, attributes, regions, effects,
the type rule with its constraints, the meaning on NumPy arrays. How to batch, differentiate or compile an op is some
other room's business, kept in that room's `RuleTable`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from numhlo.lowering.ir import (
    UNKNOWN,
    Location,
    Op,
    Region,
    TensorType,
    Type,
    Value,
)
from numhlo.lowering.ir.errors import VerificationError
from numhlo.lowering.ir.records import record

MISSING: Any = object()
"""Default of an attribute that must be given."""

RESULT_TYPES = "result_types"
"""Key under which `evaluate` of an op with `explicit_result` finds the sequence of its result types in `attributes`."""

Arrays = Sequence[np.ndarray]
RegionFunction = Callable[..., tuple[np.ndarray, ...]]
"""A region (or callee) as the interpreter hands it to `evaluate`: arrays in, tuple of arrays out."""


@record(frozen=True, slots=True)
class Attribute:
    """One attribute of an op: its name, how text spells it, its default.

    Parameters
    ----------
    name : str
        The name in the generic form.
    kind : str
        ``"i64"``, ``"i32"``, ``"f32"``, ``"bool"``, ``"string"``, ``"unit"``, ``"dense"`` (a NumPy array),
        ``"array<i64>"`` (a tuple of ints), ``"array<i1>"``, ``"symbol"`` (a `Function`), ``"dictionary"``,
        ``"enum:NAME"`` (a str, spelled ``#stablehlo<NAME VALUE>``), ``"enums:NAME"`` (a tuple of str),
        ``"record:NAME"`` (an object of `dimension_numbers` that spells itself with ``str``), ``"accuracy"`` (as parsed,
        a ``#stablehlo.result_accuracy``), ``"any"`` (as parsed).
    default : optional
        The value where the text leaves it out; `MISSING` means that it must be there.
    """

    name: str
    kind: str
    default: Any = MISSING

    @property
    def is_required(self) -> bool:
        """Return whether it must be given."""
        return self.default is MISSING


@record(slots=True)
class Signature:
    """What a type rule reads: operand types, attributes, regions, and the result types that were asked for.

    Attributes
    ----------
    name : str
        The op's name, for messages.
    operands : sequence of Type
    attributes : mapping
    regions : sequence of Region
    results : sequence of Type or None
        Given where the result type is part of the op (`reshape`, `iota`, ...), and while verifying.
    """

    name: str
    operands: Sequence[Type]
    attributes: Mapping[str, Any]
    regions: Sequence[Region]
    results: Sequence[Type] | None
    location: Location | None = None

    def tensor(self, index: int) -> TensorType:
        """Return operand ``index``'s type, which must be a tensor's."""
        type = self.operands[index]
        if not isinstance(type, TensorType):
            self.require(False, f"operand {index} must be a tensor")
        return type  # type: ignore[return-value]

    @property
    def tensors(self) -> list[TensorType]:
        """Return all operands' types, which must be tensors'."""
        for index, type in enumerate(self.operands):
            if not isinstance(type, TensorType):
                self.tensor(index)  # raises
        return list(self.operands)  # type: ignore[arg-type]

    def result_tensor(self, index: int = 0) -> TensorType:
        """Return the declared type of a result, which must be given and a tensor's."""
        if self.results is None or index >= len(self.results):
            self.require(False, "the result type must be given")
        type = self.results[index]  # type: ignore[index]
        if not isinstance(type, TensorType):
            self.require(False, f"result {index} must be a tensor")
        return type  # type: ignore[return-value]

    def require(self, condition: bool, rule: str) -> None:
        """Raise `VerificationError` that quotes ``rule`` (with its constraint id, such as ``(C1)``) unless true."""
        if not condition:
            shown = ", ".join(t.short() if isinstance(t, TensorType) else str(t) for t in self.operands)
            raise VerificationError(
                f"{self.name}({shown}): {rule}",
                where=self.location,
                why=f"StableHLO specification, {self.name}",
            )


InferRule = Callable[[Signature], Sequence[Type]]
EvaluateRule = Callable[[Arrays, Mapping[str, Any], Sequence[RegionFunction]], Sequence[np.ndarray]]


@record(frozen=True, slots=True, eq=False)
class Primitive:
    """The definition of one op. Families are subclasses; equality is identity.

    Parameters
    ----------
    name : str
        The mnemonic without dialect, such as ``"add"``.
    infer : callable
        ``infer(signature) -> result types``; checks the specification's constraints and quotes their numbers.
    evaluate : callable
        ``evaluate(arrays, attributes, regions) -> arrays``: the op's meaning on NumPy arrays. Functions among the
        attributes and the regions arrive as callables. Results have exactly the inferred dtypes and shapes and may
        alias an operand (the caller never writes into either). Where ``explicit_result``, the attributes hold
        the result types too, under `RESULT_TYPES`.
    operands : tuple of str
        Names; a last name that starts with ``*`` takes any number.
    attributes : tuple of Attribute
    regions : tuple of str
        Names; ``*`` as for operands.
    explicit_result : bool
        The result type can't be inferred and is given when the op is made.
    has_effects : bool
        Must not be removed, duplicated or reordered.
    commutative : bool
        ``op(x, y)`` has the same bits as ``op(y, x)`` (NaN payloads apart).
    dialect : str
    uniform : frozenset of numpy.dtype
        Element types of which the result has the one type of all operands, where none is asked for: nothing else is to
        be inferred then, nor to be checked. Of ops without attributes that ``infer`` looks at; may be empty.

    Notes
    -----
    The specification's section of the same name is the source of every rule.
    """

    name: str
    infer: InferRule
    evaluate: EvaluateRule
    operands: tuple[str, ...] = ()
    attributes: tuple[Attribute, ...] = ()
    regions: tuple[str, ...] = ()
    explicit_result: bool = False
    has_effects: bool = False
    commutative: bool = False
    dialect: str = "stablehlo"
    uniform: frozenset[np.dtype] = frozenset()
    defaults: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        defaults = {a.name: a.default for a in self.attributes if a.default is not MISSING}
        object.__setattr__(self, "defaults", defaults)
        if self.name in PRIMITIVES:
            raise ValueError(f"{self.name} is defined twice")
        PRIMITIVES[self.name] = self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


PRIMITIVES: dict[str, Primitive] = {}
"""Every op by mnemonic; filled as the family files are imported."""


class Unlisted(Primitive):
    """The record of an op that is not in `PRIMITIVES`: no program has it by that name."""

    __slots__ = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "defaults", {})


def make_op(
    definition: Primitive,
    operands: Sequence[Value],
    attributes: Mapping[str, Any] | None = None,
    regions: Sequence[Region] = (),
    results: Sequence[Type] | None = None,
    location: Location = UNKNOWN,
) -> Op:
    """Make an op with inferred result types; nothing is appended anywhere.

    Raises
    ------
    VerificationError
        If a constraint of the specification is broken, or ``results`` are not what the type rule says.
    """
    full = {**definition.defaults, **attributes} if attributes else definition.defaults
    types = [v.type for v in operands]
    if definition.uniform and results is None and (known := _uniform_type(definition, types)) is not None:
        return Op(definition, operands, full, regions, (known,), location)
    signature = Signature(definition.name, types, full, regions, results, location)
    inferred = definition.infer(signature)
    if results is not None and not definition.explicit_result:
        signature.require(
            list(results) == list(inferred),
            f"declared results {[str(t) for t in results]} are not the inferred {[str(t) for t in inferred]}",
        )
    return Op(definition, operands, full, regions, inferred, location)


def _uniform_type(definition: Primitive, types: Sequence[Type]) -> Type | None:
    """Return the operands' one type where it is the result's, too: so it is for most ops that are traced."""
    first = types[0]
    same = first is types[-1] or first == types[-1]  # of one operand, or of two
    counted = len(types) == len(definition.operands) <= 2
    return first if counted and same and type(first) is TensorType and first.dtype in definition.uniform else None
