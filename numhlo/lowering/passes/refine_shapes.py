"""Unknown extents made known: a copy of a program for arguments of given types, every shape in it static.

Shapes are computed by the program itself, from the extents of its arguments and from constants. So the copy is made in
program order, small integers are evaluated on the way wherever their operands are known, and an op that takes a shape
as an operand becomes the one that has it as an attribute. Callees are copied once for each set of types and known
arguments; a loop's carries keep their shapes, and those that it never changes stay known inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import evaluate_op
from numhlo.lowering.ir import DYNAMIC, Function, Module, Op, Region, TensorType, Type, Value
from numhlo.lowering.ir.errors import ShapeError, UnsupportedError
from numhlo.lowering.ir.types import BOOL, INTEGERS
from numhlo.lowering.ops import contraction, control_flow, conversion, convolution, layout
from numhlo.lowering.ops.communication import Communication, received_shape
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.primitive import Signature
from numhlo.lowering.ops.random_bits import RNG
from numhlo.lowering.passes.legalize_chlo import broadcast_shape
from numhlo.lowering.passes.legalizer import Builder, full_name
from numhlo.lowering.passes.refine_calls import RULES
from numhlo.lowering.text.foreign import can_be

COUNTING = INTEGERS | {BOOL}
"""Element types of values that shapes are computed from."""

MOST_KNOWN = 64
"""Elements of an integer tensor up to which its value is followed."""

INFERABLE = frozenset({contraction.DOT_GENERAL, contraction.DOT, convolution.CONVOLUTION})
"""Ops whose results are declared for the sake of their element type: the shape follows from the operands."""

SHAPE_OPERANDS = "indices_of_shape_operands"
"""The attribute of custom calls that says which operands are the shapes of the results."""

ASSERTION = "shape_assertion"
"""The custom call by which exporters check that extents fit together."""


class ValueDependentShapeError(UnsupportedError):
    """A shape depends on values of arguments, which were not given."""


class _Scope:
    """A function being copied: the copies of values, and what is known of them."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.values: dict[Value, Value] = {}
        self.known: dict[Value, np.ndarray] = {}


