"""Replacing ops that no room has rules for by ones that mean the same: a copy of a program, as traced otherwise.

This file knows how a program is walked and copied; which ops are replaced, and by what, is in the ``legalize_*`` files,
through the table `RULES`. Functions in which nothing is replaced are shared with the source, so an ordinary program is
returned as it is. Unlike the rewriter, it neither inlines nor simplifies: transformations see the program's structure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numhlo.lowering.ir import UNKNOWN, Function, Location, Op, Region, Type, Value, functions_in
from numhlo.lowering.ops.builder import FunctionBuilder
from numhlo.lowering.ops.control_flow import CUSTOM_CALL
from numhlo.lowering.ops.primitive import Primitive, make_op
from numhlo.lowering.passes.function_copies import FunctionCopies


class Builder(FunctionBuilder):
    """A builder whose ops have the location of the op that they replace."""

    location: Location = UNKNOWN

    def ops(
        self,
        definition: Primitive,
        *operands: Value,
        regions: Sequence[Region] = (),
        results: Sequence[Type] | None = None,
        **attributes: Any,
    ) -> list[Value]:
        """Append an op and return its results; what is wrong with it is wrong where the location says."""
        return self.append(make_op(definition, operands, attributes, regions, results, self.location))

    def append(self, op: Op) -> list[Value]:
        """Append an op and return its results."""
        if op.location is UNKNOWN:
            op.location = self.location
        return super().append(op)


Rule = Callable[[Builder, Op, Sequence[Value]], Sequence[Value]]
"""``rule(builder, op, operands) -> results``: appends what means the same as ``op`` on ``operands``."""

Condition = Callable[[Op], bool]

RULES: dict[str, list[tuple[Condition, Rule]]] = {}
"""Rules by the op's name with its dialect, and what must hold of the op."""


def legalization(*names: str, when: Condition | None = None) -> Callable[[Rule], Rule]:
    """Return a decorator that makes a function the rule of ops by their full names, where a condition holds of them."""

    def add(rule: Rule) -> Rule:
        for name in names:
            rules = RULES.setdefault(name, [])
            if rules and when is None:
                raise ValueError(f"{name} is legalized twice")
            rules.append((when or always, rule))
        return rule

    return add


def always(op: Op) -> bool:
    """Return True: an op that is never legal."""
    return True


def rule_of(op: Op) -> Rule | None:
    """Return the rule that replaces an op, None where it may stay."""
    return next((rule for holds, rule in RULES.get(full_name(op), ()) if holds(op)), None)


def full_name(op: Op) -> str:
    """Return an op's name with its dialect, a custom call's with its target."""
    definition = op.definition
    if definition is CUSTOM_CALL:
        return f"stablehlo.custom_call @{op.attributes['call_target_name']}"
    return f"{definition.dialect}.{definition.name}" if definition.dialect else definition.name


class Legalizer(FunctionCopies):
    """Copies functions, each once, as far as there is something to replace in them.

    Parameters
    ----------
    is_kept : callable, optional
        Says which ops stay, be there a rule for them or not.

    Attributes
    ----------
    count : int
        How many ops were replaced.
    """

    def __init__(self, is_kept: Condition | None = None) -> None:
        super().__init__()
        self.count = 0
        self._is_kept = is_kept

    def _is_concerned(self, source: Function) -> bool:
        return any(self._functions[f] is not f for f in source.callees()) or any(
            self._rule_of(op) is not None for op in source.body.walk()
        )

    def _rule_of(self, op: Op) -> Rule | None:
        return None if self._is_kept is not None and self._is_kept(op) else rule_of(op)

    def _copy(self, source: Function) -> Function:
        if not self._is_concerned(source):
            return source
        builder = Builder(source.name, source.argument_types)
        values = dict(zip(source.body.arguments, builder.arguments, strict=True))
        self._fill(builder, source.body, values)
        returns = [values[v] for v in source.body.returns]
        return builder.finish(returns, visibility=source.visibility).described_as(source)

    def _fill(self, builder: Builder, source: Region, values: dict[Value, Value]) -> None:
        for op in source.ops:
            operands = [values[v] for v in op.operands]
            rule = self._rule_of(op)
            if rule is None:
                results: Sequence[Value] = builder.append(self._copy_op(builder, op, operands, values))
            else:
                builder.location = op.location
                # its regions may hold what is to be replaced, and values from around
                legal = self._copy_op(builder, op, operands, values) if op.regions else op
                results = rule(builder, legal, operands)
                self.count += 1
            values.update(zip(op.results, results, strict=True))

    def _copy_op(self, builder: Builder, op: Op, operands: Sequence[Value], values: dict[Value, Value]) -> Op:
        regions = [self._copy_region(builder, region, values) for region in op.regions]
        attributes = self._attributes(op.attributes)
        return Op(op.definition, operands, attributes, regions, [v.type for v in op.results], op.location)

    def _attributes(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._attribute(value) for name, value in attributes.items()}

    def _attribute(self, value: Any) -> Any:
        if next(functions_in(value), None) is None:
            return value
        if isinstance(value, Function):
            return self.function(value)
        return self._attributes(value) if isinstance(value, Mapping) else tuple(map(self._attribute, value))

    def _copy_region(self, builder: Builder, source: Region, values: dict[Value, Value]) -> Region:
        def write(*arguments: Value) -> list[Value]:
            values.update(zip(source.arguments, arguments, strict=True))
            self._fill(builder, source, values)
            return [values[v] for v in source.returns]

        return builder.region([v.type for v in source.arguments], write)
