"""One walk that rebuilds a function: inlines calls, simplifies, folds constants and shares equal ops on the way.

Ops are visited in program order with their operands already rewritten, so each pattern sees simplified inputs and the
walk is linear. The input program is never changed: transformations may still need it as traced. Patterns are looked up
by primitive (`PATTERNS`); each states its algebra and returns a value, or None where it does not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np

from numhlo.lowering.interpreter import evaluate_op
from numhlo.lowering.ir import Function, Op, Region, Substitution, TensorType, Type, Value
from numhlo.lowering.ir.location import Location
from numhlo.lowering.ops import control_flow, creation, layout
from numhlo.lowering.ops.effects import op_has_effects
from numhlo.lowering.ops.loops import loop_body, make_map, make_scan
from numhlo.lowering.ops.primitive import Primitive, make_op
from numhlo.lowering.passes.dead_ops import live_ops, remove_dead_ops
from numhlo.lowering.passes.outlining import OUTLINED, inlined_callee

UNFOLDED = (layout.BROADCAST_IN_DIM, control_flow.CALL, control_flow.CUSTOM_CALL)
"""Ops that stay, whatever is known. A custom call may run a user's function, maybe in a branch that is not taken."""

FOLD_BYTES = 1024
"""Ops whose operands are constants are evaluated if operands and results together have at most this size."""

CALLING = frozenset({control_flow.CALL, control_flow.COMPOSITE})
"""Ops that other functions' ops may take the place of."""

Pattern = Callable[["Rewriter", Op], "Value | Sequence[Value] | None"]
PATTERNS: dict[Primitive, list[Pattern]] = {}


def pattern(*definitions: Primitive) -> Callable[[Pattern], Pattern]:
    """Return a decorator that adds a pattern for ops of the given primitives."""

    def add(rule: Pattern) -> Pattern:
        for definition in definitions:
            PATTERNS.setdefault(definition, []).append(rule)
        return rule

    return add


