"""Verification: whether a program is well formed and obeys the constraints of the StableHLO specification.

Each op's own type rule is run again on what the op records; what is said here is only what holds for every op alike:
values are defined once and before they are used, functions are closed and not recursive, operands, regions and
attributes are there in number and kind. The walk keeps its own stack, so programs may be nested to any depth, and takes
time linear in their size. What an op demands is in `numhlo.lowering.ops`; where a pass is to blame, the error carries
the program's text with a mark, by `marked_text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from numhlo.lowering.ir import UNKNOWN, Function, Location, Module, Op, Region, TensorType, Type, Value, functions_in
from numhlo.lowering.ir.errors import InternalError, VerificationError
from numhlo.lowering.ops.asynchronous import check_asynchronous, is_asynchronous
from numhlo.lowering.ops.constant_operands import CONSTANT_OPERANDS
from numhlo.lowering.ops.control_flow import COMPOSITE
from numhlo.lowering.ops.dynamic_shapes import FIRST_SHAPE
from numhlo.lowering.ops.known_composites import verify_composite
from numhlo.lowering.ops.primitive import MISSING, Attribute, Signature
from numhlo.lowering.ops.quantized_rules import CONVERSIONS, check_quantized
from numhlo.lowering.text.foreign import unknown_part
from numhlo.lowering.text.marked_text import marked_text
from numhlo.lowering.text.parser import arity
from numhlo.lowering.text.records import ENUMS, RECORDS

KINDS: dict[str, type | tuple[type, ...]] = {
    "i64": int,
    "i32": int,
    "f32": (int, float),
    "bool": bool,
    "string": str,
    "dense": np.ndarray,
    "array<i64>": tuple,
    "array<i1>": tuple,
    "symbol": Function,
    "dictionary": Mapping,
    **{f"record:{name}": record for name, record in RECORDS.items()},
}
"""The Python type of an attribute's value by its kind; other kinds are checked by the op's rule, or free."""

RESULTS = {
    "batch_norm_grad": "(C3), (C4) ",
    "batch_norm_inference": "(C7) ",
    "batch_norm_training": "(C5)-(C7) ",
    "case": "(C4) ",
    "dynamic_slice": "(C1), (C5) ",
    "dynamic_update_slice": "(C1) ",
    "gather": "(C22), (C23) ",
    "get_tuple_element": "(C2) ",
    "if": "(C3) ",
    "map": "(C1), (C4) ",
    "reduce": "(C7), (C8) ",
    "reduce_window": "(C14)-(C16) ",
    "scatter": "(C24), (C25) ",
    "select_and_scatter": "(C11), (C12) ",
    "sort": "(C2) ",
    "tuple": "(C1) ",
    "while": "(C3) ",
}
"""The constraints on results of ops whose type rule gives them whole; others name theirs themselves."""


def verify(program: Module | Function, *, after: str = "") -> None:
    """Check a program and all functions that it reaches.

    Parameters
    ----------
    program : Module or Function
    after : str, optional
        The pass that made it: a fault is then ours.

    Raises
    ------
    VerificationError
        If a constraint is broken: which op, which constraint, where.
    InternalError
        Instead, if ``after`` is given; its note is the program's text with a mark at the op.

    Examples
    --------
    >>> verify(Function("nothing"))
    """
    module = Module([program]) if isinstance(program, Function) else program
    verifier = _Verifier()
    try:
        verifier.check_module(module)
    except VerificationError as error:
        if not after:
            raise
        fault = InternalError(
            f"after {after}: {error.what}",
            where=None if error.where is UNKNOWN else error.where,
            why=error.why,
            fix=f"this is a bug of numhlo, in {after}: please report it with the program below",
        )
        fault.add_note(marked_text(module, verifier.op, error.what))
        raise fault from error


class _Frame:
    """A region being walked: its ops still to come, what it has defined, and the results of its latest op."""

    __slots__ = ("defined", "ops", "owner", "pending", "region")

    def __init__(self, region: Region, owner: Op | None) -> None:
        self.region = region
        self.owner = owner
        self.ops: Iterator[Op] = iter(region.ops)
        self.defined: list[Value] = []
        self.pending: Sequence[Value] = region.arguments


class _Verifier:
    """One verification.

    Attributes
    ----------
    op : Op or None
        The op being looked at.
    """

    def __init__(self) -> None:
        self.op: Op | None = None
        self._function = Function("")
        self._visible: set[Value] = set()
        self._defined: set[Value] = set()
        self._regions: set[Region] = set()
        self._ops: set[Op] = set()
        self._composites: list[Op] = []

    # -- messages

    def _fail(self, rule: str, why: str = "") -> None:
        op = self.op
        if op is None:
            raise VerificationError(f"@{self._function.name}: {rule}", where=_known(self._function.location), why=why)
        why = why or f"in @{self._function.name}"
        raise VerificationError(f"{_describe(op)}: {rule}", where=_known(op.location), why=why)

    def _require(self, condition: bool, rule: str) -> None:
        if not condition:
            self._fail(rule)

    # -- modules and functions

    def check_module(self, module: Module) -> None:
        """Check all functions that a module reaches, callers before callees."""
        _check_names(module)
        self._check_recursion(module.functions)
        for function in module.reachable():
            self._function, self.op = function, None
            self._check_function(function)
        for composite in self._composites:  # at the end: their checks believe that decompositions are well formed
            self.op = composite
            verify_composite(composite)

    def _check_recursion(self, roots: Sequence[Function]) -> None:
        """Walk over calls, depth first; a function that is met again on the way down calls itself."""
        done: set[Function] = set()
        for root in roots:
            if root in done:
                continue
            path: dict[Function, Iterator[Function]] = {root: iter(root.callees())}
            while path:
                current = next(reversed(path))
                callee = next(path[current], None)
                if callee is None:
                    del path[current]
                    done.add(current)
                elif callee in path:
                    self._fail_recursion([*path], callee)
                elif callee not in done:
                    path[callee] = iter(callee.callees())

    def _fail_recursion(self, path: Sequence[Function], callee: Function) -> None:
        cycle = [*path[path.index(callee) :], callee]
        self._function = path[-1]
        self.op = next(op for op in path[-1].body.walk() if callee in functions_in(list(op.attributes.values())))
        self._fail(f"recursion: {' calls '.join(f'@{f.name}' for f in cycle)}", "StableHLO has no recursive functions")

    def _check_function(self, function: Function) -> None:
        counts = (
            ("argument_attributes", function.argument_attributes, function.body.arguments),
            ("result_attributes", function.result_attributes, function.body.returns),
        )
        for name, given, values in counts:
            self._require(len(given) in {0, len(values)}, f"{len(given)} {name} for {len(values)} values")
        self._visible.clear()
        self._check_body(function.body)

    # -- regions

    def _check_body(self, body: Region) -> None:
        frames = [self._enter(body, None)]
        while frames:
            frame = frames[-1]
            self._define(frame, frame.pending)
            frame.pending = ()
            op = next(frame.ops, None)
            if op is None:
                self._leave(frames.pop())
                continue
            self.op = op
            self._check_op(op)
            frame.pending = op.results
            frames.extend([self._enter(region, op) for region in reversed(op.regions)])

    def _enter(self, region: Region, owner: Op | None) -> _Frame:
        self._require(region not in self._regions, "a region of it is in the program twice")
        self._regions.add(region)
        self._require(all(v.owner is region for v in region.arguments), "a region's argument has another owner")
        return _Frame(region, owner)

    def _leave(self, frame: _Frame) -> None:
        self.op = frame.owner
        for number, value in enumerate(frame.region.returns):
            self._check_visible(value, f"returned value {number}")
        self._visible.difference_update(frame.defined)

    def _define(self, frame: _Frame, values: Sequence[Value]) -> None:
        frame.defined.extend(values)
        self._visible.update(values)
        self._defined.update(values)

    def _check_visible(self, value: Value, what: str) -> None:
        if value in self._visible:
            return
        if value in self._defined:
            self._fail(f"{what} is not visible here: it belongs to a region that has ended, or to another function")
        self._fail(f"{what} is used before it is defined")

    # -- ops

    def _check_op(self, op: Op) -> None:
        self._require(op not in self._ops, "the op is in the program twice")
        self._ops.add(op)
        for number, value in enumerate(op.operands):
            self._check_visible(value, f"operand {number}")
        self._require(all(v.owner is op for v in op.results), "one of its results has another owner")
        definition = op.definition
        if definition.dialect == "stablehlo":
            if definition.name in CONVERSIONS:  # those of quantized values have been taken out
                check_quantized(op)
            if is_asynchronous(op):
                check_asynchronous(op)
            self._check_known(op.operands[: FIRST_SHAPE.get(definition)], "operand")
            self._check_known(op.results, "result")
        self._check_count(definition.operands, op.operands, "operands")
        self._check_count(definition.regions, op.regions, "regions")
        for attribute in definition.attributes:
            self._check_attribute(attribute, op.attributes.get(attribute.name, MISSING))
        self._check_types(op)
        if definition is COMPOSITE:
            self._composites.append(op)

    def _check_known(self, values: Sequence[Value], what: str) -> None:
        for number, value in enumerate(values):
            if value.type.__class__ is not TensorType and unknown_part(value.type):
                self._fail(f"{what} {number} is of type {value.type}, which is none of StableHLO's")

    def _check_count(self, names: tuple[str, ...], given: Sequence[object], kind: str) -> None:
        least, more = arity(names)
        wanted = f"at least {least}" if more else str(least)
        self._require(least <= len(given) and (more or len(given) == least), f"{len(given)} {kind}, not {wanted}")

    def _check_attribute(self, attribute: Attribute, value: Any) -> None:
        name, kind = attribute.name, attribute.kind
        if value is MISSING:
            self._require(attribute.default is not MISSING, f"the attribute {name} is missing")
            return
        if value is attribute.default or value is None:
            return
        wanted = KINDS.get(kind)
        if wanted is not None:
            fits = isinstance(value, wanted) and (wanted is not int or not isinstance(value, bool))
            self._require(fits, f"the attribute {name} must be {kind}, not {type(value).__name__}")
        elif kind.startswith("enum:"):
            legal = ENUMS[kind.removeprefix("enum:")]
            self._require(value in legal, f"the attribute {name} must be one of {', '.join(legal)}, not {value!r}")

    def _check_types(self, op: Op) -> None:
        operands = [v.type for v in op.operands]
        recorded = [v.type for v in op.results]
        signature = Signature(op.definition.name, operands, op.attributes, op.regions, recorded, op.location)
        inferred = list(op.definition.infer(signature))
        if inferred != recorded:
            number = RESULTS.get(op.definition.name, "")
            self._fail(f"{number}its results are ({_list(recorded)}), its type rule says ({_list(inferred)})")
        if op.definition.name in CONSTANT_OPERANDS and op.definition.dialect == "stablehlo":
            for rule in CONSTANT_OPERANDS[op.definition.name](op):
                self._fail(rule, f"StableHLO specification, {op.definition.name}")
        for value in op.attributes.values():
            # Type rules believe what is said of a callee that is still empty, since text may define it later.
            if isinstance(value, Function) and not value.body.ops and not value.body.returns:
                self._require(recorded == list(value.result_types), f"@{value.name} returns nothing")


def _check_names(module: Module) -> None:
    names: set[str] = set()
    for function in module.functions:
        if function.visibility == "public" and function.name in names:
            raise VerificationError(
                f"two public functions are called @{function.name}", where=_known(function.location)
            )
        if function.visibility == "public":
            names.add(function.name)


def _known(location: Location) -> Location | None:
    return None if location is UNKNOWN else location


def _describe(op: Op) -> str:
    return f"{op.definition.name}({_list([v.type for v in op.operands])})"


def _list(types: Sequence[Type]) -> str:
    return ", ".join([t.short() if isinstance(t, TensorType) else str(t) for t in types])