class Refiner:
    """Copies functions for given argument types; one refiner serves a whole program."""

    def __init__(self) -> None:
        self._functions: dict[Any, Function] = {}

    def function(
        self, source: Function, types: Sequence[Type], known: Mapping[int, np.ndarray] | None = None
    ) -> Function:
        """Return a copy for arguments of ``types``, some of which have a known value."""
        known = known or {}
        values = tuple((k, a.dtype, a.shape, a.tobytes()) for k, a in known.items())
        key = (source, tuple(types), values)
        if key not in self._functions:
            self._functions[key] = self._copy(source, types, known)
        return self._functions[key]

    def _copy(self, source: Function, types: Sequence[Type], known: Mapping[int, np.ndarray]) -> Function:
        scope = _Scope(Builder(source.name, types))
        arguments = scope.builder.arguments
        scope.values.update(zip(source.body.arguments, arguments, strict=True))
        scope.known.update({arguments[k]: array for k, array in known.items()})
        self._fill(scope, source.body)
        returns = [scope.values[v] for v in source.body.returns]
        return scope.builder.finish(returns, visibility=source.visibility).described_as(source)

    def _fill(self, scope: _Scope, source: Region) -> None:
        for op in source.ops:
            scope.builder.location = op.location
            operands = [scope.values[v] for v in op.operands]
            scope.values.update(zip(op.results, self._visit(scope, op, operands), strict=True))

    def _visit(self, scope: _Scope, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
        if op.definition is control_flow.CUSTOM_CALL and op.attributes["call_target_name"] == ASSERTION:
            _check_assertion(op, [scope.known.get(v) for v in operands])
            return []
        rule = RULES.get(full_name(op))
        if SHAPE_OPERANDS in op.attributes:
            results = _call_with_shapes(scope, op, operands)
        elif rule is not None:
            results = rule(
                scope.builder,
                op,
                operands,
                lambda k: _known_shape(scope, op, k if isinstance(k, Value) else operands[k]),
            )
        else:
            results = self._copy_op(scope, op, operands)
        for value, declared in zip(results, op.results, strict=True):
            _require_declared(op, value.type, declared.type)
            _learn(scope, value)
        return results

    def _copy_op(self, scope: _Scope, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
        attributes = dict(op.attributes)
        results: Sequence[Type] | None = None
        for name, value in op.attributes.items():
            if isinstance(value, Function):
                known = {k: scope.known[v] for k, v in enumerate(operands) if v in scope.known}
                for operand, taken in zip(operands, value.argument_types, strict=False):
                    _require_declared(op, operand.type, taken, f"@{value.name} takes ")
                callee = attributes[name] = self.function(value, [v.type for v in operands], known)
                results = callee.result_types
        if results is None and op.definition.explicit_result:
            results = [_result_type(op, k, operands) for k in range(len(op.results))]
        regions = [self._copy_region(scope, op, operands, k) for k in range(len(op.regions))]
        return scope.builder.ops(op.definition, *operands, regions=regions, results=results, **attributes)

    def _copy_region(self, scope: _Scope, op: Op, operands: Sequence[Value], number: int) -> Region:
        source = op.regions[number]
        is_loop = op.definition is control_flow.WHILE
        types = [v.type for v in (operands if is_loop else source.arguments)]

        def write(*arguments: Value) -> list[Value]:
            scope.values.update(zip(source.arguments, arguments, strict=True))
            if is_loop:
                body = op.regions[1]
                for k, value in enumerate(operands):
                    if value in scope.known and body.returns[k] is body.arguments[k]:
                        scope.known[arguments[k]] = scope.known[value]
            self._fill(scope, source)
            return [scope.values[v] for v in source.returns]

        return scope.builder.region(types, write)


def _call_with_shapes(scope: _Scope, op: Op, operands: Sequence[Value]) -> Sequence[Value]:
    """Copy a custom call some of whose operands are nothing but the shapes of its results."""
    places = [int(k) for k in op.attributes[SHAPE_OPERANDS]]
    types = [v.tensor.with_shape(_known_shape(scope, op, operands[k])) for v, k in zip(op.results, places, strict=True)]
    kept = [k for k in range(len(operands)) if k not in places]
    attributes = {name: value for name, value in op.attributes.items() if name != SHAPE_OPERANDS}
    if attributes["operand_layouts"] is not None:
        attributes["operand_layouts"] = tuple([attributes["operand_layouts"][k] for k in kept])
    return scope.builder.ops(op.definition, *[operands[k] for k in kept], results=types, **attributes)


def _known_shape(scope: _Scope, op: Op, value: Value) -> tuple[int, ...]:
    found = scope.known.get(value)
    if found is None:
        raise ValueDependentShapeError(
            f"{op.definition.name}: the result's shape depends on the values of an argument",
            where=op.location,
            why="shapes must follow from the arguments' shapes, or from small integers among them",
        )
    return tuple(int(n) for n in found.reshape(-1))


def _learn(scope: _Scope, value: Value) -> None:
    """Evaluate the op behind a small integer where all its operands are known."""
    op, type = value.owner, value.type
    if not isinstance(op, Op) or not isinstance(type, TensorType) or value in scope.known:
        return
    if type.dtype not in COUNTING or not type.is_static or type.size > MOST_KNOWN or op.regions:
        return
    if all(v in scope.known for v in op.operands) and not op_has_effects(op):
        for result, array in zip(op.results, evaluate_op(op, scope.known), strict=True):
            scope.known[result] = np.asarray(array)


def _require_declared(op: Op, found: Type, declared: Type, who: str = "") -> None:
    """Raise unless a shape that has come out is one that the program's text says there."""
    if not isinstance(found, TensorType) or not isinstance(declared, TensorType):
        return
    if min(found.shape, default=0) < 0:
        text = f"{op.definition.name}: the extents of its result would be {list(found.shape)}"
        raise ShapeError(text, where=op.location, why="an extent can't be negative")
    if not can_be(declared, found.shape):
        text = f"{who or 'the program says that its result is '}{declared}"
        raise ShapeError(f"{op.definition.name}: {found.short()} where {text}", where=op.location)


def _result_type(op: Op, number: int, operands: Sequence[Value]) -> Type:
    """Return the static type of a result that is declared with unknown extents."""
    declared = op.results[number].type
    if not isinstance(declared, TensorType) or declared.is_static:
        return declared
    if full_name(op).startswith("chlo.broadcast_"):
        return declared.with_shape(broadcast_shape(op, operands))
    if op.definition is conversion.CONVERT or op.definition.dialect == "chlo":
        like = operands[0].tensor.shape  # CHLO's ops work element by element, or along the last axis
        extents = zip(declared.shape, like, strict=True) if declared.ndim == len(like) else ()
        return declared.with_shape(tuple([known if n == DYNAMIC else n for n, known in extents]))
    if op.definition is conversion.BITCAST_CONVERT:
        leading = operands[0].tensor.shape  # what widths add or take is the last axis
        return declared.with_shape(tuple([leading[k] if n == DYNAMIC else n for k, n in enumerate(declared.shape)]))
    if op.definition in INFERABLE:
        types = [v.type for v in operands]
        signature = Signature(op.definition.name, types, op.attributes, (), None, op.location)
        (found,) = op.definition.infer(signature)
        assert isinstance(found, TensorType)
        return found.with_dtype(declared.dtype)
    if op.definition is layout.RESHAPE and declared.shape.count(DYNAMIC) == 1:
        rest = -declared.size
        extent = operands[0].tensor.size // rest if rest else 0
        return declared.with_shape(tuple(extent if n == DYNAMIC else n for n in declared.shape))
    if isinstance(op.definition, Communication) and len(operands) == len(op.results):
        shape = received_shape(op.definition.name, op.attributes, operands[number].tensor.shape)
        if shape is not None:
            return declared.with_shape(shape)
    raise UnsupportedError(
        f"{op.definition.name}: the extents of its result {declared} are not known",
        where=op.location,
        why="they follow neither from the operands nor from a shape that is computed",
    )


def _check_assertion(op: Op, operands: Sequence[np.ndarray | None]) -> None:
    """Evaluate a shape assertion: a predicate, and values for the message."""
    holds, *values = operands
    if holds is None:
        raise ValueDependentShapeError(
            "shape_assertion: its predicate depends on the values of an argument", where=op.location
        )
    if not holds:
        message = str(op.attributes.get("error_message", "the arguments' shapes do not fit together"))
        for number, value in enumerate(values):
            message = message.replace(f"{{{number}}}", str(value))
        raise ShapeError(message, where=op.location)


def is_static(function: Function) -> bool:
    """Return whether a function, and all that it reaches, has known extents only and no op that computes one."""
    return all(
        not isinstance(v.type, TensorType) or v.type.is_static
        for reached in Module([function]).reachable()
        for v in [*reached.body.arguments, *[r for op in reached.body.walk() for r in op.results]]
    ) and not any(op_is_refined(op) for f in Module([function]).reachable() for op in f.body.walk())


def op_is_refined(op: Op) -> bool:
    """Return whether an op becomes another one when shapes are refined."""
    is_drawn = op.definition is RNG and op.result.tensor.is_static
    return full_name(op) in RULES and not is_drawn


def can_be_known(array: np.ndarray) -> bool:
    """Return whether an argument's value is of a kind that shapes are computed from."""
    return array.dtype in COUNTING and array.size <= MOST_KNOWN


def refine_shapes(
    function: Function, types: Sequence[TensorType], known: Mapping[int, np.ndarray] | None = None
) -> Function:
    """Return a copy of a function for arguments of static types, with all shapes static.

    Parameters
    ----------
    function : Function
        Left unchanged.
    types : sequence of TensorType
        One an argument, which agree with the argument's own.
    known : mapping from int to numpy.ndarray, optional
        Arguments by number whose values shapes may depend on; the copy is right for these values only.

    Raises
    ------
    ShapeError
        If the program asserts that extents fit together, and they don't.
    UnsupportedError
        If a shape depends on values that are not known, or changes from one step of a loop to the next.
    VerificationError
        If shapes do not fit together otherwise.
    """
    return Refiner().function(function, types, known)