class Rewriter:
    """Rebuilds functions. One rewriter serves a whole program, so that a shared callee is rewritten once.

    Parameters
    ----------
    keeps_extensions : bool, optional
        Whether users' ops stay that mean something in other ops: for users' passes, which may look for them.

    Attributes
    ----------
    counts : dict
        How often each kind of rewrite happened, for display.
    """

    def __init__(self, *, keeps_extensions: bool = False) -> None:
        self.keeps_extensions = keeps_extensions
        self.counts: dict[str, int] = {}
        self._outlined: dict[Function, Function] = {}
        self.location: Location | None = None
        self._values = Substitution()
        self._regions: list[Region] = []
        self._shared: list[dict[Any, list[Value]]] = []
        self._functions: dict[int, tuple[Function, Function]] = {}

    def function(self, source: Function) -> Function:
        """Return a rewritten copy of a function."""
        found = self._functions.get(id(source))
        if found is not None:
            return found[1]
        outer = self._values, self._regions, self._shared
        self._values, self._regions, self._shared = Substitution(), [], []
        try:
            result = Function(source.name, self.region(source.body), visibility=source.visibility)
        finally:
            self._values, self._regions, self._shared = outer
        self._functions[id(source)] = (source, result.described_as(source))
        return result

    def outline(self, sources: Sequence[Function]) -> None:
        """Let calls of some functions, callees before callers, stay calls of rewritten ones."""
        for source in sources:
            result = self.function(source)
            remove_dead_ops(result.body)
            result.attributes = {**source.attributes, OUTLINED: True}
            self._outlined[source] = result

    def region(self, source: Region) -> Region:
        """Return a rewritten copy of a region; values from outside are those already rewritten."""
        target = Region([v.type for v in source.arguments])
        self._define(source.arguments, target.arguments)
        self._regions.append(target)
        self._shared.append({})
        self._visit_all(source)
        target.returns = self._rewritten(source.returns)
        self._regions.pop()
        self._shared.pop()
        return target

    def _visit_all(self, source: Region) -> None:
        """Append what a region's ops become; bodies of calls in their place, however deep calls nest."""
        nested: list[tuple[Region, Iterator[Op], Op | None]] = [(source, iter(live_ops(source)), None)]
        while nested:
            region, ops, call = nested[-1]
            op = next(ops, None)
            if op is None:
                nested.pop()
                if call is not None:
                    self._define(call.results, self._rewritten(region.returns))
                continue
            self.location = op.location
            body = self._inlined_body(op) if op.definition in CALLING else None
            if body is None:
                for value, made in zip(op.results, self._visit(op), strict=True):
                    self._values[value] = made
            else:
                self._define(body.arguments, self._rewritten(op.operands))
                nested.append((body, iter(live_ops(body)), op))

    def _define(self, values: Sequence[Value], rewritten: Sequence[Value]) -> None:
        self._values.update(zip(values, rewritten, strict=True))

    def _rewritten(self, values: Sequence[Value]) -> list[Value]:
        return list(map(self._values.__getitem__, values))

    def _inlined_body(self, op: Op) -> Region | None:
        """Return the body of the function that an op calls, if it takes the op's place."""
        callee = inlined_callee(op)
        if callee is None or callee in self._outlined:
            return None
        self.count("calls inlined" if op.definition is control_flow.CALL else "composites inlined")
        return callee.body

    def inline(self, source: Region, operands: Sequence[Value]) -> list[Value]:
        """Append a rewritten copy of a region's ops here, on the given operands, and return what it returns.

        The region may be the program's own or one already rewritten, whose outer values stand for themselves.
        """
        self._define(source.arguments, operands)
        self._visit_all(source)
        return self._rewritten(source.returns)

    def _visit(self, op: Op) -> Sequence[Value]:
        operands = self._rewritten(op.operands)
        if op.definition in CALLING:
            callee = inlined_callee(op)
            if callee is None:
                return self._composite(op, operands)
            outlined = {"callee": self._outlined[callee]}
            return self.emit(control_flow.CALL, operands, outlined, (), [v.type for v in op.results], op.location)
        if has_empty(operands):
            operands = self._with_empty_constants(operands)
        regions = [self.region(r) for r in op.regions] if op.regions else ()
        types, attributes = [v.type for v in op.results], op.attributes and _without_notes(op)
        if list(map(_TYPE, operands)) == list(map(_TYPE, op.operands)):  # lists compare by identity first
            return self._append(Op(op.definition, operands, attributes, regions, types, op.location))
        results = types if op.definition.explicit_result else None
        return self.emit(op.definition, operands, attributes, regions, results, op.location)

    def _composite(self, op: Op, operands: list[Value]) -> Sequence[Value]:
        name, attributes = op.attributes["name"], op.attributes
        if name in ("numhlo.scan", "numhlo.map"):
            attributes = {**attributes, "decomposition": self._loop(op)}
        return self.emit(op.definition, operands, attributes, (), [v.type for v in op.results], op.location)

    def _loop(self, op: Op) -> Function:
        """Return a loop's decomposition around its rewritten body."""
        decomposition = op.attributes["decomposition"]
        found = self._functions.get(id(decomposition))
        if found is None:
            body = self.function(loop_body(op))
            remove_dead_ops(body.body)
            p = op.attributes["composite_attributes"]
            if op.attributes["name"] == "numhlo.map":
                made = make_map(body, p["lanes"], p["num_consts"])
            else:
                made = make_scan(body, p["length"], p["num_consts"], p["num_carries"], p["reverse"])
            found = self._functions[id(decomposition)] = (decomposition, made)
        return found[1]

    def emit(
        self,
        definition: Primitive,
        operands: Sequence[Value],
        attributes: Mapping[str, Any] | None = None,
        regions: Sequence[Region] = (),
        results: Sequence[Type] | None = None,
        location: Location | None = None,
    ) -> list[Value]:
        """Append an op, or what it simplifies to, and return its results.

        A value without elements is a constant, whoever makes it: no pattern and no kernel needs to think of it.
        """
        where = location or self.location
        operands = self._with_empty_constants(operands)
        op = (
            make_op(definition, operands, attributes or {}, regions, results, where)
            if where
            else make_op(definition, operands, attributes or {}, regions, results)
        )
        return self._append(op)

    def _with_empty_constants(self, operands: Sequence[Value]) -> list[Value]:
        if not has_empty(operands):
            return operands if isinstance(operands, list) else [*operands]
        return [self._empty(v) if is_empty(v) and constant_array(v) is None else v for v in operands]

    def _append(self, op: Op) -> list[Value]:
        """Append an op whose types are known, or what it simplifies to, and return its results."""
        has_effects = op_has_effects(op)
        if op.operands and not has_effects and has_empty(op.results) and all(map(is_empty, op.results)):
            self.count("empty values made constants")
            return [self._empty(v) for v in op.results]
        for rule in PATTERNS.get(op.definition, ()):
            simplified = rule(self, op)
            if simplified is not None:
                self.count(f"{op.definition.name} simplified")
                return [simplified] if isinstance(simplified, Value) else list(simplified)
        if has_effects:
            self._regions[-1].ops.append(op)
            return op.results
        return self._fold(op) or self._share(op)

    def op(self, definition: Primitive, *operands: Value, result: Type | None = None, **attributes: Any) -> Value:
        """Append an op of one result and return that; for patterns."""
        return self.emit(definition, operands, attributes, (), None if result is None else [result])[0]

    def constant(self, array: Any) -> Value:
        """Return a constant."""
        return self.emit(creation.CONSTANT, (), {"value": np.asarray(array)})[0]

    def _empty(self, value: Value) -> Value:
        return self.constant(np.empty(value.tensor.shape, value.tensor.dtype))

    def count(self, what: str) -> None:
        """Note that a rewrite happened."""
        self.counts[what] = self.counts.get(what, 0) + 1

    def _fold(self, op: Op) -> list[Value] | None:
        if op.regions or not op.operands or op.definition in UNFOLDED:
            return None
        known = []
        for value in op.operands:
            array = constant_array(value)
            if array is None:
                return None
            known.append(array)
        if sum(a.nbytes for a in known) + sum(v.tensor.nbytes for v in op.results) > FOLD_BYTES:
            return None
        with np.errstate(all="ignore"):
            results = evaluate_op(op, dict(zip(op.operands, known, strict=True)))
        self.count("constants folded")
        return [self.constant(np.array(r)) for r in results]

    def _share(self, op: Op) -> list[Value]:
        key = op_key(op)
        if key is not None:
            for scope in reversed(self._shared):
                if key in scope:
                    self.count("equal ops shared")
                    shared: list[Value] = scope[key]
                    return shared
            self._shared[-1][key] = op.results
        self._regions[-1].ops.append(op)
        return op.results


