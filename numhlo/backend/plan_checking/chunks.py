"""Chunks of one launch run at once on several threads: what one of them reads, no other may write.

A kernel that reads and writes the same buffer is right in chunks if each unit reads only elements that it writes
itself: its loads have the same indices as its stores, with loops over the same range, or both stay within the unit's
own row. That units write different elements, whatever buffer it is, is for who writes kernels.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TypeAlias

from numhlo.backend.kernels import ir
from numhlo.backend.kernels.text import expression_text
from numhlo.backend.kernels.transform.rewriting import integer, is_integer, key_of, variables_in
from numhlo.backend.plan_checking.effects import (
    accesses_in,
    effects_of,
    ir_of,
    operands_of,
    places_of,
    pointed_to,
    touches_of,
)
from numhlo.backend.plan_checking.listing import Finding, step_in_words
from numhlo.backend.primitives.convert import to_i64
from numhlo.backend.primitives.memory import address, advance, integer_address, number
from numhlo.backend.program import Kernel, Launch
from numhlo.lowering.ir.records import record

Product: TypeAlias = frozenset[tuple[Hashable, int]]
"""Factors, and how often each of them is one."""
Sum: TypeAlias = dict[Product, int]
Form: TypeAlias = frozenset[tuple[Product, int]]
"""A sum of products, and how often each of them is a term."""
ONE: Product = frozenset()


def require_independent_chunks(launch: Launch, in_place: frozenset[int], finding: Finding) -> None:
    """Raise if a kernel may run in chunks, and reads elements in one that it writes in another.

    Parameters
    ----------
    launch : Launch
    in_place : frozenset of int
        The buffers that hold an input of it when it begins, and that it writes.
    finding : Finding
    """
    if launch.extent <= launch.grain:
        return
    effects = effects_of(launch.kernel)
    results = {number for _, number in launch.outputs}
    for place in effects.writes:
        number = launch.buffers[place]
        common = common_store(launch.kernel, place) if number in results else ""
        if common:
            what = f"chunks of {step_in_words(launch)} run at once, and all write the same element"
            raise finding.error(f"{what} of {finding.buffer(number)}: {common}", launch)
        shifted = shifted_load(launch.kernel, place) if number in in_place and place in effects.reads else ""
        if shifted:
            what = f"chunks of {step_in_words(launch)} run at once, and one reads what another writes"
            raise finding.error(f"{what}: {shifted} is not where it stores to {finding.buffer(number)}", launch)


def common_store(kernel: Kernel, place: int) -> str:
    """Return a store at a fixed place of a buffer that all units make, as text; nothing if there is none."""
    function = ir_of(kernel).entry
    indices = _Indices(function)
    for store in _stores_of_all(function.body, indices, None):
        form = indices.form_of(store, 0)
        if pointed_to(store.pointer, {}) == {place} and all(p == ONE or _is_pointer(p) for p, _ in form):
            return expression_text(store, function)
    return ""


def _stores_of_all(block: Sequence[ir.Statement], indices: _Indices, unit: ir.Variable | None) -> Iterator[ir.Store]:
    """Yield stores, but for those of one unit alone, whose number is compared with 0."""
    for statement in block:
        match statement:
            case ir.Store():
                yield statement
            case ir.For(counter=counter, body=body):
                if indices.is_told(counters := indices.ranges[counter]):  # else it may be of some units alone
                    yield from _stores_of_all(body, indices, counter if counters.is_unit else unit)
            case ir.If(condition=ir.Call(callee=operator.eq, operands=(ir.Read(variable=variable), end))) if (
                variable is unit and is_integer(end, 0)
            ):
                yield from _stores_of_all(statement.otherwise, indices, unit)
            case _:
                for inner in ir.blocks_of(statement):
                    yield from _stores_of_all(inner, indices, unit)


@lru_cache(maxsize=4096)
def shifted_load(kernel: Kernel, place: int) -> str:
    """Return a load of a buffer that may be of another unit's elements, as text; nothing if there is none."""
    module = ir_of(kernel)
    indices, places = _Indices(module.entry), places_of(module)
    loads: dict[Form, ir.Load | ir.Call] = {}
    stores: set[Form] = set()
    for node in accesses_in(module):
        for touch in touches_of(node, places):
            if touch.place == place:
                form = indices.form_of(node, touch.operand)
                if touch.writes:
                    stores.add(form)
                elif not isinstance(node, ir.Store):
                    loads.setdefault(form, node)
    for form, node in loads.items():
        if form not in stores and not indices.is_own_row(form, stores):
            return expression_text(node, module.entry)
    return ""


