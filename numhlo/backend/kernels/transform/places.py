"""Places in memory that a loop's iterations read and write, as sums: what stays, a number, and the loop's counter."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping

from numhlo.backend import primitives
from numhlo.backend.kernels import ir
from numhlo.backend.kernels.transform.rewriting import integer, key_of, plus, variables_in
from numhlo.lowering.ir.records import record

SUMS = frozenset({operator.add, primitives.add})
DIFFERENCES = frozenset({operator.sub, primitives.subtract})


@record(frozen=True, slots=True)
class Place:
    """A place in memory: terms that no iteration changes, a number, and whether the counter is added."""

    terms: tuple[ir.Expression, ...]
    number: int
    counts: bool

    @property
    def key(self) -> Hashable:
        """Return what is equal for the same place."""
        return frozenset(self._terms().items()), self.number, self.counts

    def is_beside(self, other: Place) -> bool:
        """Return whether another place is a known number of elements away."""
        return self._terms() == other._terms()

    def _terms(self) -> dict[Hashable, int]:
        found: dict[Hashable, int] = {}
        for term in self.terms:
            key = key_of(term)
            found[key] = found.get(key, 0) + 1
        return found

    def expression(self) -> ir.Expression:
        """Return the place in iteration 0."""
        parts = [*self.terms, *([integer(self.number)] if self.number or not self.terms else [])]
        found = parts[0]
        for part in parts[1:]:
            found = plus(found, part)
        return found


def place_of(
    index: ir.Expression, counter: ir.Variable, definitions: Mapping[ir.Variable, ir.Expression]
) -> Place | None:
    """Return what a place is made of; None where that is no sum, or grows faster than the counter.

    Parameters
    ----------
    index : Expression
    counter : Variable
        Of the loop, which changes nothing else that the index is computed of but what is defined in it.
    definitions : mapping from Variable to Expression
        What each iteration defines.
    """
    terms: list[ir.Expression] = []
    number = counts = 0
    waiting = [(index, 1)]
    while waiting:
        node, sign = waiting.pop()
        match node:
            case ir.Constant(value=int(value)):
                number += sign * value
            case ir.Read(variable=variable) if variable in definitions:
                waiting.append((definitions[variable], sign))
            case ir.Read(variable=variable) if variable is counter:
                counts += sign
            case ir.Call(callee=primitives.to_i64, operands=(operand,)) if operand.type == ir.INT64:
                waiting.append((operand, sign))
            case ir.Call(callee=callee, operands=(lhs, rhs)) if callee in SUMS and node.type == ir.INT64:
                waiting += [(lhs, sign), (rhs, sign)]
            case ir.Call(callee=callee, operands=(lhs, ir.Constant() as rhs)) if callee in DIFFERENCES:
                waiting += [(lhs, sign), (rhs, -sign)]
            case _ if sign > 0 and node.type == ir.INT64 and _stays(node, counter, definitions):
                terms.append(node)
            case _:
                return None
    return Place(tuple(terms), number, counts == 1) if counts in (0, 1) else None


def _stays(node: ir.Expression, counter: ir.Variable, definitions: Mapping[ir.Variable, ir.Expression]) -> bool:
    """Return whether an expression is the same in all iterations: no load, and of nothing that changes."""
    read = variables_in(node)
    if counter in read or any(variable in definitions for variable in read):
        return False
    return _is_arithmetic(node)


def _is_arithmetic(node: ir.Expression) -> bool:
    match node:
        case ir.Constant() | ir.Read():
            return True
        case ir.Call(callee=callee, operands=operands) if callee is operator.mul:
            return all(map(_is_arithmetic, operands))
        case _:
            return False