_TYPE = attrgetter("type")


def _without_notes(op: Op) -> Mapping[str, Any]:
    """Return an op's attributes but those that other tools noted on it: equal ops have equal kernels without them."""
    attributes, known = op.attributes, op.definition.attributes
    if len(attributes) <= len(known) or op.definition is control_flow.CUSTOM_CALL:  # a called function may read them
        return attributes
    names = {attribute.name for attribute in known}
    return {name: value for name, value in attributes.items() if name in names}


def made_by(value: Value, definition: Primitive) -> Op | None:
    """Return the op that a value is a result of, if it is one of this definition."""
    owner = value.owner
    return owner if isinstance(owner, Op) and owner.definition is definition else None


def is_empty(value: Value) -> bool:
    """Return whether a value is a tensor without elements."""
    return has_empty((value,))


def has_empty(values: Sequence[Value]) -> bool:
    """Return whether one of some values is a tensor without elements."""
    for value in values:
        type = value.type
        if isinstance(type, TensorType) and 0 in type.shape and type.is_static:
            return True
    return False


def constant_array(value: Value) -> np.ndarray | None:
    """Return the array that a constant op holds, or None for any other value."""
    owner = value.owner
    if type(owner) is Op and owner.definition is creation.CONSTANT:
        array: np.ndarray = owner.attributes["value"]
        return array
    return None


def op_key(op: Op) -> Any:
    """Return a key that equal ops share, or None for an op that is never shared."""
    if op.regions:
        bodies = tuple(region_key(r, op.operands) for r in op.regions)
        if None in bodies:
            return None
    else:
        bodies = ()
    operands = tuple(map(id, op.operands))
    types = tuple([v.type for v in op.results]) if op.definition.explicit_result else ()
    return op.definition, operands, types, attributes_key(op.attributes) if op.attributes else (), bodies


def region_key(region: Region, outer: Sequence[Value]) -> Any:
    """Return a key of a small region that uses nothing from outside, or None."""
    if len(region.ops) > 8:
        return None
    numbers = {v: k for k, v in enumerate(region.arguments)}
    parts: list[Any] = []
    for op in region.ops:
        if op.regions or any(v not in numbers for v in op.operands):
            return None
        types = tuple(v.type for v in op.results)
        parts.append((op.definition, tuple(numbers[v] for v in op.operands), types, attributes_key(op.attributes)))
        for result in op.results:
            numbers[result] = len(numbers)
    if any(v not in numbers for v in region.returns):
        return None
    types = tuple(v.type for v in region.arguments)
    return types, tuple(parts), tuple(numbers[v] for v in region.returns)


_ALIKE = frozenset({frozenset({int}), frozenset({str}), frozenset()})
"""Types of the elements of tuples that are keys as they are: those with numbers of other types may equal them."""


@cache
def _is_key(kind: type) -> bool:
    """Return whether attributes of a type are keys as they are."""
    return not issubclass(kind, np.ndarray | Mapping | list | tuple | Function)


def attributes_key(attributes: Mapping[str, Any]) -> Any:
    """Return a hashable key of an attribute dictionary."""
    return tuple([(name, _attribute_key(value)) for name, value in attributes.items()])


def _attribute_key(value: Any) -> Any:
    kind: Any = type(value)
    if _is_key(kind) or (kind is tuple and frozenset(map(type, value)) in _ALIKE):
        return kind, value
    if isinstance(value, np.ndarray):
        data = value.tobytes() if value.nbytes <= FOLD_BYTES else id(value)
        return value.dtype, value.shape, data
    if isinstance(value, Mapping):
        return tuple(sorted((k, _attribute_key(v)) for k, v in value.items()))
    if isinstance(value, list | tuple):
        return kind, tuple(map(_attribute_key, value))
    return id(value)  # a function