class _Indices:
    """What the indices of a kernel are made of.

    Parameters
    ----------
    function : Function
        The kernel.
    """

    def __init__(self, function: ir.Function) -> None:
        self._values: dict[ir.Variable, ir.Expression] = {}
        self.ranges: dict[ir.Variable, _Range] = {}
        first, end = function.parameters[3:]
        for statement in ir.walk(function.body):
            if isinstance(statement, ir.Let):
                self._values[statement.variable] = statement.value
            elif isinstance(statement, ir.For):
                bounds = statement.start, statement.stop, statement.step
                is_unit = first in variables_in(statement.start) and end in variables_in(statement.stop)
                self.ranges[statement.counter] = _range(*bounds, is_unit=is_unit)

    def form_of(self, node: ir.Load | ir.Store | ir.Call, place: int) -> Form:
        """Return what an access's place is made of: the pointer and the index behind it, or all operands behind it."""
        operands = operands_of(node)
        total, rest = self._sum(operands[place]), operands[place + 1 :]
        if rest and not (isinstance(node, ir.Call) and len(rest) == 1):
            total = _added(total, self._sum(rest[0]), 1)
        if isinstance(node, ir.Call) and len(rest) > 1:
            total = _added(total, {_once(_range(integer(0), rest[1], integer(1))): 1}, 1)
        return frozenset(total.items())

    def _sum(self, node: ir.Expression) -> Sum:
        """Return an expression as a sum of products."""
        match node:
            case ir.Constant(value=int(value)):
                return {ONE: value} if value else {}
            case ir.Read(variable=variable):
                return self._of_variable(variable)
            case ir.Call(callee=operator.add, operands=(left, right)):
                return _added(self._sum(left), self._sum(right), 1)
            case ir.Call(callee=operator.sub, operands=(left, right)):
                return _added(self._sum(left), self._sum(right), -1)
            case ir.Call(callee=operator.mul, operands=(left, right)):
                return _multiplied(self._sum(left), self._sum(right))
            case ir.Call(callee=callee, operands=(operand,)) if callee in (to_i64, integer_address):
                return self._sum(operand)
            case ir.Call(callee=callee, operands=(pointer, distance)) if callee is advance:
                return _added(self._sum(pointer), self._sum(distance), 1)
            case _:
                return {_once(key_of(node)): 1}

    def _of_variable(self, variable: ir.Variable) -> Sum:
        value = self._values.get(variable)
        if value is None or (isinstance(value, ir.Call) and value.callee in (address, number)):
            return {_once(self.ranges.get(variable, variable)): 1}
        return self._sum(value)

    def is_own_row(self, form: Form, stores: set[Form]) -> bool:
        """Return whether a place is in the row of its unit, as those of all stores are, as far as can be told."""
        row, rest = _split(form)
        if not row or any(_split(store)[0] != row for store in stores):
            return False
        factors = {factor for product, _ in rest for factor, _ in product}
        if not all(self.is_told(factor) for factor in factors):
            return True  # what is worked on in no fixed order
        moving = [(product, times) for product, times in rest if _has_range(product)]
        others = [product for product, _ in rest if not _has_range(product) and not _is_pointer(product)]
        strides = [[f for f, _ in product if not isinstance(f, _Range)] for product, count in row if count == 1]
        extents = [
            ir.Read(f) for factors in strides for f in factors if len(factors) == 1 and isinstance(f, ir.Variable)
        ]
        wholes = [(_once(_range(integer(0), extent, integer(1))), 1) for extent in extents]
        return not others and len(moving) == 1 and moving[0] in wholes

    def is_told(self, factor: Hashable) -> bool:
        """Return whether it is known what a factor is: a buffer, a run-time number, or a counter between such."""
        if isinstance(factor, _Range):
            return factor.is_unit or all(self._is_number(bound) for bound in factor.bounds)
        return factor in self._values

    def _is_number(self, node: ir.Expression) -> bool:
        """Return whether an expression is a literal or a run-time number."""
        value = self._values.get(node.variable, node) if isinstance(node, ir.Read) else node
        return isinstance(value, ir.Constant) or (isinstance(value, ir.Call) and value.callee is number)


@record(frozen=True, slots=True)
class _Range:
    """What a counter goes through: equal ones have bounds that are made alike."""

    key: Hashable
    bounds: tuple[ir.Expression, ...] = field(compare=False)
    is_unit: bool = field(compare=False)


def _range(*bounds: ir.Expression, is_unit: bool = False) -> _Range:
    return _Range(tuple(map(key_of, bounds)), bounds, is_unit)


def _once(factor: Hashable) -> Product:
    return frozenset({(factor, 1)})


def _is_pointer(product: Product) -> bool:
    return any(isinstance(factor, ir.Variable) and isinstance(factor.type, ir.Pointer) for factor, _ in product)


def _has_range(product: Product) -> bool:
    return any(isinstance(factor, _Range) for factor, _ in product)


def _split(form: Form) -> tuple[Form, Form]:
    """Return the parts of a sum that depend on the unit, and the others."""
    row = frozenset(part for part in form if any(isinstance(f, _Range) and f.is_unit for f, _ in part[0]))
    return row, form - row


def _added(one: Sum, other: Sum, sign: int) -> Sum:
    total = Counter(one)
    for product, count in other.items():
        total[product] += sign * count
    return {product: count for product, count in total.items() if count}


def _multiplied(one: Sum, other: Sum) -> Sum:
    total: Counter[Product] = Counter()
    for product, count in one.items():
        for factors, times in other.items():
            both = Counter(dict(product))
            both.update(dict(factors))
            total[frozenset(both.items())] += count * times
    return {product: count for product, count in total.items() if count}
